//! Gemini CLI's settings and the rules of its policy engine.

use execward_policy::Decision::{Allow, Ask, Deny};

use super::*;

const SETTINGS: &str = include_str!("../examples/gemini-settings.json");
const SETTINGS_POLICY: &str = include_str!("../examples/gemini-settings-policy.toml");
const RULES: &str = include_str!("../examples/gemini-policy.toml");
const RULES_POLICY: &str = include_str!("../examples/gemini-policy-policy.toml");

fn of(rules: &str) -> Imported {
    import_of(ImportFrom::Gemini, "rules.toml", rules).unwrap()
}

#[test]
fn the_settings_become_the_policy() {
    let imported = import_of(ImportFrom::Gemini, "settings.json", SETTINGS).unwrap();
    assert_eq!(imported.policy, SETTINGS_POLICY);
    check(
        &loaded(SETTINGS_POLICY),
        &[
            ("git status", Allow),
            ("npm test", Allow),
            ("git push", Deny),
            ("rm -f -r x", Deny),
            ("tool web_fetch url=https://a.example", Deny),
            ("tool file_write path=a", Allow),
            ("tool file_write path=/etc/a", Ask),
            ("tool mcp_untrusted_x", Deny),
            ("tool mcp_jira_delete_issue", Deny),
        ],
    );
    let old = r#"{"allowedTools": ["ShellTool(ls)"], "excludeTools": ["ShellTool(ls -R)", "WriteFileTool"]}"#;
    let old = import_of(ImportFrom::Gemini, "settings.json", old).unwrap();
    check(
        &loaded(&old.policy),
        &[
            ("ls x", Allow),
            ("ls -l -R", Deny),
            ("tool file_write path=a", Deny),
        ],
    );
}

#[test]
fn the_rules_become_the_policy() {
    let imported = of(RULES);
    assert_eq!(imported.policy, RULES_POLICY);
    check(
        &loaded(RULES_POLICY),
        &[
            ("rm -rf x", Deny),
            // The rule about `git` asks, and what asks is refused where the rest is.
            ("git status", Deny),
            ("ls", Deny),
            ("tool mcp_my-jira-server_search", Allow),
            ("tool mcp_untrusted-server_x", Deny),
            ("tool file_read path=a", Deny),
        ],
    );
}

#[test]
fn a_condition_makes_a_deny_more_and_an_allow_nothing() {
    for condition in [
        "modes = ['yolo']",
        "interactive = true",
        "subagent = 'x'",
        "toolAnnotations = {a = true}",
    ] {
        let rule = |decision| {
            of(&format!(
                "[[rule]]\ntoolName = 'web_fetch'\ndecision = '{decision}'\npriority = 1\n{condition}\n"
            ))
        };
        assert!(rule("allow").left_out.len() == 1 && !rule("allow").policy.contains("[[allow]]"));
        assert!(rule("deny").narrowed.len() == 1 && rule("deny").policy.contains("[[deny]]"));
    }
}

#[test]
fn where_a_rule_of_lower_priority_is_stricter_that_is_said() {
    for (upper, lower, is_said) in [
        ("allow", "deny", true),
        ("allow", "ask_user", true),
        ("ask_user", "deny", true),
        ("ask_user", "allow", false),
        ("deny", "ask_user", false),
    ] {
        let rule = |prefix: &str, decision: &str, priority: u8| {
            format!(
                "[[rule]]\ncommandPrefix = '{prefix}'\ndecision = '{decision}'\npriority = {priority}\n"
            )
        };
        let imported = of(&(rule("git status", upper, 2) + &rule("git", lower, 1)));
        assert_eq!(
            imported.narrowed.len(),
            usize::from(is_said),
            "{upper} {lower}"
        );
        let apart = of(&(rule("git status", upper, 2) + &rule("npm", lower, 1)));
        assert!(apart.narrowed.is_empty(), "{upper} {lower}");
    }
}

#[test]
fn tools_are_named_as_here() {
    for (keys, rule) in [
        (
            "toolName = 'read_file'\ndecision = 'allow'",
            "tool = \"file_read\"\npath = \"${workspace}/\"",
        ),
        (
            "toolName = 'replace'\ndecision = 'deny'",
            "tool = [\"file_write\", \"file_delete\"]",
        ),
        (
            "toolName = 'glob'\ndecision = 'deny'",
            "tool = \"file_list\"",
        ),
        (
            "toolName = 'run_shell_command'\ndecision = 'deny'",
            "tool = \"bash_execute\"",
        ),
        (
            "toolName = 'google_web_search'\ndecision = 'allow'",
            "tool = \"google_web_search\"",
        ),
        (
            "toolName = 'mcp_a_*'\ndecision = 'allow'",
            "tool = \"mcp_a_*\"",
        ),
        (
            "mcpName = '*'\ntoolName = '*'\ndecision = 'ask_user'",
            "tool = \"mcp_*\"",
        ),
        (
            "mcpName = '*'\ntoolName = 'x'\ndecision = 'deny'",
            "tool = \"mcp_*_x\"",
        ),
        (
            "commandPrefix = 'npm test '\ndecision = 'allow'",
            "command = \"npm test *\"",
        ),
    ] {
        let imported = of(&format!("[[rule]]\npriority = 1\n{keys}\n"));
        assert!(
            imported
                .policy
                .contains(&format!("\"gemini.rule-1\"\n{rule}\n")),
            "{}",
            imported.policy
        );
    }
}

#[test]
fn what_no_rule_says_is_listed() {
    for (keys, is_wider) in [
        (
            "toolName = 'run_shell_command'\nargsPattern = 'x'\ndecision = 'deny'",
            true,
        ),
        (
            "toolName = 'run_shell_command'\ncommandRegex = 'x'\ndecision = 'allow'",
            false,
        ),
        (
            "toolName = 'run_shell_command'\ncommandPrefix = 'python'\ndecision = 'allow'",
            false,
        ),
        (
            "toolName = 'read_file'\ncommandPrefix = 'python'\ndecision = 'deny'",
            true,
        ),
        ("toolName = '*'\ndecision = 'allow'", false),
        ("toolName = 'x'", true),
        ("toolName = 1\ndecision = 'deny'", true),
        ("decision = 'deny'", true),
        ("toolName = 'x'\nnew = 1\ndecision = 'deny'", true),
    ] {
        let imported = of(&format!("[[rule]]\npriority = 1\n{keys}\n"));
        assert_eq!(imported.left_out[0].is_wider, is_wider, "{keys}");
        assert!(!imported.policy.contains("id ="), "{keys}");
    }
    assert!(
        !of("[[rule]]\ntoolName = 'x'\ndecision = 'allow'\n")
            .left_out
            .is_empty()
    );
}
