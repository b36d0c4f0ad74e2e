//! The keys that look at what a call names: `args`, `tool`, `path`, `host`, `script`.
//!
//! An allow holds if everything of the kind is on the list, a deny or an ask if something is.

use super::{List, Selectors};
use crate::command::Command;
use crate::digest::Digest;
use crate::grammar::Grammar;
use crate::host::{Host, HostPattern};
use crate::image::{Image, Reading};
use crate::inline;
use crate::operand::{FileOperand, Part};
use crate::pattern::PathPattern;
use crate::request::{Destination, FileKind};
use crate::tabled;
use crate::tool;
use crate::word::Word;

impl Selectors {
    /// The first of these keys that does not hold, `args` aside.
    pub(super) fn failing_name(&self, image: &Image<'_>, reading: Reading) -> Option<&'static str> {
        if !self.tool_holds(image, reading) {
            return Some("tool");
        }
        if !self.path_holds(image, reading) {
            return Some("path");
        }
        if !self.host_holds(image, reading) {
            return Some("host");
        }
        let script = self.script.as_ref();
        let is_held = script.is_none_or(|list| script_holds(list, image, reading, |_| true));
        (!is_held).then_some("script")
    }

    /// Whether the call may stand for a tool on the list.
    pub(super) fn may_be_tool(&self, image: &Image<'_>) -> bool {
        self.tool.is_some() && self.tool_holds(image, Reading::Doubtful)
    }

    pub(super) fn args_hold(&self, image: &Image<'_>, reading: Reading) -> bool {
        if self.args.is_none() {
            return true;
        }
        let is_on = |operand: &[u8]| self.is_arg(operand, reading);
        match (reading, &self.command) {
            (Reading::Strict, Some(_)) => self.command_holds(image, reading, |command| {
                command.operands(image.arguments()).all(is_on)
            }),
            (Reading::Strict, None) => {
                every_grammar(image).all(|grammar| operands(grammar, image.arguments()).all(is_on))
            }
            (Reading::Doubtful, Some(commands)) => commands
                .wanted
                .iter()
                .any(|command| self.may_have(command, image, is_on)),
            (Reading::Doubtful, None) => {
                every_grammar(image).any(|grammar| operands(grammar, image.arguments()).any(is_on))
            }
        }
    }

    /// Whether the operand is on `args`, if there is such a key.
    pub(super) fn is_arg(&self, operand: &[u8], reading: Reading) -> bool {
        self.args
            .as_ref()
            .is_none_or(|list| list.holds(reading, |word, reading| word.covers(operand, reading)))
    }

    /// Whether the call may be of `command` with an operand behind its words that `is_on`.
    fn may_have(
        &self,
        command: &Command,
        image: &Image<'_>,
        is_on: impl Fn(&[u8]) -> bool + Copy,
    ) -> bool {
        let mut guises = image.guises().filter(|guise| command.may_be(guise));
        self.command_covers(command, image, Reading::Doubtful)
            && command.operands(image.arguments()).any(is_on)
            || guises.any(|guise| command.operands(guise.arguments()).any(is_on))
    }

    fn tool_holds(&self, image: &Image<'_>, reading: Reading) -> bool {
        let Some(list) = &self.tool else {
            return true;
        };
        let mut classes = tool::classes(image);
        match reading {
            Reading::Doubtful => covers_exec(list) || classes.any(|class| on_list(list, class)),
            Reading::Strict => {
                let are_plain = |grammar: &'static Grammar| {
                    let pieces = grammar.read(image.arguments());
                    tabled::are_permitted(self.flags.as_ref(), &[], pieces)
                };
                tool::plain(image).is_some_and(are_plain)
                    && classes.all(|class| on_list(list, class))
            }
        }
    }

    fn path_holds(&self, image: &Image<'_>, reading: Reading) -> bool {
        let Some(list) = &self.path else {
            return true;
        };
        let is_on = |file: &FileOperand| {
            // What may be no file at all is not elsewhere either.
            let is_meant = file.part != Part::Guess || !list.wanted.is_empty();
            is_meant && list.holds(reading, |pattern, reading| covers(pattern, file, reading))
        };
        let mut files = image
            .files()
            .iter()
            .filter(|file| self.is_of_tool(file, reading));
        match reading {
            Reading::Strict => files.all(|file| file.part == Part::Guess || is_on(file)),
            Reading::Doubtful => files.any(is_on),
        }
    }

    /// Whether the file is one that the rule's `path` looks at.
    fn is_of_tool(&self, file: &FileOperand, reading: Reading) -> bool {
        let Some(list) = &self.tool else {
            return true;
        };
        let mut accesses = file.accesses.iter();
        let is_untabled = file.accesses.is_empty() && reading == Reading::Strict;
        is_untabled || covers_exec(list) || accesses.any(|access| on_list(list, access.class()))
    }

    /// Whether `tool` and `path` cover all that is done to the file.
    pub(crate) fn let_file(&self, file: &FileOperand) -> bool {
        let is_on_tool = |list: &List<Word>| {
            let mut accesses = file.accesses.iter();
            accesses.all(|access| on_list(list, access.class()))
        };
        let is_on_path = |list: &List<PathPattern>| {
            list.holds(Reading::Strict, |pattern, reading| {
                covers(pattern, file, reading)
            })
        };
        self.tool.as_ref().is_some_and(is_on_tool) && self.path.as_ref().is_none_or(is_on_path)
    }

    fn host_holds(&self, image: &Image<'_>, reading: Reading) -> bool {
        let Some(list) = &self.host else {
            return true;
        };
        hosts_hold(list, image.hosts(), reading)
    }

    /// Whether the digest of a file that `sha256` is about is not there, and could be.
    pub(crate) fn lacks_digest(&self, image: &Image<'_>) -> bool {
        let lacks = |file: &FileOperand| {
            let mut destination = file.destination.iter();
            let lacks = |it: &Destination| it.kind == FileKind::Regular && it.sha256.is_none();
            file.part == Part::Script && destination.any(lacks)
        };
        let is_of_image = self.script.is_none() || image.is_script();
        is_of_image && image.digest().is_none()
            || self.script.is_some() && image.files().iter().any(lacks)
    }
}

/// Whether every one of `hosts` is on the list, and there is one; in doubt, whether some is.
pub(super) fn hosts_hold(
    list: &List<HostPattern>,
    hosts: &[Option<Host>],
    reading: Reading,
) -> bool {
    let is_on = |host: &Host| list.holds(reading, |entry, _| entry.covers(host));
    let mut all = hosts.iter();
    match reading {
        Reading::Strict => !hosts.is_empty() && all.all(|host| host.as_ref().is_some_and(is_on)),
        // What cannot be told is on no list.
        Reading::Doubtful => all.any(|host| host.as_ref().map_or(list.wanted.is_empty(), is_on)),
    }
}

/// Whether the script that an interpreter is given is on the list, with a digest, if anybody took
/// it, that `is_pinned`.
pub(super) fn script_holds(
    list: &List<PathPattern>,
    image: &Image<'_>,
    reading: Reading,
    is_pinned: impl Fn(Option<&Digest>) -> bool,
) -> bool {
    let scripts = image.files().iter();
    let mut scripts = scripts.filter(|file| file.part == Part::Script);
    let is_on = |file: &FileOperand| {
        let destination = file.destination.as_ref();
        list.holds(reading, |pattern, reading| covers(pattern, file, reading))
            && is_pinned(destination.and_then(|it| it.sha256.as_ref()))
    };
    // The file itself, which the kernel gives to its interpreter.
    let is_own = || {
        let is_meant = |pattern: &PathPattern, reading| {
            let mut names = image.names(reading);
            names.any(|path| pattern.matches(path))
        };
        image.is_script() && list.holds(reading, is_meant) && is_pinned(image.digest())
    };
    match reading {
        Reading::Doubtful => scripts.any(is_on) || is_own(),
        Reading::Strict if image.is_script() => is_own(),
        Reading::Strict => {
            let is_file = |file: &FileOperand| {
                let destination = file.destination.as_ref();
                destination.is_some_and(|it| it.kind == FileKind::Regular)
            };
            let script = scripts.next();
            !inline::runs_unseen(image)
                && script.is_some_and(|script| is_file(script) && is_on(script))
                && scripts.next().is_none()
        }
    }
}

/// Tools are names of the language: nothing about them is in doubt.
fn on_list(list: &List<Word>, tool: &str) -> bool {
    list.holds(Reading::Strict, |word, _| word.matches(tool.as_bytes()))
}

/// Whether the list covers any exec.
fn covers_exec(list: &List<Word>) -> bool {
    tool::EXEC.iter().any(|name| on_list(list, name))
}

/// Whether `pattern` means the file.
///
/// Strictly, the path to which it was followed counts. In doubt, what is written counts too, what
/// may lie below it if the command goes there, and any pattern if nobody can tell where it leads.
pub(super) fn covers(pattern: &PathPattern, file: &FileOperand, reading: Reading) -> bool {
    let destination = file.destination.as_ref();
    match reading {
        Reading::Strict => destination.is_some_and(|it| it.is_proven && pattern.matches(&it.path)),
        Reading::Doubtful => {
            let led_to = destination.map(|it| it.path.as_slice());
            let mut paths = [Some(file.written.as_slice()), led_to]
                .into_iter()
                .flatten();
            let is_untold = destination.is_none() && file.part != Part::Guess;
            is_untold
                || paths.any(|path| {
                    pattern.matches(path) || file.is_walked && pattern.may_match_below(path)
                })
        }
    }
}

/// The grammars by which a call of `image` is read; none at all where there is no table.
fn every_grammar<'i>(image: &'i Image<'_>) -> impl Iterator<Item = Option<&'static Grammar>> + 'i {
    let mut grammars = image.grammars(Reading::Doubtful).peekable();
    let none = grammars.peek().is_none().then_some(None);
    grammars.map(Some).chain(none)
}

/// The operands of a call, verbs included.
fn operands<'a>(
    grammar: Option<&'static Grammar>,
    arguments: impl Iterator<Item = &'a [u8]> + Clone,
) -> impl Iterator<Item = &'a [u8]> {
    tabled::operands(grammar, arguments, 0)
}
