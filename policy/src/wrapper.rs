//! Programs that start another one, which their arguments name: `env`, `nice`, `timeout`, `xargs`.
//!
//! That other one, the *payload*, is an exec of its own, and judged when it comes. So a wrapper
//! needs no rule. A deny looks ahead all the same, so that nothing runs of a call that will be
//! denied.

use crate::class;
use crate::grammar::{self, Grammar, Piece};
use crate::image::{Image, Reading};
use crate::pattern::file_name;
use crate::request::{ExecRequest, FileKind, Origin, ProgramFile};
use crate::tabled;

/// Most wrappers around one another that a deny looks through. The kernel sees each of them.
pub(crate) const DEPTH_MAX: usize = 16;

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

/// Whether a call runs without a rule, for all it does is to start what is judged by itself.
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
    grammar.is_some_and(is_ordinary) && !image.is_disguised() && image.changes().is_empty()
}

/// The call that a wrapper will make, as far as its arguments say. Nobody has looked its file up,
/// so it has no name but the one that is written, and that in doubt alone.
pub(crate) fn payload(request: &ExecRequest) -> Option<ExecRequest> {
    let at = position(request)?;
    let argv = request.argv.get(at..)?.to_vec();
    let written = argv.first()?;
    let given = match (written.starts_with(b"/"), written.contains(&b'/')) {
        (false, true) => [request.cwd.as_deref()?, b"/", written].concat(),
        _ => written.clone(),
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

/// Where in the vector of a wrapper's call its payload begins.
pub(crate) fn position(request: &ExecRequest) -> Option<usize> {
    let (grammar, skipped) = wrapping(request)?;
    let before = grammar.operands.first.len();
    let arguments = request.argv.iter().skip(skipped).map(Vec::as_slice);
    let operands = grammar.read(arguments).filter_map(|piece| match piece {
        Piece::Operand(operand) => Some(operand),
        Piece::Flag(_) | Piece::Unknown(_) => None,
    });
    // `env NAME=VALUE program`.
    let mut payload = operands
        .skip(before)
        .skip_while(|operand| operand.contains(&b'='));
    let first = payload.next().filter(|first| !first.is_empty())?;
    let is_it = |element: &Vec<u8>| std::ptr::eq(element.as_slice(), first);
    request.argv.iter().position(is_it)
}

/// The grammar of the wrapper that a call is of, and how many elements stand before its arguments.
fn wrapping(request: &ExecRequest) -> Option<(&'static Grammar, usize)> {
    let path = request.program.resolved.as_ref();
    let names = [Some(&request.program.given), path].into_iter().flatten();
    let mut names = names.map(|path| file_name(path));
    let own = |name| is_of(name, "wrappers").then(|| grammar::of(name)).flatten();
    let is_multicall = names.clone().any(|name| is_of(name, "multicall"));
    let (grammar, skipped) = if is_multicall {
        // `busybox env program`, or busybox started as `env`.
        let first = file_name(request.argv.first()?);
        let (name, skipped) = match is_of(first, "multicall") {
            true => (request.argv.get(1)?.as_slice(), 2),
            false => (first, 1),
        };
        (own(name)?, skipped)
    } else {
        (names.find_map(own)?, 1)
    };
    grammar.operands.are_command.then_some((grammar, skipped))
}

fn is_of(name: &[u8], class: &str) -> bool {
    class::of_file_name(name).any(|own| own.name == class)
}
