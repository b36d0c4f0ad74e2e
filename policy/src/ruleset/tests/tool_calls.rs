//! What a policy says of calls of tools.

use super::*;
use crate::request::{Destination, FileKind};
use crate::tool_call::ToolCall;

/// A call in the workspace of paths, URLs and `KEY=VALUE`s, by what they look like.
fn tool_call(tool: &str, named: &[&str]) -> ToolCall {
    let mut call = ToolCall::new(tool);
    call.cwd = Some("/w".into());
    for text in named {
        let list = match text {
            text if text.contains("://") && !text.contains('=') && tool == "web_fetch" => {
                &mut call.urls
            }
            text if text.contains('=') => &mut call.arguments,
            _ => &mut call.paths,
        };
        list.push((*text).into());
    }
    let paths = call.named_paths().into_iter();
    let destinations = paths.map(|path| (path.clone(), Destination::as_written(&path)));
    call.destinations = destinations.collect();
    call
}

fn decide_call(ruleset: &Ruleset, call: &ToolCall) -> Decision {
    ruleset.decide_tool(call, Timestamp::UNIX_EPOCH).decision()
}

#[track_caller]
fn assert_calls(ruleset: &Ruleset, cases: &[(&str, &[&str], Decision)]) {
    for (tool, named, decision) in cases {
        let call = tool_call(tool, named);
        assert_eq!(decide_call(ruleset, &call), *decision, "{tool} {named:?}");
    }
}

#[test]
fn a_rule_without_tool_is_about_calls_only_if_it_denies_or_asks_by_file_or_host_alone() {
    let ruleset = policy(
        "[[deny]]\nid = 'path'\npath = '/w/a'\n\
         [[deny]]\nid = 'host'\nhost = 'evil.example'\n\
         [[deny]]\nid = 'both'\npath = '/w/b'\ncwd = '/w'\n\
         [[deny]]\nid = 'program'\nprogram = 'x'\npath = '/w/c'\n\
         [[allow]]\nid = 'command'\ncommand = 'cat'\npath = '/w/d'",
    );
    assert_calls(
        &ruleset,
        &[
            ("file_read", &["a"], Decision::Deny),
            ("mcp__x", &["k=a"], Decision::Deny),
            ("web_fetch", &["https://evil.example/"], Decision::Deny),
            ("file_read", &["b"], Decision::Ask),
            ("file_read", &["c"], Decision::Ask),
            ("file_read", &["d"], Decision::Ask),
        ],
    );
}

#[test]
fn keys_about_execs_keep_a_rule_from_holding_for_calls() {
    for key in [
        "program = '/x'",
        "command = 'x'",
        "script = '/x'",
        "sha256 = '0000000000000000000000000000000000000000000000000000000000000000'",
        "flags = '-x'",
        "env = 'X'",
    ] {
        let text = format!("[[deny]]\nid = 'd'\ntool = 'file_list'\n{key}");
        assert_calls(&policy(&text), &[("file_list", &["a"], Decision::Allow)]);
    }
    // A history that nobody knows may be any.
    let via = "[[deny]]\nid = 'd'\ntool = 'file_list'\nvia = '/x'";
    assert_calls(&policy(via), &[("file_list", &["a"], Decision::Deny)]);
    let via = "[[allow]]\nid = 'a'\ntool = 'file_read'\nvia = '/x'";
    assert_calls(&policy(via), &[("file_read", &["a"], Decision::Ask)]);
}

#[test]
fn a_path_counts_where_it_leads_and_a_deny_looks_at_what_is_written_too() {
    let ruleset = policy(
        "[[allow]]\nid = 'a'\ntool = 'file_read'\npath = '/w/'\n\
         [[deny]]\nid = 'd'\npath = '/w/secret'",
    );
    let leading = |written: &str, path: &str, is_proven| {
        let mut call = tool_call("file_read", &[written]);
        let destination = Destination {
            path: path.into(),
            kind: FileKind::Regular,
            is_proven,
            sha256: None,
        };
        let given = format!("/w/{written}").into_bytes();
        call.destinations.insert(given, destination);
        decide_call(&ruleset, &call)
    };
    assert_eq!(leading("x", "/w/x", true), Decision::Allow);
    assert_eq!(leading("x", "/etc/x", true), Decision::Ask);
    assert_eq!(leading("x", "/w/secret", true), Decision::Deny);
    assert_eq!(leading("secret", "/w/x", true), Decision::Deny);
    assert_eq!(leading("x", "/w/x", false), Decision::Ask);
    let mut untold = tool_call("file_read", &["x"]);
    untold.destinations.clear();
    assert_eq!(decide_call(&ruleset, &untold), Decision::Deny);
    assert_calls(
        &ruleset,
        &[
            ("file_read", &["sub/../secret"], Decision::Deny),
            ("file_read", &["~/x"], Decision::Deny),
            ("file_read", &[], Decision::Deny),
            ("file_read", &["x", "/etc/x"], Decision::Ask),
            ("file_read", &["x", "secret"], Decision::Deny),
        ],
    );
}

#[test]
fn what_is_deleted_goes_with_what_lies_below() {
    let ruleset = policy("[[deny]]\nid = 'd'\npath = '/w/a/secret'");
    assert_calls(
        &ruleset,
        &[
            ("file_delete", &["a"], Decision::Deny),
            ("file_read", &["a"], Decision::Ask),
        ],
    );
}

#[test]
fn the_arguments_of_an_unknown_tool_may_be_files_and_hosts() {
    let ruleset = policy(
        "[[allow]]\nid = 'a'\ntool = 'mcp__fs'\npath = '/w/'\n\
         [[allow]]\nid = 'h'\ntool = 'mcp__web'\nhost = 'docs.rs'\n\
         [[deny]]\nid = 'o'\ntool = 'mcp__in'\npath = '!/w/'\n\
         [[ask]]\nid = 'in'\ntool = 'mcp__in'",
    );
    assert_calls(
        &ruleset,
        &[
            ("mcp__fs", &["file=/w/x", "text=a line"], Decision::Allow),
            ("mcp__fs", &["file=/w/../x"], Decision::Ask),
            ("mcp__fs", &["file=~/x"], Decision::Ask),
            ("mcp__web", &["url=https://docs.rs/x"], Decision::Allow),
            (
                "mcp__web",
                &["url=https://docs.rs/", "to=http://evil.example"],
                Decision::Ask,
            ),
            ("mcp__web", &["text=docs.rs"], Decision::Ask),
            (
                "mcp__in",
                &["text=all is well", "url=https://x/y"],
                Decision::Ask,
            ),
            ("mcp__in", &["path=/etc/x"], Decision::Deny),
            ("mcp__in", &["path=a/../../etc/x"], Decision::Deny),
            ("mcp__in", &["remote=host:/etc/x"], Decision::Deny),
        ],
    );
    // What the known ones are given beside paths is none.
    let ruleset = policy("[[deny]]\nid = 'd'\npath = '!/w/'");
    assert_calls(
        &ruleset,
        &[("file_write", &["x", "content=/etc/x"], Decision::Ask)],
    );
}

#[test]
fn arguments_are_compared_with_their_names() {
    let ruleset = policy(
        "[[allow]]\nid = 'a'\ntool = 'mcp__x'\nargs = ['branch=feature/*', 'force=false']\n\
         [[deny]]\nid = 'd'\ntool = 'mcp__*'\nargs = 'force=true'",
    );
    assert_calls(
        &ruleset,
        &[
            (
                "mcp__x",
                &["branch=feature/a", "force=false"],
                Decision::Allow,
            ),
            ("mcp__x", &["branch=main"], Decision::Ask),
            ("mcp__x", &["branch=feature/../main"], Decision::Ask),
            (
                "mcp__x",
                &["branch=feature/a", "force=true"],
                Decision::Deny,
            ),
            ("mcp__y", &["force=true"], Decision::Deny),
        ],
    );
}

#[test]
fn an_exec_by_a_tool_has_two_names_and_the_mode() {
    let ruleset = policy("[[deny]]\nid = 'd'\ntool = 'exec_shell'\nargs = 'command=rm*'");
    for tool in ["bash_execute", "exec_shell"] {
        assert_calls(
            &ruleset,
            &[
                (tool, &["command=rm x"], Decision::Deny),
                (tool, &["command=ls"], Decision::Ask),
            ],
        );
    }
}

#[test]
fn questions_are_lifted_escalated_and_silenced_as_for_execs() {
    let agent = "version = 1\nlayer = 'agent'\n[[ask]]\nid = 'q'\ntool = 'file_read'\n\
        [[ask]]\nid = 'e'\ntool = 'mcp__up'\nescalate = true\n\
        [[allow]]\nid = 'own'\ntool = 'file_read'";
    let user = "version = 1\nmode.security = 'allowlist'\n\
        [[allow]]\nid = 'a'\ntool = 'file_read'\npath = '/w/'\n";
    let ruleset = load(&[(agent, Layer::User), (user, Layer::User)]);
    assert_calls(
        &ruleset,
        &[
            ("file_read", &["x"], Decision::Allow),
            ("file_read", &["/x"], Decision::Ask),
            ("mcp__up", &[], Decision::Deny),
        ],
    );
    let silent = format!("{user}[tools.file_write]\nask = 'always'").replace(
        "mode.security = 'allowlist'",
        "mode = { security = 'allowlist', ask = 'off' }",
    );
    let ruleset = load(&[(&silent, Layer::User)]);
    assert_calls(
        &ruleset,
        &[
            ("file_read", &["x"], Decision::Allow),
            ("file_read", &["/x"], Decision::Deny),
            ("file_write", &["x"], Decision::Deny),
        ],
    );
}

#[test]
fn what_a_floor_says_of_the_mode_holds_for_tools_too() {
    let user =
        "version = 1\nmode.security = 'full'\n[tools.mcp__x]\nsecurity = 'full'\nask = 'off'";
    let floor = "version = 1\nlayer = 'floor'\nmode.security = 'deny'";
    let ruleset = load(&[(user, Layer::User)]);
    assert_calls(&ruleset, &[("mcp__x", &[], Decision::Allow)]);
    let ruleset = load(&[(user, Layer::User), (floor, Layer::User)]);
    assert_calls(&ruleset, &[("mcp__x", &[], Decision::Deny)]);
}

#[test]
fn an_explanation_names_the_rules_that_had_a_say() {
    let ruleset = policy(
        "[[allow]]\nid = 'a'\ntool = 'file_read'\npath = '/w/'\n\
         [[ask]]\nid = 'q'\npath = '/x'\n[[deny]]\nid = 'other'\ntool = 'file_write'",
    );
    let call = tool_call("file_read", &["/x"]);
    let explained = ruleset.explain_tool(&call, Timestamp::UNIX_EPOCH);
    let hits: Vec<_> = explained.hits.iter().map(|hit| hit.rule.id()).collect();
    let misses: Vec<_> = explained
        .misses
        .iter()
        .map(|miss| (miss.rule.id(), miss.key))
        .collect();
    assert_eq!((hits, misses), (vec!["q"], vec![("a", "path")]));
    let unknown = ruleset.decide_tool(&ToolCall::new("x"), Timestamp::UNIX_EPOCH);
    assert!(matches!(unknown.basis(), Basis::UnknownTool));
}

#[test]
fn a_path_or_a_host_is_found_in_whatever_an_argument_wraps_it() {
    let allow = policy("[[allow]]\nid = 'a'\ntool = 'mcp__fs'\npath = '/w/'");
    let deny = load(&[(
        "version = 1\nmode.security = 'full'\n[tools.mcp__fs]\nsecurity = 'full'\n\
         [[deny]]\nid = 'p'\npath = ['/w/.env', '/etc/']\n\
         [[deny]]\nid = 'h'\nhost = 'evil.example'",
        Layer::User,
    )]);
    for argument in [
        "f=[\"/etc/x\"]",
        "f={\"a\":[\"/etc/x\"]}",
        "f= /etc/x",
        "f=-C/etc",
        "f=cat /etc/x",
        "f=file:///etc/x",
        "f=file:///%65tc/x",
        "/etc/x=1",
    ] {
        let call = tool_call("mcp__fs", &[argument]);
        assert_eq!(decide_call(&allow, &call), Decision::Ask, "{argument}");
        assert_eq!(decide_call(&deny, &call), Decision::Deny, "{argument}");
    }
    for argument in [
        "f={\"a\":[\".env\"]}",
        "u=[\"http://evil.example\"]",
        "q=a,http://evil.example/x",
        "q=http:///evil.example",
    ] {
        let call = tool_call("mcp__fs", &[argument]);
        assert_eq!(decide_call(&deny, &call), Decision::Deny, "{argument}");
    }
    for argument in ["f=[\"/w/x\"]", "text=all is well"] {
        let call = tool_call("mcp__fs", &[argument]);
        assert_eq!(decide_call(&allow, &call), Decision::Allow, "{argument}");
        assert_eq!(decide_call(&deny, &call), Decision::Allow, "{argument}");
    }
}

#[test]
fn what_hosts_may_read_in_two_ways_proves_nothing() {
    let ruleset = policy(
        "[tools.file_write]\nask = 'on-miss'\n\
         [[allow]]\nid = 'a'\ntool = 'file_write'\npath = '/w/'\n\
         [[deny]]\nid = 'd'\npath = '/out/'",
    );
    assert_calls(
        &ruleset,
        &[
            ("file_write", &["x"], Decision::Allow),
            ("file_write", &["file:///out/x"], Decision::Deny),
            ("file_write", &["x", "path=/out/x"], Decision::Deny),
        ],
    );
    // By the file system it stays below, by its text it does not.
    let mut call = tool_call("file_write", &["a/../../x"]);
    let destination = Destination::as_written(b"/w/src/x");
    call.destinations
        .insert(b"/w/a/../../x".to_vec(), destination);
    assert_eq!(decide_call(&ruleset, &call), Decision::Deny);
}

#[test]
fn a_deny_does_not_make_a_tool_known() {
    let ruleset = load(&[(
        "version = 1\nmode.security = 'full'\n[[deny]]\nid = 'd'\ntool = 'mcp__*'\nargs = 'force=true'",
        Layer::User,
    )]);
    assert_calls(&ruleset, &[("mcp__x", &["force=false"], Decision::Deny)]);
}
