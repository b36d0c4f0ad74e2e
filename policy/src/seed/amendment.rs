//! The prefix that is offered for the trusted list when a call is asked about.

use jiff::Timestamp;

use super::mode::AskForApproval;
use super::prefix::PrefixPolicy;
use super::requirement::ExecPolicyAmendment;
use crate::arity;
use crate::class;
use crate::grammar::{self, Piece};
use crate::path::file_name;
use crate::places::Places;
use crate::request::ExecRequest;
use crate::verdict::Decision;

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

impl ExecPolicyAmendment {
    /// The prefix by which such calls would be trusted: the program and as many words as name the
    /// command. `None` for programs that run other programs or code, for words that no prefix
    /// says, and wherever trusting the prefix would not let this very call run: with a library
    /// preloaded, or with an environment that nobody read.
    #[must_use]
    pub fn proposed(request: &ExecRequest, now: Timestamp) -> Option<Self> {
        let path = request.program.resolved.as_deref()?;
        let name = file_name(path);
        let is_of = |class: &str| class::is_of(name, class);
        if NEVER.into_iter().any(is_of) {
            return None;
        }
        let operands = operands(name, request);
        let arity = arity::of(name, operands.iter().copied());
        let words = operands.into_iter().take(arity.saturating_sub(1));
        let words: Vec<&str> = words.map(said).collect::<Option<_>>()?;
        if words.len() + 1 < arity || (is_of(RUNNERS) && !is_task(name, &words)) {
            return None;
        }
        // By its name if that means this file, else by its path.
        let mut prefixes = [name, path].into_iter().filter_map(said).map(|program| {
            let words = std::iter::once(&program).chain(&words);
            words.copied().collect::<Vec<_>>().join(" ")
        });
        let prefix = prefixes.find(|prefix| trusts(prefix, request, now))?;
        Some(Self {
            prefixes: vec![prefix],
        })
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

/// Whether what the runner `name` is to do is a task of the project.
fn is_task(name: &[u8], words: &[&str]) -> bool {
    let is_task = |verb: &&str| {
        !PACKAGE_VERBS.contains(verb) && (*verb != "run" || TASK_RUNNERS.contains(&name))
    };
    !PACKAGE_RUNNERS.contains(&name) && words.first().is_some_and(is_task)
}

/// A word that a prefix says as it is: no blank, no wildcard, nothing of a shell's.
fn said(word: &[u8]) -> Option<&str> {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-./:=+,%".contains(byte);
    let word = std::str::from_utf8(word).ok()?;
    (!word.is_empty() && word.as_bytes().iter().all(is_plain)).then_some(word)
}

/// Whether a policy that trusts `prefix` and nothing else lets the call run.
fn trusts(prefix: &str, request: &ExecRequest, now: Timestamp) -> bool {
    let policy = PrefixPolicy::new(vec![prefix.to_owned()], Vec::new());
    let places = Places {
        home: Vec::new(),
        workspace: Vec::new(),
        tmp: Vec::new(),
    };
    let ruleset = policy
        .translate(&AskForApproval::UnlessTrusted)
        .load(&places);
    ruleset.is_ok_and(|ruleset| ruleset.decide(request, now).decision() == Decision::Allow)
}
