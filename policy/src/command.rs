//! Leading words of a call: an entry of `command`.
//!
//! The same words are read in two ways.
//!
//! *Strictly*, the words after the first are the first arguments of the call, one by one,
//! with nothing between them. What follows is free.
//!
//! *In doubt*, flags may stand before and between the words, and nobody here knows which
//! flags take a value. So an argument that begins with `-` (`--` and `-` included) is
//! skipped both alone and together with the argument after it, one that begins with `+` is
//! skipped alone, and the words hold if *any* way of skipping makes them the leading
//! operands. `git push` therefore holds for `git -C sub push`, `git --no-pager push` and
//! `git -c a=b push`. It does not hold for `git commit -m push`: the first operand is
//! `commit`, however the flag after it is read.

use thiserror::Error;

use crate::escape::{EscapeError, Unit, decode};
use crate::image::{Image, Reading};
use crate::places::Places;
use crate::program::{Program, ProgramError};

/// Most words of an entry.
///
/// [`Command::may_lead`] keeps one bit a word, and no name of a command has a dozen.
const WORDS_MAX: usize = 32;

/// A program and the words that follow it.
#[derive(Debug, Clone)]
pub(crate) struct Command {
    /// The first word.
    pub(crate) program: Program,
    words: Vec<Vec<u8>>,
}

/// Why text is not a command.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum CommandError {
    #[error("a command has no words")]
    Blank,
    #[error("shell syntax in a command: `{}`", .0.escape_debug())]
    Shell(&'static str),
    #[error("quotes in a command are not understood")]
    Quote,
    #[error("`{}`: flags in a command are not supported by this version yet", .0.escape_debug())]
    Flag(String),
    #[error("`{}`: wildcards in a command are not supported by this version yet", .0.escape_debug())]
    Wildcard(String),
    #[error("`{}`: classes are not supported by this version yet", .0.escape_debug())]
    Class(String),
    #[error("a command has more than {WORDS_MAX} words")]
    TooLong,
    #[error(transparent)]
    Word(#[from] EscapeError),
    #[error(transparent)]
    Program(#[from] ProgramError),
}

impl CommandError {
    /// What the author could write instead.
    pub(crate) fn help(&self) -> Option<String> {
        match self {
            Self::Shell(_) => {
                Some("a rule sees one program and its arguments, never a shell line".to_owned())
            }
            Self::Quote => Some(
                "words are split at blanks; write `\\x27` or `\\x22` for the character".to_owned(),
            ),
            Self::Word(error) => error.help().map(str::to_owned),
            Self::Program(error) => error.help(),
            Self::Blank | Self::Flag(_) | Self::Wildcard(_) | Self::Class(_) | Self::TooLong => {
                None
            }
        }
    }
}

/// What a shell would act on. Each is longer than those after it that it contains.
const SHELL_SYNTAX: [&str; 8] = ["$(", "`", ";", "|", "&", ">", "<", "\n"];

impl Command {
    /// Reads one entry, with its `!` already taken off.
    pub(crate) fn parse(text: &str, places: &Places) -> Result<Self, CommandError> {
        if let Some(syntax) = SHELL_SYNTAX
            .into_iter()
            .find(|syntax| text.contains(syntax))
        {
            return Err(CommandError::Shell(syntax));
        }
        if text.contains(['\'', '"']) {
            return Err(CommandError::Quote);
        }
        let mut words = text.split([' ', '\t']).filter(|word| !word.is_empty());
        let program = words.next().ok_or(CommandError::Blank)?;
        if program.starts_with('-') {
            return Err(CommandError::Flag(program.to_owned()));
        }
        let program = Program::parse(program, places)?;
        let words = words.map(literal_word).collect::<Result<Vec<_>, _>>()?;
        if words.len() >= WORDS_MAX {
            return Err(CommandError::TooLong);
        }
        Ok(Self { program, words })
    }

    /// Whether the words after the first lead the arguments of `image`.
    pub(crate) fn words_hold(&self, image: &Image<'_>, reading: Reading) -> bool {
        match reading {
            Reading::Strict => self.leads(image.arguments()),
            Reading::Doubtful => self.may_lead(image.arguments()),
        }
    }

    fn leads<'a>(&self, mut arguments: impl Iterator<Item = &'a [u8]>) -> bool {
        self.words.iter().all(|word| arguments.next() == Some(word))
    }

    /// Follows every way of reading the arguments at once.
    ///
    /// Bit n of a set stands for a reading that has seen the first n words. A step costs the
    /// same whatever the arguments are, so no caller can make it take long.
    fn may_lead<'a>(&self, arguments: impl Iterator<Item = &'a [u8]>) -> bool {
        let complete = 1u64 << self.words.len();
        // Readings in which the next argument is still to be read, and those in which a flag
        // before it takes it as a value.
        let mut unread = 1u64;
        let mut as_value = 0u64;
        for argument in arguments {
            if unread & complete != 0 || unread | as_value == 0 {
                break;
            }
            let as_word = self.advance(unread, argument);
            let as_flag = if argument.starts_with(b"-") {
                unread
            } else {
                0
            };
            let as_mark = if argument.starts_with(b"+") {
                unread
            } else {
                0
            };
            unread = as_word | as_flag | as_mark | as_value;
            as_value = as_flag;
        }
        unread & complete != 0
    }

    /// The readings of `unread` whose next word is `argument`, with that word seen.
    fn advance(&self, unread: u64, argument: &[u8]) -> u64 {
        self.words
            .iter()
            .enumerate()
            .filter(|(seen, word)| unread & (1 << seen) != 0 && word.as_slice() == argument)
            .fold(0, |readings, (seen, _)| readings | 2 << seen)
    }
}

/// Reads a word after the first, which in this version is literal.
fn literal_word(word: &str) -> Result<Vec<u8>, CommandError> {
    match word.chars().next() {
        Some('-') => return Err(CommandError::Flag(word.to_owned())),
        Some('@') => return Err(CommandError::Class(word.to_owned())),
        _ => {}
    }
    let units = decode(word)?.into_iter();
    let bytes: Option<Vec<u8>> = units
        .map(|unit| match unit {
            Unit::Byte(byte) => Some(byte),
            Unit::One | Unit::Many => None,
        })
        .collect();
    bytes.ok_or_else(|| CommandError::Wildcard(word.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether `command` leads `call`, whose first word stands for argv[0].
    fn reads(command: &str, call: &str) -> (bool, bool) {
        let command = Command::parse(command, &Places::of_tests()).unwrap();
        let arguments = || call.split(' ').skip(1).map(str::as_bytes);
        (command.leads(arguments()), command.may_lead(arguments()))
    }

    #[test]
    fn words_lead_in_both_readings_when_nothing_stands_between() {
        for call in ["git push", "git push origin main", "git push --force"] {
            assert_eq!(reads("git push", call), (true, true), "{call}");
        }
    }

    #[test]
    fn flags_with_and_without_values_may_stand_between_only_in_doubt() {
        for call in [
            "git -C sub push",
            "git --no-pager push",
            "git -c a=b push",
            "git -C sub --no-pager -c a=b push",
            "git -p push",
            "git -- push",
            "git - push",
            "git -C -- push",
            "git +nightly push",
            "git -- -x sub push",
        ] {
            assert_eq!(reads("git push", call), (false, true), "{call}");
        }
        assert_eq!(
            reads("npm run test", "npm -w pkg run --silent test"),
            (false, true)
        );
    }

    #[test]
    fn a_word_that_is_not_among_the_leading_operands_does_not_count() {
        for call in [
            "git",
            "git commit -m push",
            "git commit push",
            "git sub push",
            "git -C sub sub push",
            "git pushx",
            "git pus",
            "git -push",
            "git +sub sub push",
        ] {
            assert_eq!(reads("git push", call), (false, false), "{call}");
        }
    }

    #[test]
    fn a_word_may_itself_be_read_as_a_value() {
        // `-x push` with a value leaves `commit`; without one it leaves `push`.
        assert_eq!(reads("git push", "git -x push commit"), (false, true));
        assert_eq!(reads("git commit", "git -x push commit"), (false, true));
    }

    #[test]
    fn repeated_words_are_told_apart() {
        assert_eq!(reads("x a a b", "x a a b"), (true, true));
        assert_eq!(reads("x a a b", "x a b"), (false, false));
        assert_eq!(reads("x a a b", "x -v a -v a -v a b"), (false, true));
    }

    #[test]
    fn one_word_holds_for_any_arguments() {
        assert_eq!(reads("git", "git"), (true, true));
        assert_eq!(reads("git", "git commit -m x"), (true, true));
    }

    #[test]
    fn the_longest_command_is_followed_to_its_end() {
        let words = vec!["a"; WORDS_MAX].join(" ");
        assert_eq!(reads(&words, &words), (true, true));
        let shorter = vec!["a"; WORDS_MAX - 1].join(" ");
        assert_eq!(reads(&words, &shorter), (false, false));
    }

    #[test]
    fn a_flood_of_flags_is_read_in_linear_time() {
        let flood = format!("git {}push", "-x ".repeat(100_000));
        assert_eq!(reads("git push", &flood), (false, true));
    }

    #[test]
    fn words_may_hold_any_byte() {
        assert_eq!(reads(r"x \x2d\*", "x -*"), (true, true));
        let command = Command::parse(r"x \xff", &Places::of_tests()).unwrap();
        assert!(command.leads([b"\xff".as_slice()].into_iter()));
    }

    #[test]
    fn what_is_not_supported_or_not_a_command_is_refused() {
        for (text, error) in [
            ("", CommandError::Blank),
            (" \t", CommandError::Blank),
            ("a; b", CommandError::Shell(";")),
            ("a | b", CommandError::Shell("|")),
            ("a && b", CommandError::Shell("&")),
            ("a > b", CommandError::Shell(">")),
            ("a < b", CommandError::Shell("<")),
            ("a $(b)", CommandError::Shell("$(")),
            ("a `b`", CommandError::Shell("`")),
            ("a\nb", CommandError::Shell("\n")),
            ("a 'b c'", CommandError::Quote),
            ("rm -rf", CommandError::Flag("-rf".to_owned())),
            ("-x", CommandError::Flag("-x".to_owned())),
            (
                "npm run test:*",
                CommandError::Wildcard("test:*".to_owned()),
            ),
            ("git *", CommandError::Wildcard("*".to_owned())),
            ("env @shells", CommandError::Class("@shells".to_owned())),
            ("a ${home}", CommandError::Word(EscapeError::Dollar)),
            (
                "@shells x",
                CommandError::Program(ProgramError::Class("@shells".to_owned())),
            ),
        ] {
            assert_eq!(
                Command::parse(text, &Places::of_tests()).err(),
                Some(error),
                "{text:?}"
            );
        }
        let long = vec!["a"; WORDS_MAX + 1].join(" ");
        assert_eq!(
            Command::parse(&long, &Places::of_tests()).err(),
            Some(CommandError::TooLong)
        );
    }
}
