//! What the user's terminal shows: the command's output, or a question on the alternate screen.
//!
//! A program that has the alternate screen already is asked to draw itself anew afterwards.

/// Ends whatever sequence the command left unfinished (CAN, then ST), what would be no sequence to a VT52, and
/// the printing of all that comes (xterm's control sequences, "Media Copy").
const CANCEL: &str = "\x18\x1b\\\x1b<\x1b[4i";

/// Undoes what would change how a question looks: the character set, insert and origin mode, margins on all
/// sides, colours, a hidden cursor. Saved before, restored after (DECSC, DECRC).
const PLAIN: &str = "\x1b7\x0f\x1b(B\x1b[4l\x1b[?6l\x1b[?7h\x1b[?69l\x1b[r\x1b[0m\x1b[?25h";

/// The alternate screen, and back: xterm's private mode 1049.
const ENTER: &str = "\x1b[?1049h";
const LEAVE: &str = "\x1b[?1049l";

const CLEAR: &str = "\x1b[H\x1b[2J";
const RESTORE: &str = "\x1b8";

/// Numbers of private modes by which programs ask for the alternate screen.
const ALTERNATE: [&[u8]; 3] = [b"1049", b"1047", b"47"];

/// Longest part of a mode's sequence that is followed.
const PARAMETERS_MAX_BYTES: usize = 64;

/// Follows the command's output as far as it is about screens.
#[derive(Debug, Default)]
pub(super) struct Screen {
    seen: Seen,
    /// Whether the command has the alternate screen.
    pub(super) is_commands: bool,
    /// Whether a line was begun and not ended.
    is_in_line: bool,
}

/// Where in `ESC [ ? NUMBERS h` the output is.
#[derive(Debug, Default)]
enum Seen {
    #[default]
    Text,
    Escape,
    Bracket,
    Private(Vec<u8>),
}

impl Screen {
    pub(super) fn follow(&mut self, output: &[u8]) {
        for byte in output {
            self.follow_byte(*byte);
        }
        self.is_in_line = !output.ends_with(b"\n");
    }

    /// Whether the cursor is in the first column, as far as that is known.
    pub(super) fn is_at_start(&self) -> bool {
        !self.is_in_line
    }

    fn follow_byte(&mut self, byte: u8) {
        self.seen = match (std::mem::take(&mut self.seen), byte) {
            (_, b'\x1b') => Seen::Escape,
            (Seen::Escape, b'[') => Seen::Bracket,
            (Seen::Bracket, b'?') => Seen::Private(Vec::new()),
            (Seen::Private(mut numbers), b'0'..=b'9' | b';')
                if numbers.len() < PARAMETERS_MAX_BYTES =>
            {
                numbers.push(byte);
                Seen::Private(numbers)
            }
            (Seen::Private(numbers), b'h' | b'l') => {
                let mut numbers = numbers.split(|byte| *byte == b';');
                if numbers.any(|number| ALTERNATE.contains(&number)) {
                    self.is_commands = byte == b'h';
                }
                Seen::Text
            }
            (Seen::Text | Seen::Escape | Seen::Bracket | Seen::Private(_), _) => Seen::Text,
        };
    }

    /// To go over to a question.
    pub(super) fn enter(&self) -> String {
        match self.is_commands {
            true => format!("{CANCEL}{PLAIN}"),
            false => format!("{CANCEL}{ENTER}{PLAIN}"),
        }
    }

    /// To go back to the command's output.
    pub(super) fn leave(&self) -> String {
        match self.is_commands {
            true => format!("{CLEAR}{RESTORE}"),
            false => format!("{RESTORE}{LEAVE}"),
        }
    }
}

/// `rows` drawn from the top of an empty screen; the cursor behind the last.
pub(super) fn drawn(rows: &[String]) -> String {
    format!("{CLEAR}{}", rows.join("\r\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(pieces: &[&[u8]]) -> bool {
        let mut screen = Screen::default();
        for piece in pieces {
            screen.follow(piece);
        }
        screen.is_commands
    }

    #[test]
    fn the_alternate_screen_is_the_commands_while_it_has_it() {
        assert!(after(&[b"x\x1b[?1049hy"]));
        assert!(after(&[b"\x1b[?1", b"049", b";25h"]));
        assert!(after(&[b"\x1b[?2004;47h", b"\x1b[?25l"]));
        assert!(!after(&[b"\x1b[?1049h", b"\x1b[?1049l"]));
        assert!(!after(&[b"\x1b[?2004h", b"\x1b[1049h", b"\x1b?1049h"]));
        assert!(!after(&[b"\x1b[?", &[b'1'; 200], b"h"]));
    }

    #[test]
    fn a_question_leaves_a_screen_that_it_entered() {
        let screen = Screen::default();
        assert!(screen.enter().contains(ENTER) && screen.leave().contains(LEAVE));
        let full = Screen {
            is_commands: true,
            ..Screen::default()
        };
        assert!(!full.enter().contains(ENTER) && !full.leave().contains(LEAVE));
    }
}
