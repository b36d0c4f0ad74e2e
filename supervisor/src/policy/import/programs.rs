//! What is known of programs: which run what their arguments say, and which are no programs.

use execward_policy::{OPEN_CLASSES, classes};

use super::words::Word;

/// Programs whose first operand is a package, or a command.
const PACKAGE_RUNNERS: [&str; 7] = ["npx", "pnpx", "bunx", "uvx", "pipx", "nix-shell", "nix-run"];

/// Programs and their verbs behind which stands a package, or a command.
const RUNNING_VERBS: [(&str, &[&str]); 9] = [
    ("npm", &["exec", "x"]),
    ("pnpm", &["exec", "dlx"]),
    ("yarn", &["exec", "dlx"]),
    ("bun", &["x"]),
    ("uv", &["run", "tool"]),
    ("poetry", &["run"]),
    ("pdm", &["run"]),
    ("pipenv", &["run"]),
    ("bundle", &["exec"]),
];

/// What a shell does by itself: no exec shows it.
const BUILTINS: [&str; 27] = [
    ".", ":", "alias", "bg", "builtin", "cd", "command", "declare", "eval", "exec", "exit",
    "export", "fg", "history", "jobs", "local", "popd", "pushd", "read", "set", "shopt", "source",
    "trap", "type", "ulimit", "umask", "unset",
];

/// What a shell does by itself as well as a program.
const TWINS: [&str; 7] = ["echo", "false", "kill", "printf", "pwd", "test", "true"];

/// Whether a program of that name may hand its arguments on to others.
pub(super) fn may_start_others(name: &str) -> bool {
    let mut members = classes().flat_map(|(_, members)| members);
    members.any(|member| is_version_of(name, member))
}

/// Whether a shell does this by itself, and nothing else does.
pub(super) fn is_builtin(name: &str) -> bool {
    BUILTINS.contains(&name)
}

/// Whether a shell does this by itself as well as a program of that name.
pub(super) fn has_twin(name: &str) -> bool {
    TWINS.contains(&name)
}

/// Whether a module of Python's is named, whose option is a part of the command's name.
pub(super) fn is_module(name: &str, words: &[Word]) -> bool {
    let is_python = is_version_of(name, "python") || is_version_of(name, "pypy");
    let mut rest = words.iter().skip(1);
    let is_option = rest.next().is_some_and(|word| *word == Word::of("-m"));
    is_python
        && is_option
        && rest.next().is_some_and(|word| word.literal().is_some())
        && rest.all(|word| !word.is_flag())
}

/// Refuses words behind which anything could run.
///
/// # Errors
/// If they are such.
pub(super) fn check_breadth(name: &str, words: &[Word]) -> Result<(), String> {
    let named = words.iter().skip(1).take_while(|word| !word.is_flag());
    let named: Vec<String> = named.filter_map(Word::literal).collect();
    let of_class = classes()
        .filter(|(class, _)| OPEN_CLASSES.contains(class))
        .find(|(_, members)| members.iter().any(|member| is_version_of(name, member)));
    if named.is_empty()
        && !is_module(name, words)
        && let Some((class, _)) = of_class
    {
        return Err(format!(
            "`{name}` is of `@{class}`: with any arguments it runs anything"
        ));
    }
    let is_running_verb = RUNNING_VERBS.iter().any(|(program, verbs)| {
        *program == name && matches!(named.as_slice(), [verb] if verbs.contains(&verb.as_str()))
    });
    if named.is_empty() && PACKAGE_RUNNERS.contains(&name) || is_running_verb {
        return Err("it runs whatever package or command comes next".to_owned());
    }
    Ok(())
}

/// Whether `name` is `member` or a version of it: `python3.12`.
fn is_version_of(name: &str, member: &str) -> bool {
    let rest = name.strip_prefix(member);
    rest.is_some_and(|rest| {
        rest.chars()
            .all(|c| c.is_ascii_digit() || matches!(c, '.' | '-'))
    })
}
