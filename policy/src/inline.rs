//! Whether an interpreter is given its program as text: as an argument, on standard input, at a
//! prompt. An allow by `program` alone does not mean that.

use crate::grammar::{self, Grammar, Known, Piece, Takes, ValueKind};
use crate::image::{Image, Reading};
use crate::pattern::file_name;
use crate::version::unversioned;

/// Interpreters whose first operand is no file but the program, unless an option brings it.
const OF_FIRST_OPERAND: [&[u8]; 5] = [b"awk", b"gawk", b"mawk", b"nawk", b"original-awk"];

/// Interpreters whose operands and options are commands of theirs, beside what files they name.
const BY_COMMANDS: [&[u8]; 8] = [
    b"sqlite",
    b"gdb",
    b"lldb",
    b"psql",
    b"mysql",
    b"mariadb",
    b"mongosh",
    b"redis-cli",
];

/// Modules of Python that take code, or show a prompt.
const PROMPTING_MODULES: [&[u8]; 3] = [b"code", b"pdb", b"timeit"];

/// Options whose value is the program itself.
const OF_TEXT: [&str; 7] = ["-c", "-e", "-E", "-pe", "--eval", "--print", "--source"];

/// The same of php, where other interpreters load something.
const PHPS: [&str; 4] = ["-r", "-B", "-R", "--run"];

/// Options that print something about the interpreter and end it.
const ABOUT_ITSELF: [&str; 4] = ["--version", "--help", "-V", "-h"];

/// Whether `image` is an interpreter that runs what no file holds, as far as can be told.
pub(crate) fn runs_inline(image: &Image<'_>) -> bool {
    if !image.kinds().is_interpreter {
        return false;
    }
    let mut names = image.names(Reading::Doubtful).map(file_name);
    match names.find_map(grammar::of) {
        Some(grammar) => is_inline(grammar, image),
        // Of one without a table only this is plain: the script is the first argument.
        None => image
            .arguments()
            .next()
            .is_none_or(|first| first.starts_with(b"-")),
    }
}

fn is_inline(grammar: &'static Grammar, image: &Image<'_>) -> bool {
    let is_any = |of: &dyn Fn(&[u8]) -> bool| {
        let mut names = image.names(Reading::Doubtful).map(file_name);
        names.any(|name| of(unversioned(name)))
    };
    if is_any(&|name| BY_COMMANDS.contains(&name)) {
        return true;
    }
    let is_text = is_any(&|name| OF_FIRST_OPERAND.contains(&name));
    let is_php = is_any(&|name| name == b"php");
    let mut brings_program = false;
    for piece in grammar.read(image.arguments()) {
        match piece {
            Piece::Flag(known) if brings_code(&known, is_php) => return true,
            Piece::Flag(known) if is_of_no_file(&known) => return true,
            Piece::Flag(Known { option, .. }) => {
                brings_program |= option.is_word
                    || option.replaces_first
                    || option.names.iter().any(|name| ABOUT_ITSELF.contains(name));
            }
            Piece::Operand(operand) => {
                return !brings_program && (is_text || is_input(operand) || operand == b"eval");
            }
            Piece::Unknown(_) => {}
        }
    }
    !brings_program
}

/// Whether the option loads something that is no file, has more than a name, or opens a prompt.
fn is_of_no_file(known: &Known<'_>) -> bool {
    let is_code = matches!(
        known.option.takes,
        Takes::One(ValueKind::Code) | Takes::Attached(ValueKind::Code)
    );
    let is_name = |value: &[u8]| {
        let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-./:=,@'+%".contains(byte);
        value.iter().all(is_plain) && !value.starts_with(b"data:") && !is_input(value)
    };
    let mut values = known.values.into_iter().flatten();
    let is_prompt = known.option.takes == Takes::Nothing && known.option.names.contains(&"-i");
    let is_module = known.option.is_word
        && values
            .clone()
            .any(|module| PROMPTING_MODULES.contains(&module));
    is_code && !values.all(is_name) || is_prompt || is_module
}

/// Whether the path is that of standard input, or of whatever a descriptor is.
fn is_input(path: &[u8]) -> bool {
    path == b"-"
        || path.starts_with(b"/dev/stdin")
        || path.starts_with(b"/dev/fd/")
        || path.starts_with(b"/proc/self/fd/")
}

/// Whether the option's value is the program, or a part of it.
fn brings_code(known: &Known<'_>, is_php: bool) -> bool {
    let takes = known.option.takes;
    let is_code = matches!(
        takes,
        Takes::One(ValueKind::Code) | Takes::Attached(ValueKind::Code)
    );
    let mut names = known.option.names.iter();
    is_code && names.any(|name| OF_TEXT.contains(name) || is_php && PHPS.contains(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::{ExecRequest, ProgramFile};
    use crate::trust::Trust;

    fn is_inline_call(call: &str) -> bool {
        let argv: Vec<Vec<u8>> = call.split(' ').map(Into::into).collect();
        let path = format!("/usr/bin/{}", call.split(' ').next().unwrap());
        let request = ExecRequest::new(ProgramFile::at(path), argv);
        runs_inline(&Image::of_program(&request, &Trust::default()))
    }

    #[test]
    fn a_program_as_text_is_told_from_one_in_a_file() {
        for call in [
            "python3",
            "python3 -c code",
            "python3.11 -Ic code",
            "python3 -",
            "python3 -u",
            "node -e code",
            "node --eval=code",
            "node -pe code",
            "perl -ne code f",
            "perl -lane code f",
            "ruby -e code",
            "php -r code",
            "awk code f",
            "gawk -F: code",
            "lua -e code x.lua",
            "node",
            "sqlite3",
            "sqlite3 :memory: .shell",
            "gdb -batch -ex x f",
            "perl -Mstrict;open x.pl",
            "node --import data:text/javascript,x a.js",
            "awk -f - x",
            "python3 /dev/stdin",
            "python3 /proc/self/fd/0",
            "python3 -i x.py",
            "python3 -m timeit x",
            "deno eval x",
        ] {
            assert!(is_inline_call(call), "{call}");
        }
        for call in [
            "python3 x.py -c y",
            "python3 -m pytest -c x",
            "python3 --version",
            "python3 -u x.py",
            "node x.js -e y",
            "node -r ./setup x.js",
            "perl -MList::Util=sum x.pl",
            "perl x.pl",
            "awk -f x.awk f",
            "bash -c x",
            "git -c x=y log",
        ] {
            assert!(!is_inline_call(call), "{call}");
        }
    }
}
