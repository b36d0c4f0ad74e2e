//! The power is cut under a session: what the disk has left of its log.

#![expect(
    clippy::indexing_slicing,
    reason = "a record without the field is a failed test"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use execward_tests::drill::{report, scale};
use execward_tests::random::Random;
use execward_tests::{
    Asking, Ground, binary, chained, finish, needs_answers, needs_served_files, of_type,
};
use nix::sys::signal::{Signal, kill};
use serde_json::Value;

use crate::disk::{Disk, served};
use crate::lifetime::{gate_of, pid};

/// What is denied, what a person is asked about.
const RULES: &str = "[[deny]]\nid = \"no\"\nprogram = \"mkdir\"\n\
    [[ask]]\nid = \"perhaps\"\nprogram = \"touch\"\n";

/// Two loops that mark what ran and what was refused, and one about which a person is asked.
const LOAD: &str = "exec 2>/dev/null; many() { i=0; while :; do /usr/bin/printf \"$1.$i\\n\" >>ran; \
    /usr/bin/mkdir d$1.$i || echo d$1.$i >>refused; i=$((i + 1)); done; }; many a & many b & echo on; \
    i=0; while :; do /usr/bin/touch q$i || echo q$i >>declined; i=$((i + 1)); done";

/// What was seen of a session before its end, and what the disk had of it when the power was gone.
struct Cut {
    /// Nanoseconds since the machine started.
    at_ns: u64,
    /// What the gate wrote, and how much of that was synced.
    written: Vec<u8>,
    synced: usize,
    left: Vec<u8>,
    /// The second words of execs that ran, and that a rule and a person refused.
    ran: BTreeSet<String>,
    refused: BTreeSet<String>,
    declined: BTreeSet<String>,
    /// The IDs of questions whose answer was taken, as far as whoever gave it was told.
    answered: Vec<String>,
}

/// Figures of all cuts.
#[derive(Default)]
struct Account {
    answers: usize,
    /// Cuts that took records, how many at most, how many in all, of these decisions that refused.
    took: usize,
    most: usize,
    lost: usize,
    lost_refusals: usize,
    /// Answers that nobody had been told of yet.
    untold: usize,
    /// From the first record that was lost to the cut, at most.
    span_ns: u64,
    set_apart: usize,
}

fn lines(ground: &Ground, name: &str) -> BTreeSet<String> {
    let text = fs::read_to_string(ground.path(name)).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// Cuts the power of the disk. What is seen is seen while the gate waits for the disk in vain.
fn cut(disk: &mut Disk, ground: &Ground, seed: u64) -> Cut {
    let at_ns = disk.be(&format!("cut {seed}")).parse().expect("a time");
    let names = fs::read_dir(ground.path("")).expect("a directory");
    let names = names.map(|entry| entry.expect("an entry").file_name());
    let touched = names.filter_map(|name| name.into_string().ok());
    let mut ran = lines(ground, "ran");
    ran.extend(touched.filter(|name| name.starts_with('q')));
    Cut {
        at_ns,
        written: disk.bytes("cat audit.jsonl"),
        synced: disk.be("synced audit.jsonl").parse().expect("a length"),
        left: disk.bytes("left audit.jsonl"),
        ran,
        refused: lines(ground, "refused"),
        declined: lines(ground, "declined"),
        answered: Vec::new(),
    }
}

/// A session under load whose power is cut after `lasts`. Without a person nothing but time syncs its log.
fn life(lasts: Duration, seed: u64, has_person: bool) -> Cut {
    let (ground, words) = served(Ground::full(RULES).option("--no-notice"));
    let ground = ground.option("--kill-at-exit");
    let load = ground.script("load", LOAD);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut asking = Asking::start_under(&words, ground, "socket", &format!(". {load}"));
    assert_eq!(asking.stdout.next_line().as_deref(), Some("on"));
    let (mut disk, front) = (Disk::of(asking.ground()), gate_of(pid(asking.front())));
    let is_over = AtomicBool::new(false);
    let seen = thread::scope(|scope| {
        let (ground, is_over) = (asking.ground(), &is_over);
        let cutter = scope.spawn(move || {
            // Any time is meant.
            thread::sleep(lasts);
            let seen = cut(&mut disk, ground, seed);
            is_over.store(true, Ordering::SeqCst);
            kill(front, Signal::SIGKILL).expect("a signal");
            disk.be("end");
            seen
        });
        let answered = has_person.then(|| answers(&asking, is_over));
        let seen = cutter.join().expect("a cut");
        Cut {
            answered: answered.unwrap_or_default(),
            ..seen
        }
    });
    asking.front_ends();
    asking.ground().nothing_is_left();
    seen
}

/// Allows and denies in turn until the session `is_over`; the IDs of those answers that whoever gave them
/// was told of before.
fn answers(asking: &Asking, is_over: &AtomicBool) -> Vec<String> {
    let mut answered = Vec::new();
    loop {
        let (listed, open, _) = asking.client(&["pending", "--json"]);
        let question = open.lines().next();
        let question = question.and_then(|line| serde_json::from_str::<Value>(line).ok());
        let told = question.map(|question| {
            let id = question["requestId"].as_str().expect("an ID").to_owned();
            let verb = ["allow", "deny"][answered.len() % 2];
            (asking.client(&[verb, &id]).0, id)
        });
        if is_over.load(Ordering::SeqCst) {
            return answered;
        }
        assert_eq!(listed, Some(0), "the questions were not told");
        answered.extend(told.map(|(code, id)| {
            assert_eq!(code, Some(0), "an answer was not taken");
            id
        }));
    }
}

/// By a word of each exec, what was decided about it.
fn decisions<'a>(records: &'a [Value], word: &str) -> BTreeMap<&'a str, &'a Value> {
    let all = of_type(records, "exec.decision");
    let named = all.filter_map(|it| Some((it.pointer(word)?.as_str()?, it)));
    named.collect()
}

/// Who answered, in a decision.
const BY: &str = "/approval/by";

impl Cut {
    /// Starts the next session on what is left, and reckons up what is missing.
    fn reckon(&self, account: &mut Account) {
        let next = Ground::full("");
        let log = next.path("audit.jsonl");
        fs::write(&log, &self.left).expect("a log");
        let (status, stdout, stderr) = finish(next.command(&["echo", "next"]));
        assert_eq!((status.code(), &*stdout), (Some(0), "next\n"), "{stderr}");
        let mut tail = Command::new(binary("execward"));
        tail.args(["audit", "tail"]).arg(&log);
        let (status, shown, stderr) = finish(tail);
        assert!(status.success(), "{stderr}");
        let (records, torn) = chained(&fs::read(&log).expect("a log"));
        assert!(torn.is_empty());
        let start = of_type(&records, "session.start").last();
        let start = start.expect("the next session");
        let apart = start["log"]["recovered"].as_u64().unwrap_or_default();
        let beside = fs::read(next.path("audit.jsonl.torn")).unwrap_or_default();
        assert_eq!(beside.len() as u64, if apart > 0 { apart + 1 } else { 0 });
        let said = shown.contains("of a torn record are set apart");
        assert_eq!(said, apart > 0, "{shown}");
        account.set_apart += usize::from(apart > 0);

        let kept = records.iter().position(|it| it["chain"] == start["chain"]);
        let kept = &records[..kept.expect("the next session")];
        let written = chained(&self.written).0;
        let synced = chained(&self.written[..self.synced]).0;
        assert!(kept.len() >= synced.len(), "what was synced is lost");
        assert_eq!(*kept, written[..kept.len()]);
        self.nothing_is_unrecorded(&written, kept);
        account.answers += self.answered.len();
        account.enter(&written[kept.len()..], self.at_ns);
    }

    /// What ran and what was refused is in the log as it was written, and what a person said in what
    /// is left of it.
    fn nothing_is_unrecorded(&self, written: &[Value], kept: &[Value]) {
        let by_id = decisions(kept, "/exec_id");
        for id in &self.answered {
            let record = by_id.get(&**id).copied();
            assert!(record.is_some_and(|it| it.pointer(BY).is_some()), "{id}");
        }
        let of = |records| decisions(records, "/proc/argv/1");
        let (written, kept) = (of(written), of(kept));
        let verdict = |records: &BTreeMap<&str, &Value>, word: &str| {
            let record = records
                .get(word)
                .or_else(|| records.get(&*format!("{word}\\n")));
            let record = *record.unwrap_or_else(|| panic!("{word} has no record"));
            record["decision"]["verdict"].as_str().map(str::to_owned)
        };
        for word in &self.ran {
            let records = if word.starts_with('q') {
                &kept
            } else {
                &written
            };
            assert_eq!(verdict(records, word).as_deref(), Some("allow"), "{word}");
        }
        for word in &self.refused {
            assert_eq!(verdict(&written, word).as_deref(), Some("deny"), "{word}");
        }
        for word in &self.declined {
            assert_eq!(verdict(&kept, word).as_deref(), Some("deny"), "{word}");
        }
    }
}

impl Account {
    fn enter(&mut self, lost: &[Value], at_ns: u64) {
        let Some(first) = lost.first() else { return };
        let first_ns = first["boot_ns"].as_u64().expect("a time");
        self.span_ns = self.span_ns.max(at_ns.saturating_sub(first_ns));
        self.took += 1;
        self.most = self.most.max(lost.len());
        self.lost += lost.len();
        let decided = || of_type(lost, "exec.decision");
        let is_answer = |it: &&Value| it.pointer(BY).is_some();
        let is_refusal = |it: &&Value| it["decision"]["verdict"] == "deny" && !is_answer(it);
        self.untold += decided().filter(is_answer).count();
        self.lost_refusals += decided().filter(is_refusal).count();
    }
}

#[test]
fn t10_the_power_is_cut_under_load() {
    needs_served_files!();
    needs_answers!();
    let cuts = scale(5, 200);
    let seed = std::process::id().into();
    println!("seed {seed}");
    let mut random = Random::of(seed);
    let mut account = Account::default();
    for number in 0..cuts {
        let lasts = Duration::from_millis(random.below(800));
        let seed = random.below(1 << 30);
        life(lasts, seed, number % 2 == 0).reckon(&mut account);
    }
    let Account {
        answers,
        took,
        most,
        lost,
        lost_refusals,
        untold,
        span_ns,
        set_apart,
    } = account;
    report(
        "T10",
        &format!(
            "{cuts} power cuts at random under two loops of execs and one that asks, in every other session \
             somebody who answers"
        ),
        &format!(
            "each time the next session began, and the chain held to the last sync or further; {answers} answers \
             were told, 0 of them lost; {took} cuts took {lost} records, {most} at most, none older than {:.1} ms: \
             {lost_refusals} decisions that refused by a rule, {untold} answers that nobody had been told of; \
             a torn end was set apart {set_apart} times",
            span_ns as f64 / 1e6
        ),
    );
}
