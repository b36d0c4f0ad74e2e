//! Lines out of pieces, as a pipe gives them.

/// Longest line that is taken, in bytes: a record has 128 KiB at most (`supervisor/docs/log.md`), what is shown of a
/// damaged one may have some more.
const LINE_MAX: usize = 1024 * 1024;

/// What has been read, and is no line yet.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    read: Vec<u8>,
    /// Up to where no line ends.
    seen: usize,
    /// Whether the line that is being read is too long: the rest of it is passed over.
    passes: bool,
}

impl Lines {
    /// Adds what was read.
    pub(crate) fn push(&mut self, piece: &[u8]) {
        self.read.extend_from_slice(piece);
    }

    /// The next line without its end; an empty one in place of one that is too long.
    pub(crate) fn next_line(&mut self) -> Option<Vec<u8>> {
        let behind = self.read.get(self.seen..).unwrap_or_default();
        let Some(at) = behind.iter().position(|byte| *byte == b'\n') else {
            self.seen = self.read.len();
            if self.seen > LINE_MAX {
                self.passes = true;
                self.read.clear();
                self.seen = 0;
            }
            return None;
        };
        let end = self.seen + at;
        let mut line: Vec<_> = self.read.drain(..=end).collect();
        line.pop();
        self.seen = 0;
        if std::mem::take(&mut self.passes) || line.len() > LINE_MAX {
            line.clear();
        }
        Some(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_out_of_pieces_as_they_are() {
        let mut lines = Lines::default();
        lines.push(b"on");
        assert_eq!(lines.next_line(), None);
        lines.push(b"e\n\ntw");
        assert_eq!(lines.next_line().unwrap(), b"one");
        assert_eq!(lines.next_line().unwrap(), b"");
        assert_eq!(lines.next_line(), None);
        lines.push(b"o\n");
        assert_eq!(lines.next_line().unwrap(), b"two");
    }

    #[test]
    fn a_line_without_end_takes_no_room_and_no_other_line_with_it() {
        let mut lines = Lines::default();
        for _ in 0..5 {
            lines.push(&vec![b'x'; LINE_MAX / 2]);
            assert_eq!(lines.next_line(), None);
            assert!(lines.read.len() <= LINE_MAX);
        }
        lines.push(b"\nnext\n");
        assert_eq!(lines.next_line().unwrap(), b"");
        assert_eq!(lines.next_line().unwrap(), b"next");
    }
}
