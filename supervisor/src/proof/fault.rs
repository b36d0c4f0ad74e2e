//! What is wrong with a log.

use std::fmt;

use super::State;
use crate::audit::escaped;

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// The line is no record any more.
    NoRecord(String),
    /// The record is not as it was written.
    Changed,
    /// The session's first record is none that begins one.
    NoStart,
    /// Records of the session are missing before the line.
    Missing { first: u64, last: u64 },
    /// The record stands behind one that came after it, or twice.
    OutOfOrder { seq: u64, after: u64 },
    /// It follows another record than the one that stands before it.
    NotNext { seq: u64 },
    /// The file before this one is missing.
    NoFile(String),
    /// It begins a file, and does not stand at its beginning.
    NotFirst,
    /// The session began behind a record that is not there.
    NoPrevious { seq: u64, chain: String },
    /// A session's last record is followed by others.
    BehindEnd,
    /// The signature is not of the key that was named for it.
    Signature { first: u64, last: u64 },
    /// It is signed by a key that came later than the records.
    NewerKey { epoch: u64, due: u64 },
    /// It signs other records than those that nobody has signed.
    Cover { first: u64, due: u64 },
    /// A file is another than when it was sealed.
    Unsealed(String),
    /// A copy of the record says something else.
    OtherCopy { seq: u64, file: String },
    /// The session, or its end, is not there.
    Cut { after: Option<u64>, why: Cut },
}

/// By what an end is known to be missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    /// Nobody writes, and there is no last record.
    NoEnd,
    /// There is a copy of a later record.
    Copy { seq: u64, file: String },
}

impl Fault {
    pub(super) fn state(&self) -> State {
        match self {
            Self::Cut { .. } => State::Truncated,
            Self::NoRecord(_)
            | Self::Changed
            | Self::NoStart
            | Self::Missing { .. }
            | Self::OutOfOrder { .. }
            | Self::NotNext { .. }
            | Self::NoFile(_)
            | Self::NotFirst
            | Self::NoPrevious { .. }
            | Self::BehindEnd
            | Self::Signature { .. }
            | Self::NewerKey { .. }
            | Self::Cover { .. }
            | Self::Unsealed(_)
            | Self::OtherCopy { .. } => State::Altered,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRecord(why) => write!(f, "it is no record: {why}"),
            Self::Changed => f.write_str("it was changed: it is not what its own digest says"),
            Self::NoStart => f.write_str("the session does not begin with a `session.start`"),
            Self::Missing { first, last } => {
                write!(f, "{} missing before it", records_are(*first, *last))
            }
            Self::OutOfOrder { seq, after } => {
                write!(
                    f,
                    "record {seq} stands behind record {after}: it was moved, or added"
                )
            }
            Self::NotNext { seq } => write!(
                f,
                "record {seq} follows another than the one before it: that was exchanged"
            ),
            Self::NotFirst => f.write_str("it begins a file, and stands in the middle of one"),
            Self::NoFile(name) => {
                write!(f, "the file {} before this one is missing", escaped(name))
            }
            Self::NoPrevious { seq, chain } => write!(
                f,
                "the session began behind record {seq} of session {}, which is not there",
                escaped(chain)
            ),
            Self::BehindEnd => f.write_str("the session had ended before"),
            Self::Signature { first, last } => write!(
                f,
                "records {first} to {last} are not signed by the key that was named for them"
            ),
            Self::NewerKey { epoch, due } => write!(
                f,
                "it is signed with the key of epoch {epoch}, which came later than these records, of epoch {due}"
            ),
            Self::Cover { first, due } => {
                write!(
                    f,
                    "it signs from record {first}, and nobody has signed record {due}"
                )
            }
            Self::Unsealed(name) => write!(
                f,
                "the file {} is not there as it was when it was sealed",
                escaped(name)
            ),
            Self::OtherCopy { seq, file } => write!(
                f,
                "record {seq} is another than its copy in {}",
                escaped(file)
            ),
            Self::Cut { after, why } => {
                match after {
                    Some(after) => write!(f, "it is cut after record {after}: ")?,
                    None => f.write_str("the session is not there: ")?,
                }
                why.fmt(f)
            }
        }
    }
}

fn records_are(first: u64, last: u64) -> String {
    if first == last {
        format!("record {first} is")
    } else {
        format!("records {first} to {last} are")
    }
}

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoEnd => f.write_str(
                "nobody writes, and there is no last record (its gate was killed, the machine lost power, or the end was taken off)",
            ),
            Self::Copy { seq, file } => {
                write!(f, "there is a copy of record {seq} in {}", escaped(file))
            }
        }
    }
}
