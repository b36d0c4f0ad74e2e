//! Bytes between the user's terminal and the command's, neither changed nor held longer than the other end
//! makes it wait.

use std::os::fd::BorrowedFd;

use rustix::io::{Errno, read, write};

/// Most bytes that are taken at once; a terminal's line discipline hands out less.
const PIECE_BYTES: usize = 4096;

/// Most bytes that wait for one end before no more are taken from the other.
const WAITING_MAX_BYTES: usize = 16 << 10;

/// Bytes on their way to one end.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    bytes: Vec<u8>,
}

/// What there was to take.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Taken {
    Bytes(Vec<u8>),
    /// Nothing now.
    Nothing,
    /// Nothing any more.
    End,
}

impl Waiting {
    pub(super) fn add(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    pub(super) fn has_room(&self) -> bool {
        self.bytes.len() < WAITING_MAX_BYTES
    }

    /// Writes what the other end takes now; whether it takes anything at all.
    pub(super) fn pass_on(&mut self, to: BorrowedFd<'_>) -> bool {
        while !self.bytes.is_empty() {
            match write(to, &self.bytes) {
                Ok(0) | Err(Errno::AGAIN) => break,
                Ok(written) => drop(self.bytes.drain(..written)),
                Err(Errno::INTR) => {}
                Err(_) => {
                    self.bytes.clear();
                    return false;
                }
            }
        }
        true
    }
}

/// Takes a piece from a descriptor that does not wait.
pub(super) fn take(from: BorrowedFd<'_>) -> Taken {
    let mut piece = [0; PIECE_BYTES];
    loop {
        match read(from, &mut piece) {
            Ok(0) => return Taken::End,
            Ok(len) => return Taken::Bytes(piece.get(..len).unwrap_or_default().to_vec()),
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => return Taken::Nothing,
            Err(_) => return Taken::End,
        }
    }
}
