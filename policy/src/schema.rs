//! The table of keys as a JSON Schema, for editors.

use serde_json::{Map, Value, json};

use crate::keys::{self, Form, Kind, Section, Support};

/// The JSON Schema (2020-12) of a policy file, from the table that the loader itself uses.
///
/// It knows names, types and the words of a choice; patterns and what keys demand of one another
/// are the loader's. A key that this version does not read yet is not in it.
#[must_use]
pub fn schema() -> String {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "execward policy",
        "$ref": "#/$defs/policy",
        "$defs": {"policy": section(Section::Top)},
    });
    format!("{schema:#}")
}

fn section(section: Section) -> Value {
    let keys = || keys::of(section).filter(|key| key.support != Support::Later);
    let properties: Map<String, Value> = keys()
        .map(|key| (key.name.to_owned(), form(key.form)))
        .collect();
    let required = keys().filter(|key| key.support == Support::Required);
    json!({
        "type": "object",
        "properties": properties,
        "required": required.map(|key| key.name).collect::<Vec<_>>(),
        "additionalProperties": false,
    })
}

fn form(form: Form) -> Value {
    let list = |kind, least: u8| json!({"type": "array", "items": text(kind), "minItems": least});
    match form {
        Form::Number => json!({"type": "integer"}),
        Form::Bool => json!({"type": "boolean"}),
        Form::Text(kind) => text(kind),
        Form::Choice(words) => json!({"enum": words}),
        Form::Texts(kind) => json!({"anyOf": [text(kind), list(kind, 1)]}),
        Form::List(kind) => list(kind, 1),
        Form::Names(kind) => list(kind, 0),
        Form::Examples => {
            let line = text(Kind::Free);
            let words = list(Kind::Free, 1);
            json!({"type": "array", "items": {"anyOf": [line, words]}, "minItems": 1})
        }
        // TOML's own type; editors hand it on as text.
        Form::Date => json!({"type": "string", "format": "date-time"}),
        Form::Approval => json!({"anyOf": [
            {"enum": ["unless_trusted", "on_request", "never"]},
            {
                "type": "object",
                "properties": {"reject": section(Section::Reject)},
                "required": ["reject"],
                "additionalProperties": false,
            },
        ]}),
        Form::Table(of) => section(of),
        Form::Tables(of) => json!({"type": "array", "items": section(of)}),
        Form::Map(of) => json!({"type": "object", "additionalProperties": section(of)}),
        Form::FlagForms => json!({"type": "object", "additionalProperties": {"type": "string"}}),
    }
}

fn text(kind: Kind) -> Value {
    match kind {
        Kind::Id => json!({"type": "string", "pattern": "^[a-z0-9._-]+$"}),
        Kind::Digest => json!({"type": "string", "pattern": "^[0-9A-Fa-f]{64}$"}),
        Kind::Duration => json!({"type": "string", "pattern": "^[0-9]+[smh]$"}),
        Kind::Free => json!({"type": "string"}),
        Kind::Program
        | Kind::Command
        | Kind::Literal
        | Kind::Flag
        | Kind::Word
        | Kind::Path
        | Kind::Host
        | Kind::Env
        | Kind::EnvName
        | Kind::Include
        | Kind::Name => json!({"type": "string", "minLength": 1}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_supported_key_is_there_and_no_other() {
        let schema: Value = serde_json::from_str(&schema()).unwrap();
        let names = |pointer: &str| -> Vec<String> {
            let names = schema.pointer(pointer).and_then(Value::as_object);
            names.unwrap().keys().cloned().collect()
        };
        let top = names("/$defs/policy/properties");
        assert!(top.contains(&"tools".to_owned()), "{top:?}");
        assert_eq!(
            names("/$defs/policy/properties/audit/properties"),
            ["redact"]
        );
        let deny = names("/$defs/policy/properties/deny/items/properties");
        assert!(deny.contains(&"instead".to_owned()) && !deny.contains(&"children".to_owned()));
        assert_eq!(
            schema.pointer("/$defs/policy/properties/deny/items/required"),
            Some(&json!(["id"]))
        );
    }
}
