//! What a host of tools says before a call, and what it hears.

use std::collections::BTreeMap;
use std::fmt;

use execward_policy::ToolCall;
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::wire::Unanswered;
use crate::audit::RuleNote;
use crate::judge::Judgement;

/// Longest name that a host may give its question, in bytes.
const REQUEST_ID_MAX_BYTES: usize = 128;

/// A call of a tool that is to be judged. A field that is not known is an error here: it may be the
/// one that names a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ToolCheck {
    /// The host's own name for the question, to be found again in the answer.
    pub(crate) request_id: String,
    /// `file_read`, `file_write`, `file_delete`, `file_list`, `web_fetch`, `bash_execute`, or any.
    pub(crate) tool: String,
    /// The files that the call names.
    #[serde(default)]
    pub(crate) paths: Vec<String>,
    /// The URLs that it names.
    #[serde(default)]
    pub(crate) urls: Vec<String>,
    /// Its other arguments: text, or any JSON.
    #[serde(default, deserialize_with = "once_each")]
    pub(crate) arguments: BTreeMap<String, Value>,
    /// The directory, absolute, from which relative paths are meant. Without it nobody can tell
    /// where they lead.
    #[serde(default)]
    pub(crate) cwd: Option<String>,
}

/// What the policy says of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(crate) struct ToolVerdict {
    pub(crate) request_id: String,
    /// `allow`, `ask` or `deny`. What is to be asked is the host's to ask.
    pub(crate) verdict: String,
    /// What becomes of a question that nobody answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) unanswered: Option<Unanswered>,
    /// On what ground, as in the record.
    pub(crate) ground: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) rule: Option<RuleNote>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) instead: Option<String>,
}

/// Takes an object that has no key twice: whoever acts on the other one would do what nobody has
/// judged.
fn once_each<'de, D: Deserializer<'de>>(object: D) -> Result<BTreeMap<String, Value>, D::Error> {
    struct Once;
    impl<'de> Visitor<'de> for Once {
        type Value = BTreeMap<String, Value>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Self::Value, A::Error> {
            let mut arguments = BTreeMap::new();
            while let Some((key, value)) = object.next_entry::<String, Value>()? {
                if arguments.insert(key.clone(), value).is_some() {
                    return Err(A::Error::custom(format!("duplicate argument `{key}`")));
                }
            }
            Ok(arguments)
        }
    }
    object.deserialize_map(Once)
}

impl ToolCheck {
    /// Whether it can be judged at all.
    ///
    /// # Errors
    /// Why not.
    pub(crate) fn check(&self) -> Result<(), &'static str> {
        let mut texts = self.paths.iter().chain(&self.urls).chain(&self.cwd);
        if self.request_id.len() > REQUEST_ID_MAX_BYTES {
            Err("`requestId` is longer than 128 bytes")
        } else if self.tool.is_empty() {
            Err("`tool` is empty")
        } else if self.cwd.as_ref().is_some_and(|cwd| !cwd.starts_with('/')) {
            Err("`cwd` is not absolute")
        } else if texts.any(|text| text.contains('\0')) {
            Err("a path or URL has a NUL byte")
        } else if self.paths.iter().chain(&self.urls).any(String::is_empty) {
            Err("a path or URL is empty")
        } else {
            Ok(())
        }
    }

    /// The question's name, and the call.
    pub(crate) fn into_call(self) -> (String, ToolCall) {
        let bytes = |texts: Vec<String>| texts.into_iter().map(String::into_bytes).collect();
        let arguments = self.arguments.into_iter();
        let arguments = arguments.map(|(key, value)| match value {
            Value::String(text) => format!("{key}={text}").into_bytes(),
            json @ (Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::Array(_)
            | Value::Object(_)) => format!("{key}={json}").into_bytes(),
        });
        let call = ToolCall {
            paths: bytes(self.paths),
            urls: bytes(self.urls),
            arguments: arguments.collect(),
            cwd: self.cwd.map(String::into_bytes),
            ..ToolCall::new(self.tool)
        };
        (self.request_id, call)
    }
}

impl ToolVerdict {
    pub(crate) fn new(request_id: String, judgement: &Judgement) -> Self {
        let is_question = judgement.decision == execward_policy::Decision::Ask;
        Self {
            request_id,
            verdict: judgement.decision.as_str().to_owned(),
            unanswered: is_question.then_some(judgement.unanswered),
            ground: judgement.ground.as_str().to_owned(),
            rule: judgement.rule.clone(),
            reason: judgement.reason_in_words().map(str::to_owned),
            instead: judgement.instead.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> Result<(), String> {
        let text = format!("{{\"requestId\":\"1\",\"tool\":\"t\"{text}}}");
        let check: ToolCheck = serde_json::from_str(&text).map_err(|error| error.to_string())?;
        check.check().map_err(str::to_owned)
    }

    #[test]
    fn what_cannot_be_judged_is_an_error() {
        assert_eq!(check(""), Ok(()));
        let whole = r#","paths":["a"],"urls":["https://x/"],"arguments":{"k":"v"},"cwd":"/w""#;
        assert_eq!(check(whole), Ok(()));
        assert_eq!(check(r#","arguments":{"k":["/x",{"a":1}]}"#), Ok(()));
        for wrong in [
            r#","path":"a""#,
            r#","paths":"a""#,
            r#","paths":["a\u0000b"]"#,
            r#","paths":[""]"#,
            r#","cwd":"w""#,
            r#","arguments":{"k":"a","k":"b"}"#,
            r#","arguments":["k"]"#,
        ] {
            assert!(check(wrong).is_err(), "{wrong}");
        }
    }
}
