//! The second scratch session: a question, signals while it waits, and the answer of a client.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use nix::errno::Errno;
use nix::sys::signal::kill;
use serde_json::Value;

use super::finding::Finding;
use super::scratch::Scratch;
use super::session::{Session, kind, pid, text};
use super::storm::SIGNAL;
use crate::places::Places;
use crate::tracee::Tid;

const PROMISE: &str = "a question waits for its answer";

/// How many signals come while it waits.
const SIGNALS: usize = 50;

/// Asks, and answers no.
///
/// # Errors
/// If the session cannot be started or looked at at all.
pub(super) fn findings(scratch: &Scratch, places: &Places) -> io::Result<Vec<Finding>> {
    let mut session = Session::start(scratch, "ask", "socket", "asked")?;
    let held = session.record(|record| kind(record) == "exec.held")?;
    if let Some(held) = &held {
        disturb(held);
        answer(scratch, text(held, "/exec_id"))?;
    }
    let ended = session.end()?;
    if held.is_none() {
        let said = match ended.said.as_str() {
            "" => "the session ended without a question; report this",
            said => said,
        };
        return Ok(vec![Finding::said("asking", said).promising(PROMISE)]);
    }
    let of_kind = |wanted| ended.records.iter().filter(move |it| kind(it) == wanted);
    let times = of_kind("exec.held").count();
    let decision = of_kind("exec.decision").next_back();
    let ground = decision.map_or("", |decision| text(decision, "/decision/reason"));
    let (code, refused) = (ended.code, Some(Errno::EPERM as i32));
    let asking = if ground == "user" && code == refused {
        let sockets = places.sockets().display();
        let seen = "an exec waited, and `execward deny` was its answer";
        Finding::ok("asking", format!("{seen}, by a socket below {sockets}"))
    } else {
        let seen = format!("an exec that was denied ended with {code:?}; the log says `{ground}`");
        Finding::fails("asking", seen, "use --prompt none here, and report this")
    };
    Ok(vec![asking.promising(PROMISE), waiting(times)])
}

/// Signals that the waiting program handles.
fn disturb(held: &Value) {
    let Some(pid) = pid(held, "/proc/pid") else {
        return;
    };
    for _ in 0..SIGNALS {
        if let Err(errno) = kill(Tid::new(pid).as_pid(), SIGNAL) {
            tracing::debug!(%errno, "nobody waits any more");
        }
    }
}

fn answer(scratch: &Scratch, id: &str) -> io::Result<()> {
    let mut client = Command::new("/proc/self/exe");
    client.arg0("execward").args(["deny", id, "--session"]);
    client.arg(scratch.session("ask")).stdin(Stdio::null());
    // What it says is in the log, or missing there.
    client.stdout(Stdio::null()).stderr(Stdio::null());
    client.status().map(drop)
}

/// Whether a wait was left for a signal, and begun again.
fn waiting(times: usize) -> Finding {
    match times {
        1 => Finding::ok(
            "waiting",
            format!("{SIGNALS} signals while an exec waited, and it went on waiting"),
        ),
        more => Finding::fails(
            "waiting",
            format!("a signal ended a wait, and {more} questions were put for one exec"),
            "this kernel does not do what SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV says; use another",
        ),
    }
    .promising("a signal ends a question only with its program")
}
