//! Files that are several commands: which one a call is.
//!
//! The first element of the vector is the caller's to choose and says nothing about any other file.
//! These go by it: busybox runs the applet of that name, systemctl called `poweroff` ends the machine, and git
//! called `git-push` pushes.

use crate::class;
use crate::grammar::{Grammar, Opt, Piece, ValueKind};
use crate::guise::Guise;
use crate::image::{Image, Reading};
use crate::path::{absolute, file_name};

/// Files that are several programs by their names, and take no applet as an argument: systemctl(1), kmod(8),
/// lvm(8), xtables-nft(8), xtables-legacy(8).
const BY_NAME: [&[u8]; 5] = [
    b"systemctl",
    b"kmod",
    b"lvm",
    b"xtables-nft-multi",
    b"xtables-legacy-multi",
];

/// Files, beside those of `@multicall`, that go by a name that begins with theirs and a dash.
const BY_PREFIX: [&[u8]; 1] = [b"git"];

/// What the call would be called by its first element, if its file goes by that and it is no
/// name of the file.
pub(crate) fn called<'i>(image: &'i Image<'_>) -> Option<&'i [u8]> {
    let first = file_name(image.request.argv.first()?);
    let is_own = image
        .names(Reading::Doubtful)
        .any(|path| file_name(path) == first);
    let goes_by_it = || image.kinds().is_multicall || goes_by(image, first);
    (!is_own && image.is_program() && goes_by_it()).then_some(first)
}

/// The applet that a multi-call file is asked for under its own name: by its first argument.
fn asked<'i>(image: &'i Image<'_>) -> Option<(&'i [u8], usize)> {
    // Started as `cat` it is that, whatever follows.
    let first = image.request.argv.first().map(|first| applet_name(first));
    if image.is_program() && !first.is_some_and(is_multicall_name) {
        return None;
    }
    // `busybox busybox cat`.
    let mut arguments = image.arguments().enumerate();
    let (at, name) = arguments.find(|(_, name)| !is_multicall_name(applet_name(name)))?;
    (!name.starts_with(b"-")).then_some((file_name(name), at + 1))
}

/// The name by which a multi-call file looks its applet up: without directories, and without the
/// dash of a login shell.
fn applet_name(first: &[u8]) -> &[u8] {
    let name = first.strip_prefix(b"-").unwrap_or(first);
    file_name(name)
}

/// Whether a multi-call file takes the name for its own, and the next argument for the applet:
/// busybox does so of any name that begins with its own.
fn is_multicall_name(name: &[u8]) -> bool {
    name.starts_with(b"busybox") || class::is_of(name, "multicall")
}

/// The applet that a multi-call file runs: by its first argument, or the name that it is started
/// under.
pub(crate) fn applet<'i>(image: &'i Image<'_>) -> Option<Guise<'i>> {
    if !image.kinds().is_multicall {
        return None;
    }
    let by_first = || Some((applet_name(image.request.argv.first()?), 0));
    let own = || by_first().filter(|_| image.is_program());
    let (name, skipped) = asked(image).or_else(own)?;
    Some(Guise {
        name,
        path: None,
        is_applet: true,
        word: None,
        skipped,
        image,
    })
}

/// The program that a dynamic linker is to start, as it is written and where that leads.
pub(crate) fn loaded<'i>(image: &'i Image<'_>) -> impl Iterator<Item = Guise<'i>> {
    guises_of(image, loaded_operand(image))
}

/// The script that an interpreter is given, likewise: `python3 /usr/bin/pip3` is pip.
pub(crate) fn scripted<'i>(image: &'i Image<'_>) -> impl Iterator<Item = Guise<'i>> {
    guises_of(image, script_operand(image))
}

/// The commands that a call is by the name of a file among its arguments, with the number of those
/// before it.
fn guises_of<'i>(
    image: &'i Image<'_>,
    operand: Option<(&'i [u8], usize)>,
) -> impl Iterator<Item = Guise<'i>> {
    let destination = operand.and_then(|(program, _)| {
        let path = absolute(program, image.request.cwd.as_deref())?;
        image.request.destinations.get(&path)
    });
    let resolved = destination.map(|destination| destination.path.as_slice());
    let written = operand.map(|(program, _)| program);
    let skipped = operand.map_or(0, |(_, at)| at + 1);
    let paths = [written, resolved].into_iter().flatten();
    paths.map(move |path| Guise {
        name: file_name(path),
        path: Some(path).filter(|path| path.starts_with(b"/")),
        is_applet: false,
        word: None,
        skipped,
        image,
    })
}

/// The operand of a dynamic linker that names the program, and how many arguments stand before it.
pub(crate) fn loaded_operand<'r>(image: &Image<'r>) -> Option<(&'r [u8], usize)> {
    if !image.kinds().is_loader {
        return None;
    }
    let known = image.grammars(Reading::Doubtful).next();
    let grammar = known.unwrap_or(Grammar::unknown());
    let operand = |piece| match piece {
        Piece::Operand(operand) => Some(operand),
        Piece::Flag(_) | Piece::Unknown(_) => None,
    };
    let program = grammar.read(image.arguments()).find_map(operand)?;
    Some((program, position(image, program)?))
}

/// The operand of an interpreter that names the script, and how many arguments stand before it.
pub(crate) fn script_operand<'r>(image: &Image<'r>) -> Option<(&'r [u8], usize)> {
    let kinds = image.kinds();
    if !image.is_program() || !kinds.is_interpreter && !kinds.is_shell {
        return None;
    }
    let known = image.grammars(Reading::Doubtful).next();
    let grammar = known.unwrap_or(Grammar::unknown());
    let mut verb = None;
    for piece in grammar.read(image.arguments()) {
        match piece {
            // Code as text, or a module: what follows is no script.
            Piece::Flag(known) if brings_program(known.option) => return None,
            Piece::Operand(operand) => match verb.unwrap_or(grammar).verb(operand) {
                Some(found) => verb = Some(found),
                None if verb.unwrap_or(grammar).begins_with_program() => return None,
                None => return Some((operand, position(image, operand)?)),
            },
            Piece::Flag(_) | Piece::Unknown(_) => {}
        }
    }
    None
}

/// Whether an interpreter is given more to run than its script: by an option before that (`node -r FILE`,
/// `perl -MX`), or one that nobody knows.
pub(crate) fn loads_more(image: &Image<'_>) -> bool {
    let known = image.grammars(Reading::Doubtful).next();
    let grammar = known.unwrap_or(Grammar::unknown());
    let Some((_, at)) = script_operand(image) else {
        return true;
    };
    let mut before = grammar.read(image.arguments().take(at));
    before.any(|piece| match piece {
        Piece::Flag(known) => known.option.is_dangerous,
        Piece::Unknown(_) => true,
        Piece::Operand(_) => false,
    })
}

/// Whether with this option the program is no operand.
fn brings_program(option: &Opt) -> bool {
    let is_inline = option.takes.kind() == Some(ValueKind::Inline);
    option.ends_options || option.is_word || is_inline
}

/// How many arguments stand before this very one.
fn position(image: &Image<'_>, argument: &[u8]) -> Option<usize> {
    let mut arguments = image.arguments();
    arguments.position(|other| std::ptr::eq(other, argument))
}

/// Whether `image` starts another program than its file, so that an allow of the file alone does
/// not mean it.
pub(crate) fn is_another(image: &Image<'_>) -> bool {
    let is_asked = || asked(image).is_some();
    image.kinds().is_multicall && is_asked() || loaded(image).next().is_some()
}

fn goes_by(image: &Image<'_>, called: &[u8]) -> bool {
    let mut names = image.names(Reading::Doubtful).map(file_name);
    names.any(|name| {
        let rest = called.strip_prefix(name);
        let is_prefixed = rest.is_some_and(|rest| rest.starts_with(b"-"));
        BY_NAME.contains(&name) || BY_PREFIX.contains(&name) && is_prefixed
    })
}
