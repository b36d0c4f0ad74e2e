//! From a terminal's bytes to keys. Pure.

/// A key that means something here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    /// Printable ASCII.
    Char(char),
    Enter,
    Escape,
    Backspace,
    Up,
    Down,
    PageUp,
    PageDown,
    /// Ctrl-C.
    Interrupt,
    /// Ctrl-Z.
    Suspend,
    /// Ctrl-L.
    Redraw,
}

/// Longest sequence that a key sends, in bytes; of a longer one the rest is dropped.
const SEQUENCE_MAX_BYTES: usize = 16;

/// The bytes of a sequence that is not at its end yet.
#[derive(Debug, Default)]
pub(super) struct Keys(Vec<u8>);

impl Keys {
    /// The keys of `bytes`, which were read at once. What is none is dropped.
    pub(super) fn read(&mut self, bytes: &[u8]) -> Vec<Key> {
        let mut keys = Vec::new();
        for byte in bytes {
            self.0.push(*byte);
            match self.0.as_slice() {
                [0x1b] => {}
                [0x1b, b'[' | b'O'] => {}
                [0x1b, b'[' | b'O', rest @ ..] => {
                    let is_end = (0x40..=0x7e).contains(byte);
                    if is_end {
                        keys.extend(key_of_sequence(rest));
                    }
                    if is_end || self.0.len() >= SEQUENCE_MAX_BYTES {
                        self.0.clear();
                    }
                }
                // Escape, then something else.
                [0x1b, ..] => {
                    self.0.clear();
                    keys.push(Key::Escape);
                    keys.extend(key_of_byte(*byte));
                }
                _ => {
                    self.0.clear();
                    keys.extend(key_of_byte(*byte));
                }
            }
        }
        // A sequence comes at once; by itself it is the key.
        if self.0 == [0x1b] {
            self.0.clear();
            keys.push(Key::Escape);
        }
        keys
    }
}

fn key_of_byte(byte: u8) -> Option<Key> {
    Some(match byte {
        b'\r' | b'\n' => Key::Enter,
        0x03 => Key::Interrupt,
        0x1a => Key::Suspend,
        0x0c => Key::Redraw,
        0x08 | 0x7f => Key::Backspace,
        b' '..=b'~' => Key::Char(char::from(byte)),
        _ => return None,
    })
}

/// ECMA-48's cursor keys, and DEC's editing keypad (the manual of the VT220).
fn key_of_sequence(rest: &[u8]) -> Option<Key> {
    Some(match rest {
        b"A" => Key::Up,
        b"B" => Key::Down,
        b"5~" => Key::PageUp,
        b"6~" => Key::PageDown,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_what_terminals_send_for_them() {
        let read = |bytes: &[u8]| Keys::default().read(bytes);
        assert_eq!(
            read(b"a\r\x7f\x03\x1a\x0c"),
            [
                Key::Char('a'),
                Key::Enter,
                Key::Backspace,
                Key::Interrupt,
                Key::Suspend,
                Key::Redraw
            ]
        );
        assert_eq!(
            read(b"\x1b[A\x1bOB\x1b[5~\x1b[6~"),
            [Key::Up, Key::Down, Key::PageUp, Key::PageDown]
        );
        assert_eq!(read(b"\x1b"), [Key::Escape]);
        assert_eq!(read(b"\x1b[1;5Cx\xc3\xa4"), [Key::Char('x')]);
    }

    #[test]
    fn a_sequence_may_come_in_pieces_and_none_is_read_as_letters() {
        let mut keys = Keys::default();
        assert!(keys.read(b"\x1b[").is_empty());
        assert_eq!(keys.read(b"6~a"), [Key::PageDown, Key::Char('a')]);
        assert!(keys.read(b"\x1b[200").is_empty());
        assert_eq!(keys.read(b"~y"), [Key::Char('y')]);
    }
}
