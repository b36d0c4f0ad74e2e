//! What a command of a text makes of its own words: nothing, another text, or something that only the
//! running shell can tell.

/// Shells that read a text of their own as bash would, as far as it is told here.
const READING_ALIKE: [&str; 7] = ["sh", "bash", "rbash", "dash", "ash", "ksh", "mksh"];

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
    /// A text that a shell reads, the running one or the one that is started.
    Text(String),
    /// A change of directory.
    Directory,
    /// Nobody can tell: what it is, in words.
    Untold(&'static str),
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
            "cd" if rest.len() == 1 => Self::Directory,
            "cd" => Self::Untold("change of directory"),
            "eval" if rest.first().is_none_or(|first| !first.starts_with('-')) => {
                Self::Text(rest.join(" "))
            }
            "trap" => match rest.first() {
                // Alone it is no text but a signal.
                Some(text) if !text.starts_with('-') && rest.len() > 1 => Self::Text(text.clone()),
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
                Some(text) if READING_ALIKE.contains(&file_name(name)) => Self::Text(text.clone()),
                Some(_) | None => Self::Untold("text from elsewhere"),
            },
            _ if hands_on_text(file_name(name), rest) => Self::Untold("shell within a command"),
            _ => Self::Plain,
        }
    }
}

/// Whether the shell does it itself, as far as the name says.
pub(super) fn is_builtin(name: &str) -> bool {
    OWN.contains(&name)
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
        exec -a x ls|jobs -x ls|sh|sh x|sh -s|sh -c - ls|bash --rcfile x -c ls|find . -exec sh -c ls ;|\
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
            assert_eq!(of(line), Meaning::Text("a b".to_owned()), "{line}");
        }
        for line in UNTOLD.split('|') {
            assert!(matches!(of(line), Meaning::Untold(_)), "{line}");
        }
        let path = ["PATH=/x".to_owned()];
        let meaning = Meaning::of(&["ls".to_owned()], &path);
        assert!(matches!(meaning, Meaning::Untold(_)));
    }
}
