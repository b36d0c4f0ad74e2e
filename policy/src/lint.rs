//! What is no fault of a policy and hardly meant.
//!
//! What a rule covers is compared as text, entry by entry: two rules that mean the same in other words
//! are not found out. What lies on the machine is asked of a [`Machine`].

mod files;
mod pairs;

use std::fmt;

use jiff::Timestamp;

use crate::approval::Approval;
use crate::class;
use crate::grammar;
use crate::mode::{Ask, Security};
use crate::preset::is_builtin;
use crate::program::Program;
use crate::rule::{Action, Rule};
use crate::ruleset::Ruleset;
use crate::source::Layer;

/// What is there on the machine where a policy is to hold.
pub trait Machine {
    /// Whether a session could put another file at `path`, absolute, or change the one there.
    fn is_writable(&self, path: &[u8]) -> bool;
    /// Whether a directory is there.
    fn is_directory(&self, path: &[u8]) -> bool;
    /// Whether anything is there.
    fn is_there(&self, path: &[u8]) -> bool;
}

/// Something that is hardly meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// What it is, in a word that stays: `writable-program`.
    pub kind: &'static str,
    /// The rule: its id, the name of its source, and the line on which it begins. `None` if it is about
    /// the mode.
    pub rule: Option<(String, String, usize)>,
    /// What is the matter.
    pub message: String,
    /// What to do about it.
    pub help: &'static str,
}

impl Warning {
    fn of(rule: &Rule, kind: &'static str, message: String, help: &'static str) -> Self {
        let place = (rule.id().to_owned(), rule.source().to_owned(), rule.line());
        Self {
            kind,
            rule: Some(place),
            message,
            help,
        }
    }

    fn of_mode(message: String, help: &'static str) -> Self {
        Self {
            kind: "contradictory-modes",
            rule: None,
            message,
            help,
        }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.rule {
            Some((id, source, line)) => write!(f, "{source}:{line}: rule {id}: ")?,
            None => write!(f, "[mode]: ")?,
        }
        write!(f, "{} [{}]; {}", self.message, self.kind, self.help)
    }
}

impl Ruleset {
    /// What is hardly meant of the policy at `now`, in the order of its rules; nothing of what execward
    /// itself brings to every policy.
    #[must_use]
    pub fn lint(&self, machine: &dyn Machine, now: Timestamp) -> Vec<Warning> {
        let rules: Vec<&Rule> = self
            .rules()
            .filter(|rule| !is_builtin(rule.source()))
            .collect();
        let mut warnings = self.of_modes(&rules);
        for rule in &rules {
            warnings.extend(of_rule(rule, now));
            warnings.extend(files::warnings(rule, &self.trust, machine));
        }
        warnings.extend(files::of_trusted_dirs(&self.trust, machine));
        warnings.extend(pairs::warnings(&rules));
        let place =
            |warning: &Warning| warning.rule.clone().map(|(_, source, line)| (source, line));
        warnings.sort_by_key(place);
        warnings
    }

    fn of_modes(&self, rules: &[&Rule]) -> Vec<Warning> {
        let mode = self.mode();
        let count = |layer: Layer, action| {
            let of_layer = rules.iter().filter(|rule| rule.layer() >= layer);
            of_layer.filter(|rule| rule.action() == action).count()
        };
        let asks = count(Layer::Agent, Action::Ask);
        // Without rules of the user nobody need say what they are rules in.
        let idle = count(Layer::User, Action::Allow) + count(Layer::User, Action::Ask);
        let mut warnings = Vec::new();
        if mode.security == Security::Deny && idle > 0 {
            let message = format!(
                "nothing runs (`security = \"deny\"`), so {} never decide",
                plural(idle, "allow or ask", "allows and asks")
            );
            warnings.push(Warning::of_mode(message, "say `security = \"allowlist\"`"));
        }
        if mode.ask_fallback > mode.security {
            let message = format!(
                "`ask_fallback = \"{}\"` is wider than `security = \"{}\"`, which caps it",
                mode.ask_fallback, mode.security
            );
            warnings.push(Warning::of_mode(
                message,
                "say what an unanswered call gets at most",
            ));
        }
        let is_silent = mode.ask == Ask::Off;
        if is_silent && asks > 0 {
            let message = format!(
                "no question is ever put (`ask = \"off\"`), so {} like denies",
                plural(asks, "ask acts", "asks act")
            );
            warnings.push(Warning::of_mode(
                message,
                "write denies, or let questions be put",
            ));
        }
        if !is_silent && mode.approval == Some(Approval::Never) {
            let message = format!("`approval = \"never\"` silences `ask = \"{}\"`", mode.ask);
            warnings.push(Warning::of_mode(message, "leave one of them out"));
        }
        warnings
    }
}

fn plural(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// What can be said of a rule by itself.
fn of_rule(rule: &Rule, now: Timestamp) -> Vec<Warning> {
    let mut warnings = cannot_hold(rule, now);
    let is_of_file = rule.is_of_program();
    let wanted = || rule.selectors.program.iter().flat_map(|list| &list.wanted);
    let is_interpreter = |program: &Program| is_of(program, "interpreters");
    let runs_any = is_of_file && wanted().any(is_interpreter)
        || rule.is_of_command() && bare_commands(rule).any(is_interpreter);
    if rule.action() == Action::Allow && runs_any {
        let message = "an interpreter by its name alone runs any script".to_owned();
        let help = "name the scripts with `script`, or the uses with `command`";
        warnings.push(Warning::of(rule, "any-script", message, help));
    }
    if is_of_file && wanted().any(|it| is_of(it, "multicall")) {
        let message = match rule.action() {
            Action::Allow => "one file of many commands by its name alone: each of them is allowed",
            Action::Ask | Action::Deny => {
                "one file of many commands by its name alone: under their own names they are other \
                 programs to this rule"
            }
        };
        let help = "name the commands: `command = \"busybox cat\"`";
        warnings.push(Warning::of(
            rule,
            "multicall-name",
            message.to_owned(),
            help,
        ));
    }
    let children = rule.children.iter().flat_map(|list| &list.wanted);
    if children
        .filter_map(Program::pattern)
        .any(|it| it.is_everything())
    {
        let message = "whatever runs below it runs unasked".to_owned();
        let help = "name the directories of the programs that it starts";
        warnings.push(Warning::of(rule, "any-children", message, help));
    }
    warnings
}

/// The programs that entries of `command` name and nothing else.
fn bare_commands(rule: &Rule) -> impl Iterator<Item = &Program> {
    let commands = rule.selectors.command.iter().flat_map(|list| &list.wanted);
    let bare = commands.filter(|command| command.is_bare() && command.flags.is_empty());
    bare.map(|command| &command.program)
}

/// Why a rule holds for nothing.
fn cannot_hold(rule: &Rule, now: Timestamp) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let mut cannot = |why: String, help| {
        let message = format!("it cannot hold: {why}");
        warnings.push(Warning::of(rule, "cannot-hold", message, help));
    };
    if rule.has_expired(now) {
        cannot(
            "it has expired".to_owned(),
            "remove it, or give it another date",
        );
    }
    for key in rule.written.emptied() {
        let why = format!("every entry of `{key}` is taken out again by one with `!`");
        cannot(why, "leave one of them out");
    }
    if has_two_names(rule) {
        let why = "no file of `program` has the name that `command` begins with".to_owned();
        cannot(
            why,
            "beside `program` the first word of `command` is the file's name",
        );
    }
    if has_no_hosts(rule) {
        let why = "which hosts such a command names nobody can tell".to_owned();
        cannot(
            why,
            "`host` is for commands of which there is a table: policy show --command",
        );
    }
    warnings
}

/// Whether the entry means files of that class and no others.
fn is_of(program: &Program, class: &str) -> bool {
    match program {
        Program::Class(own) => own.name == class,
        Program::Name { .. } | Program::Path(_) => program
            .file_name()
            .is_some_and(|name| class::is_of(name, class)),
    }
}

/// Whether `program` and `command` name different files, as far as names say.
fn has_two_names(rule: &Rule) -> bool {
    let (Some(programs), Some(commands)) = (&rule.selectors.program, &rule.selectors.command)
    else {
        return false;
    };
    let files: Option<Vec<&[u8]>> = programs.wanted.iter().map(Program::file_name).collect();
    let words = commands
        .wanted
        .iter()
        .map(|command| command.program.file_name());
    let (Some(files), Some(words)) = (files, words.collect::<Option<Vec<&[u8]>>>()) else {
        return false;
    };
    let has_dispatch = files.iter().any(|name| class::is_of(name, "multicall"));
    !has_dispatch && !files.is_empty() && !words.iter().any(|word| files.contains(word))
}

/// Whether an allow is about the hosts of commands of which there is no table.
fn has_no_hosts(rule: &Rule) -> bool {
    let heads = rule.written.heads();
    let is_unknown = |(name, _): &(&str, Option<&str>)| {
        grammar::of(name.as_bytes()).is_none() && !name.starts_with('@')
    };
    rule.action() == Action::Allow
        && rule.selectors.host.is_some()
        && rule.selectors.tool.is_none()
        && heads.is_some_and(|heads| heads.iter().all(is_unknown))
}

#[cfg(test)]
mod tests;
