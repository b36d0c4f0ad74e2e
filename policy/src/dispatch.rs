//! Files that are several commands: which one a call is.
//!
//! The first element of the vector is the caller's to choose and says nothing about any other file.
//! These go by it: busybox runs the applet of that name, and git called `git-push` pushes.

use crate::class;
use crate::grammar::{self, Piece};
use crate::guise::Guise;
use crate::image::{Image, Reading};
use crate::pattern::file_name;

/// Files, beside those of `@multicall`, that go by a name that begins with theirs and a dash.
const BY_PREFIX: [&[u8]; 1] = [b"git"];

/// What the call would be called by its first element, if its file goes by that and it is no
/// name of the file.
pub(crate) fn called<'i>(image: &'i Image<'_>) -> Option<&'i [u8]> {
    let first = file_name(image.request.argv.first()?);
    let is_own = image
        .names(Reading::Doubtful)
        .any(|path| file_name(path) == first);
    let goes_by_it = || image.kinds().is_multicall || goes_by_prefix(image, first);
    (!is_own && image.is_program() && goes_by_it()).then_some(first)
}

/// The applet that a multi-call file is asked for under its own name: by its first argument.
pub(crate) fn applet<'i>(image: &'i Image<'_>) -> Option<Guise<'i>> {
    if !image.kinds().is_multicall {
        return None;
    }
    // Started as `cat` it is that, whatever follows.
    let first = image.request.argv.first().map(|first| file_name(first));
    let mut classes = class::of_file_name(first.unwrap_or_default());
    if image.is_program() && !classes.any(|class| class.name == "multicall") {
        return None;
    }
    let name = image.arguments().next()?;
    (!name.starts_with(b"-")).then_some(Guise {
        name,
        path: None,
        word: None,
        skipped: 1,
        image,
    })
}

/// The applet that a multi-call file runs, by either name.
pub(crate) fn applet_run<'i>(image: &'i Image<'_>) -> Option<Guise<'i>> {
    let is_program = image.is_program() && image.kinds().is_multicall;
    let by_first = || {
        let name = file_name(image.request.argv.first()?);
        Some(Guise {
            name,
            path: None,
            word: None,
            skipped: 0,
            image,
        })
    };
    applet(image).or_else(by_first).filter(|_| is_program)
}

/// The program that a dynamic linker is to start.
pub(crate) fn loaded<'i>(image: &'i Image<'_>) -> Option<Guise<'i>> {
    if !image.kinds().is_loader {
        return None;
    }
    let mut names = image.names(Reading::Doubtful).map(file_name);
    let grammar = names
        .find_map(grammar::of)
        .unwrap_or(grammar::Grammar::unknown());
    let operand = |piece| match piece {
        Piece::Operand(operand) => Some(operand),
        Piece::Flag(_) | Piece::Unknown(_) => None,
    };
    let program = grammar.read(image.arguments()).find_map(operand)?;
    let at = image
        .arguments()
        .position(|argument| std::ptr::eq(argument, program));
    Some(Guise {
        name: file_name(program),
        path: Some(program).filter(|path| path.starts_with(b"/")),
        word: None,
        skipped: at.unwrap_or(0) + 1,
        image,
    })
}

/// Whether `image` starts another program than its file, so that an allow of the file alone does
/// not mean it.
pub(crate) fn is_another(image: &Image<'_>) -> bool {
    applet(image).is_some() || loaded(image).is_some()
}

fn goes_by_prefix(image: &Image<'_>, called: &[u8]) -> bool {
    let mut names = image.names(Reading::Doubtful).map(file_name);
    names.any(|name| {
        let rest = called.strip_prefix(name);
        BY_PREFIX.contains(&name) && rest.is_some_and(|rest| rest.starts_with(b"-"))
    })
}
