//! The process that parses: `execward __parse`, which takes texts and sends analyses over the socket
//! that is its standard input, until the other end is closed.

use std::io::{self, stdin};
use std::os::fd::AsFd;
use std::process::ExitCode;

use nix::sys::prctl;
use nix::sys::resource::{Resource, setrlimit};
use nix::unistd::alarm;
use rustix::net::{RecvFlags, SendFlags};

use super::message::{Answer, TEXT_MAX_BYTES, TextId};
use super::parse::analyse;
use crate::fdpass;

/// The first argument by which execward is this process.
pub(crate) const ARGUMENT: &str = "__parse";

/// Most memory that the process may have, in bytes.
const MEMORY_MAX_BYTES: u64 = 512 << 20;

/// After how many seconds over one text the kernel ends the process. The parser gives up before.
const ALARM_SECONDS: u32 = 2;

/// Confines itself, and serves.
pub(crate) fn main() -> ExitCode {
    match confine().and_then(|()| serve(stdin())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// Gives up what parsing does not need: memory beyond what any text takes, files to write, more
/// descriptors, core dumps, processes, which root may start all the same: getrlimit(2). Closes its
/// own memory to others.
fn confine() -> io::Result<()> {
    for (resource, most) in [
        (Resource::RLIMIT_AS, MEMORY_MAX_BYTES),
        (Resource::RLIMIT_FSIZE, 0),
        (Resource::RLIMIT_NOFILE, 8),
        (Resource::RLIMIT_NPROC, 0),
        (Resource::RLIMIT_CORE, 0),
    ] {
        setrlimit(resource, most, most).map_err(io::Error::from)?;
    }
    prctl::set_dumpable(false)?;
    prctl::set_no_new_privs()?;
    Ok(())
}

fn serve(socket: impl AsFd) -> io::Result<()> {
    let mut message = vec![0; TextId::LENGTH + TEXT_MAX_BYTES];
    loop {
        let (length, _) = fdpass::receive(socket.as_fd(), &mut message, RecvFlags::empty())?;
        if length == 0 {
            return Ok(());
        }
        let message = message.get(..length).unwrap_or_default();
        let (id, text) = TextId::split(message).ok_or(io::ErrorKind::InvalidData)?;
        alarm::set(ALARM_SECONDS);
        let answer = answer(text).encode(id)?;
        alarm::cancel();
        fdpass::send(socket.as_fd(), &answer, &[], SendFlags::empty())?;
    }
}

fn answer(text: &[u8]) -> Answer {
    match str::from_utf8(text) {
        Ok(text) => match analyse(text) {
            Ok(analysis) => Answer::Analysed(analysis),
            Err(error) => Answer::NotAnalysed(error.to_string()),
        },
        Err(_) => Answer::NotAnalysed("it is not UTF-8".to_owned()),
    }
}
