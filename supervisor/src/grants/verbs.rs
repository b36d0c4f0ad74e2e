//! `execward grants list` and `revoke`.

use std::io::{self, Write};

use jiff::Timestamp;

use super::Store;
use crate::audit::{ascii_json, escaped};
use crate::cli::{GrantsListArgs, RevokeArgs};
use crate::clock;
use crate::control::{ClientError, Session, ShownGrant, VerbError, Where, sessions};
use crate::exit::ExitStatus;
use crate::past::Past;
use crate::places::Places;

/// Shows the grants that count in one session, or those that would in the next.
///
/// # Errors
/// If they cannot be read, or the session does not tell.
pub(crate) fn list(args: &GrantsListArgs, out: &mut impl Write) -> Result<ExitStatus, VerbError> {
    let mut live = live(&args.place.meant())?;
    let (grants, place) = match live.first_mut() {
        Some(session) => (session.grants()?, format!("session {}", session.name)),
        None => (stored()?, "every new session".to_owned()),
    };
    for grant in &grants {
        if args.json {
            let mut line = ascii_json(grant).map_err(io::Error::from)?;
            line.push(b'\n');
            out.write_all(&line)?;
        } else {
            writeln!(out, "{}", in_words(grant, clock::now()))?;
        }
    }
    if grants.is_empty() && !args.json {
        writeln!(out, "no grant counts in {place}")?;
    }
    out.flush()?;
    Ok(ExitStatus::Success)
}

/// Takes a grant back: in every session that is meant, and for good.
///
/// # Errors
/// If there is no such grant, or it counts on somewhere.
pub(crate) fn revoke(args: &RevokeArgs, out: &mut impl Write) -> Result<ExitStatus, VerbError> {
    let mut live = live(&args.place.meant())?;
    let mut known = stored()?;
    for session in &mut live {
        known.extend(session.grants()?);
    }
    known.sort_by(|a, b| a.id.cmp(&b.id));
    known.dedup_by(|a, b| a.id == b.id);
    known.retain(|grant| !args.id.is_empty() && grant.id.starts_with(&args.id));
    let grant = match <[_; 1]>::try_from(known) {
        Ok([grant]) => grant,
        Err(none) if none.is_empty() => return Err(VerbError::NoGrant(args.id.clone())),
        Err(several) => {
            let shown = several.iter().map(|it| format!("  {}", escaped(&it.id)));
            let (id, candidates) = (args.id.clone(), shown.collect::<Vec<_>>().join("\n"));
            return Err(VerbError::Ambiguous { id, candidates });
        }
    };
    for session in &mut live {
        if session.grants()?.iter().any(|it| it.id == grant.id) {
            session.revoke(&grant.id)?;
        }
    }
    // Where no session did it.
    if stored()?.iter().any(|it| it.id == grant.id) {
        let past = Past::open(Places::of(&args.state)?.state())?;
        past.judge_outside()?;
        store()?.remove(&grant.id, &past)?;
    }
    writeln!(out, "revoked {}", in_words(&grant, clock::now()))?;
    Ok(ExitStatus::Success)
}

/// The sessions that are meant; none, if any would do and there is none.
fn live(meant: &Where) -> Result<Vec<Session>, VerbError> {
    match sessions(meant) {
        Err(ClientError::NoSession) => Ok(Vec::new()),
        live => Ok(live?),
    }
}

fn store() -> Result<Store, VerbError> {
    Ok(Store::below(Places::find()?.config()))
}

fn stored() -> Result<Vec<ShownGrant>, VerbError> {
    let stored = store()?.read()?;
    Ok(stored.grants.into_iter().map(ShownGrant::from).collect())
}

/// `g1a2b3c4-prefix allow always: …  (said by uid 0 … of exec 3f9c in session s; 3 uses, the last …)`.
fn in_words(grant: &ShownGrant, now: Timestamp) -> String {
    let note = &grant.note;
    let has_ended = grant.duration.end().is_some_and(|end| end <= now);
    let mut said = vec![format!(
        "said by {} on {} of exec {} in session {}",
        escaped(&note.by),
        note.at.strftime("%Y-%m-%d %H:%M"),
        escaped(&note.exec),
        escaped(&note.session)
    )];
    said.extend(
        note.reason
            .as_ref()
            .map(|it| format!("because {}", escaped(it))),
    );
    said.push(match (note.usage.uses, note.usage.last_used) {
        (0, _) | (_, None) => "never used".to_owned(),
        (uses, Some(last)) => {
            let command = note.usage.last_command.as_deref().unwrap_or_default();
            let path = note.usage.last_path.as_deref().unwrap_or_default();
            format!(
                "{uses} uses, the last on {} by {}: {}",
                last.strftime("%Y-%m-%d %H:%M"),
                escaped(path),
                escaped(command)
            )
        }
    });
    format!(
        "{} {} {}{}: {}  ({})",
        escaped(&grant.id),
        escaped(&grant.action),
        match grant.duration.end() {
            Some(end) => format!("until {end}"),
            None => grant.duration.to_string(),
        },
        if has_ended { " (ended)" } else { "" },
        escaped(&note.covers),
        said.join("; ")
    )
}
