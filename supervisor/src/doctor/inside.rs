//! What runs inside a scratch session: it does what programs do, and says what it met.
//!
//! `execward __inside ROLE`, which is no command of anybody's. A role that tries one exec ends with
//! [`RAN`] if the image ran, as the image itself does, else with the errno.

use std::convert::Infallible;
use std::ffi::{CString, OsStr, OsString};
use std::io::{self, Read, Write, stdin, stdout};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode, Stdio};
use std::thread;

use nix::errno::Errno;
use nix::sched::{CloneFlags, unshare};
use nix::unistd::execv;
use serde::{Deserialize, Serialize};

use super::cgroup;
use super::storm::{self, Storm};

/// The first argument by which execward is this process.
pub(crate) const ARGUMENT: &str = "__inside";

/// An argument that the scratch policy denies.
const DENIED: &str = "__must-not-run";
/// One that it asks about.
const ASKED: &str = "__must-ask";

/// Status of an image that ran; no errno is as high.
pub(super) const RAN: u8 = 200;

/// What a program met: the errno of its exec, or that it ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Met {
    Ran,
    Errno(i32),
}

/// All that was met, one line of JSON.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Seen {
    pub(super) child: Met,
    pub(super) thread: Met,
    pub(super) failed: Met,
    pub(super) denied: Met,
    pub(super) storm: Option<Storm>,
    /// Whether a user namespace can be made.
    pub(super) user_namespace: Met,
    /// What opening `/proc/sys/kernel/core_pattern` for writing answers; nothing is written.
    pub(super) core_pattern: Met,
    /// Capabilities that a session was to lose, and has.
    pub(super) capabilities: u64,
    /// Files by which the session could freeze or kill its own cgroup.
    pub(super) cgroup_files: Vec<String>,
}

/// One of the roles.
pub(crate) fn main(words: &[OsString]) -> ExitCode {
    let mut words = words.iter().map(OsString::as_os_str);
    let role = words.next().and_then(OsStr::to_str).unwrap_or_default();
    let rest = words.next();
    match role {
        "probe" => ended(probe(rest.unwrap_or_default())),
        "asked" => storm::catch_signals().map_or(u8::MAX, |()| tried(&itself(&[ASKED]))),
        "storm" => ended(storm::endure().and_then(|storm| say(&storm))),
        "child" => tried(&itself(&["ran", role])),
        "thread" => thread::spawn(|| tried(&itself(&["ran", "thread"])))
            .join()
            .unwrap_or(Errno::EAGAIN as u8),
        "denied" => tried(&itself(&[DENIED, "once"])),
        "failed" => tried(&[words_of(rest.unwrap_or_default())]),
        "alone" => code(unshare(CloneFlags::CLONE_NEWUSER)),
        // The images.
        _ => RAN,
    }
    .into()
}

/// This program with other words.
fn itself(words: &[&str]) -> Vec<CString> {
    let words = ["/proc/self/exe", ARGUMENT].iter().chain(words);
    words.map(|word| words_of(OsStr::new(word))).collect()
}

/// For a storm: the denied image, told apart by `which`.
pub(super) fn denied(which: u32) -> Vec<CString> {
    itself(&[DENIED, "storm", &which.to_string()])
}

/// A word of a command line has no NUL.
fn words_of(word: &OsStr) -> CString {
    CString::new(word.as_bytes()).unwrap_or_default()
}

/// Executes `argv` in place of this process, by exec(2) itself: the C library would have a shell run
/// what has no format.
pub(super) fn exec(argv: &[CString]) -> Result<Infallible, Errno> {
    execv(argv.first().ok_or(Errno::EINVAL)?, argv)
}

fn tried(argv: &[CString]) -> u8 {
    match exec(argv) {
        Ok(never) => match never {},
        Err(errno) => as_code(errno),
    }
}

fn code(answer: nix::Result<()>) -> u8 {
    answer.map_or_else(as_code, |()| RAN)
}

fn as_code(errno: Errno) -> u8 {
    u8::try_from(errno as i32).unwrap_or(u8::MAX)
}

fn ended(done: io::Result<()>) -> u8 {
    done.map_or(1, |()| 0)
}

fn say(seen: &impl Serialize) -> io::Result<()> {
    let line = serde_json::to_string(seen).map_err(io::Error::other)?;
    writeln!(stdout(), "{line}")
}

/// Tries everything, says it, and stays for as long as somebody wants to look at the session.
fn probe(plain: &OsStr) -> io::Result<()> {
    let nothing = OsStr::new("");
    let file = std::fs::OpenOptions::new()
        .write(true)
        .open("/proc/sys/kernel/core_pattern");
    say(&Seen {
        child: in_child("child", nothing)?,
        thread: in_child("thread", nothing)?,
        failed: in_child("failed", plain)?,
        denied: in_child("denied", nothing)?,
        storm: in_storm()?,
        user_namespace: in_child("alone", nothing)?,
        core_pattern: match file {
            Ok(_) => Met::Ran,
            Err(error) => Met::Errno(error.raw_os_error().unwrap_or(0)),
        },
        capabilities: kept_capabilities()?,
        cgroup_files: cgroup::writable_files(),
    })?;
    stdin().read(&mut [0]).map(drop)
}

/// What `role` meets in a process of its own.
pub(super) fn in_child(role: &str, word: &OsStr) -> io::Result<Met> {
    let status = child(role).arg(word).status()?;
    Ok(match status.code() {
        Some(code) if code == i32::from(RAN) => Met::Ran,
        code => Met::Errno(code.unwrap_or(0)),
    })
}

/// `None` if it did not come to an end.
fn in_storm() -> io::Result<Option<Storm>> {
    let output = child("storm").stderr(Stdio::inherit()).output()?;
    Ok(serde_json::from_slice(&output.stdout).ok())
}

/// `execward __inside ROLE`.
pub(super) fn child(role: &str) -> Command {
    let mut command = Command::new("/proc/self/exe");
    command.arg0("execward").args([ARGUMENT, role]);
    command.stdin(Stdio::null());
    command
}

fn kept_capabilities() -> io::Result<u64> {
    let sets = rustix::thread::capabilities(None)?;
    let kept = sets.effective | sets.permitted;
    Ok((kept & execward_shim::DROPPED).bits())
}
