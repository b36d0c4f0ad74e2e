//! Arguments that change between the gate's look and the kernel's.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use execward_tests::{Ground, Ran, binary, finish, is_root, of_type, skip};
use serde_json::json;

/// Rounds of one race; scripts/check sets more.
fn rounds() -> String {
    std::env::var("EXECWARD_TEST_ROUNDS").unwrap_or_else(|_| "3000".into())
}

fn count(ran: &Ran, name: &str) -> u32 {
    let found = ran
        .stdout
        .split_whitespace()
        .find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
    found
        .and_then(|number| number.parse().ok())
        .unwrap_or_else(|| panic!("no {name}: {} {}", ran.stdout, ran.stderr))
}

/// Decisions that refused.
#[expect(
    clippy::indexing_slicing,
    reason = "a record without the field is a failed test"
)]
fn refusals(ran: &Ran) -> usize {
    of_type(&ran.records, "exec.decision")
        .filter(|record| record["decision"]["verdict"] == "deny")
        .count()
}

/// A path that leads to a denied program and to another by turns, for so many rounds, under `option`.
fn exchanged(option: &str, rounds: &str) -> Ran {
    let rules = "[[deny]]\nid = \"evil\"\nprogram = \"DIR/prog-b\"\n";
    let ground = Ground::full(rules).option(option);
    let good = ground.copy(binary("fixture-flip"), "prog-a");
    let _evil = ground.copy(binary("fixture-flip"), "prog-b");
    let flip = binary("fixture-flip").display().to_string();
    ground.run(&[&flip, rounds, &good, "b"])
}

#[test]
fn a_denied_program_never_runs_by_a_path_that_is_rewritten() {
    let ran = exchanged("--no-notice", &rounds());
    assert_eq!(count(&ran, "other"), 0, "escapes: {}", ran.stdout);
    assert!(count(&ran, "ran") > 0, "{}", ran.stdout);
    let (killed, rounds) = (count(&ran, "killed"), rounds().parse::<u32>().unwrap());
    // A race that is never lost proves nothing.
    assert!(
        killed * 100 >= rounds,
        "blind: {killed} of {rounds} flips seen at the stop"
    );
    assert_eq!(ran.results("killed"), killed as usize);
    // The rest that did not run was refused before, by the rule.
    assert_eq!(refusals(&ran), count(&ran, "refused") as usize);
}

/// Of a session that is only observed: the same runs, and the log has what was loaded.
#[test]
fn what_is_exchanged_runs_where_it_is_only_observed_and_is_told() {
    let ran = exchanged("--observe", "1000");
    assert_eq!(count(&ran, "killed") + count(&ran, "refused"), 0);
    assert!(count(&ran, "other") > 0, "{}", ran.stdout);
    assert!(ran.results("unverified") > 0 && ran.results("killed") == 0);
    let exchanged = of_type(&ran.records, "exec.outcome")
        .find(|record| record.pointer("/outcome/result") == Some(&json!("unverified")));
    let second = exchanged.and_then(|record| record.pointer("/outcome/decision/rule/id"));
    assert_eq!(second, Some(&json!("evil")));
}

#[test]
fn a_denied_argument_never_arrives_by_being_rewritten() {
    let ground = Ground::full("[[deny]]\nid = \"evil\"\ncommand = \"prog-a argument-b\"\n")
        .option("--no-notice");
    let good = ground.copy(binary("fixture-flip"), "prog-a");
    let flip = binary("fixture-flip").display().to_string();
    let ran = ground.run(&[&flip, &rounds(), &good, "b", "argv"]);
    assert_eq!(count(&ran, "other"), 0, "escapes: {}", ran.stdout);
    let killed = count(&ran, "killed");
    assert!(count(&ran, "ran") > 0, "{}", ran.stdout);
    assert!(
        killed * 100 >= rounds().parse::<u32>().unwrap(),
        "blind: {}",
        ran.stdout
    );
    assert_eq!(ran.results("killed"), killed as usize);
    let at_stop = of_type(&ran.records, "exec.outcome")
        .filter(|record| record["outcome"]["difference"] == "argv")
        .count();
    assert!(at_stop >= killed as usize, "{}", ran.stdout);
}

/// The writer is no thread of the task, and outlives its exec.
#[test]
fn a_denied_program_never_runs_by_a_path_that_another_process_rewrites() {
    let ground =
        Ground::full("[[deny]]\nid = \"evil\"\nprogram = \"DIR/prog-b\"\n").option("--no-notice");
    let good = ground.copy(binary("fixture-flip"), "prog-a");
    let _evil = ground.copy(binary("fixture-flip"), "prog-b");
    let flip = binary("fixture-flip").display().to_string();
    seen_at_the_stop(&ground.run(&[&flip, &rounds(), &good, "b", "process"]));
}

#[test]
fn a_denied_argument_never_arrives_by_another_pointer() {
    let ground = Ground::full("[[deny]]\nid = \"evil\"\ncommand = \"prog-a argument-b\"\n")
        .option("--no-notice");
    let good = ground.copy(binary("fixture-flip"), "prog-a");
    let flip = binary("fixture-flip").display().to_string();
    seen_at_the_stop(&ground.run(&[&flip, &rounds(), &good, "b", "pointers"]));
}

/// What an interpreter reads of its script later is its own affair; which one is loaded is not.
#[test]
fn a_denied_interpreter_is_never_loaded_by_a_script_that_is_exchanged() {
    let ground =
        Ground::full("[[deny]]\nid = \"evil\"\nprogram = \"DIR/interp-b\"\n").option("--no-notice");
    let [own, other] = ["a", "b"].map(|letter| {
        let interpreter = ground.copy(binary("fixture-flip"), &format!("interp-{letter}"));
        ground.script(&format!("script-{letter}"), &format!("#!{interpreter}\n"))
    });
    let flip = binary("fixture-flip").display().to_string();
    let still = ground.run(&[&flip, "10", &own, "a"]);
    assert_eq!(count(&still, "ran"), 10, "{}", still.stdout);
    let still = ground.run(&[&flip, "10", &other, "b"]);
    assert_eq!(count(&still, "refused"), 10, "{}", still.stdout);
    seen_at_the_stop(&ground.run(&[&flip, &rounds(), &own, "b", "files"]));
}

/// Of a race between what is judged and what is denied: nothing denied ran, all else did, and some of
/// it was only told at the stop.
fn seen_at_the_stop(ran: &Ran) {
    assert_eq!(count(ran, "other"), 0, "escapes: {}", ran.stdout);
    assert!(count(ran, "ran") > 0, "{}", ran.stdout);
    let killed = count(ran, "killed");
    assert!(killed > 0, "blind: {}", ran.stdout);
    assert_eq!(ran.results("killed"), killed as usize);
}

#[test]
fn a_path_that_flips_to_a_missing_file_is_no_way_in() {
    let ground =
        Ground::full("[[deny]]\nid = \"evil\"\nprogram = \"DIR/prog-b\"\n").option("--no-notice");
    let _evil = ground.copy(binary("fixture-flip"), "prog-b");
    let missing = ground.path("prog-a").display().to_string();
    let flip = binary("fixture-flip").display().to_string();
    let ran = ground.run(&[&flip, "1000", &missing, "b"]);
    assert_eq!(
        (count(&ran, "other"), count(&ran, "ran")),
        (0, 0),
        "{}",
        ran.stdout
    );
}

/// A link that leads to a forbidden program while the kernel loads it, and back to the allowed one when
/// the gate looks again, names the allowed one twice; what was loaded counts.
#[test]
fn a_link_that_leads_back_is_no_name_of_what_was_loaded() {
    let rules = "[[allow]]\nid = \"a\"\nprogram = [\"sh\", \"true\"]\n";
    let mut ground = Ground::allowlist(rules).option("--no-notice");
    if is_root() {
        // To root's sessions a link of the session's own is no name at all.
        fs::set_permissions(ground.path(""), fs::Permissions::from_mode(0o755)).unwrap();
        ground = ground.option("--user=nobody");
    }
    let (link, fresh) = (ground.path("link"), ground.path("fresh"));
    let lead_to = |program: &str| {
        symlink(program, &fresh).unwrap();
        fs::rename(&fresh, &link).unwrap();
    };
    lead_to("/usr/bin/true");
    let script = format!(
        "i=0 ran=0 other=0 killed=0; while [ $i -lt {} ]; do {} 2>/dev/null; case $? in
         0) ran=$((ran + 1)) ;; 1) other=$((other + 1)) ;; 137) killed=$((killed + 1)) ;; esac
         i=$((i + 1)); done; echo ran=$ran other=$other killed=$killed",
        rounds(),
        link.display()
    );
    let script = ground.script("script", &script);
    let is_over = AtomicBool::new(false);
    let ran = thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                lead_to("/usr/bin/false");
                lead_to("/usr/bin/true");
            }
        });
        let ran = ground.run(&["sh", &script]);
        is_over.store(true, Ordering::Relaxed);
        ran
    });
    assert_eq!(count(&ran, "other"), 0, "escapes: {}", ran.stdout);
    assert!(count(&ran, "ran") > 0, "{}", ran.stdout);
    assert!(count(&ran, "killed") > 0, "blind: {}", ran.stdout);
}

#[test]
fn the_twin_without_a_flip_runs_every_time() {
    let ground = Ground::full("[[deny]]\nid = \"evil\"\nprogram = \"DIR/prog-b\"\n");
    let good = ground.copy(binary("fixture-flip"), "prog-a");
    let flip = binary("fixture-flip").display().to_string();
    let ran = ground.run(&[&flip, "500", &good, "a"]);
    assert_eq!(count(&ran, "ran"), 500, "{}", ran.stdout);
    assert_eq!(ran.results("verified"), 501);
}

/// With other capabilities than the gate's, it cannot answer a missing target itself: the kernel
/// looks, and the exec is held to finding nothing.
#[test]
fn a_missing_file_of_a_task_with_other_rights_is_no_way_in_either() {
    let ground =
        Ground::full("[[deny]]\nid = \"evil\"\nprogram = \"DIR/prog-b\"\n").option("--no-notice");
    let _evil = ground.copy(binary("fixture-flip"), "prog-b");
    let missing = ground.path("prog-a").display().to_string();
    let flip = binary("fixture-flip").display().to_string();
    let other: &[&str] = if is_root() {
        &["setpriv", "--bounding-set", "-dac_override"]
    } else {
        &["unshare", "-Ur"]
    };
    let ran = ground.run(&[other, &[&flip, "1000", &missing, "b"]].concat());
    if ran.stderr.contains("unshare failed") {
        return skip("user namespaces are not allowed here");
    }
    assert_eq!(
        (count(&ran, "other"), count(&ran, "ran")),
        (0, 0),
        "{}",
        ran.stdout
    );
    assert!(count(&ran, "killed") > 0, "blind: {}", ran.stdout);
    assert_eq!(ran.results("killed"), count(&ran, "killed") as usize);
}

/// The same race with a supervisor that continues without verifying is lost: the race is real.
#[test]
fn without_verification_the_race_is_lost() {
    let floor = binary("execward").with_file_name("floor");
    if !floor.try_exists().unwrap_or(false) {
        return skip("the bare loop (tests/bench/floor.c) is not built; scripts/test builds it");
    }
    let ground = Ground::full("");
    let good = ground.copy(binary("fixture-flip"), "prog-a");
    let _evil = ground.copy(binary("fixture-flip"), "prog-b");
    let mut command = std::process::Command::new(floor);
    command.arg("--notify-only").arg(binary("fixture-flip"));
    command.args(["2000", &good, "b"]);
    let (status, stdout, stderr) = finish(command);
    assert!(status.success(), "{stderr}");
    let ran = stdout
        .split_whitespace()
        .find_map(|word| word.strip_prefix("other="));
    assert_ne!(ran, Some("0"), "{stdout}");
}
