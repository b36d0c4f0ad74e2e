//! What a command of a text makes of its own words: nothing, another text, or something that only the
//! running shell can tell.

use execward_policy::ExecRequest;

/// Shells that read a text of their own as bash would, as far as it is told here.
const READING_ALIKE: [&str; 7] = ["sh", "bash", "rbash", "dash", "ash", "ksh", "mksh"];

/// Files that are a shell where their first argument says so.
const MULTICALL: [&str; 2] = ["busybox", "toybox"];

/// Builtins that do no more than they say, whatever their words are.
const HARMLESS: [&str; 9] = [
    ":", "break", "continue", "echo", "exit", "false", "pwd", "return", "true",
];

/// Every word that bash, dash, zsh or POSIX.1-2024 has for something else than a program.
#[rustfmt::skip]
const OWN: [&str; 96] = [
    "!", ".", ":", "[", "[[", "]]", "alias", "autoload", "bg", "bind", "break", "builtin", "caller",
    "case", "cd", "chdir", "command", "compgen", "complete", "compopt", "continue", "coproc",
    "declare", "dirs", "disown", "do", "done", "echo", "elif", "else", "emulate", "enable", "esac",
    "eval", "exec", "exit", "export", "false", "fc", "fg", "fi", "for", "foreach", "function",
    "getopts", "hash", "help", "history", "if", "in", "jobs", "kill", "let", "local", "logout",
    "mapfile", "newgrp", "nocorrect", "noglob", "popd", "print", "printf", "pushd", "pwd", "read",
    "readarray", "readonly", "repeat", "return", "sched", "select", "set", "setopt", "shift",
    "shopt", "source", "suspend", "test", "then", "time", "times", "trap", "true", "type",
    "typeset", "ulimit", "umask", "unalias", "unset", "unsetopt", "until", "wait", "while",
    "zmodload", "{", "}",
];

/// Variables by which a shell finds programs, or texts that it runs.
const OF_SHELLS: [&str; 10] = [
    "BASH_CMDS",
    "BASH_ENV",
    "BASHOPTS",
    "CDPATH",
    "ENV",
    "IFS",
    "PATH",
    "PROMPT_COMMAND",
    "PS4",
    "SHELLOPTS",
];

/// What a command means beyond its own words.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// Nothing.
    Plain,
    /// A text that a shell reads.
    Text(String, Reader),
    /// A change of directory.
    Directory,
    /// Nobody can tell: what it is, in words.
    Untold(&'static str),
}

/// Who reads a text in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reader {
    /// The running shell, there and then.
    Itself,
    /// The running shell, some time.
    Later,
    /// A shell that is started.
    Child,
}

impl Meaning {
    /// Of these words, with these variables set for it, `NAME=VALUE` each.
    pub(super) fn of(words: &[String], env: &[String]) -> Self {
        let Some((name, rest)) = words.split_first() else {
            return Self::Plain;
        };
        let mut all = env.iter().chain(words);
        if all.any(|word| sets_shell(word)) {
            return Self::Untold("variable of the shell");
        }
        match name.as_str() {
            "" => Self::Untold("empty command"),
            // `-` is where it was before.
            "cd" if rest.len() == 1 && !rest.iter().any(|to| to.starts_with('-')) => {
                Self::Directory
            }
            "cd" => Self::Untold("change of directory"),
            "eval" if rest.first().is_none_or(|first| !first.starts_with('-')) => {
                Self::Text(rest.join(" "), Reader::Itself)
            }
            "trap" => match rest.first() {
                // Alone it is no text but a signal.
                Some(text) if !text.starts_with('-') && rest.len() > 1 => {
                    Self::Text(text.clone(), Reader::Later)
                }
                Some(_) | None => Self::Untold("trap"),
            },
            "printf" if rest.first().is_some_and(|first| !first.starts_with('-')) => Self::Plain,
            "test" | "[" if is_plain_test(rest) => Self::Plain,
            "printf" | "test" | "[" | "eval" => Self::Untold("builtin"),
            "source" | "." => Self::Untold("text from elsewhere"),
            "pushd" | "popd" => Self::Untold("change of directory"),
            name if HARMLESS.contains(&name) => Self::Plain,
            name if is_builtin(name) => Self::Untold("builtin"),
            _ if is_shell(name) => match shell_text(rest) {
                Some(text) if READING_ALIKE.contains(&file_name(name)) => {
                    Self::Text(text.clone(), Reader::Child)
                }
                Some(_) | None => Self::Untold("text from elsewhere"),
            },
            _ if hands_on_text(file_name(name), rest) => Self::Untold("shell within a command"),
            _ => Self::Plain,
        }
    }
}

/// Whether a command of that name, of whose other words nothing is known, may change the directory of
/// the running shell. One without a name that is known may do anything.
pub(super) fn may_move(name: Option<&str>) -> bool {
    const MOVING: [&str; 10] = [
        ".", "builtin", "cd", "chdir", "command", "eval", "popd", "pushd", "source", "time",
    ];
    name.is_none_or(|name| MOVING.contains(&name))
}

/// Whether the shell does it itself, as far as the name says.
pub(super) fn is_builtin(name: &str) -> bool {
    OWN.contains(&name)
}

/// What a call gives to a shell to read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Given<'r> {
    /// This.
    Text(&'r [u8]),
    /// A text that its shell reads in a way of its own.
    Unlike,
}

/// What a call gives to a shell by `-c`, if it starts a shell and does that.
pub(crate) fn given_text(request: &ExecRequest) -> Option<Given<'_>> {
    let file = &request.program;
    let paths = [Some(&file.given), file.resolved.as_ref()].into_iter();
    let paths = paths.flatten().chain(&file.links).chain(&file.aliases);
    let names = paths.filter_map(|path| str::from_utf8(path).ok().map(file_name));
    let mut names: Vec<&str> = names.collect();
    let mut arguments = request.argv.get(1..).unwrap_or_default();
    // `busybox sh -c TEXT`.
    if !names.iter().any(|name| is_shell(name))
        && names.iter().any(|name| MULTICALL.contains(name))
        && let [applet, rest @ ..] = arguments
    {
        names = str::from_utf8(applet).into_iter().collect();
        arguments = rest;
    }
    if !request.interpreters.is_empty() || !names.iter().any(|name| is_shell(name)) {
        return None;
    }
    let text = shell_text(arguments)?;
    match names.iter().any(|name| READING_ALIKE.contains(name)) {
        true => Some(Given::Text(text)),
        false => Some(Given::Unlike),
    }
}

/// Whether the shell does it itself and does no more than it says: a deny of the program of that name is
/// not about it.
pub(crate) fn is_harmless_builtin(name: &str) -> bool {
    HARMLESS.contains(&name) || matches!(name, "printf" | "test" | "[")
}

/// Whether a program is a shell, which may be given a text of its own.
fn is_shell(program: &str) -> bool {
    let mut classes = execward_policy::classes();
    let shells = classes.find(|(class, _)| *class == "shells");
    shells.is_some_and(|(_, members)| members.contains(&file_name(program)))
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Whether a test looks at nothing but text and files: names of variables and numbers are
/// expressions, which are evaluated.
pub(super) fn is_plain_test<S: AsRef<str>>(words: &[S]) -> bool {
    const EVALUATING: [&str; 8] = ["-v", "-R", "-eq", "-ne", "-lt", "-le", "-gt", "-ge"];
    !words.iter().any(|word| EVALUATING.contains(&word.as_ref()))
}

fn sets_shell(word: &str) -> bool {
    let name = word
        .split_once('=')
        .map(|(name, _)| name.trim_end_matches('+'));
    name.is_some_and(|name| OF_SHELLS.contains(&name))
}

/// The text that a shell is given by `-c`, if its options are plain.
fn shell_text<W: AsRef<[u8]>>(arguments: &[W]) -> Option<&W> {
    const PLAIN: [&[u8]; 5] = [
        b"--login",
        b"--noediting",
        b"--noprofile",
        b"--norc",
        b"--posix",
    ];
    let mut has_text = false;
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        match argument.as_ref() {
            [b'-' | b'+'] | b"--" => return None,
            long @ [b'-' | b'+', b'-', ..] => PLAIN.contains(&long).then_some(())?,
            [b'-' | b'+', letters @ ..] => {
                // With `n` it is read, and not a word of it is done.
                if letters.contains(&b'n') {
                    return None;
                }
                has_text |= letters.contains(&b'c');
                // Each takes the name of an option from the words that follow.
                for _ in letters.iter().filter(|letter| b"oO".contains(letter)) {
                    arguments.next()?;
                }
            }
            _ => return Some(argument).filter(|_| has_text),
        }
    }
    None
}

/// Whether a program may be given a text for a shell: by naming one, or as `env -S` takes it apart.
fn hands_on_text(program: &str, arguments: &[String]) -> bool {
    let splits = |word: &String| {
        word.starts_with("--s")
            || word.starts_with('-') && !word.starts_with("--") && word.contains('S')
    };
    arguments.iter().any(|word| is_shell(word)) || program == "env" && arguments.iter().any(splits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Meaning {
        let words: Vec<String> = shlex::split(line).unwrap();
        Meaning::of(&words, &[])
    }

    const UNTOLD: &str = "''|time ls|coproc ls|! ls|export A=1|set -x|hash -p /x ls|printf -v A x|\
        test -v A|[ A -eq 0 ]|read x|let x|mapfile -C ls x|eval -- ls|trap -- ls EXIT|command -p ls|\
        exec -a x ls|jobs -x ls|sh|sh x|sh -s|sh -c - ls|sh -nc ls|bash --rcfile x -c ls|find . -exec sh -c ls ;|\
        busybox sh -c ls|env -S 'ls x'|env -iS ls|env --split-string=ls|env PATH=/x ls|xargs bash -c ls|\
        fish -c 'a b'|zsh -c 'a b'|tcsh -c 'a b'";

    const TEXTS: &str = "sh -c 'a b'|bash -eo pipefail -c 'a b'|bash -O extglob -c 'a b'|sh -ec 'a b' x|\
        bash --norc -c 'a b'|bash -co errexit 'a b'|eval a b|trap 'a b' EXIT";

    const PROGRAMS: &str = "ls -l|./time|git stash|timeout 5 ls|env A=1 ls|find . -exec ls";

    const BUILTINS: &str = "echo x|test -f x|[ a = b ]|printf %s x|true";

    #[test]
    fn what_a_command_makes_of_its_words_is_told_or_is_not() {
        for (lines, builtin) in [(PROGRAMS, false), (BUILTINS, true)] {
            for line in lines.split('|') {
                assert_eq!(of(line), Meaning::Plain, "{line}");
                let name = line.split(' ').next().unwrap();
                assert_eq!(is_builtin(name), builtin, "{line}");
            }
        }
        for line in TEXTS.split('|') {
            assert!(
                matches!(of(line), Meaning::Text(text, _) if text == "a b"),
                "{line}"
            );
        }
        for line in UNTOLD.split('|') {
            assert!(matches!(of(line), Meaning::Untold(_)), "{line}");
        }
        let path = ["PATH=/x".to_owned()];
        let meaning = Meaning::of(&["ls".to_owned()], &path);
        assert!(matches!(meaning, Meaning::Untold(_)));
    }
}
