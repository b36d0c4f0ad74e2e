//! What is said to live sessions: `execward pending`, `allow`, `deny` and `policy load`.

use std::io::{self, Write};
use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;

use super::client::{ClientError, Session, sessions};
use super::wire::{Decision, Required, Response, ShownProcess, line};
use crate::approval::in_words;
use crate::audit::{called, escaped, quoted};
use crate::cli::{AnswerArgs, LoadArgs, PendingArgs, StatusArgs, StopArgs};
use crate::clock;
use crate::exit::ExitStatus;
use crate::grants::{self, NoHindsight, Span, StoreError};
use crate::past::{Past, PastError};
use crate::places::{Places, PlacesError};
use crate::policy::{Bundle, PolicyError};

/// Why a verb did not do what it should.
#[derive(Debug, thiserror::Error)]
pub(crate) enum VerbError {
    #[error("{0}")]
    Client(#[from] ClientError),
    #[error("{0}")]
    Policy(#[from] PolicyError),
    #[error("{0}")]
    Past(#[from] PastError),
    #[error("{0}")]
    Places(#[from] PlacesError),
    #[error("{0}")]
    NoHindsight(#[from] NoHindsight),
    #[error("no grant has an ID that starts with `{}`; `execward grants list` shows them", .0.escape_debug())]
    NoGrant(String),
    #[error("`{id}` is the start of several IDs; name one:\n{candidates}")]
    Ambiguous { id: String, candidates: String },
    #[error("{0}")]
    Grants(#[from] StoreError),
    #[error("cannot write: {0}")]
    Write(#[from] io::Error),
}

impl VerbError {
    pub(crate) fn status(&self) -> ExitStatus {
        match self {
            Self::Policy(error) => error.status(),
            Self::Client(ClientError::PolicyRejected(_) | ClientError::TooLong) => {
                ExitStatus::Usage
            }
            Self::NoHindsight(error) => error.status(),
            Self::NoGrant(_)
            | Self::Ambiguous { .. }
            | Self::Client(ClientError::Refused(_))
            | Self::Past(PastError::Inside { .. }) => ExitStatus::Finding,
            Self::Client(
                ClientError::NoSession | ClientError::NotLive { .. } | ClientError::Closed,
            ) => ExitStatus::NoSupervisor,
            Self::Client(ClientError::GoesOn { .. }) => ExitStatus::Finding,
            Self::Grants(StoreError::System { .. }) => ExitStatus::Io,
            Self::Grants(_) => ExitStatus::Usage,
            Self::Client(_) | Self::Past(_) | Self::Places(_) | Self::Write(_) => ExitStatus::Io,
        }
    }
}

/// Shows what is open in one session.
///
/// # Errors
/// If there is no session, or it does not tell.
pub(crate) fn pending(args: &PendingArgs, out: &mut impl Write) -> Result<(), VerbError> {
    let mut live = sessions(&args.place.meant())?;
    let session = live.first_mut().ok_or(ClientError::NoSession)?;
    let open = session.list()?;
    for required in &open {
        if args.json {
            out.write_all(&line(required).map_err(io::Error::from)?)?;
        } else {
            writeln!(out, "{}", one_line(required, clock::now()))?;
        }
    }
    if open.is_empty() && !args.json {
        writeln!(out, "nothing is pending in session {}", session.name)?;
    }
    Ok(out.flush()?)
}

/// Tells how one session is; whether anything of it does not work.
///
/// # Errors
/// If there is no session, or it does not tell.
pub(crate) fn status(args: &StatusArgs, out: &mut impl Write) -> Result<ExitStatus, VerbError> {
    let mut live = sessions(&args.place.meant())?;
    let session = live.first_mut().ok_or(ClientError::NoSession)?;
    let status = session.status()?;
    if args.json {
        out.write_all(&line(&status).map_err(io::Error::from)?)?;
    } else {
        writeln!(out, "{}", status.in_words())?;
    }
    out.flush()?;
    Ok(if status.is_healthy() {
        ExitStatus::Success
    } else {
        ExitStatus::Finding
    })
}

/// Ends one session.
///
/// # Errors
/// If there is no session, or it goes on.
pub(crate) fn stop(args: &StopArgs, out: &mut impl Write) -> Result<ExitStatus, VerbError> {
    let mut live = sessions(&args.place.meant())?;
    let session = live.first_mut().ok_or(ClientError::NoSession)?;
    session.stop(args.kill)?;
    writeln!(out, "session {} has ended", session.name)?;
    Ok(ExitStatus::Success)
}

/// Replaces the policy of one session, and says by what. The gate has told whoever may do that from a
/// member of the session: the files are accepted with it.
///
/// # Errors
/// If it cannot be read, or is none: then the session goes on with the one it has. If it is in force and
/// cannot be remembered.
pub(crate) fn load_policy(args: &LoadArgs, out: &mut impl Write) -> Result<ExitStatus, VerbError> {
    let bundle = Bundle::gather(&args.preset, &args.files)?;
    let mut live = sessions(&args.place.meant())?;
    let session = live.first_mut().ok_or(ClientError::NoSession)?;
    let loaded = session.load_policy(&bundle)?;
    let (files, rules) = (loaded.files.join(", "), loaded.rules);
    let name = &session.name;
    writeln!(out, "session {name} has policy {files} ({rules} rules)")?;
    let past = Past::open(Places::of(&args.state)?.state())?;
    for file in &bundle.read {
        past.accept(file)?;
    }
    Ok(ExitStatus::Success)
}

/// Answers the question that `args` names, and says what came of it.
///
/// An ID is one of a session, and may be open in several: none is taken for another.
///
/// # Errors
/// If it is not one open question, or the gate does not take the answer.
pub(crate) fn answer(
    args: &AnswerArgs,
    decision: Decision,
    out: &mut impl Write,
) -> Result<ExitStatus, VerbError> {
    let mut live = match sessions(&args.place.meant()) {
        Err(ClientError::NoSession | ClientError::NotLive { .. })
            if grants::is_for_next_time(args.span) =>
        {
            Vec::new()
        }
        live => live?,
    };
    let mut found = Vec::new();
    let is_one_of_several = live.len() > 1;
    for (at, session) in live.iter_mut().enumerate() {
        let open = match session.list() {
            // It ended as it was looked into, and its questions with it.
            Err(ClientError::Closed) if is_one_of_several => continue,
            open => open?,
        };
        let meant = open
            .into_iter()
            .filter(|required| required.request_id.is_meant_by(&args.id));
        found.extend(meant.map(|required| (at, required)));
    }
    let (session, required) = match <[_; 1]>::try_from(found) {
        Ok([(at, required)]) => (live.get_mut(at).ok_or(ClientError::NoSession)?, required),
        Err(found) if found.is_empty() => {
            return grants::answer_for_next_time(args, decision, &mut live, out);
        }
        Err(found) => return Err(ambiguous(&args.id, &live, &found)),
    };
    let settled = session.answer(Response {
        session_id: session.id.clone(),
        request_id: required.request_id,
        digest: required.digest.clone(),
        decision,
        scope: args.scope,
        these: args.these,
        duration: Some(args.span),
        reason: args.reason.clone(),
    })?;
    let is_as_said = settled.is_allowed == (decision != Decision::Deny);
    let what = command(&required);
    let outcome = if settled.is_allowed {
        "allowed"
    } else {
        "denied"
    };
    let why = if is_as_said {
        String::new()
    } else {
        format!(" (reason {})", escaped(&settled.reason))
    };
    writeln!(out, "{outcome} {what} in session {}{why}", session.name)?;
    Ok(if is_as_said {
        ExitStatus::Success
    } else {
        ExitStatus::Finding
    })
}

/// `allow` for `span`, in the words of the contract.
pub(crate) fn allowing(span: Span) -> Decision {
    match span {
        Span::Once => Decision::AllowOnce,
        Span::Subtree | Span::Session | Span::Always | Span::Until(_) => Decision::AllowAlways,
    }
}

fn ambiguous(id: &str, live: &[Session], found: &[(usize, Required)]) -> VerbError {
    let candidates = found.iter().map(|(at, required)| {
        let session = live.get(*at).map_or("-", |session| &session.name);
        let shown = one_line(required, clock::now());
        format!("  {shown} --session {session}")
    });
    VerbError::Ambiguous {
        id: id.to_owned(),
        candidates: candidates.collect::<Vec<_>>().join("\n"),
    }
}

/// `ID PATH ARG…  (process 4711 in /home/u; rule net: it sends data; denied in 4m58s)`, printable
/// ASCII.
fn one_line(required: &Required, now: Timestamp) -> String {
    let request = &required.request;
    let pid = request.proc.pointer("/pid").and_then(Value::as_u64);
    let cwd = request.proc.pointer("/cwd").and_then(Value::as_str);
    let ground = match (&request.rule, &request.reason) {
        (Some(rule), Some(reason)) => format!("rule {}: {}", escaped(&rule.id), escaped(reason)),
        (Some(rule), None) => format!("rule {}", escaped(&rule.id)),
        (None, _) => "not in the policy".to_owned(),
    };
    let from = request.escalated_from.as_ref();
    let from = from.map(|it| format!("; asked by session {}", escaped(&it.session)));
    let left = request.expires_at.duration_since(now);
    let left = Duration::try_from(left).unwrap_or_default();
    format!(
        "{} {}  (process {} in {}{}; {ground}{}; {} in {})",
        required.request_id,
        command(required),
        pid.unwrap_or_default(),
        quoted(cwd.unwrap_or_default()),
        below(&request.ancestry),
        from.unwrap_or_default(),
        request.unanswered.in_words(),
        in_words(left)
    )
}

/// `, below /usr/bin/make, /usr/bin/dash`: the nearest processes that it is below.
fn below(ancestry: &[ShownProcess]) -> String {
    let nearest = ancestry.iter().take(3).map(|process| quoted(&process.path));
    let nearest: Vec<_> = nearest.collect();
    let more = if ancestry.len() > 3 { ", ..." } else { "" };
    match nearest.is_empty() {
        true => String::new(),
        false => format!(", below {}{more}", nearest.join(", ")),
    }
}

/// The file's own path and the arguments, each as a word of a shell.
fn command(required: &Required) -> String {
    let proc = &required.request.proc;
    let path = proc.pointer("/path").or(proc.pointer("/req_path"));
    let path = path.and_then(Value::as_str).unwrap_or_default();
    let argv = proc.pointer("/argv").and_then(Value::as_array);
    let mut words = vec![quoted(path)];
    words.extend(called(proc));
    let arguments = argv.into_iter().flatten().skip(1);
    words.extend(arguments.filter_map(Value::as_str).map(quoted));
    if proc.pointer("/argv_cut").is_some() {
        let count = proc.pointer("/argc").and_then(Value::as_u64);
        words.push(format!("... ({} arguments)", count.unwrap_or_default()));
    }
    if proc.pointer("/redacted").is_some() {
        words.push("(*** hides what looks like a secret)".to_owned());
    }
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::super::wire::Unanswered;
    use super::*;

    fn required(id: &str) -> Required {
        let text = format!(
            r#"{{"sessionId":"s","requestId":"{id}","digest":"d","request":{{"proc":{{"pid":7,
            "path":"/usr/bin/curl","argv":["/x/curl","a b","\u001b[2J"],"argv_cut":true,"argc":9,
            "cwd":"/w"}},"rule":{{"id":"net","src":"p:1"}},"reason":"it sends",
            "askedAt":"2026-11-28T00:00:00Z","expiresAt":"2026-11-28T00:05:00Z"}}}}"#
        );
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn a_line_shows_what_would_run_and_moves_no_cursor() {
        let now = "2026-11-28T00:00:02Z".parse().unwrap();
        assert_eq!(
            one_line(&required("3f9c"), now),
            "3f9c /usr/bin/curl \"a b\" \"\\u{1b}[2J\" ... (9 arguments)  (process 7 in /w; \
             rule net: it sends; denied in 4m58s)"
        );
        let late = "2026-11-29T00:00:02Z".parse().unwrap();
        assert!(one_line(&required("3f9c"), late).ends_with("denied in 0s)"));
        let mut open = required("3f9c");
        open.request.unanswered = Unanswered::Allow;
        assert!(one_line(&open, late).ends_with("let go in 0s)"));
    }
}
