//! Programs that start another one, which their arguments name: `env`, `nice`, `timeout`, `xargs`.
//!
//! That other one, the *payload*, is an exec of its own, and judged when it comes. So a wrapper
//! needs no rule. A deny looks ahead all the same, so that nothing runs of a call that will be
//! denied.

use crate::class;
use crate::grammar::{self, Grammar, Piece, ValueKind};
use crate::image::{Image, Reading};
use crate::path::{absolute, file_name};
use crate::request::{ExecRequest, FileKind, Origin, ProgramFile};
use crate::tabled;

/// Most wrappers around one another that a deny looks through. The kernel sees each of them.
const DEPTH_MAX: usize = 16;

/// Wrappers that do nothing but start their payload with another priority, limit, terminal or
/// environment. Those that change the uid, the root or a namespace need a rule, and so do those
/// that write a file of their own.
const LIGHT: [&[u8]; 19] = [
    b"env",
    b"nice",
    b"ionice",
    b"chrt",
    b"taskset",
    b"nohup",
    b"setsid",
    b"timeout",
    b"stdbuf",
    b"time",
    b"xargs",
    b"choom",
    b"numactl",
    b"uclampset",
    b"prlimit",
    b"setarch",
    b"linux32",
    b"linux64",
    b"watch",
];

/// Whether all that a call does is to start what is judged by itself: then it runs without a rule,
/// unless a watched variable changed.
pub(crate) fn is_light(image: &Image<'_>) -> bool {
    let mut names = image.names(Reading::Strict);
    let grammar = names.find_map(|path| {
        let name = file_name(path);
        let is_it = LIGHT.contains(&name) && image.is_vouched_for(path);
        grammar::of(name).filter(|_| is_it)
    });
    let is_ordinary = |grammar: &'static Grammar| {
        tabled::are_permitted(None, &[], grammar.read(image.arguments()))
    };
    grammar.is_some_and(is_ordinary) && !image.is_disguised()
}

/// The calls that a wrapper and the wrappers in it will make, as far as its arguments say, the
/// outermost first.
pub(crate) fn payloads<'r>(image: &Image<'r>) -> impl Iterator<Item = ExecRequest> + use<'r> {
    let trust = image.trust;
    let next = |request: &ExecRequest| payload(&Image::of_program(request, trust));
    std::iter::successors(payload(image), next).take(DEPTH_MAX)
}

/// The call that a wrapper will make.
fn payload(image: &Image<'_>) -> Option<ExecRequest> {
    unseen(payload_argv(image)?, image.request)
}

/// The call of `argv` that comes out of `from`. Nobody has looked its file up, so it has no name but
/// the one that is written, and where that leads, and both in doubt alone.
pub(crate) fn unseen(argv: Vec<Vec<u8>>, from: &ExecRequest) -> Option<ExecRequest> {
    let written = argv.first()?;
    let given = match written.contains(&b'/') {
        true => absolute(written, from.cwd.as_deref())?,
        false => written.clone(),
    };
    let destination = from.destinations.get(&given);
    let destination = destination.filter(|destination| destination.kind != FileKind::Missing);
    Some(ExecRequest {
        program: ProgramFile {
            resolved: destination.map(|destination| destination.path.clone()),
            origin: Origin::Foreign,
            is_settled: false,
            ..ProgramFile::at(given)
        },
        interpreters: Vec::new(),
        argv,
        ..from.clone()
    })
}

/// The vector of the call that a wrapper will make.
pub(crate) fn payload_argv(image: &Image<'_>) -> Option<Vec<Vec<u8>>> {
    if !image.kinds().starts_another {
        return None;
    }
    let (grammar, arguments) = reading(image)?;
    split_string(grammar, arguments.clone()).or_else(|| {
        let at = position(grammar, arguments, &image.request.argv)?;
        Some(image.request.argv.get(at..)?.to_vec())
    })
}

/// Where in the vector of a wrapper's call its payload begins.
fn position<'a>(
    grammar: &'static Grammar,
    arguments: impl Iterator<Item = &'a [u8]> + Clone,
    argv: &[Vec<u8>],
) -> Option<usize> {
    let before = grammar.operands.first.len();
    let mut operands = 0;
    let mut payload = grammar.read(arguments).filter_map(|piece| match piece {
        Piece::Operand(operand) => {
            operands += 1;
            // `env - NAME=VALUE program`: neither is an operand that counts.
            let is_of_env = operand == b"-" || operand.contains(&b'=');
            (grammar.operands.are_command && operands > before && !is_of_env).then_some(operand)
        }
        // `find -exec program`.
        Piece::Flag(known) => {
            let is_program = known.option.takes.kind() == Some(ValueKind::Program);
            let starts = is_program && !grammar.operands.are_command;
            known.values.first().copied().flatten().filter(|_| starts)
        }
        Piece::Unknown(_) => None,
    });
    let first = payload.next().filter(|first| !first.is_empty())?;
    let is_it = |element: &Vec<u8>| std::ptr::eq(element.as_slice(), first);
    argv.iter().position(is_it)
}

/// The vector that `env -S` makes of its text and what follows, as far as blanks part it.
fn split_string<'a>(
    grammar: &'static Grammar,
    arguments: impl Iterator<Item = &'a [u8]> + Clone,
) -> Option<Vec<Vec<u8>>> {
    let mut pieces = grammar.read(arguments);
    let text = pieces.find_map(|piece| match piece {
        Piece::Flag(known) => {
            let splits = known.option.names.contains(&"--split-string");
            known.values.first().copied().flatten().filter(|_| splits)
        }
        Piece::Operand(_) | Piece::Unknown(_) => None,
    })?;
    let words = text.split(|byte| b" \t\n'\"".contains(byte));
    let words = words.filter(|word| !word.is_empty() && !word.contains(&b'='));
    let rest = pieces.filter_map(|piece| match piece {
        Piece::Operand(operand) => Some(operand),
        Piece::Flag(_) | Piece::Unknown(_) => None,
    });
    let argv: Vec<Vec<u8>> = words.chain(rest).map(<[u8]>::to_vec).collect();
    (!argv.is_empty()).then_some(argv)
}

/// The grammar by which a call is read that may start another, and its arguments.
fn reading<'i>(
    image: &'i Image<'_>,
) -> Option<(&'static Grammar, impl Iterator<Item = &'i [u8]> + Clone)> {
    let own = |name: &[u8]| starts_another(name).then(|| grammar::of(name)).flatten();
    let mut names = image.names(Reading::Doubtful).map(file_name);
    // A multi-call file that is called so by a link is what its vector says.
    let by_name = names.find_map(own).filter(|_| !image.kinds().is_multicall);
    // `busybox env program`, busybox started as `env`, `ld.so /usr/bin/env program`.
    let by_guise = || {
        let mut guises = image.guises().filter(|guise| !guise.is_joined());
        guises.find_map(|guise| Some((own(guise.name)?, guise.skipped)))
    };
    let (grammar, skipped) = by_name.map(|grammar| (grammar, 0)).or_else(by_guise)?;
    Some((grammar, image.arguments().skip(skipped)))
}

/// Whether the command starts what its arguments name.
pub(crate) fn starts_another(name: &[u8]) -> bool {
    class::is_of(name, "wrappers") || matches!(name, b"find" | b"fd" | b"fdfind")
}
