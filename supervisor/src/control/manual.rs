//! The manual of the channel and its JSON Schema are those of the code.

use std::borrow::Cow;
use std::fs;
use std::path::Path;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::wire::{FromClient, FromGate};
use crate::audit::ExecId;
use crate::grants::Span;

const MANUAL: &str = include_str!("../../docs/channel.md");
const SCHEMA: &str = "docs/channel.schema.json";

impl JsonSchema for ExecId {
    fn schema_name() -> Cow<'static, str> {
        "ExecId".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Names one exec of a session, in its records and on its standard error.",
            "type": "string",
            "pattern": "^[0-9a-f]{4,16}$"
        })
    }
}

impl JsonSchema for Span {
    fn schema_name() -> Cow<'static, str> {
        "Span".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "How long something holds: `once`, `subtree`, `session`, `always`, a time from now \
                (`2h`, `3d`), a date (to its end, UTC), or a time with its zone.",
            "type": "string"
        })
    }
}

/// Each message of a section of the manual, with its type.
fn messages_of_the_manual(section: &str) -> Vec<(String, Value)> {
    let (_, text) = MANUAL.split_once(&format!("\n## {section}\n")).unwrap();
    let text = text.split("\n## ").next().unwrap();
    let lines = text.lines().filter(|line| line.starts_with("{\""));
    let message = |line: &str| {
        let message: Value = serde_json::from_str(line).unwrap();
        (message["type"].as_str().unwrap().to_owned(), message)
    };
    lines.map(message).collect()
}

/// Whether the manual has every one of `types`, and each of its messages is one of `M`, no more and no less.
fn check_section<M: DeserializeOwned + Serialize>(section: &str, types: &[&str]) {
    let messages = messages_of_the_manual(section);
    for (name, message) in &messages {
        let read: M = serde_json::from_value(message.clone()).unwrap();
        assert_eq!(serde_json::to_value(&read).unwrap(), *message, "{name}");
    }
    for name in types {
        assert!(
            messages.iter().any(|(own, _)| own == name),
            "{section}: {name}"
        );
    }
    assert!(
        messages
            .iter()
            .all(|(own, _)| types.contains(&own.as_str()))
    );
}

#[test]
fn the_messages_of_the_manual_are_those_of_the_code() {
    check_section::<FromClient>(
        "From a client",
        &[
            "hello",
            "list",
            "subscribe",
            "approval_response",
            "grants",
            "grant",
            "revoke",
            "policy_part",
            "policy_load",
            "status",
            "stop",
            "tool_check",
            "escalate",
            "escalation_withdrawn",
        ],
    );
    check_section::<FromGate>(
        "From the gate",
        &[
            "hello",
            "escalation_settled",
            "approval_required",
            "listed",
            "subscribed",
            "approval_settled",
            "grant",
            "grants_listed",
            "granted",
            "revoked",
            "policy_loaded",
            "policy_rejected",
            "status",
            "stopping",
            "tool_verdict",
            "error",
        ],
    );
}

/// What a client may send and a gate may say, each as one schema in `$defs`.
fn schema() -> Value {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    generator.subschema_for::<FromClient>();
    generator.subschema_for::<FromGate>();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "The control channel of execward, protocol 1: one object a line",
        "anyOf": [{ "$ref": "#/$defs/FromClient" }, { "$ref": "#/$defs/FromGate" }],
        "$defs": generator.take_definitions(true),
    })
}

/// `EXECWARD_BLESS=1` writes it anew.
#[test]
fn the_schema_is_that_of_the_code() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(SCHEMA);
    let now = serde_json::to_string_pretty(&schema()).unwrap() + "\n";
    if std::env::var_os("EXECWARD_BLESS").is_some() {
        fs::write(&path, &now).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == now, "{SCHEMA} is not that of the code: bless it");
}

fn is_valid(side: &str, message: &Value) -> Result<(), String> {
    let mut schemas = boon::Schemas::new();
    let mut compiler = boon::Compiler::new();
    compiler.add_resource("channel.json", schema()).unwrap();
    let at = format!("channel.json#/$defs/{side}");
    let index = compiler.compile(&at, &mut schemas).unwrap();
    let validated = schemas.validate(message, index);
    validated.map_err(|error| error.to_string())
}

#[test]
fn the_messages_of_the_manual_are_of_the_schema() {
    for (section, side) in [
        ("From a client", "FromClient"),
        ("From the gate", "FromGate"),
    ] {
        for (name, message) in messages_of_the_manual(section) {
            is_valid(side, &message).unwrap_or_else(|error| panic!("{name}: {error}"));
        }
    }
}

#[test]
fn what_is_no_message_is_not_of_the_schema() {
    for wrong in [
        json!({}),
        json!({ "type": "hello" }),
        json!({ "type": "hello", "protocol": "1" }),
        json!({ "type": "open", "protocol": 1 }),
        json!({ "type": "revoke", "id": 7 }),
        json!({ "type": "tool_check", "requestId": "7", "tool": "t", "file": "/etc/passwd" }),
        json!({
            "type": "approval_response", "sessionId": "s", "requestId": "3f9c", "decision": "deny"
        }),
        json!({
            "type": "approval_response", "sessionId": "s", "requestId": "3f9c", "digest": "d",
            "decision": "allow"
        }),
    ] {
        assert!(is_valid("FromClient", &wrong).is_err(), "{wrong}");
    }
}
