//! What a person who is asked about a call could save, so that calls like it are not asked about again.
//!
//! Each amendment is the rule that it would be, in the language, and says what it would cover. None is
//! offered for what its arguments make of it (shells, interpreters, wrappers, runners), for files that
//! bring rights or have no path, and none that would leave the call to be asked about all the same.

mod lesson;
mod text;
mod use_of;

use std::fmt;

use jiff::Timestamp;

use crate::approval::Category;
use crate::arity;
use crate::class;
use crate::grammar::{self, Grammar, Piece};
use crate::host::Host;
use crate::image::{Image, Images};
use crate::mode::State;
use crate::path::file_name;
use crate::places::Places;
use crate::request::{ExecRequest, Origin};
use crate::rule::{Action, Rule};
use crate::ruleset::Ruleset;
use crate::source::{Layer, NoIncludes, Source};
use crate::verdict::{Basis, Decision};

pub use lesson::{Evidence, Lesson, Lessons};
pub use text::exact_rule;
use use_of::UseOf;

/// Longest rule that is offered: nobody reads more.
const RULE_MAX_BYTES: usize = 4 << 10;

/// Classes whose programs are what their arguments make of them: no prefix says what runs.
const NEVER: [&str; 6] = [
    "shells",
    "wrappers",
    "interpreters",
    "loaders",
    "multicall",
    "brokers",
];

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

/// How much of what is like a call an amendment covers, from the least.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// This call alone.
    Exact,
    /// Its command with the same flags or fewer.
    Flags,
    /// Its command in its ordinary use.
    Prefix,
    /// Its program with any arguments.
    Program,
}

impl Scope {
    /// Every scope, from the least.
    pub const ALL: [Self; 4] = [Self::Exact, Self::Flags, Self::Prefix, Self::Program];

    /// The word for it, in commands and messages.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Flags => "flags",
            Self::Prefix => "prefix",
            Self::Program => "program",
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A rule that could be saved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Amendment {
    /// How much it covers.
    pub scope: Scope,
    /// The rule, as it would stand in a file of the user.
    pub rule: String,
    /// What it covers, in words.
    pub covers: String,
}

/// Why no rule is made of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum NoRule {
    /// The policy allows or denies it.
    NotAsked(Decision),
    /// Its file has no name that a rule could mean.
    NoName,
    /// Its file brings rights.
    Rights,
    /// Its arguments make of it what it is.
    Arguments,
    /// What holds it back no rule of the user's lifts, or the rule would be longer than anybody reads.
    NoHelp,
    /// A person refused a call that the narrowest rule would let run too.
    Refused,
}

impl fmt::Display for NoRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotAsked(Decision::Deny) => "the policy denies it, and no allow lifts that",
            Self::NotAsked(Decision::Allow | Decision::Ask) => "the policy lets it run as it is",
            Self::NoName => "its file has no name in the session that a rule could mean",
            Self::Rights => "its file brings rights",
            Self::Arguments => {
                "its arguments make of it what it is: a shell, an interpreter, a wrapper, a runner"
            }
            Self::NoHelp => "it would be asked about all the same",
            Self::Refused => "a person refused the same call",
        })
    }
}

impl Ruleset {
    /// What could be saved of a call that is asked about at `now`, as rules called `id`; from the least
    /// that is covered. Nothing if the call is not asked about.
    #[must_use]
    pub fn amendments(&self, request: &ExecRequest, id: &str, now: Timestamp) -> Vec<Amendment> {
        let images = Images::of(request, &self.trust);
        let Ok(name) = self.name_of(request, &images, now) else {
            return Vec::new();
        };
        let mut amendments = name.amendments(request, id, &images.program);
        amendments.retain(|amendment| {
            let rule = rule_of(&amendment.rule);
            rule.is_some_and(|rule| self.would_let(&rule, &images, now))
        });
        amendments
    }

    /// What a call that is asked about is called, if a rule may be made of that.
    fn name_of<'r>(
        &self,
        request: &'r ExecRequest,
        images: &Images<'r>,
        now: Timestamp,
    ) -> Result<CommandName<'r>, NoRule> {
        match self.decide(request, now).decision() {
            Decision::Ask => {}
            decision @ (Decision::Allow | Decision::Deny) => {
                return Err(NoRule::NotAsked(decision));
            }
        }
        let kinds = images.program.kinds();
        if request.program.origin != Origin::Session {
            return Err(NoRule::NoName);
        }
        if request.program.brings_rights || request.program.gains_rights {
            return Err(NoRule::Rights);
        }
        let is_any = kinds.starts_another || kinds.is_interpreter || kinds.is_shell;
        if is_any || images.program.is_disguised() {
            return Err(NoRule::Arguments);
        }
        CommandName::of(request).ok_or(NoRule::Arguments)
    }

    /// Whether the call would run unasked if the rule were one of the user's.
    fn would_let(&self, rule: &Rule, images: &Images<'_>, now: Timestamp) -> bool {
        let is_answered = |ask: &Rule| {
            images.all().all(|image| {
                !ask.holds(image, now)
                    || self.is_lifted(ask, image, now)
                    || rule.holds(image, now) && rule.outweighs(ask, image)
            })
        };
        let verdict = self
            .modes
            .judge(State::Allowed, Category::Rules, Some(Basis::Rule(rule)));
        rule.holds(&images.program, now)
            && self.table.of(Action::Ask).iter().all(is_answered)
            && self.allows_interpreters(images, now)
            && verdict.decision() == Decision::Allow
    }
}

/// The rule that the text of an amendment is, if it is one that is offered.
fn rule_of(text: &str) -> Option<Rule> {
    if text.len() > RULE_MAX_BYTES {
        return None;
    }
    let text = format!("version = 1\nmode.security = \"allowlist\"\n{text}");
    let source = Source {
        name: "amendment",
        text: text.as_bytes(),
        layer: Layer::User,
    };
    let nowhere = Places {
        home: Vec::new(),
        workspace: Vec::new(),
        tmp: Vec::new(),
    };
    let ruleset = Ruleset::load(&[source], &nowhere, &NoIncludes).ok()?;
    let mut rules = ruleset.rules().filter(|rule| rule.layer() == Layer::User);
    rules.next().cloned()
}

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
        let is_other = |path: &[u8]| NEVER.into_iter().any(|class| is_of(path, class));
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

    fn amendments(&self, request: &ExecRequest, id: &str, image: &Image<'_>) -> Vec<Amendment> {
        let head = |scope: Scope| format!("[[allow]]\nid = \"{id}-{scope}\"\n");
        let mut amendments = vec![self.exact(request, &format!("{id}-{}", Scope::Exact))];
        if let Some(command) = self.command(image) {
            let use_of = UseOf::of(command, image);
            let flags = self.flags(request).unwrap_or_default();
            if !flags.is_empty() {
                amendments.push(use_of.with_flags(&format!("{id}-{}", Scope::Flags), &flags));
            }
            amendments.push(use_of.ordinary(&format!("{id}-{}", Scope::Prefix)));
        }
        if !class::is_of(self.name, RUNNERS) {
            amendments.push(Amendment {
                scope: Scope::Program,
                rule: head(Scope::Program) + &text::program(self.path),
                covers: format!("{} with any arguments", self.path.escape_ascii()),
            });
        }
        amendments
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
    fn flags(&self, request: &ExecRequest) -> Option<Vec<String>> {
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

/// The hosts of a call in that form, if every one can be told and has it.
pub(crate) fn told_hosts(image: &Image<'_>, form: impl Fn(&Host) -> Option<String>) -> Vec<String> {
    let hosts = image.hosts().iter();
    let told = hosts.map(|host| host.as_ref().and_then(&form));
    let hosts: Option<Vec<String>> = told.collect();
    let mut hosts = hosts.unwrap_or_default();
    hosts.sort_unstable();
    hosts.dedup();
    hosts
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

#[cfg(test)]
mod tests;
