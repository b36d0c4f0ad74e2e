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
pub(crate) fn payloads(request: &ExecRequest) -> impl Iterator<Item = ExecRequest> {
    std::iter::successors(payload(request), payload).take(DEPTH_MAX)
}

/// The call that a wrapper will make. Nobody has looked its file up, so it has no name but the one
/// that is written, and where that leads, and both in doubt alone.
fn payload(request: &ExecRequest) -> Option<ExecRequest> {
    let argv = payload_argv(request)?;
    let written = argv.first()?;
    let given = match written.contains(&b'/') {
        true => absolute(written, request.cwd.as_deref())?,
        false => written.clone(),
    };
    let destination = request.destinations.get(&given);
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
        ..request.clone()
    })
}

/// The vector of the call that a wrapper will make.
pub(crate) fn payload_argv(request: &ExecRequest) -> Option<Vec<Vec<u8>>> {
    let split = split_string(request);
    split.or_else(|| Some(request.argv.get(position(request)?..)?.to_vec()))
}

/// Where in the vector of a wrapper's call its payload begins.
fn position(request: &ExecRequest) -> Option<usize> {
    let (grammar, skipped) = reading(request)?;
    let before = grammar.operands.first.len();
    let arguments = request.argv.iter().skip(skipped).map(Vec::as_slice);
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
    request.argv.iter().position(is_it)
}

/// The vector that `env -S` makes of its text and what follows, as far as blanks part it.
fn split_string(request: &ExecRequest) -> Option<Vec<Vec<u8>>> {
    let (grammar, skipped) = reading(request)?;
    let arguments = || request.argv.iter().skip(skipped).map(Vec::as_slice);
    let mut pieces = grammar.read(arguments());
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

/// The grammar by which a call is read that may start another, and how many elements stand before
/// its arguments.
fn reading(request: &ExecRequest) -> Option<(&'static Grammar, usize)> {
    let path = request.program.resolved.as_ref();
    let names = [Some(&request.program.given), path].into_iter().flatten();
    let mut names = names.map(|path| file_name(path));
    let own = |name| starts_another(name).then(|| grammar::of(name)).flatten();
    let is_multicall = names.clone().any(|name| class::is_of(name, "multicall"));
    if !is_multicall {
        return Some((names.find_map(own)?, 1));
    }
    // `busybox env program`, or busybox started as `env`.
    let first = file_name(request.argv.first()?);
    if class::is_of(first, "multicall") {
        return Some((own(request.argv.get(1)?)?, 2));
    }
    Some((own(first)?, 1))
}

/// Whether the command starts what its arguments name.
pub(crate) fn starts_another(name: &[u8]) -> bool {
    class::is_of(name, "wrappers") || matches!(name, b"find" | b"fd" | b"fdfind")
}
