//! Where in a text of a call the path of a file stands.

use crate::grammar::{Typed, ValueKind};
use crate::host;

/// Whether the kernel would take the text for a path at all: path_resolution(7), `ENAMETOOLONG`.
pub(crate) fn can_be_path(text: &[u8]) -> bool {
    const PATH_MAX_BYTES: usize = 4095;
    const NAME_MAX_BYTES: usize = 255;
    let mut names = text.split(|byte| *byte == b'/');
    // What stands for a standard descriptor is looked at there.
    text != b"-" && text.len() <= PATH_MAX_BYTES && names.all(|name| name.len() <= NAME_MAX_BYTES)
}

/// The words of a program's text that may be names of files: `w FILE` of sed, `> "FILE"` of awk,
/// `open("FILE")`. Not of a shell's, which starts programs by them.
pub(super) fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    /// Most words that are looked at: a program this long hides them better anyway.
    const WORDS_MAX: usize = 256;
    let is_end = |byte: &u8| byte.is_ascii_whitespace() || b"'\"`;,(){}<>|=".contains(byte);
    let words = text.split(is_end).filter(|word| !word.is_empty());
    words
        .filter(|word| word.iter().any(|byte| b"./".contains(byte)))
        .take(WORDS_MAX)
}

/// The path of a place that is no host: a remote may be a directory here, and `file:` is one. A URL
/// that clients read in more than one way names a path that cannot be told, which is `None` in it.
pub(crate) fn local_path(text: &[u8]) -> Option<Option<&[u8]>> {
    if !is_file_url(text) {
        return host::of(text).is_none().then_some(Some(text));
    }
    let rest = text.get(b"file:".len()..).unwrap_or_default();
    // `file:/x`, `file:///x`, `file://localhost/x`.
    let behind_host = rest.strip_prefix(b"//").and_then(|rest| {
        let at = rest.iter().position(|byte| *byte == b'/')?;
        rest.get(at..)
    });
    let path = behind_host.unwrap_or(rest);
    // Blanks may be passed over, percent codes and backslashes may be taken for what they stand for.
    let is_plain = text
        .iter()
        .all(|byte| byte.is_ascii_graphic() && !b"%\\?#".contains(byte));
    Some(Some(path).filter(|path| is_plain && path.starts_with(b"/")))
}

/// Whether somebody reads the text as a URL of a file: blanks around it and in its scheme count for
/// nothing to the URL Standard.
pub(crate) fn is_file_url(text: &[u8]) -> bool {
    let mut bytes = text.iter().filter(|byte| **byte > b' ');
    let mut scheme = b"file:".iter();
    scheme.all(|byte| {
        bytes
            .next()
            .is_some_and(|own| own.eq_ignore_ascii_case(byte))
    })
}

/// The files of which a text says that their content stands for it: `@x`, `a=@x;type=y`, `a@x`.
pub(super) fn data_files(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mark = text.iter().position(|byte| b"@<".contains(byte));
    let marked = mark.and_then(|at| text.get(at + 1..));
    // `@a,b`, `@a;headers=@b`, `@"a"`: whatever stands between is a name or a word.
    let is_separator = |byte: &u8| b"@<,;=\"'".contains(byte);
    let parts = marked
        .into_iter()
        .flat_map(move |text| text.split(is_separator));
    marked
        .into_iter()
        .chain(parts.filter(|part| !part.is_empty()))
}

/// What stands behind each separator, where nobody knows what the text is.
pub(crate) fn parts(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let is_separator = |byte: &u8| b"=:@,".contains(byte);
    let parts = text.split(is_separator).skip(1);
    parts.filter(|part| !part.is_empty())
}

/// The path in a revision of git: `HEAD:x`.
pub(super) fn of_revision(text: &[u8]) -> Option<&[u8]> {
    let at = text.iter().position(|byte| *byte == b':')?;
    text.get(at + 1..)
}

/// Whether curl makes several of what is written: curl(1), "GLOBBING".
pub(super) fn is_glob(typed: Typed<'_>) -> bool {
    matches!(typed.kind, ValueKind::Host | ValueKind::Read)
        && typed.text.iter().any(|byte| b"{[".contains(byte))
}

/// Whether a glob may stand for a file here: where it is a URL, by its scheme.
pub(super) fn may_name_file(glob: Typed<'_>) -> bool {
    let mut parts = glob.text.split(|byte| b":/".contains(byte));
    let may_be_file = |scheme: &[u8]| {
        scheme.eq_ignore_ascii_case(b"file") || scheme.iter().any(|byte| b"{[".contains(byte))
    };
    glob.kind != ValueKind::Host || parts.next().is_some_and(may_be_file)
}
