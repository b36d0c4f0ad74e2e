//! What the policy says of a call of a tool, in words.

use execward_policy::{Explanation, ToolCall};
use serde::Serialize;

use super::shown;
use crate::audit::{displayed, quoted};

/// The call as JSON has it.
#[derive(Serialize)]
struct Shown {
    tool: String,
    paths: Vec<String>,
    urls: Vec<String>,
    args: Vec<String>,
}

/// Verdict, call, and each rule that had a say.
pub(super) fn text(call: &ToolCall, explanation: &Explanation<'_>) -> String {
    let named = |key: &'static str, texts: &[Vec<u8>]| {
        let words = texts.iter().map(|text| quoted(&displayed(text)));
        let words = words.map(|word| format!(" {key} {word}"));
        words.collect::<String>()
    };
    let words = [
        format!("tool {}", quoted(&call.tool)),
        named("path", &call.paths),
        named("url", &call.urls),
        named("arg", &call.arguments),
    ];
    shown::text(&words.concat(), explanation, &[])
}

/// The same as one line of JSON.
pub(super) fn json(call: &ToolCall, explanation: &Explanation<'_>) -> serde_json::Result<String> {
    let texts = |texts: &[Vec<u8>]| texts.iter().map(|text| displayed(text)).collect();
    let shown = Shown {
        tool: call.tool.clone(),
        paths: texts(&call.paths),
        urls: texts(&call.urls),
        args: texts(&call.arguments),
    };
    shown::json(shown, explanation)
}
