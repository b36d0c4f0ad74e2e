//! What shim and gate say to each other: two messages one way, two the other.
//!
//! A `SOCK_SEQPACKET` pair keeps message boundaries and carries the listener by SCM_RIGHTS. Every
//! message begins with the version of this contract. A gate hears shims of its own version and of the one
//! before, as an image that is older than the supervisor outside has one, and answers each in its own;
//! what begins otherwise is refused. `golden.txt` beside this file has every message of every version.

use std::fmt;
use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd, RawFd};

use nix::cmsg_space;
use nix::errno::Errno;
use nix::sys::socket::{ControlMessage, ControlMessageOwned, MsgFlags, recvmsg, sendmsg};

/// Version of the messages below.
const VERSION: u8 = 2;
/// The version before. Its shims know no refusal: for them the gate closes its end.
const PREVIOUS: u8 = 1;
const LISTENING: u8 = b'L';
const FAILED: u8 = b'F';
const GO: u8 = b'G';
const REFUSED: u8 = b'R';

/// Longest text of a refusal, in bytes.
const REASON_MAX_BYTES: usize = 1024;

/// The version of the contract that a shim speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version(u8);

/// What the shim was doing when it failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Setting no_new_privs.
    NoNewPrivs,
    /// Taking on CMD's rights.
    Rights,
    /// Compiling the filter.
    Compile,
    /// Installing the filter.
    Install,
    /// Executing CMD.
    Exec,
}

/// What the shim tells the gate.
#[derive(Debug)]
pub enum Report {
    /// The filter is installed; here is its listener.
    Listening {
        /// It.
        listener: OwnedFd,
        /// In which the shim is to be answered.
        version: Version,
    },
    /// The named step failed and the shim is about to exit.
    Failed {
        /// The step.
        stage: Stage,
        /// What the kernel answered.
        errno: Errno,
    },
    /// The shim's end is closed: it has exec'd CMD, or it died.
    Closed,
}

/// What the gate tells the shim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// CMD may be executed.
    Go,
    /// It may not, and why.
    Refused(String),
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoNewPrivs => "setting no_new_privs",
            Self::Rights => "taking on the rights of the command",
            Self::Compile => "compiling the seccomp filter",
            Self::Install => "installing the seccomp filter",
            Self::Exec => "executing the command",
        })
    }
}

impl Stage {
    const ALL: [Self; 5] = [
        Self::NoNewPrivs,
        Self::Rights,
        Self::Compile,
        Self::Install,
        Self::Exec,
    ];

    const fn code(self) -> u8 {
        match self {
            Self::NoNewPrivs => 1,
            Self::Compile => 2,
            Self::Install => 3,
            Self::Exec => 4,
            Self::Rights => 5,
        }
    }

    fn from_code(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|stage| stage.code() == code)
    }
}

/// Shim: hands the listener over. The caller drops its copy afterwards.
///
/// # Errors
/// What sendmsg(2) answers; the gate is gone then.
pub fn send_listener(socket: impl AsFd, listener: &OwnedFd) -> io::Result<()> {
    let fds = [listener.as_raw_fd()];
    send(
        socket,
        &[VERSION, LISTENING],
        &[ControlMessage::ScmRights(&fds)],
    )
}

/// Shim: says which step failed and why.
///
/// # Errors
/// What sendmsg(2) answers; the gate is gone then.
pub fn send_failure(socket: impl AsFd, stage: Stage, errno: Errno) -> io::Result<()> {
    let mut message = vec![VERSION, FAILED, stage.code()];
    message.extend((errno as i32).to_le_bytes());
    send(socket, &message, &[])
}

/// Gate: lets the shim exec CMD.
///
/// # Errors
/// What sendmsg(2) answers; the shim is gone then.
pub fn send_go(socket: impl AsFd, Version(version): Version) -> io::Result<()> {
    send(socket, &[version, GO], &[])
}

/// Gate: tells the shim that CMD is not to run, and why, in no more than a kibibyte.
///
/// # Errors
/// What sendmsg(2) answers; the shim is gone then.
pub fn send_refusal(socket: impl AsFd, why: &str) -> io::Result<()> {
    let why = why.get(..why.floor_char_boundary(REASON_MAX_BYTES));
    let why = why.unwrap_or_default().as_bytes();
    // To a shim of the version before it is no go-ahead, and so the end that a closed socket is.
    send(socket, &[&[VERSION, REFUSED], why].concat(), &[])
}

/// Shim: waits for the answer.
///
/// # Errors
/// `UnexpectedEof` if the gate closed its end instead: CMD must not run then.
pub fn await_answer(socket: impl AsFd) -> io::Result<Answer> {
    let mut buffer = [0; REASON_MAX_BYTES + 2];
    match receive(socket, &mut buffer)? {
        ([VERSION, GO], fds) if fds.is_empty() => Ok(Answer::Go),
        ([VERSION, REFUSED, why @ ..], fds) if fds.is_empty() => {
            let why = str::from_utf8(why).map_err(|_| io::ErrorKind::InvalidData)?;
            Ok(Answer::Refused(why.to_owned()))
        }
        ([], _) => Err(io::ErrorKind::UnexpectedEof.into()),
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

/// Gate: takes the shim's next report. Blocks; poll first where a time-out is wanted.
///
/// # Errors
/// What recvmsg(2) answers, or `InvalidData` for a message that is not of this contract.
pub fn receive_report(socket: impl AsFd) -> io::Result<Report> {
    let mut buffer = [0; 8];
    let (message, mut fds) = receive(socket, &mut buffer)?;
    let (version, message) = match message {
        [] if fds.is_empty() => return Ok(Report::Closed),
        [version @ (PREVIOUS | VERSION), message @ ..] => (Version(*version), message),
        _ => return Err(io::ErrorKind::InvalidData.into()),
    };
    match (message, fds.pop(), fds.len()) {
        ([LISTENING], Some(listener), 0) => Ok(Report::Listening { listener, version }),
        ([FAILED, stage, a, b, c, d], None, _) => {
            let errno = Errno::from_raw(i32::from_le_bytes([*a, *b, *c, *d]));
            let stage = Stage::from_code(*stage).ok_or(io::ErrorKind::InvalidData)?;
            Ok(Report::Failed { stage, errno })
        }
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

fn send(socket: impl AsFd, message: &[u8], control: &[ControlMessage<'_>]) -> io::Result<()> {
    let iov = [IoSlice::new(message)];
    // NOSIGNAL: a peer that died is an error to report, not a SIGPIPE.
    sendmsg::<()>(
        socket.as_fd().as_raw_fd(),
        &iov,
        control,
        MsgFlags::MSG_NOSIGNAL,
        None,
    )?;
    Ok(())
}

/// Takes one message and the descriptors that came with it, all of them: what there is no room for,
/// nix would leave open.
fn receive(socket: impl AsFd, buffer: &mut [u8]) -> io::Result<(&[u8], Vec<OwnedFd>)> {
    /// Most descriptors in one message: `SCM_MAX_FD` of linux/net/scm.h.
    const FDS_MAX: usize = 253;
    let mut control = cmsg_space!([RawFd; FDS_MAX]);
    let (len, fds) = {
        let mut iov = [IoSliceMut::new(buffer)];
        let flags = MsgFlags::MSG_CMSG_CLOEXEC;
        let raw = socket.as_fd().as_raw_fd();
        let message = loop {
            match recvmsg::<()>(raw, &mut iov, Some(&mut control), flags) {
                Err(Errno::EINTR) => {}
                other => break other?,
            }
        };
        let mut fds = Vec::new();
        for item in message.cmsgs()? {
            if let ControlMessageOwned::ScmRights(received) = item {
                fds.extend(received.into_iter().map(adopt));
            }
        }
        (message.bytes, fds)
    };
    let received: &[u8] = buffer;
    Ok((received.get(..len).unwrap_or_default(), fds))
}

#[expect(unsafe_code, reason = "SCM_RIGHTS hands descriptors over as numbers")]
fn adopt(raw: RawFd) -> OwnedFd {
    // SAFETY: recvmsg(2) has just installed this descriptor for the message being read, and each
    // number of the control message is adopted once, here.
    unsafe { OwnedFd::from_raw_fd(raw) }
}

#[cfg(test)]
mod tests;
