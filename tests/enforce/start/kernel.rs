//! What the kernel, a container's profile or a limit refuses.

use execward_tests::{binary, finish, needs_answers};

use super::{Start, fails_by};

/// asm-generic/socket.h.
const SO_PEERPIDFD: u32 = 77;

/// `CALL=ANSWER` for fixtures/refuses.rs.
fn answer(call: libc::c_long, errno: libc::c_int) -> String {
    format!("{call}={errno}")
}

/// The same where argument `argument` is `value` under `mask`.
fn answer_if(call: libc::c_long, argument: u32, mask: u32, value: u32, answer: &str) -> String {
    format!("{call}:{argument}:{mask}:{value}={answer}")
}

fn prctl(operation: libc::c_int, answer: &str) -> String {
    let operation = operation.unsigned_abs();
    answer_if(libc::SYS_prctl, 0, u32::MAX, operation, answer)
}

fn is_refused(name: &str, rules: &[&str]) {
    fails_by(name, |start| start.refused(rules));
}

#[test]
fn a_seccomp_that_does_not_do_is_named_with_the_next_step() {
    for (name, errno) in [
        ("seccomp-flag-unknown", libc::EINVAL),
        ("seccomp-missing", libc::ENOSYS),
        ("seccomp-not-permitted", libc::EPERM),
        ("seccomp-access-denied", libc::EACCES),
        ("seccomp-out-of-memory", libc::ENOMEM),
    ] {
        is_refused(name, &[&answer(libc::SYS_seccomp, errno)]);
    }
}

#[test]
fn a_session_in_a_session_is_refused_and_a_session_beside_it_is_not() {
    fails_by("seccomp-nested", |start| {
        let execward = binary("execward").display().to_string();
        let policy = start.text("policy.toml");
        let log = start.text("outer.jsonl");
        start.inside(&[
            &execward, "run", "-q", "--policy", &policy, "--audit", &log, "--",
        ]);
    });
}

#[test]
fn a_shim_that_fails_is_told_by_what_it_was_doing() {
    let barred = libc::PR_SET_NO_NEW_PRIVS;
    is_refused("shim-no-new-privs", &[&prctl(barred, "22")]);
    is_refused("shim-killed", &[&prctl(barred, "kill")]);
}

/// It waits in the kernel and would for ever.
#[test]
fn a_shim_that_stands_still_is_given_up_and_ended() {
    is_refused("shim-held", &[&prctl(libc::PR_SET_NO_NEW_PRIVS, "hold")]);
}

#[test]
fn a_gate_that_is_killed_at_its_start_is_announced() {
    let call = format!("{}=kill", libc::SYS_unshare);
    is_refused("gate-killed", &[&call]);
}

#[test]
fn what_the_front_needs_is_named() {
    let no = libc::EPERM;
    is_refused("call-socketpair", &[&answer(libc::SYS_socketpair, no)]);
    is_refused("call-memfd", &[&answer(libc::SYS_memfd_create, no)]);
    is_refused("call-pidfd", &[&answer(libc::SYS_pidfd_open, no)]);
    is_refused("call-signalfd", &[&answer(libc::SYS_signalfd4, no)]);
    let adopts = prctl(libc::PR_SET_CHILD_SUBREAPER, "22");
    is_refused("call-subreaper", &[&adopts]);
    let closes = prctl(libc::PR_SET_DUMPABLE, "1");
    is_refused("call-dumpable", &[&closes]);
}

#[test]
fn what_the_gate_needs_is_named() {
    let missing = libc::ENOSYS;
    is_refused("call-openat2", &[&answer(libc::SYS_openat2, missing)]);
    is_refused("call-statx", &[&answer(libc::SYS_statx, missing)]);
    is_refused("call-unshare", &[&answer(libc::SYS_unshare, libc::EPERM)]);
    is_refused("call-fdatasync", &[&answer(libc::SYS_fdatasync, libc::EIO)]);
    // What it needs to hear answers.
    needs_answers!();
    is_refused(
        "call-epoll",
        &[&answer(libc::SYS_epoll_create1, libc::EMFILE)],
    );
    is_refused("call-listen", &[&answer(libc::SYS_listen, libc::EACCES)]);
    let peer = answer_if(libc::SYS_getsockopt, 2, u32::MAX, SO_PEERPIDFD, "92");
    is_refused("call-peerpidfd", &[&peer]);
}

/// Not at the start, and so no failure of it: the gate finds out at CMD's first exec.
#[test]
fn without_ptrace_nothing_runs() {
    let Some(mut start) = Start::new() else {
        return;
    };
    start.runs();
    start.refused(&[&answer(libc::SYS_ptrace, libc::EPERM)]);
    start.ends("call-ptrace", 126);
}

/// glibc falls back to clone(2), whose flags a filter can read.
#[test]
fn threads_that_are_not_to_be_had_are_named() {
    let thread = libc::CLONE_THREAD.unsigned_abs();
    is_refused(
        "limit-threads",
        &[
            &answer(libc::SYS_clone3, libc::ENOSYS),
            &answer_if(libc::SYS_clone, 0, thread, thread, "11"),
        ],
    );
}

#[test]
fn limits_of_processes_and_of_open_files_are_named() {
    fails_by("limit-processes", |start| {
        start.inside(&["prlimit", "--nproc=1", "--"]);
    });
    fails_by("limit-open-files", |start| {
        start.inside(&["sh", "-c", &few_files(4), "sh"]);
    });
}

/// Front and gate are two processes.
#[test]
fn a_limit_that_leaves_the_gate_no_child_is_named() {
    let Some(mut start) = Start::by_another() else {
        return;
    };
    // The first of its user: what is left of another would count as well.
    start.inside(&["prlimit", "--nproc=2", "--"]);
    start.fails("limit-processes-of-the-gate");
    start.inside.clear();
    start.runs();
}

/// No other descriptor than 0 to 2, and at most `most`.
fn few_files(most: u32) -> String {
    format!("exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-; ulimit -n {most}; exec \"$@\"")
}

/// Wherever the descriptors run out: one line, a status of its own, and CMD has not run.
#[test]
fn however_few_open_files_there_may_be_it_runs_or_says_why_not() {
    let Some(mut start) = Start::new() else {
        return;
    };
    let mut ran = false;
    for most in 4..48 {
        start.inside.clear();
        start.inside(&["sh", "-c", &few_files(most), "sh"]);
        let (status, _, said) = finish(start.command());
        ran = status.success();
        assert_eq!(start.ground.has("marker"), ran, "{most}: {said}");
        if ran {
            std::fs::remove_file(start.path("marker")).unwrap();
            assert_eq!(said, "");
        } else {
            assert!(matches!(status.code(), Some(125 | 126)), "{most}: {status}");
            assert!(said.starts_with("execward: "), "{most}: {said}");
            assert_eq!(said.lines().count(), 1, "{most}: {said}");
        }
        start.awaits_its_end();
    }
    assert!(ran, "48 open files do");
}

#[test]
fn without_proc_or_dev_null_there_is_no_session() {
    let Some(mut start) = Start::by_root() else {
        return;
    };
    start.mounted("mount -t tmpfs none /mnt");
    start.runs();
    start.mounted("mount -t tmpfs none /proc");
    start.fails("proc-missing");
    start.mounted("mount -t tmpfs none /dev");
    start.fails("dev-null-missing");
}

#[test]
fn a_proc_that_is_none_is_named() {
    let Some(mut start) = Start::by_another() else {
        return;
    };
    start.runs();
    start.mounted("mount -t tmpfs none /proc");
    start.fails("proc-something-else");
}
