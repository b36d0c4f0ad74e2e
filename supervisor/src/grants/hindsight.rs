//! `execward allow ID --for …` of an exec that is over: an answer for next time.

use std::io::Write;

use execward_policy::Lineage;

use super::{Grant, Span, Store};
use crate::audit::{Approver, escaped};
use crate::check::CheckError;
use crate::cli::AnswerArgs;
use crate::consent::Said;
use crate::control::{Decision, Session, ShownGrant, VerbError};
use crate::exit::ExitStatus;
use crate::offered::{Offered, Word};
use crate::past::Past;
use crate::places::Places;
use crate::policy::InForce;
use crate::recorded::{self, Record};

/// Why nothing is said for next time.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoHindsight {
    #[error(
        "no open question has an ID that starts with `{0}`: it was answered, or it has ended; `execward pending` \
         lists what is open, and `--for always` (or session, 2h, a date) answers for next time"
    )]
    Once(String),
    #[error("no open question has that ID, and for next time nothing can be said: {0}")]
    NotFound(#[from] CheckError),
    #[error("that exec is over, and {0}")]
    Unknown(String),
    #[error(
        "that exec is over, and no rule of that scope would be heeded; offered are: {}",
        if .0.is_empty() { "none" } else { .0 }
    )]
    NotOffered(String),
    #[error("what it held was not recorded, so nothing can be bound to it; answer while it waits")]
    NoContent,
    #[error("its session is not live any more; --for always, 2h or a date outlasts it")]
    NoSession,
}

impl NoHindsight {
    /// How the verb ends then.
    pub(crate) fn status(&self) -> ExitStatus {
        match self {
            Self::NotFound(error) => error.status(),
            Self::Once(_)
            | Self::Unknown(_)
            | Self::NotOffered(_)
            | Self::NoContent
            | Self::NoSession => ExitStatus::Finding,
        }
    }
}

/// Says for next time what was not said of the exec that `args` names: in its own session if that is among
/// `live`, else in one of these if it outlasts them, and where none is in every new session.
///
/// # Errors
/// If there was no such exec, or nothing can be said of it.
pub(crate) fn answer(
    args: &AnswerArgs,
    decision: Decision,
    live: &mut [Session],
    out: &mut impl Write,
) -> Result<ExitStatus, VerbError> {
    if !is_for_next_time(args.span) || args.these.is_some() {
        return Err(NoHindsight::Once(args.id.clone()).into());
    }
    let grant = grant(args, decision)?;
    let shown = ShownGrant::new(grant.clone(), args.span);
    let covers = escaped(&grant.note.covers);
    let of_exec = live.iter().position(|it| it.name == grant.note.session);
    let any = (!live.is_empty() && args.span.is_stored()).then_some(0);
    let place = match of_exec.or(any).and_then(|at| live.get_mut(at)) {
        Some(session) => {
            session.grant(shown)?;
            format!("session {}", session.name)
        }
        None if args.span.is_stored() => {
            let past = Past::open(Places::of(&args.state)?.state())?;
            past.judge_outside()?;
            Store::below(Places::find()?.config()).add(&grant, &past)?;
            "every new session".to_owned()
        }
        None => return Err(NoHindsight::NoSession.into()),
    };
    let (id, action, span) = (escaped(&grant.id), grant.action, args.span);
    writeln!(
        out,
        "from now on, {action} {covers}, for {span} in {place} (grant {id})"
    )?;
    Ok(ExitStatus::Success)
}

/// Whether an answer for `span` outlasts the process that it is given to.
pub(crate) fn is_for_next_time(span: Span) -> bool {
    span == Span::Session || span.is_stored()
}

/// The grant that the answer makes, by the policy that `args` name.
fn grant(args: &AnswerArgs, decision: Decision) -> Result<Grant, VerbError> {
    let places = Places::find()?;
    let log = match (&args.log, &args.place.session) {
        (Some(log), _) => log.clone(),
        (None, Some(name)) => places.log(name),
        (None, None) => places.newest_log().map_err(|error| {
            let path = places.logs().to_owned();
            NoHindsight::NotFound(CheckError::Read { path, error })
        })?,
    };
    let line = recorded::find(&log, &args.id).map_err(NoHindsight::NotFound)?;
    let record = Record::parse(&line).map_err(|error| NoHindsight::Unknown(error.to_string()))?;
    let exec = record.exec_id.ok_or(NoHindsight::Once(args.id.clone()))?;
    let in_force = InForce::load(&args.policy, &places);
    let policy = in_force
        .map_err(|error| NoHindsight::NotFound(error.into()))?
        .policy;
    let put = record.question(&policy, true, |_| Some(Lineage::default()));
    let request = put
        .map_err(|why| NoHindsight::Unknown(why.to_string()))?
        .request;
    let said = match decision {
        Decision::Deny => Said::Deny,
        Decision::AllowOnce | Decision::AllowAlways => Said::Allow,
    };
    let lasting = Offered::of(&policy.rules, &request).find(said, args.scope.into());
    let lasting = lasting.map_err(NoHindsight::NotOffered)?;
    let digest = lasting.content().digest(&request);
    let digest = digest.map_err(|_| NoHindsight::NoContent)?;
    let word = Word {
        said,
        span: args.span,
        reason: args.reason.as_deref(),
        by: Approver::own(),
        session: record.session_name(),
        exec,
    };
    let grant = lasting.grant(word, digest);
    Ok(grant.ok_or(NoHindsight::NoContent)?)
}
