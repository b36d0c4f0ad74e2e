//! All findings, for people and as JSON.

use std::io::{self, Write};

use serde::Serialize;

use super::finding::{Finding, State};
use crate::audit::escaped;
use crate::exit::ExitStatus;

/// What was found here, with its sum.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    version: &'static str,
    /// Whether nothing fails: what the exit status says.
    holds: bool,
    checks: Vec<Finding>,
    /// What is promised and was seen to hold.
    enforced: Vec<&'static str>,
    /// The checks that found something weak.
    weak: Vec<&'static str>,
    /// What is promised and does not hold, or could not be had.
    not_enforced: Vec<&'static str>,
}

impl Report {
    pub(super) fn of(checks: Vec<Finding>) -> Self {
        let promises = |states: &[State]| {
            let of_them = checks.iter().filter(|it| states.contains(&it.state));
            of_them.filter_map(|it| it.promise).collect()
        };
        let weak = checks.iter().filter(|it| it.state == State::Weak);
        Self {
            version: env!("CARGO_PKG_VERSION"),
            holds: checks.iter().all(|it| it.state != State::Fails),
            enforced: promises(&[State::Ok, State::Weak]),
            weak: weak.map(|it| it.check).collect(),
            not_enforced: promises(&[State::Fails]),
            checks,
        }
    }

    pub(super) fn status(&self) -> ExitStatus {
        match self.holds {
            true => ExitStatus::Success,
            false => ExitStatus::Finding,
        }
    }

    pub(super) fn json(&self, out: &mut impl Write) -> io::Result<()> {
        let line = serde_json::to_string(self).map_err(io::Error::other)?;
        writeln!(out, "{line}")
    }

    pub(super) fn text(&self, out: &mut impl Write) -> io::Result<()> {
        for finding in &self.checks {
            let (state, check) = (finding.state.word(), finding.check);
            writeln!(out, "{state:<5} {check}: {}", escaped(&finding.seen))?;
            if let Some(next) = &finding.next {
                writeln!(out, "        {}", escaped(next))?;
            }
        }
        writeln!(out)?;
        if !self.enforced.is_empty() {
            writeln!(out, "Enforced here: {}.", self.enforced.join("; "))?;
        }
        if !self.not_enforced.is_empty() {
            writeln!(out, "Not enforced here: {}.", self.not_enforced.join("; "))?;
        }
        if !self.weak.is_empty() {
            writeln!(out, "Weaker than it could be: {}.", self.weak.join(", "))?;
        }
        writeln!(out, "{}", self.verdict())
    }

    fn verdict(&self) -> &'static str {
        let is_without = |it: &Finding| it.check == "session" && it.state == State::Fails;
        if self.checks.iter().any(is_without) {
            return "No session starts here: `execward run` runs nothing, and the rest was not tried.";
        }
        match (self.holds, self.weak.is_empty()) {
            (true, true) => "All that execward promises holds here.",
            (true, false) => {
                "All that execward promises holds here; what is weak makes it easier to get around."
            }
            (false, _) => "Not all that execward promises holds here: see what FAILS.",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(checks: Vec<Finding>) -> (String, ExitStatus) {
        let report = Report::of(checks);
        let mut out = Vec::new();
        report.text(&mut out).unwrap();
        (String::from_utf8(out).unwrap(), report.status())
    }

    #[test]
    fn what_is_weak_is_said_and_only_a_failure_is_a_finding() {
        let weak = Finding::weak("yama", "absent", "set it to 1");
        let ok = Finding::ok("denied", "EPERM").promising("a deny holds");
        let (text, status) = shown(vec![ok.clone(), weak.clone()]);
        assert_eq!(status, ExitStatus::Success);
        assert!(text.starts_with("ok    denied: EPERM\nweak  yama: absent\n        set it to 1\n"));
        assert!(text.contains("\nEnforced here: a deny holds.\n"), "{text}");
        assert!(
            text.contains("\nWeaker than it could be: yama.\n"),
            "{text}"
        );
        let failed = Finding::fails("session", "it\nbroke", "mend it").promising("sessions");
        let (text, status) = shown(vec![ok, weak, failed]);
        assert_eq!(status, ExitStatus::Finding);
        assert!(text.contains("FAILS session: it\\nbroke\n        mend it\n"));
        assert!(text.contains("\nNot enforced here: sessions.\n"), "{text}");
    }

    #[test]
    fn a_message_of_run_is_told_without_the_way_to_here() {
        let finding = Finding::said("session", "cannot x: y (a; b); allow it there");
        assert_eq!(finding.seen, "cannot x: y (a; b)");
        assert_eq!(finding.next.as_deref(), Some("allow it there"));
    }
}
