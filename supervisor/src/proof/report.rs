//! What is said of a log that was gone through.

use std::io::{self, Write};

use serde::Serialize;

use super::State;
use super::chain::Chain;
use super::walk::{Found, Proof, Sealed};
use crate::audit::escaped;

/// The same as one object.
#[derive(Serialize)]
struct Shown<'a> {
    state: &'static str,
    files: u64,
    records: u64,
    /// Whether a session writes to it.
    live: bool,
    sessions: Vec<SessionShown<'a>>,
    faults: u64,
    found: Vec<FoundShown<'a>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    sealed: &'a [Sealed],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    evicted: &'a [String],
}

#[derive(Serialize)]
struct SessionShown<'a> {
    id: &'a str,
    name: &'a str,
    first: u64,
    last: u64,
    records: u64,
    ended: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    signed_to: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    anchored_to: Option<u64>,
}

#[derive(Serialize)]
struct FoundShown<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<&'a str>,
    state: &'static str,
    what: String,
}

impl Proof {
    pub(super) fn show(&self, out: &mut impl Write) -> io::Result<()> {
        let state = self.state();
        let sessions = count(self.chains.len() as u64, "session");
        let (files, records) = (count(self.files, "file"), count(self.records, "line"));
        let told = match state {
            State::Anchored => "each session is that of which there are copies".to_owned(),
            State::Intact => "who may write all of it could have made it anew, which copies of its records would show \
                              (--anchor)"
                .to_owned(),
            State::Truncated | State::Altered => self.first(),
        };
        writeln!(
            out,
            "{}: {sessions} in {files}, {records}; {told}",
            state.as_str()
        )?;
        for (_, chain) in &self.chains {
            writeln!(out, "  {}", of_session(chain, self.is_live))?;
        }
        if let Some((first, last)) = self.evicted.first().zip(self.evicted.last()) {
            let many = count(self.evicted.len() as u64, "file");
            let (first, last) = (escaped(first), escaped(last));
            writeln!(out, "  {many} removed, as is said: {first} to {last}")?;
        }
        for Sealed { faults, detail } in &self.seals {
            let (many, why) = (count(*faults, "fault"), escaped(detail));
            writeln!(
                out,
                "  sealed, and since then as it was, with {many}: {why}"
            )?;
        }
        for found in &self.found {
            writeln!(out, "{}", in_words(found))?;
        }
        let untold = self.faults - self.found.len() as u64;
        if untold > 0 {
            writeln!(out, "and {} more", count(untold, "fault"))?;
        }
        Ok(())
    }

    fn first(&self) -> String {
        let worst = self.state();
        let first = self.found.iter().find(|found| found.fault.state() == worst);
        first.map_or_else(String::new, |first| format!("first, {}", in_words(first)))
    }

    pub(super) fn show_json(&self, out: &mut impl Write) -> io::Result<()> {
        let sessions = self.chains.iter().map(|(id, chain)| SessionShown {
            id,
            name: &chain.name,
            first: chain.first,
            last: chain.last,
            records: chain.records,
            ended: chain.is_over,
            signed_to: chain.signed(),
            anchored_to: chain.anchored,
        });
        let found = self.found.iter().map(|found| FoundShown {
            file: found.place.as_ref().and_then(|place| place.file.as_deref()),
            line: found.place.as_ref().map(|place| place.line),
            session: found.session.as_deref(),
            state: found.fault.state().as_str(),
            what: found.fault.to_string(),
        });
        let shown = Shown {
            state: self.state().as_str(),
            files: self.files,
            records: self.records,
            live: self.is_live,
            sessions: sessions.collect(),
            faults: self.faults,
            found: found.collect(),
            sealed: &self.seals,
            evicted: &self.evicted,
        };
        writeln!(out, "{}", serde_json::to_string(&shown)?)
    }
}

fn of_session(chain: &Chain, is_live: bool) -> String {
    let signed = match chain.signed() {
        Some(signed) if signed == chain.last => "all signed".to_owned(),
        Some(signed) => format!("signed to {signed}"),
        None => "none signed".to_owned(),
    };
    let anchored = chain.anchored.map(|seq| format!(", anchored to {seq}"));
    let end = match (chain.is_over, is_live) {
        (true, _) => "ended",
        (false, _) if chain.is_sealed => "without an end, as is known",
        (false, true) => "not ended",
        (false, false) => "without an end",
    };
    let (name, anchored) = (escaped(&chain.name), anchored.unwrap_or_default());
    let (first, last) = (chain.first, chain.last);
    format!("session {name}: records {first} to {last}, {signed}{anchored}, {end}")
}

fn in_words(found: &Found) -> String {
    let place = found.place.as_ref().map(|place| format!("{place}: "));
    let session = found.session.as_ref();
    let session = session.map(|name| format!("session {}: ", escaped(name)));
    let (place, session) = (place.unwrap_or_default(), session.unwrap_or_default());
    format!("{place}{session}{}", found.fault)
}

fn count(number: u64, what: &str) -> String {
    let s = if number == 1 { "" } else { "s" };
    format!("{number} {what}{s}")
}
