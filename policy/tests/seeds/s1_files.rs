//! The second seed's files and tools.

use execward_policy::seed::{ExecAsk, ExecSecurity, ToolPolicy, Translation};

use crate::*;

/// A tool's restrictions in a mode that lets the rest run.
#[track_caller]
fn restricted(tool: &str, paths: Option<&[&str]>, arguments: Option<&[&str]>) -> Ruleset {
    let tool = ToolPolicy {
        tool_name: tool.to_owned(),
        security: ExecSecurity::Allowlist,
        ask: ExecAsk::OnMiss,
        path_restrictions: paths.map(strings),
        arg_restrictions: arguments.map(strings),
    };
    beside_full(&tool.restrictions())
}

#[track_caller]
fn beside_full(translation: &Translation) -> Ruleset {
    let mode = Source {
        name: "mode",
        text: b"version = 1\nmode.security = 'full'",
        layer: Layer::User,
    };
    let sources: Vec<Source<'_>> = translation.sources().chain([mode]).collect();
    Ruleset::load(&sources, &places(), &NoIncludes).unwrap_or_else(|faults| panic!("{faults}"))
}

#[test]
fn r63_an_operand_is_judged_as_the_file_it_leads_to() {
    let ruleset = policy("mode.security = 'full'\n[[deny]]\nid = 'd'\npath = '/etc/shadow'");
    assert_decisions(
        &ruleset,
        &[
            ("cat ../etc/shadow", Decision::Deny),
            ("cat ../../etc/shadow", Decision::Deny),
            ("cat /usr/../etc/./shadow", Decision::Deny),
            ("cat etc/shadow", Decision::Allow),
        ],
    );
}

#[test]
fn r76_a_tools_policy_is_held_beside_the_other_rules() {
    let tool = ToolPolicy {
        tool_name: "file_write".to_owned(),
        security: ExecSecurity::Allowlist,
        ask: ExecAsk::Always,
        path_restrictions: Some(strings(&["/workspace/**"])),
        arg_restrictions: None,
    };
    let translation = tool.restrictions();
    let charter = Source {
        name: "charter",
        text: b"version = 1\nmode.security = 'full'\n[[allow]]\nid = 'auto-approve'\nprogram = 'tee'\n[[deny]]\nid = 'always-reject'\ncommand = 'cp'",
        layer: Layer::User,
    };
    let sources: Vec<Source<'_>> = translation.sources().chain([charter]).collect();
    let ruleset = Ruleset::load(&sources, &places(), &NoIncludes).unwrap();
    assert_decisions(
        &ruleset,
        &[
            ("tee a", Decision::Allow),
            ("tee /etc/x", Decision::Deny),
            ("cp a b", Decision::Deny),
        ],
    );
}

#[test]
fn r124_a_tool_is_restricted_in_its_files_and_its_arguments() {
    let ruleset = restricted("file_read", Some(&["/workspace/**", "docs/*.md"]), None);
    assert_decisions(
        &ruleset,
        &[
            ("cat a.rs", Decision::Allow),
            ("cat /etc/passwd", Decision::Deny),
            ("cat a.rs ../x", Decision::Deny),
            ("tee /etc/passwd", Decision::Allow),
        ],
    );
    let ruleset = restricted("bash_execute", None, Some(&["*secret*", "--force"]));
    assert_decisions(
        &ruleset,
        &[
            ("cat a", Decision::Allow),
            ("cat my-secrets", Decision::Deny),
            ("git push --force", Decision::Deny),
            ("git push", Decision::Allow),
        ],
    );
}

#[test]
fn r145_a_tools_policy_judges_execs_of_its_class() {
    let ruleset = restricted("file_delete", Some(&["/workspace/target/**"]), None);
    assert_decisions(
        &ruleset,
        &[
            ("rm target/x", Decision::Allow),
            ("rm -r src", Decision::Deny),
            ("shred /etc/x", Decision::Deny),
            ("cat /etc/x", Decision::Allow),
        ],
    );
}

#[test]
fn o46_a_restricted_argument_is_a_refusal() {
    let ruleset = restricted("bash_execute", None, Some(&["*.pem"]));
    assert_decisions(
        &ruleset,
        &[
            ("openssl x509 key.pem", Decision::Deny),
            ("cat a.pem", Decision::Deny),
            ("cat a", Decision::Allow),
        ],
    );
    // An empty list is no list.
    let tool = ToolPolicy {
        tool_name: "bash_execute".to_owned(),
        security: ExecSecurity::Full,
        ask: ExecAsk::Off,
        path_restrictions: Some(Vec::new()),
        arg_restrictions: Some(Vec::new()),
    };
    assert_eq!(
        tool.restrictions()
            .load(&places())
            .unwrap_err()
            .faults()
            .len(),
        2
    );
}
