//! The first scratch session: what ran in it, what its log says, and whether the two agree.

use std::io;

use nix::errno::Errno;
use serde_json::Value;

use super::finding::Finding;
use super::inside::{self, Met, Seen};
use super::scratch::Scratch;
use super::session::{Ended, Session, text};
use super::{helpers, rights};

pub(super) const SESSION: &str = "a session can be started";

/// Starts it, and says how it went.
///
/// # Errors
/// If it cannot be started or looked at at all: no finding about what is promised.
pub(super) fn findings(scratch: &Scratch) -> io::Result<Vec<Finding>> {
    let plain = scratch.path("plain");
    std::fs::write(&plain, "no format\n")?;
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&plain, executable)?;
    let bare = inside::in_child("failed", plain.as_os_str())?;
    let mut session = Session::start(scratch, "probe", "none", "probe")?;
    let seen: Option<Seen> = serde_json::from_slice(&session.line()?).ok();
    let helpers = match seen {
        Some(_) => helpers::finding(&mut session)?,
        None => None,
    };
    let ended = session.end()?;
    let Some(seen) = seen else {
        return Ok(vec![not_started(&ended)]);
    };
    let mut findings = vec![
        Finding::ok("session", "`execward run` starts one").promising(SESSION),
        ran("exec", "a child", seen.child, "child", &ended)
            .promising("what runs is what was judged"),
        ran(
            "thread",
            "a thread that is not the first",
            seen.thread,
            "thread",
            &ended,
        )
        .promising("threads are gated as processes are"),
        denied(seen.denied, &ended).promising("what the policy denies does not run"),
        failed(seen.failed, bare, &ended).promising("an exec that fails does so as without a gate"),
        storm(&seen, &ended).promising("signals change no verdict"),
    ];
    findings.extend(helpers);
    findings.extend(rights::findings(&seen));
    Ok(findings)
}

fn not_started(ended: &Ended) -> Finding {
    let mut records = ended.records.iter().rev();
    let refusal = records.find(|record| text(record, "/decision/verdict") == "deny");
    let ground = refusal.map(|refusal| {
        let fields = ["/decision/reason", "/decision/rule/id", "/decision/detail"];
        let words = fields.map(|field| text(refusal, field));
        let words: Vec<_> = words.into_iter().filter(|word| !word.is_empty()).collect();
        words.join(", ")
    });
    let finding = match (ground, ended.said.as_str()) {
        (Some(ground), _) => Finding::fails(
            "session",
            format!("the first exec of a session was refused: {ground}"),
            "see below for a debugger, Yama or a limit; a floor must let execward itself run",
        ),
        (None, "") => Finding::fails(
            "session",
            format!(
                "a session ended without a word, with status {:?}",
                ended.code
            ),
            "EXECWARD_LOG=debug execward run -- true writes more into its execward.log",
        ),
        (None, said) => Finding::said("session", said),
    };
    finding.promising(SESSION)
}

/// The one decision about the image `word`, and no second.
fn decision<'r>(word: &'r [&'r str], ended: &'r Ended) -> Result<&'r Value, String> {
    let decisions: Vec<_> = ended.decisions(word).collect();
    match decisions.as_slice() {
        [decision] => Ok(decision),
        others => Err(format!("the log has {} decisions about it", others.len())),
    }
}

const UNVERIFIED: &str = "do not rely on the gate here; a debugger, Yama or another security module \
    may keep it from looking: see the checks below";

fn ran(check: &'static str, who: &str, met: Met, word: &str, ended: &Ended) -> Finding {
    let words = [inside::ARGUMENT, "ran", word];
    let outcome = decision(&words, ended).map(|decision| {
        let why = text(decision, "/decision/detail");
        match ended.outcome(decision) {
            none if none.is_empty() => format!("refused: {why}"),
            outcome => outcome,
        }
    });
    match (met, outcome) {
        (Met::Ran, Ok(outcome)) if outcome == "verified" => {
            Finding::ok(check, format!("{who} ran, and the log says `verified`"))
        }
        (met, Ok(outcome) | Err(outcome)) => {
            let seen = format!("{who}: {}, and the log says: {outcome}", in_words(met));
            Finding::fails(check, seen, UNVERIFIED)
        }
    }
}

fn denied(met: Met, ended: &Ended) -> Finding {
    let words = [inside::ARGUMENT, "__must-not-run", "once"];
    let rule = decision(&words, ended).map(|decision| text(decision, "/decision/rule/id"));
    if met == Met::Errno(Errno::EPERM as i32) && rule.as_ref() == Ok(&"must-not-run") {
        return Finding::ok("denied", "EPERM, and the image did not run");
    }
    let log = match rule {
        Ok(rule) => format!("rule `{rule}`"),
        Err(none) => none,
    };
    let seen = format!("what is denied: {}; in the log: {log}", in_words(met));
    Finding::fails(
        "denied",
        seen,
        "do not rely on the gate here, and report this",
    )
}

fn failed(met: Met, bare: Met, ended: &Ended) -> Finding {
    if bare == Met::Errno(Errno::EACCES as i32) {
        return Finding::note(
            "failed",
            "not tried: nothing may be executed in the directory of temporary files (TMPDIR)",
        );
    }
    let log = ended.records.iter().find(|record| {
        let argv0 = text(record, "/proc/argv/0");
        argv0.ends_with("/plain")
    });
    let outcome = log
        .map(|decision| ended.outcome(decision))
        .unwrap_or_default();
    let expected = match bare {
        Met::Errno(errno) => format!("failed {:?}", Errno::from_raw(errno)),
        Met::Ran => "verified".to_owned(),
    };
    if met == bare && outcome == expected {
        return Finding::ok("failed", format!("{}, and the log says so", in_words(met)));
    }
    let (with, without) = (in_words(met), in_words(bare));
    let seen = format!("{with}, without a gate {without}; the log says `{outcome}`");
    Finding::fails("failed", seen, "report this, with the kernel's release")
}

/// A second decision about one exec is one whose answer the kernel has lost.
fn storm(seen: &Seen, ended: &Ended) -> Finding {
    let Some(storm) = seen.storm else {
        return Finding::fails(
            "signals",
            "the process that execs in a storm of signals did not come to its end",
            "report this, with the kernel's release",
        );
    };
    let tried = u64::from(storm.tried);
    let of_the_storm = |record: &&Value| text(record, "/proc/argv/3") == "storm";
    let decided = ended.records.iter().filter(of_the_storm).count();
    let surplus = (decided as u64).saturating_sub(tried);
    let what = format!("{tried} execs under {} signals", storm.signals);
    if storm.refused != storm.tried || (decided as u64) < tried {
        let seen = format!("{what}: {} refused, {decided} judged", storm.refused);
        return Finding::fails("signals", seen, "report this, with the kernel's release");
    }
    match surplus {
        0 => Finding::ok("signals", format!("{what}: each was judged once")),
        more => Finding::weak(
            "signals",
            format!("{what}: {more} came again, since the kernel lost the answer"),
            "nothing gets through, for each is judged again; Linux 6.18, and stable kernels with its \
             fix (cce436aafc2a), lose none",
        ),
    }
}

pub(super) fn in_words(met: Met) -> String {
    match met {
        Met::Ran => "it ran".to_owned(),
        Met::Errno(errno) => format!("{:?}", Errno::from_raw(errno)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::doctor::finding::State;
    use crate::doctor::storm::Storm;

    fn decision(id: u32, words: &[&str], rule: &str) -> Value {
        let argv = [&["/proc/self/exe", "__inside"], words].concat();
        json!({
            "type": "exec.decision",
            "exec_id": id.to_string(),
            "proc": {"argv": argv},
            "decision": {"rule": {"id": rule}},
        })
    }

    fn ended(records: Vec<Value>) -> Ended {
        Ended {
            code: Some(0),
            said: String::new(),
            records,
        }
    }

    fn seen(tried: u32, refused: u32) -> Seen {
        let met = Met::Ran;
        Seen {
            child: met,
            thread: met,
            failed: met,
            denied: met,
            storm: Some(Storm {
                tried,
                refused,
                signals: 9,
            }),
            user_namespace: met,
            core_pattern: met,
            capabilities: 0,
            cgroup_files: Vec::new(),
        }
    }

    #[test]
    fn an_exec_that_is_judged_twice_is_weak_and_one_that_is_not_judged_fails() {
        let judged = |times: u32| {
            let of = |id| decision(id, &["__must-not-run", "storm", "1"], "must-not-run");
            ended((0..times).map(of).collect())
        };
        assert_eq!(storm(&seen(3, 3), &judged(3)).state, State::Ok);
        let lost = storm(&seen(3, 3), &judged(5));
        assert_eq!(lost.state, State::Weak);
        assert!(lost.seen.contains("2 came again"), "{}", lost.seen);
        assert_eq!(storm(&seen(3, 3), &judged(2)).state, State::Fails);
        assert_eq!(storm(&seen(3, 2), &judged(3)).state, State::Fails);
    }

    #[test]
    fn a_denied_image_that_ran_or_that_nobody_judged_fails() {
        let words = ["__must-not-run", "once"];
        let log = ended(vec![decision(1, &words, "must-not-run")]);
        let refused = Met::Errno(Errno::EPERM as i32);
        assert_eq!(denied(refused, &log).state, State::Ok);
        assert_eq!(denied(Met::Ran, &log).state, State::Fails);
        assert_eq!(denied(refused, &ended(Vec::new())).state, State::Fails);
        let by_another = ended(vec![decision(1, &words, "other")]);
        assert_eq!(denied(refused, &by_another).state, State::Fails);
    }

    #[test]
    fn an_image_that_ran_and_is_not_verified_fails() {
        let outcome = |result: &str| {
            let outcome = json!({"result": result});
            let record = json!({"type": "exec.outcome", "exec_id": "1", "outcome": outcome});
            let log = ended(vec![decision(1, &["ran", "child"], ""), record]);
            ran("exec", "a child", Met::Ran, "child", &log).state
        };
        assert_eq!(outcome("verified"), State::Ok);
        assert_eq!(outcome("changed"), State::Fails);
        let unseen = ran("exec", "a child", Met::Ran, "child", &ended(Vec::new()));
        assert_eq!(unseen.state, State::Fails);
    }
}
