//! More at once than anybody would start, and less of a machine than anybody would have.

#![expect(
    clippy::indexing_slicing,
    reason = "a record without the field is a failed test"
)]

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use execward_tests::{Asking, Ground, binary, needs_answers, of_type, skip, under, until};
use serde_json::Value;

/// The decisions about calls whose first word is this.
fn decisions<'r>(records: &'r [Value], program: &'r str) -> impl Iterator<Item = &'r Value> {
    of_type(records, "exec.decision").filter(move |record| record["proc"]["argv"][0] == program)
}

#[test]
fn a_storm_of_execs_is_judged_one_by_one() {
    let ground = Ground::full("[[deny]]\nid = \"no-touch\"\nprogram = \"touch\"\n");
    let ran = ground.sh(
        "i=0; while [ $i -lt 300 ]; do /bin/true $i & /usr/bin/touch m$i 2>/dev/null & \
         i=$((i + 1)); done; wait; echo over",
    );
    assert_eq!(ran.stdout, "over\n", "{}", ran.stderr);
    assert_eq!(decisions(&ran.records, "/bin/true").count(), 300);
    let refused: Vec<_> = decisions(&ran.records, "/usr/bin/touch").collect();
    assert_eq!(refused.len(), 300);
    for record in refused {
        assert_eq!(record["decision"]["rule"]["id"], "no-touch");
        assert_eq!(record["effect"]["errno"], "EPERM");
    }
    assert!((0..300).all(|number| !ground.has(&format!("m{number}"))));
    // CMD itself is the one more.
    assert_eq!(ran.results("verified"), 301);
}

/// Before Linux 6.18 the answer to a call that a signal interrupts at the same time can be lost, and a
/// call that is interrupted before the gate has taken it comes again on any kernel: it is judged again,
/// with a record of its own, and runs once.
#[test]
fn a_call_that_signals_make_come_again_is_judged_again_and_runs_once() {
    const COUNT: usize = 100;
    let ground = Ground::full("[[deny]]\nid = \"no-touch\"\nprogram = \"touch\"\n");
    let storms = binary("fixture-storms").display().to_string();
    let ran = ground.sh(&format!(
        "{storms} {COUNT} /bin/echo; {storms} {COUNT} /usr/bin/touch 2>/dev/null"
    ));
    let echoed: String = (0..COUNT).map(|number| format!("{number}\n")).collect();
    let refused = "errno=1\n".repeat(COUNT);
    assert_eq!(ran.stdout, echoed + &refused, "{}", ran.stderr);
    for record in decisions(&ran.records, "/usr/bin/touch") {
        assert_eq!(record["decision"]["rule"]["id"], "no-touch");
    }
    let mut verified = 0;
    for record in decisions(&ran.records, "/bin/echo") {
        assert_eq!(record["decision"]["verdict"], "allow");
        let outcomes = of_type(&ran.records, "exec.outcome");
        let its: Vec<_> = outcomes
            .filter(|outcome| outcome["exec_id"] == record["exec_id"])
            .map(|outcome| &outcome["outcome"]["result"])
            .collect();
        assert_eq!(its.len(), 1, "{record}");
        verified += usize::from(its[0] == "verified");
    }
    assert_eq!(verified, COUNT);
    assert!((0..COUNT).all(|number| !ground.has(&number.to_string())));
}

/// A group of processes may have a third of the room in questions; what needs no answer goes on
/// meanwhile, and another group has a third of what is left.
#[test]
fn more_questions_than_a_group_may_ask_are_refused() {
    needs_answers!();
    let ground = Ground::full("[[ask]]\nid = \"t\"\nprogram = \"touch\"\n");
    let many = ground.script(
        "many",
        "i=0; read line; while [ $i -lt $2 ]; do /usr/bin/touch $1$i 2>/dev/null & \
         i=$((i + 1)); done; read line; /bin/echo $1; read line; kill -KILL 0",
    );
    let script = format!(
        "mkfifo m.in n.in; echo ready; setsid sh {many} m 30 <m.in & setsid sh {many} n 20 <n.in & \
         wait; /bin/echo over"
    );
    // Of 400 descriptors 300 are for execs, four for each: a third of 75, then of the other 50.
    let words = ["prlimit", "--nofile=400:400"];
    let mut asking = Asking::start_under(&words, ground, "socket", &script);
    let says = |asking: &Asking| asking.stdout.next_line().expect("a line");
    assert_eq!(says(&asking), "ready");
    let mut inputs = Vec::new();
    for (word, held) in [("m", 25), ("n", 25 + 16)] {
        let input = asking.ground().path(&format!("{word}.in"));
        let mut input = File::options().write(true).open(input).expect("a FIFO");
        input.write_all(b"\n").expect("a line");
        assert_eq!(asking.questions(held).len(), held);
        input.write_all(b"\n").expect("a line");
        assert_eq!(says(&asking), word);
        inputs.push(input);
    }
    for mut input in inputs {
        input.write_all(b"\n").expect("a line");
    }
    assert_eq!(says(&asking), "over");
    let records = asking.end();
    let refused = decisions(&records, "/usr/bin/touch");
    let (over, held): (Vec<_>, Vec<_>) =
        refused.partition(|record| record["decision"]["reason"] == "overload");
    assert_eq!((over.len(), held.len()), (5 + 4, 25 + 16));
    assert!(
        over.iter()
            .all(|record| record["effect"]["errno"] == "EAGAIN")
    );
    let names = (0..30).flat_map(|number| [format!("m{number}"), format!("n{number}")]);
    assert!(names.into_iter().all(|name| !asking.has_run(&name)));
}

/// A group of processes that has a twentieth of a processor; `None` if this machine has none to give.
struct Slowed(PathBuf);

impl Slowed {
    fn make() -> Option<Self> {
        let name = format!("execward-test-{}", std::process::id());
        let of = |base: &str, quota: &str, text: &str| {
            let group = Self(Path::new(base).join(&name));
            fs::create_dir(&group.0).ok()?;
            // Only the kernel makes these files.
            let mut quota = File::options().write(true).open(group.0.join(quota)).ok()?;
            quota.write_all(text.as_bytes()).ok()?;
            Some(group)
        };
        let old = || of("/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", "5000");
        of("/sys/fs/cgroup", "cpu.max", "5000 100000").or_else(old)
    }
}

impl Drop for Slowed {
    fn drop(&mut self) {
        fs::remove_dir(&self.0).ok();
    }
}

/// A gate that gets no processor is not stuck: nobody is killed for it.
#[test]
fn a_slow_machine_is_no_stall() {
    let Some(slowed) = Slowed::make() else {
        return skip("there is no processor to be taken away (cgroups)");
    };
    let ground = Ground::full("[[deny]]\nid = \"no-touch\"\nprogram = \"touch\"\n");
    let script = ground.script(
        "script",
        "for i in 1 2 3 4 5; do /bin/true $i || echo no; done; touch m; echo $?",
    );
    let slow = format!(
        "echo $$ > {}/cgroup.procs && exec \"$@\"",
        slowed.0.display()
    );
    let session = ground.command(&["sh", &script]);
    let ran = ground.end(under(&["sh", "-c", &slow, "sh"], &session));
    assert_eq!(ran.stdout, "126\n", "{}", ran.stderr);
    let records = ground.records_at_end();
    assert_eq!(decisions(&records, "/bin/true").count(), 5);
    for decision in of_type(&records, "exec.decision") {
        assert_ne!(
            decision["decision"]["reason"], "read_deadline",
            "{decision}"
        );
    }
    let mut verified = 0;
    for outcome in of_type(&records, "exec.outcome") {
        assert_eq!(outcome["outcome"]["result"], "verified", "{outcome}");
        verified += 1;
    }
    // Those, and the shell.
    assert_eq!(verified, 6);
    until("the end of the group", || fs::remove_dir(&slowed.0).ok());
}
