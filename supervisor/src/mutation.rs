//! Bytes that are valid but for a few changes: what the parsers of hostile bytes are tried on.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// Bytes that mean something in a header, in a proc file or in a message.
const MARKS: &[u8] = b"\0\n\r\t #!\"+,-/019:=[\\]{}\x7f\x80\xff";

/// One change. Places are those in the bytes as they are by then.
#[derive(Clone, Debug)]
enum Change {
    Flip(Index, u8),
    Put(Index, u8),
    Insert(Index, Vec<u8>),
    Remove(Index, Index),
    Repeat(Index, Index),
    Cut(Index),
    /// To be continued as the other one is from there.
    Splice(Index, Index),
    /// One byte is repeated until the whole has this length.
    Stretch(Index, usize),
}

/// What `valid` draws, with up to three changes. `lengths` are those at which something happens.
pub(crate) fn spoilt(
    valid: impl Strategy<Value = Vec<u8>> + 'static,
    lengths: &'static [usize],
) -> impl Strategy<Value = Vec<u8>> {
    let valid = valid.boxed();
    let changes = vec(change(lengths), 0..4);
    (valid.clone(), valid, changes).prop_map(|(mut bytes, other, changes)| {
        for change in changes {
            change.apply(&mut bytes, &other);
        }
        bytes
    })
}

fn change(lengths: &'static [usize]) -> impl Strategy<Value = Change> {
    let at = any::<Index>;
    let mark = || prop_oneof![3 => select(MARKS), 1 => any::<u8>()];
    let length = (select(lengths), 0..3_usize).prop_map(|(length, more)| length - 1 + more);
    prop_oneof![
        (at(), 0..8_u8).prop_map(|(at, bit)| Change::Flip(at, 1 << bit)),
        (at(), mark()).prop_map(|(at, byte)| Change::Put(at, byte)),
        (at(), vec(mark(), 1..4)).prop_map(|(at, bytes)| Change::Insert(at, bytes)),
        (at(), at()).prop_map(|(from, to)| Change::Remove(from, to)),
        (at(), at()).prop_map(|(from, to)| Change::Repeat(from, to)),
        at().prop_map(Change::Cut),
        (at(), at()).prop_map(|(at, from)| Change::Splice(at, from)),
        (at(), length).prop_map(|(at, length)| Change::Stretch(at, length)),
    ]
}

impl Change {
    fn apply(self, bytes: &mut Vec<u8>, other: &[u8]) {
        let place = |at: Index| at.index(bytes.len() + 1);
        let range = |one, other| {
            let (one, other) = (place(one), place(other));
            one.min(other)..one.max(other)
        };
        match self {
            Self::Flip(at, bits) => {
                let at = place(at);
                bytes.iter_mut().skip(at).take(1).for_each(|it| *it ^= bits);
            }
            Self::Put(at, byte) => {
                let at = place(at);
                bytes.iter_mut().skip(at).take(1).for_each(|it| *it = byte);
            }
            Self::Insert(at, more) => {
                let at = place(at);
                drop(bytes.splice(at..at, more));
            }
            Self::Remove(from, to) => drop(bytes.drain(range(from, to))),
            Self::Repeat(from, to) => {
                let range = range(from, to);
                let (at, again) = (range.end, bytes[range].to_vec());
                drop(bytes.splice(at..at, again));
            }
            Self::Cut(at) => bytes.truncate(place(at)),
            Self::Splice(at, from) => {
                bytes.truncate(place(at));
                bytes.extend(&other[from.index(other.len() + 1)..]);
            }
            Self::Stretch(at, length) => {
                let at = place(at);
                let byte = bytes.get(at).copied().unwrap_or(b' ');
                let missing = length.saturating_sub(bytes.len());
                drop(bytes.splice(at..at, std::iter::repeat_n(byte, missing)));
                bytes.truncate(length);
            }
        }
    }
}
