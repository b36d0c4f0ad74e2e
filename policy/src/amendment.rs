//! What a person who is asked about a call could save, so that calls like it are not asked about again.
//!
//! Each amendment is the rule that it would be, in the language, and says what it would cover. None is
//! offered for what its arguments make of it (shells, interpreters, wrappers, runners), for files that
//! bring rights or have no path, and none that would leave the call to be asked about all the same.

mod text;

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

pub use text::exact_rule;

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

impl Ruleset {
    /// What could be saved of a call that is asked about at `now`, as rules called `id`; from the least
    /// that is covered. Nothing if the call is not asked about.
    #[must_use]
    pub fn amendments(&self, request: &ExecRequest, id: &str, now: Timestamp) -> Vec<Amendment> {
        if self.decide(request, now).decision() != Decision::Ask {
            return Vec::new();
        }
        let images = Images::of(request, &self.trust);
        let is_of_session = request.program.origin == Origin::Session;
        let kinds = images.program.kinds();
        if !is_of_session
            || request.program.brings_rights
            || request.program.gains_rights
            || kinds.starts_another
            || kinds.is_interpreter
            || kinds.is_shell
            || images.program.is_disguised()
        {
            return Vec::new();
        }
        let Some(name) = CommandName::of(request) else {
            return Vec::new();
        };
        let mut amendments = name.amendments(request, id, &images.program);
        amendments.retain(|amendment| {
            amendment.rule.len() <= RULE_MAX_BYTES && self.would_let(amendment, &images, now)
        });
        amendments
    }

    /// Whether the call would run unasked if the rule were one of the user's.
    fn would_let(&self, amendment: &Amendment, images: &Images<'_>, now: Timestamp) -> bool {
        let Some(rule) = rule_of(&amendment.rule) else {
            return false;
        };
        let is_answered = |ask: &Rule| {
            images.all().all(|image| {
                !ask.holds(image, now)
                    || self.is_lifted(ask, image, now)
                    || rule.holds(image, now) && rule.outweighs(ask, image)
            })
        };
        let verdict = self
            .modes
            .judge(State::Allowed, Category::Rules, Some(Basis::Rule(&rule)));
        rule.holds(&images.program, now)
            && self.table.of(Action::Ask).iter().all(is_answered)
            && self.allows_interpreters(images, now)
            && verdict.decision() == Decision::Allow
    }
}

/// The rule that the text of an amendment is.
fn rule_of(text: &str) -> Option<Rule> {
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
        let path = names().find(is_known).unwrap_or(resolved);
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
        let cwd = request.cwd.as_deref();
        let place = cwd.map_or(String::new(), |cwd| format!(" in {}", cwd.escape_ascii()));
        let exact_id = format!("{id}-{}", Scope::Exact);
        let mut amendments = vec![Amendment {
            scope: Scope::Exact,
            rule: text::exact(&exact_id, self.path, request),
            covers: format!("this call{place}, and no other"),
        }];
        if let Some(command) = self.command(image) {
            let hosts = told_hosts(image, Host::entry);
            let of_hosts = text::list("host", &hosts);
            let to = match (hosts.as_slice(), image.hosts().is_empty()) {
                ([], true) => String::new(),
                ([], false) => ", whatever hosts it names".to_owned(),
                (hosts, _) => format!(", of {} alone", hosts.join(", ")),
            };
            let of_command = text::list("command", std::slice::from_ref(&command));
            let flags = self.flags(request);
            if !flags.is_empty() {
                let of_flags = text::list("flags", &flags);
                amendments.push(Amendment {
                    scope: Scope::Flags,
                    rule: head(Scope::Flags) + &of_command + &of_flags + &of_hosts,
                    covers: format!("`{command}` with no flags but {}{to}", flags.join(", ")),
                });
            }
            amendments.push(Amendment {
                scope: Scope::Prefix,
                rule: head(Scope::Prefix) + &of_command + &of_hosts,
                covers: format!("`{command}` with any arguments in its ordinary use{to}"),
            });
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

    /// The flags of the call, as entries of `flags`; none where one of them cannot be told.
    fn flags(&self, request: &ExecRequest) -> Vec<String> {
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
        let mut flags = flags.unwrap_or_default();
        flags.sort_unstable();
        flags.dedup();
        flags
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
