//! Open Cybersecurity Schema Framework, Process Activity (class 1007): the records of execs.
//!
//! A decision is the request to launch a process, by exec; that a person is asked, and what came of it, are
//! activities of other names, so that an exec counts once. They have one `metadata.correlation_uid`. Records that
//! are missing (`audit.gap`) are a base event (class 0). All others are left out.

use serde_json::{Value, json};

use super::event::Event;
use super::table::{Field, base_name, keyword, mapped, number, text, time_of_ns};

/// The version whose attributes these are.
const VERSION: &str = "1.6.0";

const PROCESS_ACTIVITY: u64 = 1007;
const LAUNCH: u64 = 1;
const OTHER: u64 = 99;

/// The event of a record, if it is of an exec or of missing records.
pub(super) fn event(event: &Event<'_>) -> Option<Value> {
    match event.kind() {
        "exec.decision" | "exec.held" | "exec.outcome" => Some(mapped(OF_EXEC, event)),
        "audit.gap" => Some(mapped(OF_GAP, event)),
        _ => None,
    }
}

/// What each attribute of an exec's event is made of.
const OF_EXEC: &[Field] = &[
    Field::new("class_uid", |_| Some(PROCESS_ACTIVITY.into())),
    Field::new("category_uid", |_| Some(1.into())),
    Field::new("activity_id", |e| Some(activity(e).into())),
    Field::new("activity_name", |e| Some(activity_name(e).into())),
    Field::new("type_uid", |e| {
        Some((PROCESS_ACTIVITY * 100 + activity(e)).into())
    }),
    Field::new("launch_type_id", |e| {
        (activity(e) == LAUNCH).then(|| 3.into())
    }),
    Field::new("time", milliseconds),
    Field::new("severity_id", |e| {
        Some(if e.is_refused() { 3 } else { 1 }.into())
    }),
    Field::new("status_id", |e| Some(status(e).into())),
    Field::new("status_code", |e| {
        text(e, "/effect/errno").or_else(|| text(e, "/outcome/errno"))
    }),
    Field::new("status_detail", |e| {
        text(e, "/decision/reason").or_else(|| text(e, "/outcome/result"))
    }),
    Field::new("message", |e| Some(e.message().into())),
    Field::new("action_id", |e| action(e).map(Value::from)),
    Field::new("disposition_id", |e| disposition(e).map(Value::from)),
    Field::new("is_alert", |e| {
        (e.text("/outcome/result") == Some("unverified")).then(|| true.into())
    }),
    Field::new("policy.uid", |e| text(e, "/decision/rule/id")),
    Field::new("policy.name", |e| text(e, "/decision/rule/src")),
    Field::new("metadata.version", |_| Some(VERSION.into())),
    Field::new("metadata.profiles", |e| {
        let container = e.start_text("/container/id").map(|_| "container");
        let profiles = ["host", "security_control"].into_iter().chain(container);
        Some(json!(profiles.collect::<Vec<_>>()))
    }),
    Field::new("metadata.product.name", |_| Some("execward".into())),
    Field::new("metadata.product.vendor_name", |_| Some("execward".into())),
    Field::new("metadata.product.version", |e| {
        e.start_text("/sup/version").map(Value::from)
    }),
    Field::new("metadata.uid", |e| text(e, "/id")),
    Field::new("metadata.sequence", |e| number(e, "/seq")),
    Field::new("metadata.event_code", |e| text(e, "/type")),
    Field::new("metadata.log_version", |e| text(e, "/v")),
    Field::new("metadata.logged_time", milliseconds),
    Field::new("metadata.correlation_uid", |e| {
        let (session, exec) = (e.text("/session/id")?, e.text("/exec_id")?);
        Some(format!("{session}/{exec}").into())
    }),
    Field::new("metadata.is_truncated", |e| {
        e.at("/proc/argv_cut").map(|_| true.into())
    }),
    Field::new("device.type_id", |_| Some(0.into())),
    Field::new("device.hostname", |e| e.host.map(Value::from)),
    Field::new("device.os.name", |_| Some("Linux".into())),
    Field::new("device.os.type_id", |_| Some(200.into())),
    Field::new("device.os.kernel_release", |e| {
        e.start_text("/kernel").map(Value::from)
    }),
    // An exec replaces the image of the process that calls it.
    Field::new("actor.process.pid", |e| number(e, "/proc/pid")),
    Field::new("actor.user.uid", |e| keyword(e, "/proc/uid_r")),
    Field::new("actor.session.uid", |e| text(e, "/session/id")),
    Field::new("process.pid", |e| number(e, "/proc/pid")),
    Field::new("process.ptid", |e| number(e, "/proc/tid")),
    Field::new("process.parent_process.pid", |e| number(e, "/proc/ppid")),
    Field::new("process.name", |e| Some(base_name(e.program()?).into())),
    Field::new("process.path", |e| text(e, "/proc/path")),
    Field::new("process.cmd_line", |e| e.command_line().map(Value::from)),
    Field::new("process.working_directory", |e| text(e, "/proc/cwd")),
    Field::new("process.user.uid", |e| keyword(e, "/proc/uid_e")),
    Field::new("process.container.uid", |e| {
        e.start_text("/container/id").map(Value::from)
    }),
    Field::new("process.container.runtime", |e| {
        e.start_text("/container/id")?;
        e.start_text("/container/runtime").map(Value::from)
    }),
    Field::new("process.file.name", |e| {
        Some(base_name(e.text("/proc/path")?).into())
    }),
    Field::new("process.file.path", |e| text(e, "/proc/path")),
    Field::new("process.file.type_id", |e| {
        e.text("/proc/path")?;
        Some(file_type(e.number("/proc/file/mode")).into())
    }),
    Field::new("process.file.size", |e| {
        e.text("/proc/path")?;
        number(e, "/proc/file/size")
    }),
    Field::new("process.file.modified_time", |e| {
        e.text("/proc/path")?;
        Some(
            time_of_ns(e, "/proc/file/mtime_ns")?
                .as_millisecond()
                .into(),
        )
    }),
    Field::new("process.file.uid", |e| {
        e.text("/proc/path")?;
        let (device, inode) = (e.text("/proc/file/dev")?, e.number("/proc/file/ino")?);
        Some(format!("{device}:{inode}").into())
    }),
    Field::new("process.file.owner.uid", |e| {
        e.text("/proc/path")?;
        keyword(e, "/proc/file/uid")
    }),
    Field::new("unmapped.session_name", |e| text(e, "/session/name")),
    Field::new("unmapped.boot_ns", |e| number(e, "/boot_ns")),
    Field::new("unmapped.verdict", |e| text(e, "/decision/verdict")),
    Field::new("unmapped.requested_path", |e| text(e, "/proc/req_path")),
    Field::new("unmapped.script", |e| e.at("/proc/script").cloned()),
    Field::new("unmapped.latency", |e| e.at("/lat").cloned()),
    Field::new("unmapped.outcome", |e| e.at("/outcome").cloned()),
    Field::new("unmapped.approval", |e| e.at("/approval").cloned()),
    Field::new("unmapped.hash", |e| text(e, "/hash")),
    Field::new("unmapped.previous_hash", |e| text(e, "/prev")),
    Field::new("unmapped.chain", |e| text(e, "/chain")),
];

/// What those of missing records are made of.
const OF_GAP: &[Field] = &[
    Field::new("class_uid", |_| Some(0.into())),
    Field::new("category_uid", |_| Some(0.into())),
    Field::new("activity_id", |_| Some(OTHER.into())),
    Field::new("activity_name", |_| Some("Records missing".into())),
    Field::new("type_uid", |_| Some(OTHER.into())),
    Field::new("time", milliseconds),
    Field::new("severity_id", |_| Some(4.into())),
    Field::new("is_alert", |_| Some(true.into())),
    Field::new("message", |e| {
        let (count, reason) = (e.number("/gap/count")?, e.text("/gap/reason")?);
        Some(format!("{count} records are missing: {reason}").into())
    }),
    Field::new("count", |e| number(e, "/gap/count")),
    Field::new("metadata.version", |_| Some(VERSION.into())),
    Field::new("metadata.product.name", |_| Some("execward".into())),
    Field::new("metadata.product.vendor_name", |_| Some("execward".into())),
    Field::new("metadata.uid", |e| text(e, "/id")),
    Field::new("metadata.sequence", |e| number(e, "/seq")),
    Field::new("metadata.event_code", |e| text(e, "/type")),
    Field::new("metadata.log_version", |e| text(e, "/v")),
    Field::new("unmapped.session_name", |e| text(e, "/session/name")),
];

fn activity(event: &Event<'_>) -> u64 {
    match event.kind() {
        "exec.decision" => LAUNCH,
        _ => OTHER,
    }
}

fn activity_name(event: &Event<'_>) -> &'static str {
    match event.kind() {
        "exec.decision" => "Launch",
        "exec.held" => "Launch held for an answer",
        _ => "Launch outcome",
    }
}

/// Unknown where the kernel was told to go on: what came of it is another event.
fn status(event: &Event<'_>) -> u64 {
    const UNKNOWN: u64 = 0;
    const SUCCESS: u64 = 1;
    const FAILURE: u64 = 2;
    match event.text("/outcome/result") {
        Some("verified" | "changed" | "unverified") => SUCCESS,
        Some("failed" | "vanished" | "killed") => FAILURE,
        _ if event.is_refused() || event.is_missing() => FAILURE,
        _ => UNKNOWN,
    }
}

/// Allowed 1, denied 2.
fn action(event: &Event<'_>) -> Option<u64> {
    match (event.is_refused(), event.is_let()) {
        (true, _) => Some(2),
        (false, true) => Some(1),
        (false, false) => None,
    }
}

/// Allowed 1, blocked 2; by a person approved 8, rejected 25; where the gate itself failed, an error 27.
fn disposition(event: &Event<'_>) -> Option<u64> {
    let is_own = matches!(
        event.text("/decision/reason"),
        Some("unreadable" | "unverifiable" | "read_deadline" | "overload" | "sup_error")
    );
    match (action(event)?, event.is_of_person()) {
        (1, true) => Some(8),
        (1, false) => Some(1),
        (_, true) => Some(25),
        (_, false) if is_own => Some(27),
        (_, false) => Some(2),
    }
}

/// By the type in a mode; 0 where that is not known.
fn file_type(mode: Option<u64>) -> u64 {
    const REGULAR: u64 = 1;
    let is_regular =
        mode.is_some_and(|mode| mode & u64::from(libc::S_IFMT) == u64::from(libc::S_IFREG));
    if is_regular { REGULAR } else { 0 }
}

fn milliseconds(event: &Event<'_>) -> Option<Value> {
    let time: jiff::Timestamp = event.text("/ts")?.parse().ok()?;
    Some(time.as_millisecond().into())
}
