//! `execward audit verify` and `execward audit seal`.

use std::io::Write;
use std::path::PathBuf;

use super::ProofError;
use super::copies::Copies;
use super::seal::sealed;
use super::walk::Proof;
use crate::cli::{SealArgs, VerifyArgs};
use crate::exit::ExitStatus;

/// Says whether a log is whole.
///
/// # Errors
/// If the log or a copy cannot be read.
pub(crate) fn verify(args: &VerifyArgs, out: &mut impl Write) -> Result<ExitStatus, ProofError> {
    let copies = Copies::read(args.anchor.iter().map(PathBuf::as_path))?;
    let proof = Proof::of(&args.log.meant()?, &copies)?;
    if args.json {
        proof.show_json(out)?;
    } else {
        proof.show(out)?;
    }
    Ok(proof.state().status())
}

/// Has what is wrong with a log be known, and the log go on.
///
/// # Errors
/// If a session writes to it, or it cannot be read or written.
pub(crate) fn seal(args: &SealArgs, out: &mut impl Write) -> Result<ExitStatus, ProofError> {
    let log = args.log.meant()?;
    let proof = sealed(&log, &args.reason)?;
    proof.show(out)?;
    Ok(proof.state().status())
}
