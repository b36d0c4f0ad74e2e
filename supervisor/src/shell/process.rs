//! The process that parses: `execward __shell`, which reads texts and writes analyses until its
//! input ends.
//!
//! Each text and each answer goes behind its length, four bytes, little-endian.

use std::io::{self, Read, Write};
use std::process::ExitCode;

use nix::sys::resource::{Resource, setrlimit};
use serde::{Deserialize, Serialize};

use super::analysis::Analysis;
use super::parse::analyse;

/// The first argument by which execward is this process.
pub(crate) const ARGUMENT: &str = "__shell";

/// Longest text that is analysed, in bytes.
pub(super) const TEXT_MAX_BYTES: usize = 64 << 10;

/// Longest answer, in bytes.
pub(super) const ANSWER_MAX_BYTES: usize = 4 << 20;

/// Most memory that the process may have, in bytes.
const MEMORY_MAX_BYTES: u64 = 512 << 20;

/// What the process answers.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Answer {
    Analysed(Analysis),
    /// Why not.
    NotAnalysed(String),
}

/// Confines itself, and serves.
pub(crate) fn main() -> ExitCode {
    let served = confine().and_then(|()| serve(&mut io::stdin().lock(), &mut io::stdout().lock()));
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// Gives up what parsing does not need: memory beyond what any text takes, files to write, more
/// descriptors, core dumps, and processes, which root may start all the same: getrlimit(2).
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
    nix::sys::prctl::set_no_new_privs().map_err(io::Error::from)
}

fn serve(input: &mut impl Read, output: &mut impl Write) -> io::Result<()> {
    loop {
        let mut length = [0; 4];
        match input.read_exact(&mut length) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
            read => read?,
        }
        let length = usize::try_from(u32::from_le_bytes(length)).map_err(io::Error::other)?;
        if length > TEXT_MAX_BYTES {
            return Err(io::Error::other("a text is too long"));
        }
        let mut text = vec![0; length];
        input.read_exact(&mut text)?;
        let answer = match str::from_utf8(&text) {
            Ok(text) => match analyse(text) {
                Ok(analysis) => Answer::Analysed(analysis),
                Err(error) => Answer::NotAnalysed(error.to_string()),
            },
            Err(_) => Answer::NotAnalysed("it is not UTF-8".to_owned()),
        };
        let mut answer = serde_json::to_vec(&answer)?;
        if answer.len() > ANSWER_MAX_BYTES {
            let long = Answer::NotAnalysed("what is in it is too much".to_owned());
            answer = serde_json::to_vec(&long)?;
        }
        let length = u32::try_from(answer.len()).map_err(io::Error::other)?;
        output.write_all(&length.to_le_bytes())?;
        output.write_all(&answer)?;
        output.flush()?;
    }
}
