//! What a call is called: the words by which like calls are told.

use super::{Amendment, Content, Scope, UseOf, exact, text};
use crate::arity;
use crate::class::{self, OPEN_CLASSES};
use crate::grammar::{self, Grammar, Piece};
use crate::image::Image;
use crate::path::file_name;
use crate::request::ExecRequest;
use crate::rule::Action;

/// Programs that run what a project or a registry holds: only by the name of a task of the project.
const RUNNERS: &str = "runners";

/// Those of them whose operand is a package.
const PACKAGE_RUNNERS: [&[u8]; 7] = [
    b"npx",
    b"pnpx",
    b"bunx",
    b"uvx",
    b"pipx",
    b"nix-shell",
    b"nix-run",
];

/// Verbs of theirs behind which stands a package or a command.
const PACKAGE_VERBS: [&str; 4] = ["dlx", "exec", "x", "tool"];

/// Those whose `run` is a task.
const TASK_RUNNERS: [&[u8]; 5] = [b"npm", b"pnpm", b"yarn", b"yarnpkg", b"cargo"];

/// What a call is called: its file, and the words that name the command.
pub(crate) struct CommandName<'r> {
    /// The file's own path, or the one of a link by which the command is known.
    pub(crate) path: &'r [u8],
    pub(crate) name: &'r [u8],
    /// Those behind the name.
    pub(crate) words: Vec<&'r str>,
}

impl<'r> CommandName<'r> {
    /// `None` for programs that run other programs or code, and for words that no prefix says.
    pub(crate) fn of(request: &'r ExecRequest) -> Option<Self> {
        let (program, resolved) = (&request.program, request.program.resolved.as_deref()?);
        let given = std::iter::once(&program.given).chain(&program.links);
        let names = || given.clone().map(Vec::as_slice).chain([resolved]);
        let aliases = program.aliases.iter().map(Vec::as_slice);
        let is_of = |path: &[u8], class: &str| class::is_of(file_name(path), class);
        let is_other = |path: &[u8]| OPEN_CLASSES.into_iter().any(|class| is_of(path, class));
        if names().chain(aliases).any(is_other) {
            return None;
        }
        // Of a link, the name by which the command is known.
        let is_known =
            |path: &&[u8]| is_of(path, RUNNERS) || grammar::of(file_name(path)).is_some();
        // Others no pattern says.
        let is_straight = |path: &&[u8]| !steps_aside(path);
        let path = names().filter(is_straight).find(is_known);
        let path = path.unwrap_or(resolved);
        let name = file_name(path);
        let is_runner = is_of(name, RUNNERS);
        let operands = operands(name, request);
        let arity = arity::of(name, operands.iter().copied());
        let words = operands.into_iter().take(arity.saturating_sub(1));
        let words: Vec<&str> = words.map(said).collect::<Option<_>>()?;
        if words.len() + 1 < arity || (is_runner && !is_task(name, &words)) {
            return None;
        }
        Some(Self { path, name, words })
    }

    /// What could be said of the call, from the least that is covered.
    pub(crate) fn amendments(
        &self,
        action: Action,
        request: &ExecRequest,
        id: &str,
        image: &Image<'_>,
    ) -> Vec<Amendment> {
        let content = Content::of(action, image);
        let mut amendments = vec![exact(action, self.path, request, id, content.clone())];
        if let Some(use_of) = self.use_of(action, image) {
            let flags = self.flags(request);
            amendments.extend(flags.and_then(|flags| use_of.with_flags(id, &flags)));
            amendments.push(use_of.ordinary(id));
        }
        if !class::is_of(self.name, RUNNERS) {
            let path = self.path.escape_ascii();
            amendments.push(Amendment {
                scope: Scope::Program,
                rule: text::head(action, id, Scope::Program) + &text::program(self.path),
                covers: format!("{path} with any arguments{}", content.in_words()),
                content,
            });
        }
        amendments
    }

    /// The command, if it can be said, with the hosts that the call names.
    pub(super) fn use_of(&self, action: Action, image: &Image<'_>) -> Option<UseOf> {
        let command = self.command(image)?;
        Some(UseOf::of(action, command, image))
    }

    /// As an entry of `command`: by the program's name if that means this file, else by its path.
    fn command(&self, image: &Image<'_>) -> Option<String> {
        let program = match image.is_vouched_for(self.path) {
            true => said(self.name)?,
            false => said(self.path)?,
        };
        let words = std::iter::once(&program).chain(&self.words).copied();
        Some(words.collect::<Vec<_>>().join(" "))
    }

    /// The flags of the call, as entries of `flags`; `None` where one of them cannot be told.
    pub(super) fn flags(&self, request: &ExecRequest) -> Option<Vec<String>> {
        let arguments = request.argv.iter().skip(1).map(Vec::as_slice);
        let of_table = |grammar: &'static Grammar| {
            let flags = grammar.read(arguments.clone());
            let flags = flags.filter_map(|piece| match piece {
                Piece::Flag(known) => Some(known.option.names.first().map(|it| (*it).to_owned())),
                Piece::Unknown(_) => Some(None),
                Piece::Operand(_) => None,
            });
            flags.collect::<Option<Vec<String>>>()
        };
        let by_looks = || {
            let flags = arguments.clone().filter(|it| it.len() > 1);
            let flags = flags.filter(|it| it.starts_with(b"-") && *it != b"--");
            let names = flags.map(|it| it.split(|byte| *byte == b'=').next().and_then(said));
            let names = names.map(|name| name.map(str::to_owned));
            names.collect::<Option<Vec<String>>>()
        };
        let flags = grammar::of(self.name).map_or_else(by_looks, of_table);
        let mut flags = flags?;
        flags.sort_unstable();
        flags.dedup();
        Some(flags)
    }
}

/// The operands of a call: by the table of the command, else whatever is no flag.
fn operands<'r>(name: &[u8], request: &'r ExecRequest) -> Vec<&'r [u8]> {
    let arguments = request.argv.iter().skip(1).map(Vec::as_slice);
    match grammar::of(name) {
        Some(grammar) => {
            let operand = |piece| match piece {
                Piece::Operand(operand) => Some(operand),
                Piece::Flag(_) | Piece::Unknown(_) => None,
            };
            grammar.read(arguments).filter_map(operand).collect()
        }
        None => arguments.filter(|word| !word.starts_with(b"-")).collect(),
    }
}

/// Whether a path has a component that is empty, `.` or `..`.
fn steps_aside(path: &[u8]) -> bool {
    let mut steps = path.split(|byte| *byte == b'/').skip(1);
    steps.any(|step| matches!(step, b"" | b"." | b".."))
}

/// Whether what the runner `name` is to do is a task of the project.
fn is_task(name: &[u8], words: &[&str]) -> bool {
    let is_task = |verb: &&str| {
        !PACKAGE_VERBS.contains(verb) && (*verb != "run" || TASK_RUNNERS.contains(&name))
    };
    !PACKAGE_RUNNERS.contains(&name) && words.first().is_some_and(is_task)
}

/// A word that a prefix says as it is: no blank, no wildcard, nothing of a shell's.
pub(crate) fn said(word: &[u8]) -> Option<&str> {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-./:=+,%".contains(byte);
    let word = std::str::from_utf8(word).ok()?;
    (!word.is_empty() && word.as_bytes().iter().all(is_plain)).then_some(word)
}
