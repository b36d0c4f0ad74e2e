//! Keys and the types of their values.

use execward_policy::Layer;

use crate::{assert_fault, assert_fault_in_rule, load};

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
            (
                5,
                "unknown key `denies`",
                Some(
                    "the keys of the top of the file are `version`, `layer`, `include`, \
                     `trusted_dirs`, `notify`, `mode`, `allow`, `ask`, `deny`, `tools`, \
                     `safe_bins`, `charter`, `env`, `audit`"
                )
            ),
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
    let message = "`env_values` is not supported by this version yet";
    assert_fault("version = 1\n[audit]\nenv_values = ['LANG']", 3, 1, message);
}

#[test]
fn the_value_of_a_key_that_does_not_work_yet_is_checked_all_the_same() {
    let found = crate::faults("version = 1\n[audit]\nredact = ['']\nenv_values = ['A=B']");
    assert_eq!(
        found,
        [
            "p.toml:3:11: the pattern is empty",
            "p.toml:4:1: `env_values` is not supported by this version yet",
            "p.toml:4:15: `A=B` is no name",
        ]
    );
}

#[test]
fn what_a_call_names_is_of_the_form_of_its_key() {
    for (line, column, message) in [
        ("path = 'x'", 8, "a path pattern is absolute"),
        ("script = 'x.py'", 10, "a path pattern is absolute"),
        (
            "path = 1",
            8,
            "`path` takes a string or a list of strings, not integer",
        ),
        ("host = 'a b'", 8, "`a b` is no host"),
        ("host = 'x:99999'", 8, "`x:99999` is no host"),
        ("args = ''", 8, "the pattern is empty"),
    ] {
        assert_fault_in_rule(line, column, message);
    }
}

#[test]
fn case_is_ignored_or_not() {
    for (value, found) in [("'yes'", "string"), ("1", "integer"), ("['path']", "array")] {
        assert_fault_in_rule(
            &format!("ignore_case = {value}"),
            15,
            &format!("`ignore_case` takes true or false, not {found}"),
        );
    }
    assert_fault(
        "version = 1\nmode.security = \"full\"\n[[deny]]\nid = \"d\"\nignore_case = true",
        3,
        1,
        "the rule selects nothing",
    );
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
