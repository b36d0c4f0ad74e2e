//! What a rule looks at: its keys that select, each a list with exceptions.

use crate::command::Command;
use crate::image::{Image, Reading};
use crate::pattern::file_name;
use crate::program::Program;

/// The value of one key: the wanted entries minus the exceptions (`!entry`).
#[derive(Debug, Clone)]
pub(crate) struct List<T> {
    /// Entries without `!`. None at all means everything.
    pub(crate) wanted: Vec<T>,
    /// Entries with `!`, read with the doubt of the opposite action.
    pub(crate) exceptions: Vec<T>,
}

impl<T> List<T> {
    fn holds(&self, reading: Reading, covers: impl Fn(&T, Reading) -> bool) -> bool {
        let is_wanted =
            self.wanted.is_empty() || self.wanted.iter().any(|entry| covers(entry, reading));
        let opposite = reading.of_exceptions();
        is_wanted && !self.exceptions.iter().any(|entry| covers(entry, opposite))
    }
}

/// The selecting keys of one rule. A rule without any cannot be written down.
#[derive(Debug, Clone)]
pub(crate) enum Selectors {
    /// `program` alone: the file, with any arguments.
    Program(List<Program>),
    /// `command` alone: the file and its leading words.
    Command(List<Command>),
    /// Both: `program` says which file, the first word of `command` only what it is called.
    Both(List<Program>, List<Command>),
}

impl Selectors {
    /// Whether every key holds for one image.
    pub(crate) fn hold(&self, image: &Image<'_>, reading: Reading) -> bool {
        match self {
            Self::Program(programs) => program_holds(programs, image, reading),
            Self::Command(commands) => commands.holds(reading, |command, reading| {
                command.program.covers(image, reading) && command.words_hold(image, reading)
            }),
            Self::Both(programs, commands) => {
                program_holds(programs, image, reading)
                    && commands.holds(reading, |command, reading| {
                        is_bound(programs, command, image, reading)
                            && command.words_hold(image, reading)
                    })
            }
        }
    }

    /// File names of which every image that can hold has at least one, or `None` if the keys
    /// do not come down to names.
    pub(crate) fn file_names(&self) -> Option<Vec<&[u8]>> {
        let names: Option<Vec<_>> = match self {
            Self::Program(programs) | Self::Both(programs, _) => {
                programs.wanted.iter().map(Program::file_name).collect()
            }
            Self::Command(commands) => commands
                .wanted
                .iter()
                .map(|command| command.program.file_name())
                .collect(),
        };
        names.filter(|names| !names.is_empty())
    }
}

fn program_holds(programs: &List<Program>, image: &Image<'_>, reading: Reading) -> bool {
    programs.holds(reading, |program, reading| program.covers(image, reading))
}

/// Whether the first word of `command` is what an image selected by `programs` is called.
///
/// Strictly it must be the name by which `programs` covers the image; in doubt any name of
/// the image will do.
fn is_bound(
    programs: &List<Program>,
    command: &Command,
    image: &Image<'_>,
    reading: Reading,
) -> bool {
    let Some(name) = command.program.file_name() else {
        return false;
    };
    match reading {
        Reading::Strict if !programs.wanted.is_empty() => programs
            .wanted
            .iter()
            .any(|program| program.covers_as(name, image, reading)),
        Reading::Strict | Reading::Doubtful => {
            let mut names = image.names(reading);
            names.any(|path| file_name(path) == name)
        }
    }
}
