//! What a rule must say, and how.

use execward_policy::{Layer, NoIncludes, Ruleset, Source};

use crate::{assert_fault, assert_fault_in_rule, load, places};

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
    assert_fault_in_rule("program = \"@shels\"", 11, "there is no class `@shels`");
    assert_fault_in_rule(
        "command = [\"a b\", \"a | b\"]",
        19,
        "shell syntax in a command: `|`",
    );
    assert_fault_in_rule("command = \" \"", 11, "a command has no words");
    assert_fault_in_rule("command = \"rm --\"", 11, "`--` is no flag");
    assert_fault_in_rule("flags = \"force\"", 9, "`force` is no flag");
    assert_fault_in_rule("flags = [\"--a b\"]", 10, "a flag has no blank in it");
    assert_fault_in_rule("cwd = \"src\"", 7, "a path pattern is absolute");
    assert_fault_in_rule("via = \"!x\"", 7, "this key takes no entry with `!`");
    assert_fault_in_rule("sha256 = \"00\"", 10, "a digest has 64 hexadecimal digits");
    assert_fault_in_rule(
        "expires = 2027-01-31",
        11,
        "`expires` takes a date and time with an offset, such as `2027-01-31T18:00:00+01:00`",
    );
    assert_fault_in_rule(
        "match = [\"x 'y\"]",
        10,
        "a quote or a last backslash of the command line is left open",
    );
}

#[test]
fn beside_program_a_command_begins_with_a_bare_name() {
    assert_fault(
        "version = 1\nmode.security = \"full\"\n[[deny]]\nid = \"d\"\nprogram = \"/x\"\ncommand = \"/x y\"",
        6,
        11,
        "beside `program`, the first word is a bare name",
    );
}

#[test]
fn an_allow_names_no_script_as_a_word() {
    assert_fault(
        "version = 1\nmode.security = \"full\"\n[[allow]]\nid = \"a\"\ncommand = \"node app.js\"",
        5,
        11,
        "`app.js` is a script, and a word of a command is compared as text",
    );
}

#[test]
fn an_example_that_fails_is_a_fault_where_it_stands() {
    let rule = |line: &str| {
        format!(
            "version = 1\nmode.security = \"full\"\n[[deny]]\nid = \"d\"\ncommand = \"git push\"\n{line}"
        )
    };
    assert_fault(
        &rule("match = [\"git push\", \"git pull\"]"),
        6,
        22,
        "the rule `d` does not hold for this call: `command` fails",
    );
    assert_fault(
        &rule("not_match = [[\"git\", \"-C\", \"a b\", \"push\"]]"),
        6,
        14,
        "the rule `d` holds for this call",
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
    assert!(Ruleset::load(&sources, &places(), &NoIncludes).is_ok());
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
