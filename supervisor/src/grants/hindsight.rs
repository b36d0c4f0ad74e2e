//! `execward allow ID --for …` of an exec that is over: an answer for next time.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

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

/// Most execs that are named where several could be meant.
const MOST_NAMED: usize = 5;

/// Why nothing is said for next time.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoHindsight {
    #[error(
        "no open question has the ID `{0}`, all of it: it was answered, or it has ended; `execward pending` \
         lists what is open, and `--for always` (or session, 2h, a date) answers for next time"
    )]
    Once(String),
    #[error("no open question has that ID, and for next time nothing can be said: {0}")]
    NotFound(#[from] CheckError),
    #[error("that exec is over, and {0}")]
    Unknown(String),
    #[error(
        "that could be any of several execs that are over: {0}; say whose with --session, or in which log with \
         --log"
    )]
    Ambiguous(String),
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
            | Self::Ambiguous(_)
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
    let grant = grant(args, decision, live)?;
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

/// The logs that the exec is looked for in: where none is named, that of each session that is live, and the
/// newest.
fn logs(
    args: &AnswerArgs,
    places: &Places,
    live: &mut [Session],
) -> Result<Vec<PathBuf>, VerbError> {
    match (&args.log, &args.place.session) {
        (Some(log), _) => return Ok(vec![log.clone()]),
        (None, Some(name)) => return Ok(vec![places.log(name)]),
        (None, None) => {}
    }
    let mut logs = Vec::new();
    for session in live {
        logs.push(PathBuf::from(session.status()?.log.path));
    }
    match places.newest_log() {
        Ok(newest) => logs.push(newest),
        Err(_) if !logs.is_empty() => {}
        Err(error) => {
            let path = places.logs().to_owned();
            return Err(NoHindsight::NotFound(CheckError::Read { path, error }).into());
        }
    }
    logs.sort();
    logs.dedup();
    Ok(logs)
}

/// The line of the one decision that is meant, though two sessions may come to have an ID in common.
fn meant(args: &AnswerArgs, logs: &[PathBuf]) -> Result<Vec<u8>, NoHindsight> {
    let mut lines = Vec::new();
    let mut none = None;
    for log in logs {
        match recorded::find_all(log, &args.id) {
            Ok(found) => lines.extend(found.into_iter().map(|exec| exec.line)),
            Err(error @ CheckError::NoSuch { .. }) => none = Some(error),
            // What cannot be read may have another of that ID.
            Err(error) => return Err(NoHindsight::NotFound(error)),
        }
    }
    let shown = lines.iter().filter_map(|line| {
        let record = Record::parse(line).ok()?;
        let (id, program) = (record.exec_id?, record.program());
        let session = escaped(record.session_name());
        let shown = format!("{id} of session {session} ({program})");
        Some(((record.session().to_owned(), id.to_string()), shown))
    });
    let shown: BTreeMap<(String, String), String> = shown.collect();
    if shown.len() > 1 {
        let shown = shown.into_values().take(MOST_NAMED).collect::<Vec<_>>();
        return Err(NoHindsight::Ambiguous(shown.join(", ")));
    }
    match (lines.pop(), none) {
        (Some(line), _) => Ok(line),
        (None, Some(error)) => Err(NoHindsight::NotFound(error)),
        (None, None) => Err(NoHindsight::Once(args.id.clone())),
    }
}

/// The grant that the answer makes, by the policy that `args` name.
fn grant(args: &AnswerArgs, decision: Decision, live: &mut [Session]) -> Result<Grant, VerbError> {
    let places = Places::find()?;
    let line = meant(args, &logs(args, &places, live)?)?;
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
