//! What of questions is told outside the session by the process that the gate started for it.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use execward_policy::Ruleset;

use crate::control::{FromGate, Required, line};
use crate::gate::Gate;
use crate::messenger::{FromMessenger, Messenger, ToMessenger, real, trusted};

/// Why a policy's word is not sent where it says: no session starts, and no such policy is loaded.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OutwardError {
    #[error(
        "the policy `{0}` lies in the workspace and names a program with `notify`, which runs outside the \
         session; move the policy out of what CMD writes to"
    )]
    Workspace(String),
    #[error("the program of `notify` is not started: {0}")]
    Program(String),
    #[error(
        "this session began without `notify` and `escalate_to`, and has no process to send word by; start \
         another with this policy"
    )]
    NoMessenger,
    #[error("cannot start the process that sends word outside: {0}")]
    Start(std::io::Error),
}

/// The process for what `rules` send outside a session that works in `workspace`, if they send anything.
///
/// # Errors
/// If what they name is not to be trusted, or there is no such process.
pub(crate) fn messenger(
    rules: &Ruleset,
    workspace: &[u8],
) -> Result<Option<Messenger>, OutwardError> {
    check_source(rules, workspace)?;
    if let Some(program) = rules.notify().and_then(|notify| notify.argv.first()) {
        trusted(program).map_err(OutwardError::Program)?;
    }
    if rules.notify().is_none() && rules.escalate_to().is_none() {
        return Ok(None);
    }
    let started = Messenger::start("/proc/self/exe");
    started.map(Some).map_err(OutwardError::Start)
}

/// Whoever can write the policy says what runs outside: the workspace is CMD's to write.
fn check_source(rules: &Ruleset, workspace: &[u8]) -> Result<(), OutwardError> {
    let Some(notify) = rules.notify() else {
        return Ok(());
    };
    let written = Path::new(&notify.source);
    let workspace = Path::new(OsStr::from_bytes(workspace));
    // A policy that came over the control channel may be gone from its place.
    let named = [std::path::absolute(written), real(written)];
    if named.iter().flatten().any(|it| it.starts_with(workspace)) {
        return Err(OutwardError::Workspace(notify.source.clone()));
    }
    Ok(())
}

impl Gate {
    /// Whether this session can send what `rules` have sent.
    ///
    /// # Errors
    /// Why not.
    pub(crate) fn check_outward(&self, rules: &Ruleset) -> Result<(), OutwardError> {
        check_source(rules, &self.parking.workspace)?;
        let is_needed = rules.notify().is_some() || rules.escalate_to().is_some();
        if is_needed && self.messenger.is_none() {
            return Err(OutwardError::NoMessenger);
        }
        Ok(())
    }

    /// Tells the user's program of a question, if the policy names one.
    pub(crate) fn notify(&self, required: &Required) {
        let (Some(notify), Some(messenger)) = (self.rules.notify(), &self.messenger) else {
            return;
        };
        let question = line(&FromGate::ApprovalRequired(Box::new(required.clone())));
        let question = question.map_err(std::io::Error::from);
        let question = question.and_then(|it| String::from_utf8(it).map_err(std::io::Error::other));
        let sent = question
            .map_err(|error| error.to_string())
            .and_then(|question| {
                let argv = notify.argv.clone();
                let told = messenger.send(&ToMessenger::Notify { argv, question });
                told.map_err(|error| error.to_string())
            });
        if let Err(why) = sent {
            tracing::warn!(why, id = %required.request_id, "`notify` is not told of a question");
        }
    }

    /// Takes what came of what was sent.
    pub(crate) fn take_messages(&mut self) {
        while let Some(messenger) = &self.messenger {
            match messenger.take() {
                Ok(Some(message)) => self.heed(message),
                Ok(None) => return,
                Err(error) => {
                    tracing::error!(%error, "the process that sends word outside is gone");
                    self.messenger = None;
                    self.lose_every_route("the process that puts questions is gone");
                }
            }
        }
    }

    fn heed(&mut self, message: FromMessenger) {
        match message {
            FromMessenger::NotNotified { program, why, said } => {
                tracing::warn!(program, why, said, "`notify` failed");
            }
            FromMessenger::Notified { program, said } if said.is_empty() => {
                tracing::debug!(program, "`notify` is done");
            }
            FromMessenger::Notified { program, said } => {
                tracing::warn!(program, said, "`notify` is done, and says");
            }
            FromMessenger::Settled(settled) => self.hear_higher(*settled),
            FromMessenger::NoRoute { request_id, why } => self.lose_route(request_id, &why),
        }
    }
}
