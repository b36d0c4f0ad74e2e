//! What a rule looks at: its keys that select, each a list with exceptions.

mod applet;
mod named;
mod surroundings;
mod tool_call;

use crate::case::Case;
use crate::command::Command;
use crate::digest::Digest;
use crate::dispatch;
use crate::exact::ExactArgv;
use crate::flag::{self, Flag};
use crate::grammar::Grammar;
use crate::host::HostPattern;
use crate::image::{Image, Reading};
use crate::inline;
use crate::path::file_name;
use crate::pattern::PathPattern;
use crate::program::Program;
use crate::tabled;
use crate::variable::Variable;
use crate::word::Word;
use named::script_holds;

/// The value of one key: the wanted entries minus the exceptions (`!entry`).
#[derive(Debug, Clone)]
pub(crate) struct List<T> {
    /// Entries without `!`. None at all means everything.
    pub(crate) wanted: Vec<T>,
    /// Entries with `!`, read with the doubt of the opposite action.
    pub(crate) exceptions: Vec<T>,
}

impl<T> List<T> {
    /// One entry.
    pub(crate) fn of(entry: T) -> Self {
        Self {
            wanted: vec![entry],
            exceptions: Vec::new(),
        }
    }

    /// Everything.
    pub(crate) fn of_all() -> Self {
        Self {
            wanted: Vec::new(),
            exceptions: Vec::new(),
        }
    }

    /// Every entry.
    pub(crate) fn entries(&self) -> impl Iterator<Item = &T> {
        self.wanted.iter().chain(&self.exceptions)
    }

    /// Every entry, to be changed.
    pub(crate) fn entries_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.wanted.iter_mut().chain(&mut self.exceptions)
    }

    pub(crate) fn holds(&self, reading: Reading, covers: impl Fn(&T, Reading) -> bool) -> bool {
        let is_wanted =
            self.wanted.is_empty() || self.wanted.iter().any(|entry| covers(entry, reading));
        is_wanted && !self.is_excepted(reading, covers)
    }

    fn is_excepted(&self, reading: Reading, covers: impl Fn(&T, Reading) -> bool) -> bool {
        let opposite = reading.of_exceptions();
        self.exceptions.iter().any(|entry| covers(entry, opposite))
    }
}

/// The selecting keys of one rule; at least one is there.
#[derive(Debug, Clone, Default)]
pub(crate) struct Selectors {
    /// Whether the case of letters counts in the patterns.
    pub(crate) case: Case,
    /// The file, with any arguments unless another key says more.
    pub(crate) program: Option<List<Program>>,
    /// The file and its leading words; beside `program`, its first word is only a name.
    pub(crate) command: Option<List<Command>>,
    /// The whole vector.
    pub(crate) argv: Option<ExactArgv>,
    /// An allow: every flag. A deny or an ask: some flag.
    pub(crate) flags: Option<List<Flag>>,
    /// The operands behind the words of `command`.
    pub(crate) args: Option<List<Word>>,
    /// What the call stands for.
    pub(crate) tool: Option<List<Word>>,
    /// The files that the call names; beside `tool`, those of its classes.
    pub(crate) path: Option<List<PathPattern>>,
    /// The hosts that it names.
    pub(crate) host: Option<List<HostPattern>>,
    /// The script that an interpreter is given.
    pub(crate) script: Option<List<PathPattern>>,
    /// The working directory.
    pub(crate) cwd: Option<List<PathPattern>>,
    /// A deny or an ask: some variable. An allow: every watched one that changed.
    pub(crate) env: Option<List<Variable>>,
    /// Some ancestor.
    pub(crate) via: Option<Vec<Program>>,
    /// The program's file, or the script beside `script`.
    pub(crate) sha256: Option<Vec<Digest>>,
}

impl Selectors {
    /// The first key that does not hold for an image; `None` if all hold.
    pub(crate) fn failing(&self, image: &Image<'_>, reading: Reading) -> Option<&'static str> {
        if reading == Reading::Strict
            && let (Some(_), Some(commands)) = (&self.program, &self.command)
            && let Some(applet) = dispatch::applet(image)
        {
            let failing = self.failing_applet(commands, image, &applet);
            // `busybox cat` may also be there under the file's own name.
            if failing != Some("command") {
                return failing;
            }
        }
        let is_disguised = || dispatch::called(image).is_some();
        if reading == Reading::Strict && is_disguised() || !self.program_holds(image, reading) {
            return Some("program");
        }
        if let Some(key) = self.failing_command(image, reading) {
            return Some(key);
        }
        if self
            .argv
            .as_ref()
            .is_some_and(|argv| !self.argv_holds(argv, image, reading))
        {
            return Some("argv");
        }
        if !self.flags_hold(image, reading) {
            return Some("flags");
        }
        if !self.args_hold(image, reading) {
            return Some("args");
        }
        self.failing_rest(image, reading)
    }

    /// The first key that does not hold, of those that do not hang on the words of `command`.
    fn failing_rest(&self, image: &Image<'_>, reading: Reading) -> Option<&'static str> {
        if let Some(key) = self.failing_name(image, reading) {
            return Some(key);
        }
        if !self.cwd_holds(image, reading) {
            return Some("cwd");
        }
        if !self.via_holds(image, reading) {
            return Some("via");
        }
        if !self.sha256_holds(image, reading) {
            return Some("sha256");
        }
        // The last, for it alone may hold an allow back that is meant for the call.
        (!self.env_holds(image, reading)).then_some("env")
    }

    /// Puts beside each path what its directories really are.
    pub(crate) fn resolve_heads(&mut self, resolve: &dyn Fn(&[u8]) -> Option<Vec<u8>>) {
        let programs = self.program.iter_mut().flat_map(List::entries_mut);
        let commands = self.command.iter_mut().flat_map(List::entries_mut);
        let programs = programs
            .chain(commands.map(|command| &mut command.program))
            .chain(self.argv.iter_mut().map(|argv| &mut argv.program))
            .chain(self.via.iter_mut().flatten());
        programs.for_each(|program| program.resolve_head(resolve));
        let patterns = [&mut self.cwd, &mut self.path, &mut self.script].into_iter();
        let patterns = patterns.flatten().flat_map(List::entries_mut);
        patterns.for_each(|pattern| pattern.resolve_head(resolve));
    }

    /// Which keys are there, by name.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &'static str> {
        [
            ("program", self.program.is_some()),
            ("command", self.command.is_some()),
            ("argv", self.argv.is_some()),
            ("flags", self.flags.is_some()),
            ("args", self.args.is_some()),
            ("tool", self.tool.is_some()),
            ("path", self.path.is_some()),
            ("host", self.host.is_some()),
            ("script", self.script.is_some()),
            ("cwd", self.cwd.is_some()),
            ("env", self.env.is_some()),
            ("via", self.via.is_some()),
            ("sha256", self.sha256.is_some()),
        ]
        .into_iter()
        .filter_map(|(key, is_there)| is_there.then_some(key))
    }

    /// Whether the keys that say which file may mean this one, whatever its arguments.
    pub(crate) fn is_about(&self, image: &Image<'_>) -> bool {
        let may_cover = |program: &Program| program.covers(image, Reading::Doubtful);
        let programs = self.program.iter().flat_map(|list| &list.wanted);
        let commands = self.command.iter().flat_map(|list| &list.wanted);
        let words = commands.map(|command| &command.program);
        let mut named = programs
            .chain(words)
            .chain(self.argv.iter().map(|argv| &argv.program));
        named.any(may_cover) || self.programs().next().is_none() && self.may_be_tool(image)
    }

    /// The entries of `command` that hold for an image.
    pub(crate) fn commands_of<'s>(
        &'s self,
        image: &'s Image<'_>,
        reading: Reading,
    ) -> impl Iterator<Item = &'s Command> {
        let wanted = self.command.iter().flat_map(|commands| &commands.wanted);
        wanted.filter(move |command| self.command_covers(command, image, reading))
    }

    /// The files that the keys name in full.
    pub(crate) fn named_files(&self) -> impl Iterator<Item = Vec<u8>> {
        self.programs().flat_map(Program::paths)
    }

    /// The entries that say which file; none if every file can hold.
    pub(crate) fn programs(&self) -> impl Iterator<Item = &Program> {
        let programs = self.program.iter().flat_map(|list| &list.wanted);
        let argv = self.argv.as_ref().filter(|_| self.program.is_none());
        let has_other = self.program.is_some() || self.argv.is_some();
        let commands = self.command.iter().filter(move |_| !has_other);
        let commands = commands.flat_map(|commands| &commands.wanted);
        programs
            .chain(argv.map(|argv| &argv.program))
            .chain(commands.map(|command| &command.program))
    }

    fn program_holds(&self, image: &Image<'_>, reading: Reading) -> bool {
        let Some(programs) = &self.program else {
            return true;
        };
        // Of an allow the file alone says nothing about a program that is no file.
        let is_open = reading == Reading::Strict && self.command.is_none() && self.argv.is_none();
        programs.holds(reading, |program, reading| program.selects(image, reading))
            && !(is_open
                && (inline::runs_inline(image)
                    || dispatch::is_another(image)
                    || self.case == Case::Folded && image.is_recased()))
    }

    /// `command` if no entry of it holds; `flags` if an allow has none of which the call's flags
    /// are permitted too.
    fn failing_command(&self, image: &Image<'_>, reading: Reading) -> Option<&'static str> {
        let commands = self.command.as_ref()?;
        let covers = |command: &Command, reading| self.command_covers(command, image, reading);
        let wanted = commands.wanted.iter();
        let mut held = wanted.filter(|command| covers(command, reading)).peekable();
        let is_wanted = commands.wanted.is_empty() || held.peek().is_some();
        if !is_wanted || commands.is_excepted(reading, covers) {
            return Some("command");
        }
        let are_permitted = reading == Reading::Doubtful
            || commands.wanted.is_empty()
            || held.any(|command| {
                self.permits_flags(command, command.grammar_of(image), image.arguments())
            });
        (!are_permitted).then_some("flags")
    }

    /// Whether some entry of `command` holds that also `is_meant`.
    fn command_holds(
        &self,
        image: &Image<'_>,
        reading: Reading,
        is_meant: impl Fn(&Command) -> bool,
    ) -> bool {
        let Some(commands) = &self.command else {
            return true;
        };
        let covers = |command: &Command, reading| self.command_covers(command, image, reading);
        let is_wanted = commands.wanted.is_empty()
            || commands
                .wanted
                .iter()
                .any(|command| covers(command, reading) && is_meant(command));
        is_wanted && !commands.is_excepted(reading, covers)
    }

    fn command_covers(&self, command: &Command, image: &Image<'_>, reading: Reading) -> bool {
        let is_program = match &self.program {
            Some(programs) => is_bound(programs, &command.program, image, reading),
            None => command.program.covers(image, reading),
        };
        // What a multi-call file or a linker starts is a word of the command.
        let is_whole =
            || reading == Reading::Doubtful || !command.is_bare() || !dispatch::is_another(image);
        (is_program && command.words_hold(image, reading) && is_whole())
            || (reading == Reading::Doubtful && image.guises().any(|guise| command.may_be(&guise)))
    }

    fn argv_holds(&self, argv: &ExactArgv, image: &Image<'_>, reading: Reading) -> bool {
        let is_program = match &self.program {
            Some(programs) => is_bound(programs, &argv.program, image, reading),
            None => argv.program.covers(image, reading),
        };
        is_program && argv.is_rest(image.arguments())
    }

    /// Of an allow of a command, [`Self::failing_command`] says so.
    fn flags_hold(&self, image: &Image<'_>, reading: Reading) -> bool {
        let Some(flags) = &self.flags else {
            return true;
        };
        match reading {
            Reading::Doubtful => self.flags_may_hold(flags, image),
            Reading::Strict if self.command.is_some() => true,
            Reading::Strict => flag::are_all_on(flags, &[], image.arguments()),
        }
    }

    /// Whether an allow of `command` covers every flag among `arguments`, read by `grammar`.
    fn permits_flags<'a>(
        &self,
        command: &Command,
        grammar: Option<&'static Grammar>,
        arguments: impl Iterator<Item = &'a [u8]> + Clone,
    ) -> bool {
        let (flags, named) = (self.flags.as_ref(), command.flags.as_slice());
        match grammar {
            Some(grammar) => tabled::are_permitted(flags, named, grammar.read(arguments)),
            None => flags.is_none_or(|flags| flag::are_all_on(flags, named, arguments)),
        }
    }

    /// Whether some flag of the call may be on the list, by the grammar of each program that the
    /// rule names and the image may be.
    fn flags_may_hold(&self, flags: &List<Flag>, image: &Image<'_>) -> bool {
        let meant = self.programs();
        let meant = meant.filter(|program| program.covers(image, Reading::Doubtful));
        let mut grammars = meant.map(Program::grammar);
        let by_none = || flag::may_be_on(flags, image.arguments());
        let by = |grammar: Option<&'static Grammar>| match grammar {
            Some(grammar) => tabled::may_be_on(flags, grammar.read(image.arguments())),
            None => by_none(),
        };
        match grammars.next() {
            None => by_none(),
            Some(first) => by(first) || grammars.any(by),
        }
    }

    fn sha256_holds(&self, image: &Image<'_>, reading: Reading) -> bool {
        let Some(digests) = &self.sha256 else {
            return true;
        };
        let is_pinned = |digest: Option<&Digest>| match digest {
            Some(digest) => digests.contains(digest),
            None => reading == Reading::Doubtful,
        };
        match &self.script {
            Some(list) => script_holds(list, image, reading, is_pinned),
            None => is_pinned(image.digest()),
        }
    }
}

/// Whether `called`, the first word of a command, is what an image selected by `programs` is
/// called.
///
/// Strictly it must be the name by which `programs` covers the image; in doubt any name of
/// the image will do.
fn is_bound(
    programs: &List<Program>,
    called: &Program,
    image: &Image<'_>,
    reading: Reading,
) -> bool {
    match reading {
        Reading::Strict if !programs.wanted.is_empty() => programs
            .wanted
            .iter()
            .any(|program| program.covers_as(called, image, reading)),
        Reading::Strict => {
            let mut names = image.names(reading).map(file_name);
            names.any(|name| called.is_name(name))
        }
        Reading::Doubtful => called.covers(image, reading),
    }
}
