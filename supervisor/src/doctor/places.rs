//! The files that execward reads and writes: policies, the log's place, its own executable.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use nix::sys::statvfs::fstatvfs;
use nix::unistd::geteuid;
use rustix::fs::{Access, AtFlags, CWD, accessat};

use super::finding::Finding;
use crate::changeable;
use crate::cli::PolicyArgs;
use crate::exec::{Filesystem, Filesystems};
use crate::past::Past;
use crate::places::Places;
use crate::policy::{FLOOR, InForce, LoadedPolicy, PolicyError, accept};
use crate::tracee::{Procfs, Tid};

/// Least room under the logs, in bytes: a day of a busy session.
const ROOM: u64 = 64 << 20;

/// # Errors
/// If proc cannot be read.
pub(super) fn findings(args: &PolicyArgs, places: &Places) -> io::Result<Vec<Finding>> {
    let loaded = InForce::load(args, places).map(|it| it.policy);
    let mut findings = vec![
        policy(&loaded),
        past(&loaded, args, places),
        logs(places.logs())?,
    ];
    findings.extend(executable());
    Ok(findings)
}

/// A policy, or why there is none.
type Loaded = Result<LoadedPolicy, PolicyError>;

fn policy(loaded: &Loaded) -> Finding {
    const PROMISE: &str = "the policy has no fault";
    let finding = match loaded {
        Ok(policy) => {
            let floor = match policy.notes.iter().any(|note| note.name == FLOOR) {
                true => "",
                false => "; no floor",
            };
            Finding::ok("policy", format!("{}{floor}", policy.names()))
        }
        Err(error @ PolicyError::Faults(_)) => {
            let text = error.to_string();
            // What is wrong, and where: the rest of the text draws it.
            let first: Vec<_> = text.lines().skip(1).take(2).map(str::trim).collect();
            Finding::fails(
                "policy",
                format!("it is not loaded: {}", first.join(" ")),
                "`execward policy show` shows every fault",
            )
        }
        Err(error) => Finding::said("policy", &error.to_string()),
    };
    finding.promising(PROMISE)
}

/// What is remembered of earlier sessions, and whether one of them changed the policy.
fn past(loaded: &Loaded, args: &PolicyArgs, places: &Places) -> Finding {
    let files = loaded.as_ref().map_or(&[][..], |policy| &policy.files);
    let command = accept::command_for(args, None);
    // What is not there is made by the first session, and not for a look.
    let examined = match places.state().symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        _ => Past::open(places.state()).and_then(|past| past.examine(files, &command)),
    };
    let finding = match examined {
        Ok(()) => Finding::ok(
            "past",
            format!(
                "{}: no session changed the policy",
                places.state().display()
            ),
        ),
        Err(error) => {
            let text = error.to_string();
            // The difference is below.
            Finding::said("past", text.lines().next().unwrap_or_default())
        }
    };
    finding.promising("a policy that a session changed is not used before it is accepted")
}

/// Where sessions keep their logs, or the nearest directory above that is there.
fn logs(logs: &Path) -> io::Result<Finding> {
    const NAME: &str = "name another place with --audit";
    let there = logs
        .ancestors()
        .find_map(|path| Some((path, File::open(path).ok()?)));
    let Some((path, directory)) = there else {
        let seen = format!("{} cannot be opened", logs.display());
        return Ok(Finding::fails("logs", seen, NAME));
    };
    if let Err(errno) = accessat(CWD, path, Access::WRITE_OK, AtFlags::EACCESS) {
        let seen = format!(
            "nothing can be made in {}: {}",
            path.display(),
            io::Error::from(errno)
        );
        return Ok(Finding::fails("logs", seen, NAME));
    }
    let own = Procfs::open().map_err(io::Error::other)?.task(Tid::own())?;
    let kind = Filesystems::default().of(directory.as_fd(), &own)?;
    let seen = fstatvfs(&directory)?;
    let free = seen.blocks_available() * seen.fragment_size();
    let place = format!("below {}, {} MiB free", path.display(), free >> 20);
    Ok(match kind {
        Filesystem::Local if free < ROOM => {
            let step = "make room: an exec that cannot be logged is refused";
            Finding::weak("logs", format!("{place}: that is little"), step)
        }
        Filesystem::Local => Finding::ok("logs", format!("{place}, on a local file system")),
        Filesystem::Proc | Filesystem::Unstable => {
            let seen = format!("{place}, on a file system whose type is not known to be local");
            Finding::fails("logs", seen, NAME)
        }
    })
}

fn executable() -> Option<Finding> {
    let path = std::env::current_exe().ok()?;
    let uid = geteuid().as_raw();
    let changer = changeable::on_the_way(path.as_os_str().as_bytes(), uid);
    let shown = path.display();
    Some(match changer {
        None => Finding::ok(
            "executable",
            format!("{shown} is not a session's to change"),
        ),
        Some(at) => Finding::weak(
            "executable",
            format!("{shown}: a session may change {}", at.escape_ascii()),
            "install execward as root (scripts/install): else a session can put another in its place, \
             and the next one is started by that",
        ),
    })
}
