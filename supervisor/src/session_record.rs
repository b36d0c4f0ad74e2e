//! What a session is called, what its log starts with, and what whoever starts it is told.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use nix::unistd::Uid;

use crate::audit::{SessionNote, SessionStart, Supervisor};
use crate::cli::RunArgs;
use crate::parking::Parking;
use crate::policy::LoadedPolicy;

/// The session's names: one that is unique, one for people.
pub(crate) fn session_note(args: &RunArgs) -> SessionNote {
    let id = uuid::Uuid::now_v7();
    let name = args.session.clone().unwrap_or_else(|| {
        let now = jiff::Timestamp::now().strftime("%Y%m%dT%H%M%S");
        // The random end of the id: two sessions of one second differ.
        let (_, end) = id.as_u64_pair();
        format!("{now}-{:04x}", end & 0xffff)
    });
    SessionNote {
        id: id.to_string(),
        name,
    }
}

/// The first record.
pub(crate) fn session_start(args: &RunArgs, policy: &LoadedPolicy) -> SessionStart {
    let show = |bytes: &[u8]| bytes.escape_ascii().to_string();
    let cwd = std::env::current_dir().unwrap_or_default();
    SessionStart {
        sup: Supervisor {
            version: env!("CARGO_PKG_VERSION"),
            pid: std::process::id(),
        },
        policy: policy.notes.clone(),
        cmd: args.cmd.iter().map(|word| show(word.as_bytes())).collect(),
        cwd: show(cwd.as_os_str().as_bytes()),
        uid: Uid::current().as_raw(),
        keeps_caps: keeps_caps(args),
        kernel: rustix::system::uname()
            .release()
            .to_str()
            .unwrap_or_default()
            .to_owned(),
    }
}

/// What whoever started the session is told of it.
pub(crate) fn first_words(
    args: &RunArgs,
    policy: &LoadedPolicy,
    parking: &Parking,
    log: &Path,
) -> String {
    let root = match keeps_caps(args) {
        true => "; root keeps its capabilities, and nothing is promised against it",
        false => "",
    };
    format!(
        "policy {}; {}; log {}{root}",
        policy.names(),
        parking.in_words(&policy.rules),
        log.display()
    )
}

/// Whether CMD is to be root and to keep its capabilities.
pub(crate) fn keeps_caps(args: &RunArgs) -> bool {
    args.keep_caps && Uid::effective().is_root()
}
