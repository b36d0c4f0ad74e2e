use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::check::What;

const AGENTS: [Agent; 4] = [Agent::Claude, Agent::Codex, Agent::Gemini, Agent::Cursor];

/// Any JSON, not too deep.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        prop_oneof![Just("/"), Just("a b"), Just("{\"command\":1}"), Just("")]
            .prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        let key = prop_oneof![
            Just("command".to_owned()),
            Just("path".to_owned()),
            "[a-z]{0,4}"
        ];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::hash_map(key, inner, 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// A message with the right names and any values.
fn any_message() -> impl Strategy<Value = Value> {
    let event = prop_oneof![
        Just("PreToolUse"),
        Just("PermissionRequest"),
        Just("BeforeTool"),
        Just("preToolUse"),
        Just("beforeShellExecution"),
        Just("beforeReadFile"),
        Just("beforeMCPExecution"),
        Just("x"),
    ];
    let tool = prop_oneof![
        Just("Bash"),
        Just("Read"),
        Just("Edit"),
        Just("Grep"),
        Just("web_fetch"),
        Just("apply_patch"),
        Just("mcp__a__b"),
    ];
    let names = ["tool_input", "cwd", "command", "file_path"];
    let values = prop::collection::vec(prop::option::of(any_json()), names.len());
    (event, tool, values).prop_map(move |(event, tool, values)| {
        let mut message = json!({"hook_event_name": event, "tool_name": tool});
        for (name, value) in names.into_iter().zip(values) {
            if let Some(value) = value {
                message[name] = value;
            }
        }
        message
    })
}

proptest! {
    #[test]
    fn any_message_is_a_question_or_an_error(message in any_message()) {
        for agent in AGENTS {
            let text = message.to_string();
            let Ok(message) = Message::read(agent, text.as_bytes()) else {
                continue;
            };
            let is_asked = message.question.is_some();
            let is_before = message.event != "x"
                && (BEFORE.contains(&message.event.as_str()) != (agent == Agent::Cursor));
            prop_assert_eq!(is_asked, is_before, "{}", text);
            let cut = text.get(..text.len() - 1).unwrap_or_default();
            prop_assert!(Message::read(agent, cut.as_bytes()).is_err());
        }
    }
}

#[test]
fn the_text_of_a_shell_is_taken_as_it_is() {
    let text = "git  push\n'\u{e9}' \\ $(x)";
    let message = json!({
        "hook_event_name": "PreToolUse", "tool_name": "Bash", "cwd": "/",
        "tool_input": {"command": text},
    });
    let message = Message::read(Agent::Claude, message.to_string().as_bytes()).unwrap();
    let What::Tool(call) = message.question.unwrap().what else {
        panic!("another call");
    };
    assert_eq!(call.shell_text(), Some(text.as_bytes()));
}
