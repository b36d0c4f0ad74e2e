//! Why text is not a command.

use thiserror::Error;

use super::WORDS_MAX;
use crate::escape::EscapeError;
use crate::flag::FlagError;
use crate::program::ProgramError;

/// Why text is not a command.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum CommandError {
    #[error("a command has no words")]
    Blank,
    #[error("shell syntax in a command: `{}`", .0.escape_debug())]
    Shell(&'static str),
    #[error("shell syntax in a command: `{}` sets a variable", .0.escape_debug())]
    Assignment(String),
    #[error("quotes in a command are not understood")]
    Quote,
    #[error("a command begins with its program, not with the flag `{}`", .0.escape_debug())]
    FlagFirst(String),
    #[error("`{}`: a class is no word of a command but the first", .0.escape_debug())]
    Class(String),
    #[error("a command has more than {WORDS_MAX} words")]
    TooLong,
    #[error("`{}` is a script, and a word of a command is compared as text", .0.escape_debug())]
    Script(String),
    #[error(transparent)]
    Word(#[from] EscapeError),
    #[error(transparent)]
    Flag(#[from] FlagError),
    #[error(transparent)]
    Program(#[from] ProgramError),
}

impl CommandError {
    /// What the author could write instead.
    pub(crate) fn help(&self) -> Option<String> {
        match self {
            Self::Shell("\n" | "&&" | "||") => Some(ONE_PROGRAM.to_owned()),
            Self::Shell(syntax) => syntax
                .bytes()
                .next_back()
                .map(|byte| format!("{ONE_PROGRAM}; `\\x{byte:02x}` is the character itself")),
            Self::Assignment(_) => Some(format!("{ONE_PROGRAM}; leave the variable out")),
            Self::Class(_) => Some("`\\@` is the character itself".to_owned()),
            Self::Quote => Some(
                "words are split at blanks; write `\\x27` or `\\x22` for the character".to_owned(),
            ),
            Self::Script(_) => {
                Some("name the interpreter by `program` and the file by `script`".to_owned())
            }
            Self::Word(error) => error.help().map(str::to_owned),
            Self::Flag(error) => error.help(),
            Self::Program(error) => error.help(),
            Self::Blank | Self::FlagFirst(_) | Self::TooLong => None,
        }
    }
}

const ONE_PROGRAM: &str = "a rule sees one program and its arguments, never a shell line";
