//! A call of a tool that nobody makes: what it names is followed as for this very process.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

use execward_policy::{Explanation, ToolCall};
use jiff::Timestamp;
use serde::Serialize;

use super::CheckError;
use super::call::Caller;
use super::shown;
use crate::audit::{displayed, quoted};
use crate::cli::CheckArgs;
use crate::policy::LoadedPolicy;

/// The call that the arguments describe, if they describe one of a tool.
pub(super) fn call_of(args: &CheckArgs) -> Option<ToolCall> {
    let bytes = |texts: &[OsString]| texts.iter().map(|text| text.as_bytes().to_vec()).collect();
    Some(ToolCall {
        paths: bytes(&args.path),
        urls: bytes(&args.url),
        arguments: args.arg.iter().map(|text| text.clone().into()).collect(),
        ..ToolCall::new(args.tool.clone()?)
    })
}

/// Judges the call, and puts it in words.
pub(super) fn explained<'p>(
    call: &mut ToolCall,
    caller: &mut Caller,
    policy: &'p LoadedPolicy,
) -> Result<Explanation<'p>, CheckError> {
    caller.place(call)?;
    Ok(policy.rules.explain_tool(call, Timestamp::now()))
}

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
