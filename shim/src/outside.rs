//! The shim of a supervisor outside: what an image starts in place of CMD, with no supervisor in it.
//!
//! The supervisor listens at a socket that is mounted into the container. What CMD is to be, and with whose
//! rights, is said here; what it may run, there.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use nix::errno::Errno;
use nix::sys::socket::{AddressFamily, SockFlag, SockType, UnixAddr, connect, socket};

use crate::handshake::Stage;
use crate::rights::Rights;
use crate::start::{Failure, OWN_FAILURE, become_command};

const HELP: &str = "\
Hand this process over to the supervisor at a socket, and become CMD under it

Usage: execward-shim --socket SOCKET [--keep-caps] -- CMD [ARG]...

Options:
      --socket SOCKET  Where `execward run --socket SOCKET` listens, as it is mounted here
      --keep-caps      Leave root its capabilities, if the supervisor was told the same: nothing is promised then
  -h, --help           Print help
  -V, --version        Print version

Exit status: CMD's own; 125 if CMD was not handed over, 126 if it was refused or cannot be executed, 127 if it
is not there.
";

/// What is asked of the shim.
#[derive(Debug)]
enum Wish {
    Help,
    Version,
    Run {
        socket: PathBuf,
        rights: Rights,
        command: Box<Command>,
    },
}

/// What is wrong with the arguments.
#[derive(Debug, PartialEq, Eq)]
enum Usage {
    NoSocket,
    NoPath,
    NoCommand,
    Unknown(OsString),
}

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSocket => f.write_str("name the supervisor's socket with --socket"),
            Self::NoPath => f.write_str("--socket needs a path"),
            Self::NoCommand => f.write_str("name a command behind `--`"),
            Self::Unknown(word) => write!(
                f,
                "`{}` is no option; the command stands behind `--`",
                word.as_encoded_bytes().escape_ascii()
            ),
        }
    }
}

/// Runs `execward-shim` with `arguments`, its own name aside, and returns only if CMD does not run.
pub fn main(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let (path, rights, command) = match parse(arguments) {
        Ok(Wish::Help) => return print(HELP),
        Ok(Wish::Version) => {
            return print(concat!("execward-shim ", env!("CARGO_PKG_VERSION"), "\n"));
        }
        Ok(Wish::Run {
            socket,
            rights,
            command,
        }) => (socket, rights, command),
        Err(usage) => return fail(&format!("{usage}; `execward-shim --help` tells more")),
    };
    let shown = path.display();
    let socket = match connected(&path) {
        Ok(socket) => socket,
        Err(errno) => {
            return fail(&format!(
                "cannot connect to the supervisor at `{shown}`: {}; is `execward run --socket` listening \
                 there, with the socket mounted here? It hears one shim alone",
                errno.desc()
            ));
        }
    };
    let program = command.get_program().to_owned();
    match become_command(&socket, &rights, *command) {
        Ok(never) => match never {},
        Err(failure) => {
            say(&in_words(&failure, &program));
            failure.exit_code()
        }
    }
}

/// One word after another, up to `--`, behind which all is CMD's.
fn parse(mut arguments: impl Iterator<Item = OsString>) -> Result<Wish, Usage> {
    let (mut socket, mut rights) = (None, Rights::Drop);
    loop {
        let word = arguments.next().ok_or(Usage::NoCommand)?;
        match word.to_str() {
            Some("-h" | "--help") => return Ok(Wish::Help),
            Some("-V" | "--version") => return Ok(Wish::Version),
            Some("--keep-caps") => rights = Rights::Keep,
            Some("--socket") => socket = Some(arguments.next().ok_or(Usage::NoPath)?),
            Some("--") => break,
            Some(word) if word.starts_with("--socket=") => {
                socket = word.strip_prefix("--socket=").map(OsString::from);
            }
            Some(_) | None => return Err(Usage::Unknown(word)),
        }
    }
    let socket = socket.filter(|path| !path.is_empty());
    let socket = socket.ok_or(Usage::NoSocket)?.into();
    let mut command = Command::new(arguments.next().ok_or(Usage::NoCommand)?);
    command.args(arguments);
    let command = Box::new(command);
    Ok(Wish::Run {
        socket,
        rights,
        command,
    })
}

fn connected(path: &Path) -> Result<OwnedFd, Errno> {
    let kind = SockType::SeqPacket;
    let end = socket(AddressFamily::Unix, kind, SockFlag::SOCK_CLOEXEC, None)?;
    connect(end.as_raw_fd(), &UnixAddr::new(path)?)?;
    Ok(end)
}

#[expect(clippy::wildcard_enum_match_arm, reason = "errnos are an open set")]
fn in_words(failure: &Failure, program: &OsStr) -> String {
    let program = program.as_encoded_bytes().escape_ascii();
    match failure {
        Failure::Step {
            stage: Stage::Exec,
            errno,
        } => match errno {
            Errno::EPERM => format!("`{program}` was refused; the supervisor's log says why"),
            errno => format!("cannot execute `{program}`: {}", errno.desc()),
        },
        Failure::Step { stage, errno } => {
            format!("{stage} failed: {}; nothing ran", errno.desc())
        }
        Failure::Refused(why) => format!("the supervisor refused: {why}"),
        Failure::NoAnswer(error) => format!(
            "the supervisor gave no go-ahead ({error}), and its own output says why; nothing ran"
        ),
    }
}

#[expect(clippy::print_stdout, reason = "what --help and --version are for")]
fn print(text: &str) -> ExitCode {
    print!("{text}");
    ExitCode::SUCCESS
}

fn fail(text: &str) -> ExitCode {
    say(text);
    ExitCode::from(OWN_FAILURE)
}

#[expect(
    clippy::print_stderr,
    reason = "a container's log is where its user looks"
)]
fn say(text: &str) {
    eprintln!("execward-shim: {text}");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(words: &[&str]) -> Result<Wish, Usage> {
        parse(words.iter().map(OsString::from))
    }

    #[test]
    fn what_stands_behind_the_dashes_is_cmds() {
        for words in [
            &["--socket", "/s", "--", "sh", "--keep-caps", "--"][..],
            &["--socket=/s", "--", "sh", "--keep-caps", "--"],
        ] {
            let Ok(Wish::Run {
                socket,
                rights,
                command,
            }) = parsed(words)
            else {
                panic!("{words:?}")
            };
            assert_eq!((socket.as_path(), rights), (Path::new("/s"), Rights::Drop));
            assert_eq!(command.get_program(), "sh");
            assert!(command.get_args().eq(["--keep-caps", "--"]));
        }
        let kept = parsed(&["--keep-caps", "--socket", "/s", "--", "sh"]);
        assert!(matches!(
            kept,
            Ok(Wish::Run {
                rights: Rights::Keep,
                ..
            })
        ));
    }

    #[test]
    fn what_is_not_understood_runs_nothing() {
        for (words, usage) in [
            (&[][..], Usage::NoCommand),
            (&["--socket"], Usage::NoPath),
            (&["--socket", "/s"], Usage::NoCommand),
            (&["--socket", "/s", "--"], Usage::NoCommand),
            (&["--", "sh"], Usage::NoSocket),
            (&["--socket=", "--", "sh"], Usage::NoSocket),
            (&["--socket", "/s", "sh"], Usage::Unknown("sh".into())),
            (
                &["--sock", "/s", "--", "sh"],
                Usage::Unknown("--sock".into()),
            ),
        ] {
            let seen = parsed(words).map(drop);
            assert_eq!(seen, Err(usage), "{words:?}");
        }
    }
}
