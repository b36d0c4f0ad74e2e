//! Elastic Common Schema: each record is an event. What has no field there stands in `labels`.
//!
//! Denied and allowed are types of the category `intrusion_detection`, and not of `process`: what is denied has
//! both, and is an alert. What was let go on has an unknown outcome; its `exec.outcome` says what became of it.

use serde_json::{Value, json};

use super::event::Event;
use super::table::{Field, base_name, keyword, mapped, number, text, time_of_ns};

/// The version whose fields these are.
const VERSION: &str = "8.11.0";

/// The event of a record.
pub(super) fn event(event: &Event<'_>) -> Value {
    mapped(TABLE, event)
}

/// What each field is made of.
const TABLE: &[Field] = &[
    Field::new("@timestamp", |e| text(e, "/ts")),
    Field::new("ecs.version", |_| Some(VERSION.into())),
    Field::new("message", |e| Some(e.message().into())),
    Field::new("event.kind", |e| Some(kind(e).into())),
    Field::new("event.category", |e| some_list(categories(e))),
    Field::new("event.type", |e| some_list(types(e))),
    Field::new("event.outcome", |e| outcome(e).map(Value::from)),
    Field::new("event.action", |e| text(e, "/type")),
    Field::new("event.reason", |e| text(e, "/decision/reason")),
    Field::new("event.id", |e| text(e, "/id")),
    Field::new("event.sequence", |e| number(e, "/seq")),
    Field::new("event.duration", |e| {
        e.number("/lat/total")?.checked_mul(1000).map(Value::from)
    }),
    Field::new("event.hash", |e| text(e, "/hash")),
    Field::new("event.module", |_| Some("execward".into())),
    Field::new("event.dataset", |_| Some("execward.audit".into())),
    Field::new("observer.product", |_| Some("execward".into())),
    Field::new("observer.version", |e| {
        e.start_text("/sup/version").map(Value::from)
    }),
    Field::new("host.name", |e| e.host.map(Value::from)),
    Field::new("host.os.type", |_| Some("linux".into())),
    Field::new("host.os.kernel", |e| {
        e.start_text("/kernel").map(Value::from)
    }),
    Field::new("container.id", |e| {
        e.start_text("/container/id").map(Value::from)
    }),
    Field::new("container.image.name", |e| {
        e.start_text("/container/image").map(Value::from)
    }),
    Field::new("container.runtime", |e| {
        e.start_text("/container/runtime").map(Value::from)
    }),
    Field::new("process.pid", |e| number(e, "/proc/pid")),
    Field::new("process.thread.id", |e| number(e, "/proc/tid")),
    Field::new("process.parent.pid", |e| number(e, "/proc/ppid")),
    Field::new("process.entry_leader.entity_id", |e| text(e, "/session/id")),
    Field::new("process.executable", |e| text(e, "/proc/path")),
    Field::new("process.name", |e| Some(base_name(e.program()?).into())),
    Field::new("process.args", |e| e.at("/proc/argv").cloned()),
    Field::new("process.args_count", |e| number(e, "/proc/argc")),
    Field::new("process.command_line", |e| {
        e.command_line().map(Value::from)
    }),
    Field::new("process.working_directory", |e| text(e, "/proc/cwd")),
    Field::new("process.real_user.id", |e| keyword(e, "/proc/uid_r")),
    Field::new("process.user.id", |e| keyword(e, "/proc/uid_e")),
    Field::new("process.group.id", |e| keyword(e, "/proc/gid_e")),
    Field::new("process.hash.sha256", |e| {
        text(e, "/proc/inputs/file/sha256")
    }),
    Field::new("file.path", |e| text(e, "/proc/path")),
    Field::new("file.device", |e| text(e, "/proc/file/dev")),
    Field::new("file.inode", |e| keyword(e, "/proc/file/ino")),
    Field::new("file.size", |e| number(e, "/proc/file/size")),
    Field::new("file.mtime", |e| {
        Some(time_of_ns(e, "/proc/file/mtime_ns")?.to_string().into())
    }),
    Field::new("file.mode", |e| {
        let mode = e.number("/proc/file/mode")? & 0o7777;
        Some(format!("{mode:04o}").into())
    }),
    Field::new("file.uid", |e| keyword(e, "/proc/file/uid")),
    Field::new("rule.id", |e| text(e, "/decision/rule/id")),
    Field::new("rule.reference", |e| text(e, "/decision/rule/src")),
    Field::new("rule.ruleset", |e| {
        e.at("/decision/rule")?;
        let names: Vec<_> = e.policies().into_iter().map(|(name, _)| name).collect();
        (!names.is_empty()).then(|| names.join(", ").into())
    }),
    Field::new("error.code", |e| {
        text(e, "/effect/errno").or_else(|| text(e, "/outcome/errno"))
    }),
    Field::new("error.message", |e| {
        ["/detail", "/decision/detail", "/outcome/detail"]
            .into_iter()
            .find_map(|at| text(e, at))
    }),
    Field::new("labels.schema", |e| text(e, "/v")),
    Field::new("labels.session_name", |e| text(e, "/session/name")),
    Field::new("labels.boot_ns", |e| keyword(e, "/boot_ns")),
    Field::new("labels.chain", |e| text(e, "/chain")),
    Field::new("labels.previous_hash", |e| text(e, "/prev")),
    Field::new("labels.exec_id", |e| text(e, "/exec_id")),
    Field::new("labels.verdict", |e| text(e, "/decision/verdict")),
    Field::new("labels.effect", |e| text(e, "/effect/sent")),
    Field::new("labels.result", |e| text(e, "/outcome/result")),
    Field::new("labels.difference", |e| text(e, "/outcome/difference")),
    Field::new("labels.loaded", |e| text(e, "/outcome/loaded/exe")),
    Field::new("labels.requested_path", |e| text(e, "/proc/req_path")),
    Field::new("labels.file_origin", |e| text(e, "/proc/file/origin")),
    Field::new("labels.script_interpreter", |e| {
        text(e, "/proc/script/interp")
    }),
    Field::new("labels.args_cut", |e| keyword(e, "/proc/argv_cut")),
    Field::new("labels.args_sha256", |e| text(e, "/proc/argv_sha256")),
    Field::new("labels.approver_uid", |e| keyword(e, "/approval/by/uid")),
    Field::new("labels.approver_pid", |e| keyword(e, "/approval/by/pid")),
    Field::new("labels.approval_channel", |e| text(e, "/approval/channel")),
    Field::new("labels.approval_scope", |e| text(e, "/approval/scope")),
    Field::new("labels.approval_wait_ms", |e| {
        keyword(e, "/approval/wait_ms")
    }),
    Field::new("labels.tool", |e| text(e, "/tool/name")),
    Field::new("labels.sender_uid", |e| keyword(e, "/sender/uid")),
    Field::new("labels.sender_pid", |e| keyword(e, "/sender/pid")),
    Field::new("labels.grant", |e| text(e, "/grant/id")),
    Field::new("labels.gap_reason", |e| text(e, "/gap/reason")),
    Field::new("labels.gap_count", |e| keyword(e, "/gap/count")),
    Field::new("labels.target_missing", |e| keyword(e, "/target_missing")),
];

fn some_list(words: Vec<&str>) -> Option<Value> {
    (!words.is_empty()).then(|| json!(words))
}

fn kind(event: &Event<'_>) -> &'static str {
    let is_alert = matches!(event.kind(), "audit.gap" | "approval.refused");
    match is_alert || event.is_refused() {
        true => "alert",
        false => "event",
    }
}

fn categories(event: &Event<'_>) -> Vec<&'static str> {
    let own = match event.kind() {
        "exec.decision" | "exec.held" | "exec.outcome" | "exec.summary" => Some("process"),
        "session.start" | "session.end" | "session.stop" => Some("session"),
        "policy.loaded" | "policy.rejected" | "grant.added" | "grant.removed" => {
            Some("configuration")
        }
        _ => None,
    };
    let is_denied = event.is_refused() || event.kind() == "approval.refused";
    let denied = is_denied.then_some("intrusion_detection");
    own.into_iter().chain(denied).collect()
}

fn types(event: &Event<'_>) -> Vec<&'static str> {
    match (event.kind(), event.text("/outcome/result")) {
        ("exec.decision", _) if event.is_refused() => vec!["start", "denied"],
        ("exec.decision", _) if event.is_let() => vec!["start", "allowed"],
        ("exec.decision", _) => vec!["start"],
        ("exec.outcome", Some("killed")) => vec!["end", "denied"],
        // It started with its decision already.
        ("exec.outcome", Some("changed")) => vec!["change"],
        ("tool.decision", _) if event.is_refused() => vec!["denied"],
        ("approval.refused", _) => vec!["denied"],
        ("session.start", _) => vec!["start"],
        ("session.end", _) => vec!["end"],
        ("policy.loaded", _) => vec!["change"],
        ("grant.added", _) => vec!["creation"],
        ("grant.removed", _) => vec!["deletion"],
        _ => vec!["info"],
    }
}

fn outcome(event: &Event<'_>) -> Option<&'static str> {
    match (event.kind(), event.text("/outcome/result")) {
        ("exec.decision", _) if event.is_refused() || event.is_missing() => Some("failure"),
        ("exec.decision" | "exec.held", _) => Some("unknown"),
        ("exec.outcome", Some("verified" | "changed" | "unverified")) => Some("success"),
        ("exec.outcome", Some("failed" | "vanished" | "killed")) => Some("failure"),
        ("exec.outcome", _) => Some("unknown"),
        _ => None,
    }
}
