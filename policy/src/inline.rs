//! Whether an interpreter is given its program as text: as an argument, on standard input, at a
//! prompt. An allow by `program` alone does not mean that.

use crate::grammar::{Grammar, Known, Piece, ValueKind};
use crate::image::{Image, Reading};
use crate::operand::{FileOperand, Part};
use crate::request::FileKind;

/// Modules of Python that take code, or show a prompt.
const PROMPTING_MODULES: [&[u8]; 4] = [b"asyncio", b"code", b"pdb", b"timeit"];

/// Options that print something about the interpreter and end it.
const ABOUT_ITSELF: [&str; 4] = ["--version", "--help", "-V", "-h"];

/// Whether `image` is an interpreter that runs what no file holds, as far as can be told.
pub(crate) fn runs_inline(image: &Image<'_>) -> bool {
    if !image.kinds().is_interpreter {
        return false;
    }
    if image.files().iter().any(is_fed) {
        return true;
    }
    let mut grammars = image.grammars(Reading::Doubtful).peekable();
    if grammars.peek().is_some() {
        return grammars.any(|grammar| is_inline(grammar, image));
    }
    // Of one without a table only this is plain: the script is the first argument.
    let first = image.arguments().next();
    first.is_none_or(|first| first.starts_with(b"-"))
}

/// Whether `image` runs what nobody has seen: [`runs_inline`], or it is a shell that reads its commands. The
/// commands of a text behind `-c` are judged when they come.
pub(crate) fn runs_unseen(image: &Image<'_>) -> bool {
    let has = |letter: u8| {
        let mut flags = image.arguments().take_while(|it| it.starts_with(b"-"));
        flags.any(|flag| !flag.starts_with(b"--") && flag.contains(&letter))
    };
    let is_given = || {
        let mut files = image.files().iter();
        let is_script = |file: &FileOperand| file.part == Part::Script && !is_fed(file);
        image.is_script() || has(b'c') || !has(b's') && files.any(is_script)
    };
    runs_inline(image) || image.kinds().is_shell && !is_given()
}

/// Whether the file is a script that no file holds: a FIFO or a device.
fn is_fed(file: &FileOperand) -> bool {
    let mut destination = file.destination.iter();
    file.part == Part::Script && destination.any(|it| it.kind == FileKind::Other)
}

fn is_inline(grammar: &'static Grammar, image: &Image<'_>) -> bool {
    if grammar.takes_commands {
        return true;
    }
    let (mut brings_program, mut verb) = (false, None);
    for piece in grammar.read(image.arguments()) {
        match piece {
            Piece::Flag(known) if is_of_no_file(&known) => return true,
            Piece::Flag(Known { option, .. }) => {
                brings_program |= option.is_word
                    || option.replaces_first
                    || option.names.iter().any(|name| ABOUT_ITSELF.contains(name));
            }
            Piece::Operand(operand) => match verb.unwrap_or(grammar).verb(operand) {
                Some(found) if found.takes_commands => return true,
                Some(found) => verb = Some(found),
                None => {
                    let is_program = verb.unwrap_or(grammar).begins_with_program();
                    return !brings_program && (is_program || is_input(operand));
                }
            },
            // A letter among others may be the one that brings code.
            Piece::Unknown(unknown) if unknown.may_be_dangerous => return true,
            Piece::Unknown(_) => {}
        }
    }
    // Without an operand it is a prompt, unless the verb says otherwise.
    !brings_program && verb.is_none()
}

/// Whether the option brings code that is no file, has more than a name, or opens a prompt.
fn is_of_no_file(known: &Known<'_>) -> bool {
    let option = known.option;
    let mut values = known.values.into_iter().flatten();
    match option.takes.kind() {
        Some(ValueKind::Inline) => true,
        Some(ValueKind::Code) => values
            .any(|value| !is_name(value) || option.is_word && PROMPTING_MODULES.contains(&value)),
        Some(_) => false,
        None => option.names.contains(&"-i"),
    }
}

fn is_name(value: &[u8]) -> bool {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-./:=,@'+%".contains(byte);
    value.iter().all(is_plain) && !value.starts_with(b"data:") && !is_input(value)
}

/// Whether the path is that of standard input, or of whatever a descriptor is.
fn is_input(path: &[u8]) -> bool {
    path.is_empty()
        || path == b"-"
        || path.starts_with(b"/dev/stdin")
        || path.starts_with(b"/dev/fd/")
        || path.starts_with(b"/proc/self/fd/")
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
    fn a_program_as_text_is_told() {
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
            "deno repl",
            "deno run -",
            "bun run -",
            "bun repl",
            "bun exec code",
            "redis-cli eval x 0",
            "redis-cli ping",
            "mongosh x.js",
            "Rscript -e code",
            "R -e code",
            "bun -p code",
            "tsx --eval=code",
            "gawk --source=code f",
            "php -E code",
            "perl -de code",
            "perl -dte code",
            "ruby -W0e code",
            "node -pe code",
            "python3 -m asyncio",
        ] {
            assert!(is_inline_call(call), "{call}");
        }
    }

    #[test]
    fn a_program_in_a_file_is_none_as_text() {
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
            "deno run -c deno.json x.ts",
            "deno test",
            "bun run x.ts",
            "bun test",
            "python3 eval",
            "bash -c x",
            "git -c x=y log",
        ] {
            assert!(!is_inline_call(call), "{call}");
        }
    }
}
