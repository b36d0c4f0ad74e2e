//! Which tools an exec stands for: `cat` reads files, `cp` reads and writes them, `curl` fetches.

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::grammar::{self, Grammar, ValueKind};
use crate::image::{Image, Reading};
use crate::kind::Complaint;
use crate::mode::{Ask, Security};
use crate::operand::{Access, Part};
use crate::path::file_name;
use crate::safe_bin;

const TABLE: &str = include_str!("../data/plain.txt");

/// The tool that any exec stands for, by both of its names.
pub(crate) const EXEC: [&str; 2] = ["bash_execute", "exec_shell"];

/// The tool that fetches.
pub(crate) const FETCH: &str = "web_fetch";

/// A tool that the language knows.
struct Tool {
    name: &'static str,
    /// What it does to the files that its calls name.
    accesses: &'static [Access],
    /// What its calls get unless a table says otherwise.
    mode: (Security, Ask),
}

/// Every one of them, [`EXEC`] aside: what `[mode]` has is for that.
#[rustfmt::skip]
const KNOWN: [Tool; 5] = [
    Tool { name: "file_read",   accesses: &[Access::Read],   mode: (Security::Allowlist, Ask::OnMiss) },
    Tool { name: "file_write",  accesses: &[Access::Write],  mode: (Security::Allowlist, Ask::Always) },
    Tool { name: "file_delete", accesses: &[Access::Delete], mode: (Security::Allowlist, Ask::Always) },
    Tool { name: "file_list",   accesses: &[Access::List],   mode: (Security::Full, Ask::Off) },
    Tool { name: FETCH,         accesses: &[],               mode: (Security::Allowlist, Ask::OnMiss) },
];

/// What is wrong with an allow of every exec, by one of its names.
pub(crate) fn every_exec(name: &str) -> Complaint {
    let message = format!("`{name}` is every exec, which no allow may be");
    let help = "say which: `program` or `command`; or `security = \"full\"`".to_owned();
    (message, Some(help))
}

/// What is wrong with a name that is all but that of a known tool: a table of it would say nothing.
pub(crate) fn misspelt(name: &str) -> Option<Complaint> {
    let lower = name.to_ascii_lowercase();
    let is_near = |meant: &&str| strsim::damerau_levenshtein(&lower, meant) <= 1;
    // No name of theirs is longer, and distances take their time.
    let is_candidate = !is_known(name) && name.len() <= 16;
    let meant = is_candidate.then(|| known().find(is_near)).flatten()?;
    let message = format!("`{}` is no tool that is known", name.escape_debug());
    Some((message, Some(format!("the nearest is `{meant}`"))))
}

/// The one name of a tool that may have two.
pub(crate) fn canonical(name: &str) -> &str {
    let [first, _] = EXEC;
    if EXEC.contains(&name) { first } else { name }
}

/// The names of the tools that the language knows.
pub(crate) fn known() -> impl Iterator<Item = &'static str> {
    EXEC.into_iter().chain(KNOWN.iter().map(|tool| tool.name))
}

/// Whether the language knows what a tool of that name does.
pub(crate) fn is_known(name: &str) -> bool {
    known().any(|known| known == name)
}

/// What a tool of that name does to the files that its calls name, as far as that is known.
pub(crate) fn accesses(name: &str) -> &'static [Access] {
    let known = KNOWN.iter().find(|known| known.name == name);
    known.map_or(&[], |tool| tool.accesses)
}

/// What calls of a tool of that name get unless a table says otherwise, as far as it is known.
pub(crate) fn mode(name: &str) -> Option<(Security, Ask)> {
    let known = KNOWN.iter().find(|known| known.name == name);
    known.map(|tool| tool.mode)
}

/// Commands that do nothing but what their operands and options say.
static PLAIN: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    let lines = TABLE.lines().filter(|line| !line.starts_with('#'));
    lines.flat_map(str::split_whitespace).collect()
});

impl Access {
    /// The tool that does this to files.
    pub(crate) fn class(self) -> &'static str {
        match self {
            Self::Read => "file_read",
            Self::Write => "file_write",
            Self::Delete => "file_delete",
            Self::List => "file_list",
        }
    }
}

/// The tools that a call of `image` stands for by what it names, [`EXEC`] aside.
pub(crate) fn classes(image: &Image<'_>) -> impl Iterator<Item = &'static str> {
    let files = image.files().iter().filter(|file| file.part != Part::Guess);
    let accesses = files.flat_map(|file| file.accesses);
    let fetches = !image.hosts().is_empty();
    accesses
        .map(|access| access.class())
        .chain(fetches.then_some(FETCH))
}

/// The grammar of a command that does nothing but what its operands and options say, if `image`
/// is known to be one.
pub(crate) fn plain(image: &Image<'_>) -> Option<&'static Grammar> {
    let mut names = image.names(Reading::Strict);
    let found = names.find_map(|path| {
        let name = PLAIN.get(str::from_utf8(file_name(path)).ok()?)?;
        image.is_vouched_for(path).then_some(*name)
    })?;
    let grammar = grammar::of(found.as_bytes())?;
    let texts = grammar.named(image.arguments()).texts;
    let mut programs = texts.iter().filter(|typed| typed.kind == ValueKind::Inline);
    programs
        .all(|typed| safe_bin::only_filters(found, typed.text))
        .then_some(grammar)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_plain_command_has_a_table() {
        for name in PLAIN.iter() {
            assert!(grammar::of(name.as_bytes()).is_some(), "{name}");
        }
    }
}
