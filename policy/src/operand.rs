//! The files that a call names: its file operands.

pub(crate) mod text;

use std::collections::HashMap;

use crate::class;
use crate::grammar::{self, Grammar, Role, Typed, ValueKind};
use crate::host::{self, Host};
use crate::image::{Image, Reading};
use crate::path::{absolute, collapse};
use crate::request::{Destination, Stream};

/// What a call does to a file that it names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
    Delete,
    List,
}

/// What is done to each of the standard descriptors.
pub(crate) const STREAM_ACCESSES: [&[Access]; 3] =
    [&[Access::Read], &[Access::Write], &[Access::Write]];

/// What a file is to the call that names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// What it works on.
    Plain,
    /// The script of an interpreter.
    Script,
    /// The directory that an option says the command works in.
    Place,
    /// A word in the text of a program, or an argument of an unknown tool, which may be a file's name
    /// or not.
    Guess,
}

/// A file or directory that a call names.
#[derive(Debug, Clone)]
pub(crate) struct FileOperand {
    /// What becomes of it, or may; empty if the command has no table.
    pub(crate) accesses: &'static [Access],
    pub(crate) part: Part,
    /// Whether everything below it is meant too.
    pub(crate) is_walked: bool,
    /// Its path, absolute, with each `..` taken as text.
    pub(crate) written: Vec<u8>,
    /// Where that leads, if anybody can tell.
    pub(crate) destination: Option<Destination>,
}

/// A path as a call has it, with what a [`FileOperand`] takes from there.
#[derive(Clone, Copy)]
struct Written<'a> {
    /// Nothing if that cannot be told.
    text: Option<&'a [u8]>,
    accesses: &'static [Access],
    part: Part,
    is_walked: bool,
}

/// The files that `image` names, as whatever command it may be, and those that its standard
/// descriptors are.
pub(crate) fn files(image: &Image<'_>) -> Vec<FileOperand> {
    let request = image.request;
    let mut files: Vec<FileOperand> = placed(image)
        .map(|(written, path)| FileOperand {
            accesses: written.accesses,
            part: written.part,
            is_walked: written.is_walked,
            ..FileOperand::at(path, &request.destinations)
        })
        .collect();
    if !image.is_program() {
        // What the kernel hands it is the program: that file is known.
        let given = collapse(&request.program.given);
        let known = || request.program.resolved.clone().map(Destination::of_file);
        let own = files.iter_mut().filter(|file| file.written == given);
        own.for_each(|file| file.destination = known());
    }
    for (stream, accesses) in request.streams.iter().zip(STREAM_ACCESSES) {
        match stream {
            Stream::Plain => {}
            Stream::File(path) => files.push(FileOperand::of_stream(path, accesses)),
            // It may be any file.
            Stream::Unknown => files.push(FileOperand {
                destination: None,
                ..FileOperand::of_stream(b"", accesses)
            }),
        }
    }
    files
}

/// The absolute paths of the files that `image` names, as the call has them, if they are such a
/// part of it.
pub(crate) fn paths(image: &Image<'_>, is_meant: impl Fn(Part) -> bool) -> Vec<Vec<u8>> {
    let paths = placed(image).filter_map(|(written, path)| path.filter(|_| is_meant(written.part)));
    paths.collect()
}

/// Each path that `image` names, made absolute by every directory that may be meant: the working
/// directory, and those that options say the command works in, each from the one before.
fn placed<'i>(image: &'i Image<'_>) -> impl Iterator<Item = (Written<'i>, Option<Vec<u8>>)> {
    let written = written(image);
    let mut bases: Vec<Option<Vec<u8>>> = vec![image.request.cwd.clone()];
    let mut all = Vec::new();
    for place in written.iter().filter(|it| it.part == Part::Place) {
        let base = bases.last().and_then(Option::as_deref);
        let path = place.text.and_then(|text| absolute(text, base));
        all.push((*place, path.clone()));
        bases.push(path);
    }
    for other in written.into_iter().filter(|it| it.part != Part::Place) {
        let is_relative = other.text.is_some_and(|text| !text.starts_with(b"/"));
        let bases = bases.iter().take(if is_relative { usize::MAX } else { 1 });
        let path = |base: &Option<Vec<u8>>| absolute(other.text?, base.as_deref());
        let paths = bases.map(|base| (other, path(base)));
        all.extend(paths);
    }
    all.into_iter()
}

/// The hosts that `image` names as whatever command it may be; `None` for one that cannot be told.
pub(crate) fn hosts(image: &Image<'_>) -> Vec<Option<Host>> {
    let mut hosts = Vec::new();
    for grammar in grammars(image) {
        let named = grammar.named(image.arguments());
        let texts = named.texts.iter();
        let texts = texts.filter(|typed| typed.kind == ValueKind::Host);
        let is_remote =
            |text: &[u8]| named.names_remotes && !text.iter().any(|byte| b":@".contains(byte));
        for typed in texts {
            let readings = host::readings(typed.text);
            hosts.extend(readings.map(|host| host.filter(|_| !is_remote(typed.text))));
        }
        hosts.extend(named.hides_host.then_some(None));
    }
    hosts
}

/// The grammars of every command that the image may be by its file, each once.
fn grammars(image: &Image<'_>) -> Vec<&'static Grammar> {
    let mut grammars: Vec<&'static Grammar> = Vec::new();
    for grammar in image.grammars(Reading::Doubtful) {
        if !grammars.iter().any(|other| std::ptr::eq(*other, grammar)) {
            grammars.push(grammar);
        }
    }
    grammars
}

fn written<'i>(image: &'i Image<'_>) -> Vec<Written<'i>> {
    let mut all = Vec::new();
    let is_shell = |name: &[u8]| class::is_of(name, "shells");
    let is_shells = image.kinds().is_shell;
    let grammars = grammars(image);
    for grammar in &grammars {
        add(grammar, image.arguments(), is_shells, &mut all);
    }
    if grammars.is_empty() {
        add_untabled(image.arguments(), &mut all);
    }
    for guise in image.guises().filter(|guise| !guise.is_joined()) {
        if let Some(grammar) = grammar::of(guise.name) {
            let is_shells = is_shell(guise.name);
            add(grammar, guise.arguments(), is_shells, &mut all);
        }
    }
    all.retain(|written| written.text.is_none_or(text::can_be_path));
    all
}

/// Adds what a command of that grammar names.
fn add<'a>(
    grammar: &'static Grammar,
    arguments: impl Iterator<Item = &'a [u8]> + Clone,
    is_shells: bool,
    all: &mut Vec<Written<'a>>,
) {
    let named = grammar.named(arguments);
    for typed in named.texts {
        let file = Written {
            text: Some(typed.text),
            accesses: accesses(typed.kind),
            part: part(typed),
            is_walked: named.walks,
        };
        if grammar.has_globs && text::is_glob(typed) {
            // It may stand for any file.
            all.extend(text::may_name_file(typed).then_some(Written { text: None, ..file }));
            continue;
        }
        if typed.kind != ValueKind::Inline || !is_shells {
            add_typed(typed, file, all);
        }
    }
}

/// Adds `file`, or the files that stand in its text, as far as that is of a kind that names any.
fn add_typed<'a>(
    Typed { text, kind, role }: Typed<'a>,
    file: Written<'a>,
    all: &mut Vec<Written<'a>>,
) {
    let as_file = |text| Written {
        text: Some(text),
        ..file
    };
    match kind {
        ValueKind::Number | ValueKind::Text | ValueKind::Pattern => {}
        ValueKind::Inline => all.extend(text::words(text).map(as_file)),
        ValueKind::Host => {
            let path = text::local_path(text);
            all.extend(path.map(|text| Written { text, ..file }));
        }
        ValueKind::Data => all.extend(text::data_files(text).map(as_file)),
        ValueKind::Program => all.extend(text.contains(&b'/').then_some(file)),
        ValueKind::Read
        | ValueKind::Write
        | ValueKind::Change
        | ValueKind::Delete
        | ValueKind::Move
        | ValueKind::List
        | ValueKind::Code
        | ValueKind::Revision
        | ValueKind::Any => {
            all.push(file);
            // A file of further arguments, of whatever command takes such.
            all.extend(text.strip_prefix(b"@").map(as_file));
        }
    }
    if kind == ValueKind::Any || kind == ValueKind::Code && role == Role::Value {
        all.extend(text::parts(text).map(as_file));
    } else if kind == ValueKind::Revision {
        all.extend(text::of_revision(text).map(as_file));
    }
}

/// Adds what a command may name of which nothing is known: every operand, every value.
fn add_untabled<'a>(arguments: impl Iterator<Item = &'a [u8]>, all: &mut Vec<Written<'a>>) {
    for argument in arguments {
        let unknown = Written {
            text: None,
            accesses: &[],
            part: Part::Plain,
            is_walked: false,
        };
        let text = match argument {
            [b'-', b'-', ..] => b"",
            // A letter with its value.
            [b'-', _, value @ ..] => value,
            other => other,
        };
        let whole = Some(text).filter(|text| !text.is_empty());
        let texts = whole.into_iter().chain(text::parts(argument));
        all.extend(texts.map(|text| Written {
            text: Some(text),
            ..unknown
        }));
    }
}

impl FileOperand {
    /// The file at that path, absolute, if anybody can tell which, and nothing that is done to it.
    pub(crate) fn at(path: Option<Vec<u8>>, destinations: &HashMap<Vec<u8>, Destination>) -> Self {
        let destination = path.as_ref().and_then(|path| destinations.get(path));
        Self {
            accesses: &[],
            part: Part::Plain,
            is_walked: false,
            destination: destination.cloned(),
            written: collapse(&path.unwrap_or_default()),
        }
    }

    /// A file that a standard descriptor is.
    pub(crate) fn of_stream(path: &[u8], accesses: &'static [Access]) -> Self {
        let destination = Destination::of_file(path.to_vec());
        Self {
            accesses,
            part: Part::Plain,
            is_walked: false,
            written: path.to_vec(),
            destination: Some(destination),
        }
    }
}

fn part(typed: Typed<'_>) -> Part {
    match (typed.role, typed.kind) {
        (_, ValueKind::Inline) => Part::Guess,
        (Role::Operand, ValueKind::Code) => Part::Script,
        (Role::Place, _) => Part::Place,
        (Role::Operand | Role::Value, _) => Part::Plain,
    }
}

fn accesses(kind: ValueKind) -> &'static [Access] {
    match kind {
        ValueKind::Write => &[Access::Write],
        ValueKind::Change => &[Access::Read, Access::Write],
        ValueKind::Delete => &[Access::Delete],
        ValueKind::Move => &[Access::Read, Access::Write, Access::Delete],
        ValueKind::List => &[Access::List],
        // The words of a program do whatever it does.
        ValueKind::Any | ValueKind::Inline => {
            &[Access::Read, Access::Write, Access::Delete, Access::List]
        }
        ValueKind::Number
        | ValueKind::Text
        | ValueKind::Pattern
        | ValueKind::Read
        | ValueKind::Program
        | ValueKind::Code
        | ValueKind::Host
        | ValueKind::Data
        | ValueKind::Revision => &[Access::Read],
    }
}

#[cfg(test)]
mod tests;
