//! What a command of a text makes of its own words: nothing, another text, or something that only the
//! running shell can tell.

/// Shells, which are given texts of their own.
const SHELLS: [&str; 8] = ["sh", "bash", "rbash", "dash", "zsh", "ksh", "mksh", "ash"];

/// Builtins that do no more than they say, whatever their words are.
const HARMLESS: [&str; 9] = [
    ":", "break", "continue", "echo", "exit", "false", "pwd", "return", "true",
];

/// Every other word that bash, dash or POSIX.1-2024 has for something else than a program.
const OTHERS: [&str; 81] = [
    "!",
    ".",
    "[[",
    "]]",
    "{",
    "}",
    "alias",
    "bg",
    "bind",
    "builtin",
    "caller",
    "case",
    "command",
    "compgen",
    "complete",
    "compopt",
    "coproc",
    "declare",
    "dirs",
    "disown",
    "do",
    "done",
    "elif",
    "else",
    "enable",
    "esac",
    "exec",
    "export",
    "fc",
    "fg",
    "fi",
    "for",
    "function",
    "getopts",
    "hash",
    "help",
    "history",
    "if",
    "in",
    "jobs",
    "kill",
    "let",
    "local",
    "logout",
    "mapfile",
    "newgrp",
    "popd",
    "pushd",
    "read",
    "readarray",
    "readonly",
    "select",
    "set",
    "shift",
    "shopt",
    "source",
    "suspend",
    "then",
    "time",
    "times",
    "type",
    "typeset",
    "ulimit",
    "umask",
    "unalias",
    "unset",
    "until",
    "wait",
    "while",
    "chdir",
    "foreach",
    "repeat",
    "noglob",
    "nocorrect",
    "autoload",
    "zmodload",
    "emulate",
    "sched",
    "print",
    "setopt",
    "unsetopt",
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

/// What a command is to the text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Command {
    /// A program with these words.
    Program,
    /// Something that the shell does itself, and that says all.
    Builtin,
    /// The same, and a text besides.
    Text(String),
    /// A change of directory.
    Directory,
    /// Nobody can tell: what it is, in words.
    Untold(&'static str),
}

impl Command {
    /// Of these words, with these variables set for it, `NAME=VALUE` each.
    pub(super) fn of(words: &[String], env: &[String]) -> Self {
        let Some((name, rest)) = words.split_first() else {
            return Self::Builtin;
        };
        if env
            .iter()
            .chain(words)
            .any(|word| sets_shell(word.as_str()))
        {
            return Self::Untold("variable of the shell");
        }
        let file_name = name.rsplit('/').next().unwrap_or_default();
        match name.as_str() {
            "" => Self::Untold("empty command"),
            "cd" if rest.len() == 1 => Self::Directory,
            "cd" => Self::Untold("change of directory"),
            "eval" if rest.first().is_none_or(|first| !first.starts_with('-')) => {
                Self::Text(rest.join(" "))
            }
            "trap" => match rest.first() {
                Some(text) if !text.starts_with('-') && rest.len() > 1 => Self::Text(text.clone()),
                Some(_) | None => Self::Untold("trap"),
            },
            "printf" if rest.first().is_some_and(|first| !first.starts_with('-')) => Self::Builtin,
            "test" | "[" if is_plain_test(rest) => Self::Builtin,
            "printf" | "test" | "[" | "eval" => Self::Untold("builtin"),
            "source" | "." => Self::Untold("text from elsewhere"),
            "pushd" | "popd" => Self::Untold("change of directory"),
            name if HARMLESS.contains(&name) => Self::Builtin,
            name if OTHERS.contains(&name) => Self::Untold("builtin"),
            _ if SHELLS.contains(&file_name) => match shell_text(rest) {
                Some(text) => Self::Text(text.clone()),
                None => Self::Untold("text from elsewhere"),
            },
            _ if hands_on_text(file_name, rest) => Self::Untold("shell within a command"),
            _ => Self::Program,
        }
    }
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
fn shell_text(arguments: &[String]) -> Option<&String> {
    const PLAIN: [&str; 5] = ["--login", "--noediting", "--noprofile", "--norc", "--posix"];
    let mut has_text = false;
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let letters = argument.strip_prefix(['-', '+']);
        match letters {
            None => return Some(argument).filter(|_| has_text),
            Some("" | "-") => return None,
            Some(long) if long.starts_with('-') => {
                PLAIN.contains(&argument.as_str()).then_some(())?;
            }
            Some(letters) => {
                has_text |= letters.contains('c');
                // Each takes the name of an option from the words that follow.
                for _ in letters.matches(['o', 'O']) {
                    arguments.next()?;
                }
            }
        }
    }
    None
}

/// Whether a program may be given a text for a shell: by naming one, or as `env -S` takes it apart.
fn hands_on_text(program: &str, arguments: &[String]) -> bool {
    let is_shell = |word: &String| {
        let name = word.rsplit('/').next().unwrap_or_default();
        SHELLS.contains(&name)
    };
    let splits = |word: &String| {
        word.starts_with("--s")
            || word.starts_with('-') && !word.starts_with("--") && word.contains('S')
    };
    arguments.iter().any(is_shell) || program == "env" && arguments.iter().any(splits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Command {
        let words: Vec<String> = shlex::split(line).unwrap();
        Command::of(&words, &[])
    }

    const UNTOLD: &str = "''|time ls|coproc ls|! ls|export A=1|set -x|hash -p /x ls|printf -v A x|\
        test -v A|[ A -eq 0 ]|read x|let x|mapfile -C ls x|eval -- ls|trap -- ls EXIT|command -p ls|\
        exec -a x ls|jobs -x ls|sh|sh x|sh -s|sh -c - ls|bash --rcfile x -c ls|find . -exec sh -c ls ;|\
        busybox sh -c ls|env -S 'ls x'|env -iS ls|env --split-string=ls|env PATH=/x ls|xargs bash -c ls";

    const TEXTS: &str = "sh -c 'a b'|bash -eo pipefail -c 'a b'|bash -O extglob -c 'a b'|sh -ec 'a b' x|\
        bash --norc -c 'a b'|bash -co errexit 'a b'|eval a b|trap 'a b' EXIT";

    const PROGRAMS: &str = "ls -l|./time|git stash|timeout 5 ls|env A=1 ls|find . -exec ls";

    const BUILTINS: &str = "echo x|test -f x|[ a = b ]|printf %s x|true";

    #[test]
    fn what_a_command_makes_of_its_words_is_told_or_is_not() {
        for line in PROGRAMS.split('|') {
            assert_eq!(of(line), Command::Program, "{line}");
        }
        for line in BUILTINS.split('|') {
            assert_eq!(of(line), Command::Builtin, "{line}");
        }
        for line in TEXTS.split('|') {
            assert_eq!(of(line), Command::Text("a b".to_owned()), "{line}");
        }
        for line in UNTOLD.split('|') {
            assert!(matches!(of(line), Command::Untold(_)), "{line}");
        }
        let path = ["PATH=/x".to_owned()];
        let command = Command::of(&["ls".to_owned()], &path);
        assert!(matches!(command, Command::Untold(_)));
    }
}
