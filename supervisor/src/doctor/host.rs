//! The machine and what this process is to it.

use std::fs;
use std::io;

use super::finding::Finding;
use crate::tracee::{Procfs, Tid};

/// What is seen from outside a session.
///
/// # Errors
/// If proc or the own status cannot be read.
pub(super) fn findings() -> io::Result<Vec<Finding>> {
    let proc = Procfs::open().map_err(io::Error::other)?;
    let own = proc.task(Tid::own())?;
    let status = own.status().map_err(io::Error::other)?;
    let mut findings = vec![
        kernel(),
        yama(status.credentials.may_trace_others()),
        tracer(status.tracer),
        filters(own.filters().map_err(io::Error::other)?),
    ];
    findings.extend(outer_gate(&proc));
    findings.extend(security_modules());
    Ok(findings)
}

fn kernel() -> Finding {
    let names = rustix::system::uname();
    let shown = |name: &std::ffi::CStr| name.to_bytes().escape_ascii().to_string();
    let (release, machine) = (shown(names.release()), shown(names.machine()));
    Finding::note("kernel", format!("Linux {release}, {machine}"))
}

/// Yama's `ptrace_scope` (Documentation/admin-guide/LSM/Yama.rst of the kernel).
fn yama(may_trace_others: bool) -> Finding {
    const TAKEN_OVER: &str = "a process of the same uid outside a session can be traced by one in it, \
        and made to exec anything";
    const SET: &str = "sysctl kernel.yama.ptrace_scope=1, if the kernel has Yama";
    let scope = fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope");
    match scope.unwrap_or_default().trim() {
        "" => Finding::weak("yama", format!("absent: {TAKEN_OVER}"), SET),
        "0" => Finding::weak("yama", format!("ptrace_scope is 0: {TAKEN_OVER}"), SET),
        "1" => Finding::ok("yama", "ptrace_scope is 1"),
        "2" if may_trace_others => Finding::ok("yama", "ptrace_scope is 2"),
        other => Finding::fails(
            "yama",
            format!("ptrace_scope is {other}: the gate may not look at what is loaded"),
            "sysctl kernel.yama.ptrace_scope=1; from 3 only a restart of the machine leads back",
        ),
    }
}

fn tracer(tracer: Tid) -> Finding {
    match tracer.as_u32() {
        0 => Finding::ok("tracer", "nobody traces this process"),
        pid => Finding::weak(
            "tracer",
            format!("process {pid} traces this one; what it traces in a session is refused"),
            "start execward without strace, gdb or the like around it",
        ),
    }
}

fn filters(count: u32) -> Finding {
    let seen = match count {
        0 => "no seccomp filter holds here".to_owned(),
        count => format!("under {count} of seccomp(2) already, and so is a session"),
    };
    Finding::note("filters", seen)
}

/// The gate of another session, if this process is a member of one.
fn outer_gate(proc: &Procfs) -> Option<Finding> {
    let parent = |tid: &Tid| {
        let status = proc.status(*tid).ok()?;
        Some(status.ppid).filter(|ppid| ppid.as_u32() != 0)
    };
    let is_gate = |tid: &Tid| {
        let line = proc.task(*tid).and_then(|task| task.read("cmdline"));
        let line = line.unwrap_or_default();
        line.split(|byte| *byte == 0).nth(1) == Some(b"__gate")
    };
    let gate = std::iter::successors(Some(Tid::own()), parent).find(is_gate)?;
    Some(Finding::fails(
        "outer-session",
        format!("this is a member of another session, whose gate is process {gate}"),
        "start execward outside it: the kernel allows one gate a process tree",
    ))
}

/// Where securityfs is mounted.
fn security_modules() -> Option<Finding> {
    let modules = fs::read_to_string("/sys/kernel/security/lsm").ok()?;
    let seen = modules.trim().replace(',', ", ");
    Some(Finding::note("security-modules", seen))
}
