//! Every fault of a policy is found, and found where it is.

use execward_policy::{Diagnostics, Layer, Places, Ruleset, Source, Style};

fn places() -> Places {
    Places {
        home: "/home/u".into(),
        workspace: "/w".into(),
        tmp: "/tmp".into(),
    }
}

fn load(sources: &[(&str, &[u8], Layer)]) -> Diagnostics {
    let sources: Vec<Source<'_>> = sources
        .iter()
        .map(|(name, text, layer)| Source {
            name,
            text,
            layer: *layer,
        })
        .collect();
    Ruleset::load(&sources, &places()).expect_err("the policy has a fault")
}

/// The faults of one user's policy, a line each.
fn faults(text: &str) -> Vec<String> {
    let faults = load(&[("p.toml", text.as_bytes(), Layer::User)]);
    faults.to_string().lines().map(str::to_owned).collect()
}

/// Asserts that `line`, as the fourth of a sound policy with one deny, is the one fault.
#[track_caller]
fn assert_fault_in_rule(line: &str, column: usize, message: &str) {
    let text = format!(
        "version = 1\nmode.security = \"full\"\n[[deny]]\n{line}\nid = \"d\"\nreason = \"r\""
    );
    let text = if line.starts_with("program") || line.starts_with("command") {
        text
    } else {
        text + "\nprogram = \"x\""
    };
    assert_eq!(
        faults(&text),
        [format!("p.toml:4:{column}: {message}")],
        "{line}"
    );
}

/// Asserts that `text` has one fault, on `line` and `column`.
#[track_caller]
fn assert_fault(text: &str, line: usize, column: usize, message: &str) {
    assert_eq!(
        faults(text),
        [format!("p.toml:{line}:{column}: {message}")],
        "{text}"
    );
}

#[test]
fn a_byte_that_is_not_utf8_is_located() {
    let faults = load(&[("p.toml", b"version = 1\n# \xc3\xa9 \xff", Layer::User)]);
    assert_eq!(
        faults.to_string(),
        "p.toml:2:5: a policy is UTF-8, and this byte is not"
    );
}

#[test]
fn a_source_over_the_limit_is_not_read() {
    let text = vec![b'#'; 8 * 1024 * 1024 + 1];
    let faults = load(&[("p.toml", &text, Layer::User)]);
    assert_eq!(
        faults.to_string(),
        "p.toml:1:1: a policy has at most 8388608 bytes, this has 8388609"
    );
    let text = [b"version = 1\n#".as_slice(), &text[..8 * 1024 * 1024 - 13]].concat();
    let source = Source {
        name: "p",
        text: &text,
        layer: Layer::User,
    };
    assert!(Ruleset::load(&[source], &places()).is_ok());
}

#[test]
fn a_layer_that_is_not_checked_yet_is_refused() {
    for (layer, name) in [(Layer::Agent, "agent"), (Layer::Floor, "floor")] {
        let faults = load(&[("p.toml", b"version = 1", layer)]);
        let message =
            format!("p.toml:1:1: the layer `{name}` is not supported by this version yet");
        assert_eq!(faults.to_string(), message);
    }
}

#[test]
fn broken_toml_is_located_and_what_it_swallowed_is_not_missed() {
    let found = faults("version = 1\n[[deny]]\nid = \nprogram = \"x\"\n[mode\nsecurity = \"full\"");
    assert!(found.len() >= 2, "{found:#?}");
    assert!(found[0].starts_with("p.toml:3:"), "{found:#?}");
    assert!(
        found.iter().any(|fault| fault.starts_with("p.toml:5:")),
        "{found:#?}"
    );
    assert!(
        !found.iter().any(|fault| fault.contains("missing")),
        "{found:#?}"
    );
}

#[test]
fn a_repeated_key_is_a_fault() {
    let found = faults("version = 1\nversion = 1");
    assert_eq!(found.len(), 1, "{found:#?}");
    assert!(found[0].starts_with("p.toml:2:1: "), "{found:#?}");
}

#[test]
fn the_version_is_required_and_known() {
    assert_fault("", 1, 1, "`version` is missing");
    assert_fault(
        "version = 2",
        1,
        11,
        "version 2 of the language is not known",
    );
    assert_fault(
        "version = \"1\"",
        1,
        11,
        "`version` takes an integer, not string",
    );
}

#[test]
fn unknown_keys_and_values_come_with_the_nearest_spelling() {
    let text = "version = 1\n[mode]\nsecurty = \"full\"\nask = \"on_miss\"\n[[denies]]\n";
    let faults = load(&[("p.toml", text.as_bytes(), Layer::User)]);
    let found: Vec<_> = faults
        .faults()
        .iter()
        .map(|fault| (fault.place().line(), fault.message(), fault.help_text()))
        .collect();
    assert_eq!(
        found,
        [
            (
                3,
                "unknown key `securty`",
                Some("the nearest key is `security`")
            ),
            (
                4,
                "unknown value `on_miss`",
                Some("the nearest value is `on-miss`")
            ),
            (5, "unknown key `denies`", None),
        ]
    );
}

#[test]
fn a_value_far_from_every_other_comes_with_the_list() {
    let faults = load(&[(
        "p.toml",
        b"version = 1\nmode.security = \"paranoid\"",
        Layer::User,
    )]);
    assert_eq!(
        faults.faults()[0].help_text(),
        Some("the values are `deny`, `allowlist`, `full`")
    );
}

#[test]
fn a_top_level_key_below_a_table_is_reported_as_such() {
    assert_fault(
        "version = 1\n[mode]\nsecurity = \"full\"\ntrusted_dirs = [\"/x\"]",
        4,
        1,
        "`trusted_dirs` is a top-level key, below the header of `[mode]`",
    );
    assert_fault_in_rule(
        "include = []",
        1,
        "`include` is a top-level key, below the header of `[[deny]]`",
    );
}

#[test]
fn a_key_of_another_section_is_a_fault() {
    assert_fault_in_rule(
        "children = [\"/x\"]",
        1,
        "`children` is no key of `[[deny]]`",
    );
    assert_fault_in_rule(
        "security = \"full\"",
        1,
        "`security` is no key of `[[deny]]`",
    );
    assert_fault(
        "version = 1\nmode.security = \"full\"\n[[allow]]\nid = \"a\"\nprogram = \"x\"\ninstead = \"y\"",
        6,
        1,
        "`instead` is no key of `[[allow]]`",
    );
}

#[test]
fn every_key_that_does_not_work_yet_says_so() {
    for key in [
        "argv",
        "flags",
        "args",
        "path",
        "host",
        "script",
        "env",
        "cwd",
        "via",
        "tool",
        "sha256",
        "ignore_case",
        "expires",
        "match",
        "not_match",
    ] {
        let message = format!("`{key}` is not supported by this version yet");
        assert_fault_in_rule(&format!("{key} = \"x\""), 1, &message);
    }
    for key in [
        "layer",
        "include",
        "trusted_dirs",
        "tools",
        "safe_bins",
        "charter",
        "env",
        "audit",
    ] {
        let message = format!("`{key}` is not supported by this version yet");
        assert_fault(&format!("version = 1\n{key} = 1"), 2, 1, &message);
    }
    for key in ["ask_fallback", "ask_timeout", "approval", "escalate_to"] {
        let message = format!("`{key}` is not supported by this version yet");
        assert_fault(&format!("version = 1\n[mode]\n{key} = 1"), 3, 1, &message);
    }
    for (section, key) in [("ask", "escalate"), ("allow", "children")] {
        let text = format!(
            "version = 1\nmode.security = \"full\"\n[[{section}]]\nid = \"x\"\nprogram = \"x\"\n{key} = 1"
        );
        assert_fault(
            &text,
            6,
            1,
            &format!("`{key}` is not supported by this version yet"),
        );
    }
}

#[test]
fn wrong_types_are_faults() {
    assert_fault(
        "version = 1\nmode = 1",
        2,
        8,
        "`mode` takes a table, not integer",
    );
    assert_fault(
        "version = 1\n[allow]\n",
        2,
        1,
        "`allow` takes a list of tables, written `[[allow]]`, not table",
    );
    assert_fault(
        "version = 1\nallow = [1]",
        2,
        10,
        "`allow` takes a table, not integer",
    );
    assert_fault_in_rule(
        "program = 1",
        11,
        "`program` takes a string or a list of strings, not integer",
    );
    assert_fault_in_rule(
        "program = [\"x\", 1]",
        17,
        "`program` takes a string, not integer",
    );
    assert_fault_in_rule("program = []", 11, "the list of `program` is empty");
    assert_fault_in_rule(
        "instead = true",
        11,
        "`instead` takes a string, not boolean",
    );
}

#[test]
fn a_rule_needs_a_proper_id() {
    assert_fault(
        "version = 1\nmode.security = \"full\"\n[[deny]]\nprogram = \"x\"",
        3,
        1,
        "`id` is missing",
    );
    for id in ["", "No", "a b", "é"] {
        assert_fault(
            &format!(
                "version = 1\nmode.security = \"full\"\n[[deny]]\nid = \"{id}\"\nprogram = \"x\""
            ),
            4,
            6,
            &format!("`{id}` is no id"),
        );
    }
}

#[test]
fn a_rule_selects_something() {
    assert_fault(
        "version = 1\nmode.security = \"full\"\n[[deny]]\nid = \"d\"",
        3,
        1,
        "the rule selects nothing",
    );
}

#[test]
fn an_allow_says_what() {
    let allow = |line: &str| {
        format!("version = 1\nmode.security = \"full\"\n[[allow]]\nid = \"a\"\n{line}")
    };
    assert_fault(
        &allow("program = [\"!x\"]"),
        5,
        12,
        "an allow needs an entry without `!`",
    );
    assert_fault(
        &allow("command = \"!x y\""),
        5,
        11,
        "an allow needs an entry without `!`",
    );
    assert_fault(
        &allow("program = [\"x\", \"**/y\"]"),
        5,
        17,
        "an allow may not begin with `**/`",
    );
    assert_fault(
        &allow("command = \"**/y z\""),
        5,
        11,
        "an allow may not begin with `**/`",
    );
}

#[test]
fn patterns_and_commands_are_checked_where_they_stand() {
    assert_fault_in_rule("program = \"bin/x\"", 11, "a path pattern is absolute");
    assert_fault_in_rule(
        "program = [\"x\", \"\"]",
        17,
        "the name of a program is empty",
    );
    assert_fault_in_rule("program = \"!\"", 11, "the name of a program is empty");
    assert_fault_in_rule("program = \"${hme}/x\"", 11, "unknown place `${hme}`");
    assert_fault_in_rule(
        "program = \"@shells\"",
        11,
        "`@shells`: classes are not supported by this version yet",
    );
    assert_fault_in_rule(
        "command = [\"a b\", \"a | b\"]",
        19,
        "shell syntax in a command: `|`",
    );
    assert_fault_in_rule("command = \" \"", 11, "a command has no words");
    assert_fault_in_rule(
        "command = \"rm -rf\"",
        11,
        "`-rf`: flags in a command are not supported by this version yet",
    );
    assert_fault_in_rule(
        "command = \"git *\"",
        11,
        "`*`: wildcards in a command are not supported by this version yet",
    );
}

#[test]
fn beside_program_a_command_begins_with_a_bare_name() {
    assert_fault(
        "version = 1\nmode.security = \"full\"\n[[deny]]\nid = \"d\"\nprogram = \"/x\"\ncommand = \"/x y\"",
        6,
        11,
        "beside `program`, a command begins with a bare name",
    );
}

#[test]
fn a_repeated_id_points_at_both_uses() {
    let first: &[u8] =
        b"version = 1\nmode.security = \"full\"\n[[deny]]\nid = \"x\"\nprogram = \"a\"";
    let second: &[u8] = b"version = 1\n[[allow]]\nid = \"x\"\nprogram = \"b\"";
    let faults = load(&[
        ("one.toml", first, Layer::User),
        ("two.toml", second, Layer::User),
    ]);
    assert_eq!(
        faults.to_string(),
        "two.toml:3:6: the id `x` is used twice (first used here: one.toml:4:6)"
    );
    let sources = [(first, Layer::User), (second, Layer::Builtin)].map(|(text, layer)| Source {
        name: "p",
        text,
        layer,
    });
    assert!(Ruleset::load(&sources, &places()).is_ok());
}

#[test]
fn rules_without_security_are_a_fault() {
    assert_fault(
        "version = 1\n[[deny]]\nid = \"d\"\nprogram = \"x\"",
        3,
        6,
        "a policy with rules says its `security`",
    );
}

#[test]
fn columns_count_characters() {
    assert_fault_in_rule(
        "program = [\"é\", \"a/b\"]",
        17,
        "a path pattern is absolute",
    );
}

#[test]
fn all_faults_of_all_sources_come_at_once_and_in_order() {
    let first =
        b"version = 3\nlayer = \"user\"\n[[deny]]\nprogram = [\"a/b\", \"$x\"]\nids = \"y\"";
    let second = b"[[ask]]\nid = \"?\"";
    let faults = load(&[("1", first, Layer::User), ("2", second, Layer::User)]);
    assert_eq!(
        faults.to_string().lines().collect::<Vec<_>>(),
        [
            "1:1:11: version 3 of the language is not known",
            "1:2:1: `layer` is not supported by this version yet",
            "1:3:1: `id` is missing",
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
