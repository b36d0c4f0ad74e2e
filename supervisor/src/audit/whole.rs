//! How far a log is whole, after a writer that died in the middle of a line or a disk that lost its power.
//!
//! No line has a byte 0. A power cut leaves zeros where something did not reach the disk, behind a length
//! that did, and may leave what was written later behind them: that follows nothing any more. Only what
//! was written since the last sync is in danger, so what ends before a `session.start` is not: that is on
//! the disk before its session writes anything else.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};

use super::record::Position;

/// What every line of a log begins with.
const BEGINNING: &[u8] = b"{\"v\":\"";

/// What the first line of a session begins with.
const START: &[u8] = b"{\"v\":\"1.0\",\"type\":\"session.start\",";

/// More than is written between two syncs, in bytes: 5,000 execs a second make a quarter of it. A session that
/// begins reads so much.
const UNSYNCED_MAX_BYTES: u64 = 4 << 20;

/// More than any line has, in bytes.
pub(super) const LINE_MAX_BYTES: u64 = 128 << 10;

/// Where the last line ends up to which none is missing, in a file of `len` bytes.
///
/// # Errors
/// If it cannot be read.
pub(super) fn end_of_whole(mut file: &File, len: u64) -> io::Result<u64> {
    let from = len.saturating_sub(UNSYNCED_MAX_BYTES);
    file.seek(SeekFrom::Start(from))?;
    let mut reader = BufReader::with_capacity(1 << 16, file.take(len - from));
    let (mut end, mut broken, mut line) = (from, None, Vec::new());
    loop {
        line.clear();
        let read = reader.read_until(b'\n', &mut line)?;
        if !line.ends_with(b"\n") || line.contains(&0) {
            broken = broken.or(Some(end));
        } else if line.starts_with(START) {
            broken = None;
        }
        if !line.ends_with(b"\n") {
            return Ok(broken.unwrap_or(end));
        }
        end += read as u64;
    }
}

/// The last record in a file of `len` bytes, if its last line is one.
///
/// # Errors
/// If it cannot be read.
pub(super) fn last_line(mut file: &File, len: u64) -> io::Result<Option<Position>> {
    let mut end = Vec::new();
    file.seek(SeekFrom::Start(len.saturating_sub(LINE_MAX_BYTES)))?;
    file.take(LINE_MAX_BYTES).read_to_end(&mut end)?;
    let mut lines = end.trim_ascii_end().rsplit(|byte| *byte == b'\n');
    Ok(lines
        .next()
        .and_then(|line| serde_json::from_slice(line).ok()))
}

/// Whether what lies from `whole` to `len`, where none of it may stay, was meant to be lines of a log.
///
/// # Errors
/// If it cannot be read.
pub(super) fn is_of_a_log(mut file: &File, whole: u64, len: u64) -> io::Result<bool> {
    let mut beginning_at = |at| {
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(at))?;
        file.take(BEGINNING.len() as u64).read_to_end(&mut bytes)?;
        io::Result::Ok(bytes)
    };
    let piece = beginning_at(whole)?;
    let there = piece.split(|byte| *byte == 0).next().unwrap_or_default();
    if !there.is_empty() {
        return Ok(BEGINNING.starts_with(there));
    }
    // Zeros alone: behind a log, or its first line.
    Ok(if whole > 0 {
        beginning_at(0)? == BEGINNING
    } else {
        len < LINE_MAX_BYTES
    })
}
