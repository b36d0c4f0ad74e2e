//! Execs of threads: one image each, nothing hangs, nothing stays traced.

use execward_tests::{Ground, binary};

fn at_once(threads: &str, rounds: &str) {
    let ground = Ground::full("");
    let fixture = binary("fixture-threads").display().to_string();
    let ran = ground.run(&[&fixture, threads, rounds, "/bin/true"]);
    assert_eq!(ran.stdout, format!("done={rounds}\n"), "{}", ran.stderr);
    let rounds: usize = rounds.parse().expect("a number");
    assert_eq!(ran.results("verified"), rounds + 1);
    assert_eq!(ran.results("killed"), 0);
}

#[test]
fn three_threads_exec_at_once() {
    at_once("3", "400");
}

#[test]
fn four_threads_exec_at_once() {
    at_once("4", "400");
}

#[test]
fn eight_threads_exec_at_once() {
    at_once("8", "200");
}

#[test]
fn one_thread_execs_alone() {
    at_once("1", "100");
}

#[test]
fn a_thread_that_is_not_the_leader_execs() {
    let ground = Ground::full("");
    let ways = binary("fixture-ways").display().to_string();
    let ran = ground.run(&[&ways, "thread", "/bin/echo"]);
    assert_eq!(ran.stdout, "by-thread\n");
    let decision = ran.decisions(&["/bin/echo"])[0];
    assert_ne!(decision["proc"]["pid"], decision["proc"]["tid"]);
    assert_eq!(ran.outcome(&["/bin/echo"])["result"], "verified");
}

#[test]
fn nobody_stays_traced_after_an_exec_that_failed() {
    let ground = Ground::full("");
    ground.script("data", "\u{7f}ELF, and no program");
    // The failed exec is the shell's own; it then waits until nobody traces it.
    let ran = ground.run(&[
        "bash",
        "-c",
        "shopt -s execfail; exec ./data; until grep -q 'TracerPid:.0$' /proc/$$/status; do :; done; echo free",
    ]);
    assert_eq!(ran.stdout, "free\n", "{}", ran.stderr);
    assert_eq!(ran.outcome(&["./data"])["result"], "failed");
}

#[test]
fn vfork_posix_spawn_and_a_threaded_parent_are_gated_alike() {
    let allowed = Ground::full("");
    let denied = Ground::full("[[deny]]\nid = \"no-touch\"\nprogram = \"touch\"\n");
    let fixture = binary("fixture-spawns").display().to_string();
    for (how, refusal) in [
        ("vfork", "status=126\n"),
        ("spawn", "errno=1\n"),
        ("fork", "status=126\n"),
    ] {
        let ran = allowed.run(&[&fixture, how, "/usr/bin/touch"]);
        assert_eq!(ran.stdout, "status=0\n", "{how}: {}", ran.stderr);
        let marker = format!("by-{how}");
        assert!(allowed.path(&marker).try_exists().unwrap());
        assert_eq!(ran.outcome(&["/usr/bin/touch"])["result"], "verified");
        let ran = denied.run(&[&fixture, how, "/usr/bin/touch"]);
        assert_eq!(ran.stdout, refusal, "{how}: {}", ran.stderr);
        assert!(!denied.path(&marker).try_exists().unwrap(), "{how} ran");
    }
}

#[test]
fn threads_that_exec_a_denied_image_at_once_run_none_of_it() {
    let ground =
        Ground::full("[[deny]]\nid = \"no-true\"\nprogram = \"true\"\n").option("--no-notice");
    let threads = binary("fixture-threads").display().to_string();
    // Refused threads end, their leader stays parked: the deadline of the shell ends it.
    let script = format!(
        "{threads} 4 1 /usr/bin/true & until [ $(grep -c no-tru[e] audit.jsonl) -ge 4 ]; do :; done; kill $!; echo four"
    );
    let ran = ground.option("--kill-at-exit").sh(&script);
    assert_eq!(ran.stdout, "four\n", "{}", ran.stderr);
    assert_eq!(ran.decisions(&["/usr/bin/true"]).len(), 4);
}
