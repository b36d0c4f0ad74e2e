//! Faults as they are shown: all, in order, with their lines.

use execward_policy::{Layer, Style};

use crate::load;

#[test]
fn all_faults_of_all_sources_come_at_once_and_in_order() {
    let first = b"version = 3\nlayer = \"usr\"\n[[deny]]\nprogram = [\"a/b\", \"$x\"]\nids = \"y\"";
    let second = b"[[ask]]\nid = \"?\"";
    let faults = load(&[("1", first, Layer::User), ("2", second, Layer::User)]);
    assert_eq!(
        faults.to_string().lines().collect::<Vec<_>>(),
        [
            "1:1:11: version 3 of the language is not known",
            "1:2:9: unknown value `usr`",
            "1:4:12: a path pattern is absolute",
            "1:4:19: a `$` here expands nothing",
            "1:5:1: unknown key `ids`",
            "2:1:1: `version` is missing",
            "2:1:1: the rule selects nothing",
            "2:2:6: `?` is no id",
        ]
    );
}

#[test]
fn a_rendered_fault_shows_its_line_and_help() {
    let text = b"version = 1\nmode.security = \"ful\"";
    let rendered = load(&[("p.toml", text, Layer::User)]).render(Style::Plain);
    assert_eq!(
        rendered,
        "\
error: unknown value `ful`
 --> p.toml:2:17
  |
2 | mode.security = \"ful\"
  |                 ^^^^^
  |
  = help: the nearest value is `full`
"
    );
}

#[test]
fn a_rendered_repetition_shows_both_places() {
    let text = b"version = 1\nmode.security = \"full\"\n[[deny]]\nid = \"x\"\nprogram = \"a\"\n[[deny]]\nid = \"x\"\nprogram = \"b\"";
    let rendered = load(&[("p.toml", text, Layer::User)]).render(Style::Plain);
    assert!(rendered.contains("p.toml:7:6"), "{rendered}");
    assert!(rendered.contains("p.toml:4:6"), "{rendered}");
    assert!(rendered.contains("first used here"), "{rendered}");
}

#[test]
fn control_characters_of_a_policy_do_not_reach_the_terminal() {
    let text = b"version = 1\n\"\\u001b[31mx\" = 1\nmode.ask = \"\\u001b[31m\"";
    let faults = load(&[("p.toml", text, Layer::User)]);
    assert!(!faults.to_string().contains('\x1b'));
    assert!(!faults.render(Style::Plain).contains('\x1b'));
}
