//! `execward hook`: answers agents that ask before they use a tool, in their own words.
//!
//! It is advice. The agent may not ask, may ask about something else, or may not listen; what runs is
//! judged by the gate. So an answer only ever refuses, or has the agent put a question that a rule puts. The
//! rest is left to the agent's own permissions, which this never widens.

mod agent;
mod install;
mod message;
mod patch;
mod reply;
mod settings;
mod tools;

use std::io::{Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::cli::{HookCommand, PolicyArgs};
use crate::exit::ExitStatus;
use crate::front;
use crate::places::Places;
use crate::policy::LoadedPolicy;
pub(crate) use agent::Agent;
use message::Message;
use reply::Opinion;

/// Longest message that is read, in bytes.
const MESSAGE_MAX_BYTES: u64 = 4 << 20;

/// Does what the command says.
pub(crate) fn obey(
    command: &HookCommand,
    input: &mut impl Read,
    out: &mut impl Write,
) -> ExitStatus {
    match command {
        HookCommand::Claude(policy) => answer(Agent::Claude, policy, input, out),
        HookCommand::Codex(policy) => answer(Agent::Codex, policy, input, out),
        HookCommand::Gemini(policy) => answer(Agent::Gemini, policy, input, out),
        HookCommand::Cursor(policy) => answer(Agent::Cursor, policy, input, out),
        HookCommand::Install(args) => install::install(args, out),
        HookCommand::Uninstall(args) => install::uninstall(args, out),
    }
}

/// Answers one message. Whatever goes wrong is a refusal: every one of these agents takes status 2 for
/// one, with the reason on standard error, and goes on at any other.
fn answer(
    agent: Agent,
    policy: &PolicyArgs,
    input: &mut impl Read,
    out: &mut impl Write,
) -> ExitStatus {
    let opinion = || opinion(agent, policy, input);
    let found = catch_unwind(AssertUnwindSafe(opinion));
    let found = found.unwrap_or_else(|_| Err("execward failed".to_owned()));
    let (reply, why) = match found {
        Ok((event, opinion)) => (reply::of(agent, event.as_deref(), &opinion), None),
        Err(why) => {
            let why = format!("the call is refused, since it cannot be judged: {why}");
            (
                reply::of(agent, None, &Opinion::Deny(why.clone())),
                Some(why),
            )
        }
    };
    let written = writeln!(out, "{reply}").and_then(|()| out.flush());
    match (written, why) {
        (Ok(()), None) => ExitStatus::Success,
        (_, Some(why)) => {
            front::say(&why);
            ExitStatus::Usage
        }
        (Err(error), None) => {
            front::say(&format!(
                "the call is refused: the answer cannot be written: {error}"
            ));
            ExitStatus::Usage
        }
    }
}

/// What the policy says of the call that the message is about, and which event that is.
///
/// # Errors
/// Why it cannot be judged.
fn opinion(
    agent: Agent,
    policy: &PolicyArgs,
    input: &mut impl Read,
) -> Result<(Option<String>, Opinion), String> {
    let mut text = Vec::new();
    let mut bounded = input.take(MESSAGE_MAX_BYTES + 1);
    bounded
        .read_to_end(&mut text)
        .map_err(|error| format!("the message cannot be read: {error}"))?;
    if text.len() as u64 > MESSAGE_MAX_BYTES {
        return Err(format!(
            "the message is longer than {MESSAGE_MAX_BYTES} bytes"
        ));
    }
    let Message { event, question } = Message::read(agent, &text)?;
    let Some(question) = question else {
        return Ok((Some(event), Opinion::None));
    };
    let places = Places::find().map_err(|error| error.to_string())?;
    let policy = LoadedPolicy::load(policy, &places).map_err(|error| error.to_string())?;
    let answer = question
        .answer(&policy)
        .map_err(|error| error.to_string())?;
    let opinion = answer.advice().map_or(Opinion::None, Opinion::from);
    let opinion = opinion.with(|reason| policy.rules.redaction().shown(&reason).into_owned());
    Ok((Some(event), opinion))
}
