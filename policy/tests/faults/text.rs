//! The file as a text: its encoding, its size, its TOML.

use execward_policy::{Layer, NoIncludes, Ruleset, Source};

use crate::{faults, load, places};

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
        "p.toml:1:1: a policy has at most 8388608 bytes, and this has more"
    );
    let text = [b"version = 1\n#".as_slice(), &text[..8 * 1024 * 1024 - 13]].concat();
    let source = Source {
        name: "p",
        text: &text,
        layer: Layer::User,
    };
    assert!(Ruleset::load(&[source], &places(), &NoIncludes).is_ok());
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
