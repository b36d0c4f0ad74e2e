//! `policy accept` and `policy load`: who may accept, and what.

use std::fs;
use std::process::Command;

use execward_tests::{binary, finish, skip};

use super::{Waiting, accept, edit, ground, in_session, is_refused, outside, runs, socket};

#[test]
fn no_member_of_a_session_accepts_a_change() {
    let ground = ground();
    let execward = binary("execward").display().to_string();
    let [option, state] = ground.state();
    let accepts = format!("{execward} policy accept {option} {state} policy.toml");
    let script = format!("echo '# added' >>policy.toml; {accepts} >said 2>&1; echo $? >status");
    in_session(&ground, "accepts", &script);
    let read = |name: &str| fs::read_to_string(ground.path(name)).expect("a file");
    assert_eq!(read("status"), "1\n", "{}", read("said"));
    assert!(
        read("said").contains("from outside every session"),
        "{}",
        read("said")
    );
    is_refused(&ground, &["session accepts ("]);

    let hides = "unshare --user --map-root-user --pid --fork --mount-proc";
    let (tried, _, _) = finish({
        let mut command = Command::new("sh");
        command.args(["-c", &format!("{hides} true")]);
        command
    });
    accept(&ground, &["+# added"]);
    if !tried.success() {
        return skip("no user or PID namespaces here, so nothing hides a process's parents");
    }
    let script =
        format!("echo '# more' >>policy.toml; {hides} {accepts} >said 2>&1; echo $? >status");
    in_session(&ground, "hides", &script);
    assert_eq!(read("status"), "1\n", "{}", read("said"));
    is_refused(&ground, &["session hides ("]);
}

#[test]
fn what_someone_loads_from_outside_is_accepted_by_that() {
    let ground = ground();
    let waiting = Waiting::start(&ground, "live", ":");
    edit(&ground);
    is_refused(&ground, &["session live ("]);
    let policy = ground.path("policy.toml").display().to_string();
    let socket = socket(&ground, "live");
    let words = ["policy", "load", &policy, "--control", &socket];
    let (code, stdout, stderr) = outside(&ground, &words);
    assert_eq!(code, Some(0), "{stdout}{stderr}");
    runs(&ground);
    waiting.end();
}

#[test]
fn a_policy_with_a_fault_is_not_accepted() {
    let ground = ground();
    in_session(&ground, "breaks", "echo 'allow = 1' >>policy.toml");
    let policy = ground.path("policy.toml").display().to_string();
    let (code, stdout, stderr) = outside(&ground, &["policy", "accept", &policy]);
    assert_eq!((code, stdout.as_str()), (Some(2), ""), "{stderr}");
    assert!(stderr.contains("allow"), "{stderr}");
    is_refused(&ground, &["policy has faults"]);
}

#[test]
fn a_record_of_sessions_that_is_damaged_is_refused_with_the_next_step() {
    let ground = ground();
    let policy = ground.path("policy.toml").display().to_string();
    for damage in ["garbage", "17643842841234567.live.47"] {
        let path = ground.path("state/execward/.sessions").join(damage);
        fs::write(&path, "").expect("a file");
        is_refused(&ground, &[damage, "is no record of a session", "remove it"]);
        let (code, _, stderr) = outside(&ground, &["policy", "accept", &policy]);
        assert_eq!(code, Some(7), "{stderr}");
        fs::remove_file(&path).expect("a file");
        runs(&ground);
    }
}
