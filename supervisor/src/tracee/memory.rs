//! Bounded reads of a task's memory: strings and arrays of strings, as bytes.
//!
//! Every limit is the kernel's own, so that an honest exec never meets one of ours.

use std::io::IoSliceMut;

use nix::errno::Errno;
use nix::sys::uio::{RemoteIoVec, process_vm_readv};

use super::Tid;

/// Longest single argument or variable, its NUL included: the kernel's `MAX_ARG_STRLEN`,
/// 32 pages of 4 KiB. execve(2) answers `E2BIG` for a longer one.
const STRING_MAX_BYTES: usize = 32 * 4096;

/// Smallest page of every supported architecture. A read that stays inside one cannot fail half.
const PAGE_BYTES: usize = 4096;

/// First look at a string: most arguments and variables are shorter.
const FIRST_LOOK_BYTES: usize = 128;

/// Most pieces in one process_vm_readv(2): `IOV_MAX`.
const PIECES_MAX: usize = 1024;

/// The memory of one task. Valid only while the gate holds the task still.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory {
    tid: Tid,
    pointer_bytes: usize,
}

/// Why memory could not be read whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum MemoryError {
    /// Part of it is not mapped; the kernel would answer `EFAULT`.
    #[error("address {0:#x} is not mapped")]
    Fault(u64),
    /// A string or the whole is longer than the kernel takes.
    #[error("longer than execve(2) accepts")]
    TooLong,
    /// The task is gone.
    #[error("the task is gone")]
    Gone,
    /// The kernel refuses the look.
    #[error("the task's memory is closed to the gate: {0}")]
    Refused(Errno),
}

impl Memory {
    /// The memory of `tid`, whose pointers have `pointer_bytes` (4 or 8).
    pub(crate) fn new(tid: Tid, pointer_bytes: usize) -> Self {
        Self { tid, pointer_bytes }
    }

    /// The string at `address`, without its NUL, of at most `max_bytes` with it.
    ///
    /// # Errors
    /// If it is not readable up to a NUL within the limit.
    pub(crate) fn string(&self, address: u64, max_bytes: usize) -> Result<Vec<u8>, MemoryError> {
        let mut text = Vec::new();
        self.finish_string(address, max_bytes, &mut text)?;
        Ok(text)
    }

    /// The strings behind the NULL-terminated array at `address`; none for a null array.
    ///
    /// `budget` is lessened by what the kernel would count for them.
    ///
    /// # Errors
    /// If any of it is not readable, or longer than the kernel takes.
    pub(crate) fn strings(
        &self,
        address: u64,
        budget: &mut usize,
    ) -> Result<Vec<Vec<u8>>, MemoryError> {
        if address == 0 {
            return Ok(Vec::new());
        }
        let pointers = self.pointers(address, budget)?;
        let mut strings = Vec::with_capacity(pointers.len());
        // What does not fit ends it before much of it is held.
        for batch in pointers.chunks(PIECES_MAX) {
            let mut seen = self.first_looks(batch)?;
            for (string, pointer) in seen.iter_mut().zip(batch) {
                if string.pop_if(|last| *last == 0).is_none() {
                    let start = pointer.wrapping_add(string.len() as u64);
                    self.finish_string(start, STRING_MAX_BYTES, string)?;
                }
                let cost = string.len() + 1;
                *budget = budget.checked_sub(cost).ok_or(MemoryError::TooLong)?;
            }
            strings.append(&mut seen);
        }
        Ok(strings)
    }

    /// Fills `buffer` from `address`, whole.
    ///
    /// # Errors
    /// If any byte of it is not readable.
    pub(crate) fn read_exact(&self, address: u64, buffer: &mut [u8]) -> Result<(), MemoryError> {
        let read = self.read(address, buffer)?;
        if read < buffer.len() {
            return Err(MemoryError::Fault(address.wrapping_add(read as u64)));
        }
        Ok(())
    }

    /// Fills `buffer` from `address` as far as it is mapped.
    ///
    /// # Errors
    /// If not even the first page of it is readable.
    pub(crate) fn read(&self, address: u64, buffer: &mut [u8]) -> Result<usize, MemoryError> {
        let pieces = pages(address, buffer.len());
        let mut read = 0;
        for batch in pieces.chunks(PIECES_MAX) {
            let wanted: usize = batch.iter().map(|piece| piece.len).sum();
            let Some(rest) = buffer.get_mut(read..) else {
                break;
            };
            match self.vm_read(rest, batch) {
                Ok(some) => {
                    read += some;
                    if some < wanted {
                        break;
                    }
                }
                Err(Errno::EFAULT) if read > 0 => break,
                Err(errno) => return Err(MemoryError::from_errno(errno, address)),
            }
        }
        Ok(read)
    }

    /// The pointers of a NULL-terminated array, without the NULL.
    fn pointers(&self, address: u64, budget: &mut usize) -> Result<Vec<u64>, MemoryError> {
        let mut pointers = Vec::new();
        let mut at = address;
        let mut buffer = [0; PAGE_BYTES];
        loop {
            let len = first_piece(at, 512, self.pointer_bytes);
            let chunk = buffer.get_mut(..len).unwrap_or_default();
            self.read_exact(at, chunk)?;
            for raw in chunk.chunks_exact(self.pointer_bytes) {
                let pointer = little_endian(raw);
                if pointer == 0 {
                    return Ok(pointers);
                }
                *budget = budget
                    .checked_sub(self.pointer_bytes)
                    .ok_or(MemoryError::TooLong)?;
                pointers.push(pointer);
            }
            at = at.wrapping_add(len as u64);
        }
    }

    /// The beginning of each string: up to and with its NUL if that is near, else what a first look shows
    /// of it.
    fn first_looks(&self, pointers: &[u64]) -> Result<Vec<Vec<u8>>, MemoryError> {
        let runs: Vec<Run<'_>> = runs(pointers).collect();
        let pieces = runs.iter().map(Run::piece);
        let pieces = pieces.collect::<Result<Vec<_>, MemoryError>>()?;
        let mut buffer = vec![0; pieces.iter().map(|piece| piece.len).sum()];
        let first = pointers.first().copied().unwrap_or(0);
        let read = self
            .vm_read(&mut buffer, &pieces)
            .map_err(|errno| MemoryError::from_errno(errno, first))?;
        buffer.truncate(read);
        let mut rest = buffer.as_slice();
        let mut looks = Vec::with_capacity(pointers.len());
        for run in runs {
            let fault = MemoryError::Fault(run.start());
            let (seen, behind) = rest.split_at_checked(run.len()).ok_or(fault)?;
            rest = behind;
            looks.extend(run.pointers.iter().map(|pointer| {
                let offset = usize::try_from(pointer - run.start()).unwrap_or(usize::MAX);
                let seen = seen.get(offset..).unwrap_or_default();
                let mut pieces = seen.split_inclusive(|byte| *byte == 0);
                pieces.next().unwrap_or_default().to_vec()
            }));
        }
        Ok(looks)
    }

    /// Appends what follows at `address` up to a NUL, which is left out.
    fn finish_string(
        &self,
        address: u64,
        max_bytes: usize,
        text: &mut Vec<u8>,
    ) -> Result<(), MemoryError> {
        let mut at = address;
        let mut buffer = [0; PAGE_BYTES];
        loop {
            let len = first_piece(at, PAGE_BYTES, 1);
            let chunk = buffer.get_mut(..len).unwrap_or_default();
            self.read_exact(at, chunk)?;
            let nul = chunk.iter().position(|byte| *byte == 0);
            let len = nul.unwrap_or(chunk.len());
            text.extend_from_slice(chunk.get(..len).unwrap_or_default());
            if text.len() >= max_bytes {
                return Err(MemoryError::TooLong);
            }
            if nul.is_some() {
                return Ok(());
            }
            at = at.wrapping_add(len as u64);
        }
    }

    fn vm_read(&self, buffer: &mut [u8], pieces: &[RemoteIoVec]) -> Result<usize, Errno> {
        process_vm_readv(self.tid.as_pid(), &mut [IoSliceMut::new(buffer)], pieces)
    }
}

impl MemoryError {
    fn from_errno(errno: Errno, address: u64) -> Self {
        if errno == Errno::EFAULT {
            Self::Fault(address)
        } else if errno == Errno::ESRCH {
            Self::Gone
        } else {
            Self::Refused(errno)
        }
    }
}

/// Strings that lie behind each other in one page, as those of a task's own environment do: each piece of a
/// process_vm_readv(2) costs a look at its page.
struct Run<'p> {
    pointers: &'p [u64],
}

/// The runs of `pointers`, in their order.
fn runs(pointers: &[u64]) -> impl Iterator<Item = Run<'_>> {
    let page = |pointer: &u64| pointer / PAGE_BYTES as u64;
    let is_run = move |one: &u64, next: &u64| one <= next && page(one) == page(next);
    pointers.chunk_by(is_run).map(|pointers| Run { pointers })
}

impl Run<'_> {
    fn start(&self) -> u64 {
        self.pointers.first().copied().unwrap_or(0)
    }

    /// Up to and with a first look at its last string.
    fn len(&self) -> usize {
        let last = self.pointers.last().copied().unwrap_or(0);
        let before = usize::try_from(last - self.start()).unwrap_or(0);
        before + to_page_end(last).min(FIRST_LOOK_BYTES)
    }

    fn piece(&self) -> Result<RemoteIoVec, MemoryError> {
        Ok(RemoteIoVec {
            base: base(self.start())?,
            len: self.len(),
        })
    }
}

/// `len` bytes from `address`, cut at page borders: the kernel does not split a piece, so a hole
/// costs no more than the page that it is in.
fn pages(address: u64, len: usize) -> Vec<RemoteIoVec> {
    let mut pieces = Vec::with_capacity(len / PAGE_BYTES + 2);
    let (mut at, mut left) = (address, len);
    while left > 0 {
        let len = first_piece(at, left, 1);
        let Ok(base) = base(at) else { break };
        pieces.push(RemoteIoVec { base, len });
        at = at.wrapping_add(len as u64);
        left -= len;
    }
    pieces
}

/// How much of `len` bytes from `address` lies in its first page, in whole units of `unit`.
///
/// A unit that crosses the page border is read alone.
fn first_piece(address: u64, len: usize, unit: usize) -> usize {
    let piece = len.min(to_page_end(address));
    (piece - piece % unit).max(unit)
}

/// Bytes from `address` to the end of its page.
fn to_page_end(address: u64) -> usize {
    const PAGE: u64 = PAGE_BYTES as u64;
    usize::try_from(PAGE - address % PAGE).unwrap_or(1)
}

fn base(address: u64) -> Result<usize, MemoryError> {
    usize::try_from(address).map_err(|_| MemoryError::Fault(address))
}

fn little_endian(raw: &[u8]) -> u64 {
    raw.iter()
        .rev()
        .fold(0, |value, byte| value << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests;
