//! The second seed's policies for tools.

use execward_policy::ToolCall;
use execward_policy::seed::{AllowlistPolicy, ToolPolicy};

use crate::s0_types::{assert_round_trip, error_of};
use crate::*;

const TOOLS: [&str; 6] = [
    "file_read",
    "file_write",
    "file_delete",
    "file_list",
    "web_fetch",
    "bash_execute",
];

fn on(tool: &str, path: &str) -> ToolCall {
    let mut call = ToolCall::new(tool);
    call.paths.push(path.into());
    call
}

fn fetching(url: &str) -> ToolCall {
    let mut call = ToolCall::new("web_fetch");
    call.urls.push(url.into());
    call
}

/// What becomes of the call in the workspace.
fn decide_tool(ruleset: &Ruleset, call: &ToolCall) -> Decision {
    let mut call = call.clone();
    call.cwd = Some("/workspace".into());
    let paths = call.named_paths().into_iter();
    let destinations = paths.map(|path| (path.clone(), Destination::as_written(&path)));
    call.destinations = destinations.collect();
    ruleset.decide_tool(&call, NOW).decision()
}

/// A policy of these rules alone.
#[track_caller]
fn allowlist(rules: &str) -> Ruleset {
    policy(&format!("mode.security = 'allowlist'\n{rules}"))
}

/// The same, beside what execward brings.
fn beside_builtin(rules: &str) -> Ruleset {
    let text = format!("version = 1\nmode.security = 'allowlist'\n{rules}");
    let places = places();
    let own = Source {
        name: "p.toml",
        text: text.as_bytes(),
        layer: Layer::User,
    };
    let sources: Vec<_> = execward_policy::builtin(&places).chain([own]).collect();
    Ruleset::load(&sources, &places, &NoIncludes).unwrap_or_else(|faults| panic!("{faults}"))
}

#[test]
fn r109_six_tools_have_a_policy_each() {
    let unset = policy("");
    for tool in TOOLS {
        let set = policy(&format!("[tools.{tool}]\nsecurity = 'full'\nask = 'off'"));
        let open = decide_tool(&set, &ToolCall::new(tool));
        assert_eq!(open, Decision::Allow, "{tool}");
        let closed = policy(&format!("[tools.{tool}]\nsecurity = 'deny'"));
        let closed = decide_tool(&closed, &ToolCall::new(tool));
        assert_eq!(closed, Decision::Deny, "{tool}");
        let others = TOOLS.into_iter().filter(|other| *other != tool);
        for other in others {
            let call = ToolCall::new(other);
            assert_eq!(decide_tool(&set, &call), decide_tool(&unset, &call));
        }
    }
}

#[test]
fn r110_reading_is_by_path_and_secrets_are_asked_about() {
    let ruleset = beside_builtin("[[allow]]\nid = 'r'\ntool = 'file_read'\npath = '${workspace}/'");
    for (path, decision) in [
        ("src/a.rs", Decision::Allow),
        ("/workspace/src/../a.rs", Decision::Allow),
        ("../etc/passwd", Decision::Ask),
        ("/workspace-evil/a", Decision::Ask),
        ("~/.ssh/id_ed25519", Decision::Ask),
    ] {
        assert_eq!(
            decide_tool(&ruleset, &on("file_read", path)),
            decision,
            "{path}"
        );
    }
}

#[test]
fn r111_r112_what_changes_or_deletes_is_asked_about_though_it_is_allowed() {
    for tool in ["file_write", "file_delete"] {
        let allow = format!("[[allow]]\nid = 'w'\ntool = '{tool}'\npath = '${{workspace}}/'");
        let ruleset = allowlist(&allow);
        assert_eq!(
            decide_tool(&ruleset, &on(tool, "a")),
            Decision::Ask,
            "{tool}"
        );
        let ruleset = allowlist(&format!("[tools.{tool}]\nask = 'on-miss'\n{allow}"));
        assert_eq!(
            decide_tool(&ruleset, &on(tool, "a")),
            Decision::Allow,
            "{tool}"
        );
        assert_eq!(
            decide_tool(&ruleset, &on(tool, "/a")),
            Decision::Ask,
            "{tool}"
        );
    }
}

#[test]
fn r114_fetching_is_by_host_and_can_be_opened() {
    let ruleset = allowlist("[[allow]]\nid = 'w'\ntool = 'web_fetch'\nhost = 'docs.rs'");
    for (url, decision) in [
        ("https://docs.rs/serde", Decision::Allow),
        ("https://docs.rs@evil.example/", Decision::Ask),
        ("https:docs.rs", Decision::Ask),
        ("file:///etc/shadow", Decision::Ask),
    ] {
        assert_eq!(decide_tool(&ruleset, &fetching(url)), decision, "{url}");
    }
    let open = policy("[tools.web_fetch]\nsecurity = 'full'\nask = 'off'");
    let anywhere = decide_tool(&open, &fetching("https://evil.example/"));
    assert_eq!(anywhere, Decision::Allow);
}

#[test]
fn r115_listing_is_let() {
    let ruleset = policy("");
    assert_eq!(
        decide_tool(&ruleset, &on("file_list", "/etc")),
        Decision::Allow
    );
    let ruleset = beside_builtin("");
    let secrets = decide_tool(&ruleset, &on("file_list", "/home/u/.ssh"));
    assert_eq!(secrets, Decision::Deny, "asked, where listing asks nothing");
}

#[test]
fn r116_a_tool_without_a_policy_is_refused() {
    let ruleset = policy(
        "mode = { security = 'full' }\n[tools.mcp__a]\nask = 'off'\n\
         [[ask]]\nid = 'b'\ntool = 'mcp__b__*'\npath = '/x'",
    );
    for (tool, decision) in [
        ("mcp__a", Decision::Allow),
        ("mcp__b__c", Decision::Allow),
        ("mcp__c", Decision::Deny),
        ("File_read", Decision::Deny),
        ("", Decision::Deny),
    ] {
        assert_eq!(
            decide_tool(&ruleset, &ToolCall::new(tool)),
            decision,
            "{tool}"
        );
    }
}

#[test]
fn r124_a_tool_policy_has_its_words() {
    let json = r#"{"toolName":"file_read","security":"allowlist","ask":"on-miss","pathRestrictions":["/w/**"],"argRestrictions":["--x"]}"#;
    assert_round_trip::<ToolPolicy>(json);
    assert_round_trip::<ToolPolicy>(r#"{"toolName":"t","security":"full","ask":"off"}"#);
    let error = error_of::<ToolPolicy>(r#"{"tool":"t","security":"full","ask":"off"}"#);
    assert!(error.contains("unknown field `tool`"), "{error}");
    let json = r#"{"toolName":"mcp__a","security":"full","ask":"off","pathRestrictions":["/workspace/**"],"argRestrictions":["mode=fast*"]}"#;
    let policy = AllowlistPolicy {
        tool_policies: vec![serde_json::from_str(json).unwrap()],
        ..AllowlistPolicy::default()
    };
    let ruleset = load_translation(&policy.translate(None).unwrap());
    for (arguments, decision) in [
        (&["file=/workspace/x", "note=all well"][..], Decision::Allow),
        (&["file=/workspace/../etc/x"], Decision::Deny),
        (&["file=/etc/x"], Decision::Deny),
        (&["at=a:/etc/x"], Decision::Deny),
        (&["mode=faster"], Decision::Deny),
        (&["mode=slow"], Decision::Allow),
    ] {
        let mut call = ToolCall::new("mcp__a");
        call.arguments = arguments.iter().map(|text| (*text).into()).collect();
        assert_eq!(decide_tool(&ruleset, &call), decision, "{arguments:?}");
    }
}

#[test]
fn o30_the_words_for_tools_are_modes() {
    // allowlist, prompt, allow: of what is allowed, and of what is not.
    for (tool, allowed, missed) in [
        ("file_read", Decision::Allow, Decision::Ask),
        ("file_write", Decision::Ask, Decision::Ask),
        ("file_delete", Decision::Ask, Decision::Ask),
        ("file_list", Decision::Allow, Decision::Allow),
    ] {
        let ruleset = allowlist(&format!(
            "[[allow]]\nid = 'a'\ntool = '{tool}'\npath = '/x'"
        ));
        assert_eq!(decide_tool(&ruleset, &on(tool, "/x")), allowed, "{tool}");
        assert_eq!(decide_tool(&ruleset, &on(tool, "/y")), missed, "{tool}");
    }
}

#[test]
fn o41_fetching_is_no_reading() {
    let ruleset = allowlist("[[allow]]\nid = 'r'\ntool = 'file_read'");
    assert_eq!(
        decide_tool(&ruleset, &fetching("https://x.example/")),
        Decision::Ask
    );
    let ruleset = allowlist("[[deny]]\nid = 'h'\nhost = '!docs.rs'");
    assert_eq!(
        decide_tool(&ruleset, &fetching("https://x.example/")),
        Decision::Deny
    );
    assert_eq!(
        decide_tool(&ruleset, &fetching("https://docs.rs/")),
        Decision::Ask
    );
    assert_eq!(
        decide_tool(&ruleset, &ToolCall::new("web_fetch")),
        Decision::Deny
    );
}

#[test]
fn o42_secrets_are_not_served() {
    // Whatever the class, and though all of it is let.
    let open = TOOLS.map(|tool| format!("[tools.{tool}]\nsecurity = 'full'\nask = 'on-miss'\n"));
    let ruleset = beside_builtin(&open.concat());
    for tool in ["file_read", "file_write", "file_delete", "file_list"] {
        for path in [
            "/home/u/.ssh/id_ed25519",
            "/etc/shadow",
            "../home/u/.aws/credentials",
        ] {
            assert_eq!(
                decide_tool(&ruleset, &on(tool, path)),
                Decision::Ask,
                "{tool} {path}"
            );
        }
        assert_eq!(
            decide_tool(&ruleset, &on(tool, "/etc/passwd")),
            Decision::Allow,
            "{tool}"
        );
    }
    assert_eq!(
        decide_tool(&ruleset, &fetching("file:///etc/shadow")),
        Decision::Ask
    );
}
