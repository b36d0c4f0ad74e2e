//! Codex's rules and configuration.

use execward_policy::Decision::{Allow, Ask, Deny};

use super::*;

const RULES: &str = include_str!("../examples/codex-default.rules");
const POLICY: &str = include_str!("../examples/codex-default.toml");
const CONFIG: &str = include_str!("../examples/codex-config.toml");
const CONFIG_POLICY: &str = include_str!("../examples/codex-config-policy.toml");

fn of(rules: &str) -> Imported {
    import_of(ImportFrom::Codex, "default.rules", rules).unwrap()
}

#[test]
fn the_rules_become_the_policy() {
    assert_eq!(of(RULES).policy, POLICY);
    check(
        &loaded(POLICY),
        &[
            ("gh pr view 7888", Ask),
            ("gh pr list --json title", Ask),
            ("cargo test --workspace", Allow),
            ("cargo publish", Ask),
            ("git status --short", Allow),
            ("git push", Ask),
            ("rm -r -f target", Deny),
            ("rm target", Ask),
            ("git reset HEAD~1 --hard", Deny),
            ("python3 x.py", Ask),
            ("bash -lc 'make lint'", Ask),
        ],
    );
}

#[test]
fn the_configuration_becomes_a_mode() {
    let imported = import_of(ImportFrom::Codex, "config.toml", CONFIG).unwrap();
    assert_eq!(imported.policy, CONFIG_POLICY);
    check(
        &loaded(CONFIG_POLICY),
        &[("ls", Deny), ("tool file_list path=/", Deny)],
    );
    let untrusted = import_of(
        ImportFrom::Codex,
        "config.toml",
        "approval_policy = 'untrusted'",
    )
    .unwrap();
    assert!(untrusted.left_out.is_empty() && untrusted.narrowed.is_empty());
    check(&loaded(&untrusted.policy), &[("ls", Ask)]);
}

#[test]
fn a_file_is_told_by_its_name_or_its_text() {
    for (name, text) in [
        ("x", RULES),
        ("x", CONFIG),
        ("x.rules", RULES),
        ("x.toml", CONFIG),
    ] {
        assert!(import_of(ImportFrom::Codex, name, text).is_ok(), "{name}");
    }
    assert!(import_of(ImportFrom::Codex, "x.toml", RULES).is_err());
    assert!(import_of(ImportFrom::Codex, "x.rules", CONFIG).is_err());
}

#[test]
fn alternatives_make_commands_up_to_a_number() {
    let letters: Vec<String> = ('a'..='z').map(|c| format!("\"{c}\"")).collect();
    let list = letters.join(",");
    let few = of(&format!(
        "prefix_rule(pattern = ['git', [{list}]], decision = 'forbidden')"
    ));
    assert_eq!(few.policy.matches("[[deny]]").count(), 26);
    let many = of(&format!(
        "prefix_rule(pattern = ['git', [{list}], [{list}]], decision = 'forbidden')"
    ));
    assert!(many.left_out[0].is_wider && !many.policy.contains("[[deny]]"));
}

#[test]
fn what_no_rule_says_is_listed() {
    for (rule, is_wider) in [
        ("prefix_rule(pattern = [])", false),
        ("prefix_rule(pattern = ['a', 1])", false),
        ("prefix_rule(pattern = [[]], decision = 'prompt')", true),
        ("prefix_rule(pattern = ['a'], decision = 'maybe')", true),
        ("prefix_rule(decision = 'forbidden')", true),
        (
            "prefix_rule(pattern = ['a'], decision = 'forbidden', os = 'linux')",
            true,
        ),
        (
            "prefix_rule(pattern = ['a\\x00'], decision = 'forbidden')",
            true,
        ),
        (
            "prefix_rule(pattern = ['cd'], decision = 'forbidden')",
            true,
        ),
        ("network_rule(host = 'a', decision = 'allow')", false),
        ("new_rule()", true),
    ] {
        let imported = of(rule);
        assert_eq!(imported.left_out[0].is_wider, is_wider, "{rule}");
    }
}

#[test]
fn a_word_is_compared_as_it_is() {
    let imported =
        of(r#"prefix_rule(pattern = ["npm", "run", "a b;$*'c"], decision = "forbidden")"#);
    check(
        &loaded(&imported.policy),
        &[
            ("npm run \"a b;\\$*'c\" x", Deny),
            ("npm run 'a b;$xc'", Ask),
            ("npm run a", Ask),
        ],
    );
}
