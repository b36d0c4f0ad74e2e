//! Ways around a gate of execs that have no file of their own here, and their harmless twins.

use std::fs;

use execward_tests::{Ground, Ran, binary, is_root, needs_served_files, of_type, skip, under};

/// What came of the one exec whose image was not the expected one.
fn difference(ran: &Ran) -> &serde_json::Value {
    let mut outcomes = of_type(&ran.records, "exec.outcome").map(|record| &record["outcome"]);
    let differs = outcomes.find(|outcome| !outcome["difference"].is_null());
    differs.expect("one that differs")
}

/// Whoever may mount can have the kernel load another file for a file of a format of their own: what is
/// loaded counts.
#[test]
fn a_format_that_the_session_registers_is_judged_by_what_it_loads() {
    let run = |rules: &str| {
        let ground = Ground::full(rules);
        let _interpreter = ground.copy("/bin/echo", "interpreter");
        let _file = ground.script("file", "ZZTOP\n");
        fs::create_dir(ground.path("formats")).expect("a directory");
        let at = ground.path("").display().to_string();
        let script = format!(
            "mount -t binfmt_misc none {at}/formats || {{ echo no-mount; exit; }}
            echo ':zz:M::ZZTOP::{at}/interpreter:' >{at}/formats/register
            {at}/file arrived; echo $?"
        );
        let path = ground.script("script", &script);
        let ran = ground.run(&["unshare", "-Urm", "sh", &path]);
        (ran, at)
    };
    let (ran, at) = run("");
    if ran.stderr.contains("unshare failed") || ran.stdout.contains("no-mount") {
        return skip("no format can be registered in a user namespace here");
    }
    assert_eq!(
        ran.stdout,
        format!("{at}/file arrived\n0\n"),
        "{}",
        ran.stderr
    );
    assert_eq!(difference(&ran)["result"], "changed");
    let rules = "[[deny]]\nid = \"no\"\nprogram = \"DIR/interpreter\"\n";
    let (ran, at) = run(rules);
    assert_eq!(ran.stdout, "137\n", "{}", ran.stderr);
    let killed = difference(&ran);
    assert_eq!(killed["result"], "killed");
    assert_eq!(killed["loaded"]["exe"], format!("{at}/interpreter"));
}

/// A file system that a member of the session serves may never answer: its exec is refused, and nobody
/// else waits.
#[test]
fn a_program_that_is_never_found_is_refused_in_time() {
    needs_served_files!();
    let ground = Ground::full("");
    let stalls = ground.path("stalls").display().to_string();
    fs::create_dir(&stalls).expect("a directory");
    let script = format!("{stalls}/x & wait $!; echo $?; /bin/echo others run");
    let path = ground.script("script", &script);
    let fixture = binary("fixture-stalls").display().to_string();
    let session = ground.command(&["sh", &path]);
    let ran = ground.end(under(&["unshare", "-m", &fixture, &stalls, "--"], &session));
    assert_eq!(ran.stdout, "126\nothers run\n", "{}", ran.stderr);
    let late = of_type(&ran.records, "exec.decision");
    let late: Vec<_> = late
        .filter(|it| it["decision"]["reason"] == "read_deadline")
        .collect();
    assert_eq!(late.len(), 1);
    assert_eq!(late[0]["effect"]["errno"], "EPERM");
}

/// Most of what proc says of a process waits while that is inside an exec: an exec that never ends must
/// hold up neither its relations nor others.
#[test]
fn an_exec_that_hangs_in_the_kernel_holds_nobody_up() {
    needs_served_files!();
    let ground = Ground::full("");
    let at = ground.path("at").display().to_string();
    fs::create_dir(&at).expect("a directory");
    let ways = binary("fixture-ways").display().to_string();
    let script = format!(
        "HOLD={at}/x {ways} closing /bin/true & while [ ! -e flushed ]; do :; done; /bin/echo sibling; \
         while [ ! -e child-ran ]; do :; done; /bin/echo over"
    );
    let path = ground.script("script", &script);
    let fixture = binary("fixture-serves").display().to_string();
    let session = ground.command(&["sh", &path]);
    let ran = ground.end(under(
        &["unshare", "-m", &fixture, "late", &at, "--"],
        &session,
    ));
    assert_eq!(ran.stdout, "sibling\nover\n", "{}", ran.stderr);
    let records = ground.records_at_end();
    let decision = |word: &str| {
        let mut decisions = of_type(&records, "exec.decision");
        let found = decisions.find(|it| it["proc"]["argv"][1] == word);
        found.expect("a decision")
    };
    let (hung, child) = (decision("by-closing"), decision("child-ran"));
    let of_hung = of_type(&records, "exec.outcome").filter(|it| it["exec_id"] == hung["exec_id"]);
    // It was let go on, and had not come to its end when its child's exec was judged.
    assert_eq!(hung["decision"]["verdict"], "allow");
    assert!(
        of_hung
            .map(|it| it["seq"].as_u64())
            .all(|end| end > child["seq"].as_u64())
    );
}

/// Whoever serves a file system can show the gate another file than the kernel: in a script the one
/// finds one interpreter, the other another.
#[test]
fn a_file_system_that_serves_two_truths_is_allowed_by_no_rule() {
    needs_served_files!();
    let run = |ground: &Ground, second: &str| {
        let at = ground.path("at").display().to_string();
        fs::create_dir(&at).expect("a directory");
        let one = ground.copy("/bin/echo", "one");
        let _other = ground.copy("/usr/bin/dirname", "other");
        let interpreters = format!("{one},{}", ground.path(second).display());
        let script = ground.script("script", "at/tool; echo $?");
        let fixture = binary("fixture-serves").display().to_string();
        let words = ["unshare", "-m", &fixture, &interpreters, &at, "--"];
        let ran = ground.end(under(&words, &ground.command(&["sh", &script])));
        ran.stdout
    };
    let deny = "[[deny]]\nid = \"d\"\nprogram = \"DIR/other\"\n";
    let killed = run(&Ground::full(deny), "other");
    assert_eq!(killed, "137\n");
    let honest = run(&Ground::full(deny), "one");
    assert_eq!(honest, "at/tool\n0\n");
    let allow =
        "[[allow]]\nid = \"a\"\nprogram = [\"sh\", \"DIR/at/tool\", \"DIR/one\", \"DIR/other\"]\n";
    for second in ["one", "other"] {
        assert_eq!(run(&Ground::allowlist(allow), second), "126\n");
    }
}

/// Limits and priorities are set by calls that need no exec: on the gate and the front they are refused.
#[test]
fn front_and_gate_are_not_slowed_or_limited_from_inside() {
    let ground = Ground::full("");
    let own = |process: &str| {
        format!(
            "for p in {process}; do
                prlimit --pid $p --nofile=4:4 2>&1; echo prlimit $?
                renice -n 19 -p $p >/dev/null 2>&1; echo renice $?
                taskset -p 1 $p >/dev/null 2>&1; echo taskset $?
                ionice -c 3 -p $p 2>/dev/null; echo ionice $?
                chrt -i -p 0 $p 2>/dev/null; echo chrt $?
            done"
        )
    };
    let script = format!(
        "gate=$PPID; front=$(awk '/^PPid/ {{ print $2 }}' /proc/$gate/status)
        sleep 1000 & {}; kill $!
        echo; {}",
        own("$!"),
        own("$gate $front")
    );
    let ran = ground.sh(&script);
    let (twin, attack) = ran.stdout.split_once("\n\n").expect("both");
    let succeeded = |text: &str| text.lines().filter(|line| line.ends_with(" 0")).count();
    // Of one's own process all of it works.
    assert_eq!(succeeded(twin), 5, "{}", ran.stdout);
    assert_eq!(succeeded(attack), 0, "{}", ran.stdout);
    assert_eq!(
        attack.matches("Operation not permitted").count(),
        2,
        "{}",
        ran.stdout
    );
}

/// What a debugger holds cannot be verified, and does not run.
#[test]
fn what_another_traces_does_not_run() {
    if fs::metadata("/usr/bin/strace").is_err() {
        return skip("there is no strace");
    }
    let ground = Ground::full("");
    let ran = ground.run(&["/usr/bin/strace", "-o", "/dev/null", "/bin/echo", "ran"]);
    assert_eq!(ran.stdout, "", "{}", ran.stderr);
    let decided = &ran.decisions(&["/bin/echo"])[0]["decision"];
    assert_eq!(decided["reason"], "unverifiable");
    let why = decided["detail"].as_str().expect("why");
    assert!(why.contains("it is traced by process"), "{why}");
    assert_eq!(ground.run(&["/bin/echo", "ran"]).stdout, "ran\n");
}

/// A process that closes its memory to others cannot be read by its own user's gate: it runs nothing.
#[test]
fn what_cannot_be_read_does_not_run() {
    let ground = Ground::full("");
    let ways = binary("fixture-ways").display().to_string();
    let ran = ground.run(&[&ways, "undumpable", "/bin/echo"]);
    if is_root() {
        assert_eq!(ran.stdout, "by-undumpable\n", "{}", ran.stderr);
        return;
    }
    assert_eq!(ran.stdout, "errno=1\n", "{}", ran.stderr);
    let refused = of_type(&ran.records, "exec.decision")
        .last()
        .expect("a refusal");
    assert_eq!(refused["decision"]["reason"], "unreadable");
    assert_eq!(refused["effect"]["errno"], "EPERM");
}

/// A page that never comes holds the gate's look at the path. Its task is killed; if another process
/// keeps the page from coming, the session is ended.
#[test]
fn memory_that_never_answers_ends_its_task_or_the_session() {
    let ground = Ground::full("");
    let faults = binary("fixture-faults").display().to_string();
    let line = |how: &str| format!("{faults} {how} /bin/true; echo $?; /bin/echo on");
    let served = ground.run(&["sh", "-c", &line("served")]);
    if served.stdout.contains("no userfaultfd") {
        return skip("this user may not serve the kernel's own page faults (userfaultfd)");
    }
    assert_eq!(served.stdout, "0\non\n", "{}", served.stderr);
    assert_eq!(served.outcome(&["prog"])["result"], "verified");
    let never = ground.run(&["sh", "-c", &line("never")]);
    assert_eq!(never.stdout, "137\non\n", "{}", never.stderr);
    let held = ground.run(&["sh", "-c", &line("held")]);
    assert_eq!(held.stdout, "137\n", "{}", held.stderr);
    assert_eq!(held.code(), Some(137));
    assert!(held.stderr.contains("does not answer"), "{}", held.stderr);
    for records in [never.records, ground.records_at_end()] {
        let decisions = of_type(&records, "exec.decision");
        let denied = decisions.filter(|record| record["decision"]["verdict"] == "deny");
        let reasons: Vec<_> = denied.map(|record| &record["decision"]["reason"]).collect();
        assert_eq!(reasons, ["read_deadline"]);
    }
}

/// Whoever opens a file under a lease waits up to 45 s for its holder.
#[test]
fn a_file_under_a_lease_is_refused_at_once() {
    let ground = Ground::full("");
    let ways = binary("fixture-ways").display().to_string();
    let prog = ground.copy("/bin/echo", "prog");
    let free = ground.run(&[&ways, "unleased", &prog]);
    assert_eq!(free.stdout, "by-unleased\n", "{}", free.stderr);
    let leased = ground.run(&[&ways, "leased", &prog]);
    assert_eq!(leased.stdout, "errno=1\n", "{}", leased.stderr);
    let last = of_type(&leased.records, "exec.decision").last();
    let refused = last.expect("a refusal");
    assert_eq!(refused["decision"]["reason"], "unreadable");
    assert_eq!(refused["effect"]["errno"], "EPERM");
}
