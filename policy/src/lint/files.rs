//! What a rule says of files, held against those that are there.

use super::{Machine, Warning};
use crate::pattern::PathPattern;
use crate::program::Program;
use crate::rule::{Action, Rule};
use crate::selector::List;
use crate::source::Layer;
use crate::trust::{SYSTEM_DIRS, Trust};

/// What is to be said of one rule.
pub(super) fn warnings(rule: &Rule, trust: &Trust, machine: &dyn Machine) -> Vec<Warning> {
    match rule.action() {
        Action::Allow => of_allow(rule, trust, machine),
        Action::Ask | Action::Deny => of_refusal(rule, machine),
    }
}

/// Directories in which the session can name any program.
pub(super) fn of_trusted_dirs(trust: &Trust, machine: &dyn Machine) -> Vec<Warning> {
    let writable = trust
        .named
        .iter()
        .filter(|named| is_writable(named, machine));
    let warnings = writable.map(|named| Warning {
        kind: "writable-trusted-dir",
        rule: None,
        message: format!(
            "`trusted_dirs`: the session can write {}, and so give a program any bare name",
            shown(named)
        ),
        help: "name programs there by their paths",
    });
    warnings.collect()
}

fn of_allow(rule: &Rule, trust: &Trust, machine: &dyn Machine) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let programs: Vec<&Program> = programs(rule).collect();
    let patterns = || programs.iter().copied().filter_map(Program::pattern);
    // What it holds is what was meant, or it is nothing that the rule allows.
    let is_pinned = rule.is_of_digest() && !rule.is_of_script_digest();
    let writable = patterns().filter(|pattern| !is_pinned && is_writable(pattern, machine));
    for pattern in writable {
        let message = format!(
            "the session can write {}, and so choose what is allowed",
            shown(pattern)
        );
        let help = "allow programs where the session cannot write, or pin them with `sha256`";
        warnings.push(Warning::of(rule, "writable-program", message, help));
    }
    for pattern in patterns().filter(|pattern| pattern.is_of_root()) {
        let message = format!(
            "{} means files in directories of every kind",
            shown(pattern)
        );
        let help = "begin it with the directory that is meant: `/usr/bin/*`";
        warnings.push(Warning::of(rule, "any-program", message, help));
    }
    // Below it they run whatever they are called.
    let children = rule.children.iter().flat_map(|list| &list.wanted);
    let children = children.filter_map(Program::pattern);
    let known = children.filter(|it| !it.is_everything() && is_writable(it, machine));
    for pattern in known {
        let message = format!(
            "`children`: the session can write {}, and what it puts there runs unasked",
            shown(pattern)
        );
        let help = "leave it out, and each program there is judged by itself";
        warnings.push(Warning::of(rule, "writable-children", message, help));
    }
    let missing = programs
        .into_iter()
        .filter(|program| rule.layer() != Layer::Builtin && is_missing(program, trust, machine));
    for program in missing {
        let name = program.file_name().unwrap_or_default().escape_ascii();
        let message = format!("there is no `{name}` where the rule looks for it");
        let help = "correct the name or the path, or remove the entry";
        warnings.push(Warning::of(rule, "missing-program", message, help));
    }
    warnings
}

fn of_refusal(rule: &Rule, machine: &dyn Machine) -> Vec<Warning> {
    let paths = rule.selectors.path.iter().flat_map(|list| &list.wanted);
    let literal = paths.filter(|pattern| pattern.is_literal());
    let is_directory = |pattern: &&PathPattern| pattern.heads().any(|it| machine.is_directory(it));
    let directories = literal.filter(is_directory);
    let warnings = directories.map(|pattern| {
        let message = format!(
            "{} is a directory, and the rule is about it alone: not about what lies in it",
            shown(pattern)
        );
        let help = "write a `/` behind it";
        Warning::of(rule, "directory-alone", message, help)
    });
    warnings.collect()
}

/// The programs that an allow names.
fn programs(rule: &Rule) -> impl Iterator<Item = &Program> {
    let selectors = &rule.selectors;
    let programs = selectors.program.iter().flat_map(|list| &list.wanted);
    let commands = selectors.command.iter().flat_map(wanted);
    // Beside `program` the first word is no file but a name.
    let commands = commands.filter(|_| selectors.program.is_none());
    programs.chain(commands)
}

fn wanted(list: &List<crate::command::Command>) -> impl Iterator<Item = &Program> {
    list.wanted.iter().map(|command| &command.program)
}

/// Whether the session can write what the pattern means, or put a file there that it means.
fn is_writable(pattern: &PathPattern, machine: &dyn Machine) -> bool {
    !pattern.is_anywhere() && pattern.heads().any(|head| machine.is_writable(head))
}

fn is_missing(program: &Program, trust: &Trust, machine: &dyn Machine) -> bool {
    match program {
        Program::Path(pattern) => {
            // What the session can write it may yet make.
            pattern.is_literal()
                && !is_writable(pattern, machine)
                && !pattern.heads().any(|path| machine.is_there(path))
        }
        Program::Name { name, .. } => {
            // What a pattern of directories means is not looked for.
            let named = || trust.named.iter();
            let directories = SYSTEM_DIRS.iter().copied();
            let directories = directories.chain(named().flat_map(PathPattern::heads));
            let path = |directory: &[u8]| [directory, b"/", name.as_slice()].concat();
            named().all(PathPattern::is_literal)
                && !directories.map(path).any(|path| machine.is_there(&path))
        }
        Program::Class(_) => false,
    }
}

fn shown(pattern: &PathPattern) -> String {
    let head = pattern.heads().next().unwrap_or_default().escape_ascii();
    match pattern.is_literal() {
        true => format!("`{head}`"),
        false => format!("`{head}/`"),
    }
}
