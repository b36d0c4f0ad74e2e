//! The tables of commands.

use std::sync::{Arc, LazyLock, OnceLock};

use super::file::{self, FILES, Table};
use crate::case::Case;
use crate::name_map::NameMap;
use crate::version::unversioned;

/// What a value of an option, or an operand, is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ValueKind {
    /// A number, perhaps with a sign or a unit.
    Number,
    /// Text that names nothing outside the call: a delimiter, a word of a set, a label.
    Text,
    /// A pattern or expression that only selects.
    Pattern,
    /// A file or directory that is read.
    Read,
    /// One that is made or written over, or whose attributes are set.
    Write,
    /// One that is read, and written or may be: `sed -i`, editors.
    Change,
    /// One that is removed.
    Delete,
    /// One that is read and removed, and what it held is written under another name: `mv`, `gzip`.
    Move,
    /// One whose names are listed.
    List,
    /// A program that is run, or a command line with one.
    Program,
    /// Code or configuration that is loaded: a file, or the name of one.
    Code,
    /// Code as text, evaluated as it stands there.
    Inline,
    /// A host, URL, or remote that the call speaks to. Where it is the path of a file instead
    /// (`git clone ../x`, `file:///etc/x`), that is read.
    Host,
    /// Text, but a file that is read if it stands behind an `@` or `<` that is the first byte or
    /// the first of a value behind `=`: `curl -d @x`, `-F a=@x;type=y`; or, as curl has it, behind
    /// the first `@`: `--data-urlencode a@x`.
    Data,
    /// What git takes for a revision or a path: the path is the whole, or what stands behind the
    /// first colon, as in `HEAD:x`. It is read.
    Revision,
    /// What nobody knows, as all of a command without a table: it may be a file that is read or
    /// written, or hold one behind `=`, `:`, `@` or `,`.
    Any,
}

/// Whether an option takes values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Takes {
    Nothing,
    /// One: attached, after `=`, or the next argument.
    One(ValueKind),
    /// One, only attached or after `=`.
    Attached(ValueKind),
    /// The two next arguments.
    Two(ValueKind, ValueKind),
}

impl Takes {
    /// What its value, or the first of two, is.
    pub(crate) fn kind(self) -> Option<ValueKind> {
        match self {
            Self::Nothing => None,
            Self::One(kind) | Self::Attached(kind) | Self::Two(kind, _) => Some(kind),
        }
    }
}

/// The name of the option that is a dash and a number: `git log -1`.
pub(crate) const NUMBER: &str = "-NUM";

/// One option under all its names.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a mark of the tables"
)]
#[derive(Debug)]
pub(crate) struct Opt {
    /// With their dashes.
    pub(crate) names: Vec<&'static str>,
    pub(crate) takes: Takes,
    /// It runs a program, loads code or configuration, writes the file it names, picks another
    /// server or switches a protection off.
    pub(crate) is_dangerous: bool,
    /// It changes neither what the command does nor to what, unless to which directory: `git -C`.
    pub(crate) is_harmless: bool,
    /// It says which command this is, as a word does: `python3 -m`.
    pub(crate) is_word: bool,
    /// All that follows it, and its value, is none of this command's: `python3 -c`, `find -exec`.
    pub(crate) ends_options: bool,
    /// With it, the command goes through directories.
    pub(crate) walks: bool,
    /// Its value is the directory from which all other names of the call are taken, wherever they
    /// stand: `git -C`.
    pub(crate) moves_cwd: bool,
    /// With it, the first operand is no longer the pattern, script or expression that it is
    /// without.
    pub(crate) replaces_first: bool,
    /// With it, the command may speak to another host than the one it names.
    pub(crate) redirects: bool,
}

/// The operands of a command, in order.
#[derive(Debug, Default)]
pub(crate) struct Operands {
    /// Those that come first.
    pub(crate) first: Vec<ValueKind>,
    /// What any number of further ones are; none if there can be none.
    pub(crate) rest: Option<ValueKind>,
    /// What the last one is, if it differs. Where there is but one operand, it is of the kind of
    /// those before, and this is the working directory: `ln -s x`.
    pub(crate) last: Option<ValueKind>,
    /// Whether the first operand that is no option, and all behind it, is another command.
    pub(crate) are_command: bool,
}

/// Other words for a verb.
#[derive(Debug)]
pub(crate) struct Alias {
    pub(crate) words: Vec<&'static str>,
    pub(crate) verb: &'static str,
}

impl Alias {
    /// The word, if it is but one.
    pub(crate) fn single(&self) -> Option<&'static str> {
        match self.words.as_slice() {
            [word] => Some(word),
            _ => None,
        }
    }
}

/// What differs in calls that have one of some options.
#[derive(Debug, Default)]
pub(crate) struct Variant {
    /// Their names, with dashes, one of each.
    pub(crate) options: Vec<&'static str>,
    /// Its operands, its keyed ones, its [`Grammar::walks`] and [`Grammar::falls_back_to_cwd`] stand
    /// in place of all of those; its options say what options take, where that differs.
    pub(crate) grammar: Grammar,
}

/// The grammar of a command, or of one of its verbs.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of the tables"
)]
#[derive(Debug, Default)]
pub(crate) struct Grammar {
    pub(crate) options: Vec<Opt>,
    pub(crate) operands: Operands,
    /// Operands that begin with a name and `=`, and of what kind the rest is: `dd of=FILE`.
    pub(crate) keyed: Vec<(&'static str, ValueKind)>,
    /// The first of which the call has an option says what its operands are.
    pub(crate) variants: Vec<Variant>,
    /// The grammars behind verbs.
    pub(crate) verbs: NameMap<&'static str, Grammar>,
    /// Other names of verbs.
    pub(crate) aliases: Vec<Alias>,
    /// Bytes that make an operand mean an option: `+` and `--force` of `git push x +main`.
    pub(crate) prefixes: Vec<(u8, &'static str)>,
    /// Long options may be cut short where that is unambiguous: getopt_long(3).
    pub(crate) abbreviates: bool,
    /// The verb that stands for itself before a word that is none: `pnpm x` is `pnpm run x`.
    pub(crate) implied_verb: Option<&'static str>,
    /// A verb may be cut short where that is unambiguous: npm, ip.
    pub(crate) abbreviates_verbs: bool,
    /// A long option has one dash, and letters make no clusters: find, go.
    pub(crate) has_single_dashes: bool,
    /// `--` is no end of options: find.
    pub(crate) has_no_end: bool,
    /// A letter's value is the next argument, whatever follows it in the cluster: shells.
    pub(crate) has_separate_values: bool,
    /// An option without a value takes a `true`, `false` or `null` that follows: npm.
    pub(crate) has_boolean_words: bool,
    /// Options end at the first operand.
    pub(crate) stops_at_operand: bool,
    /// The first argument may be a cluster without a dash: `tar xf`.
    pub(crate) is_old_style: bool,
    /// The options of the command may stand behind a verb too.
    pub(crate) is_everywhere: bool,
    /// It takes commands of its own language as operands, on standard input or at a prompt,
    /// whichever file it is given beside: gdb, sqlite3.
    pub(crate) takes_commands: bool,
    /// It always goes through directories.
    pub(crate) walks: bool,
    /// What it does to the working directory if no operand is of that kind.
    pub(crate) falls_back_to_cwd: Option<ValueKind>,
    /// A host without a colon or an `@` is the name of a remote, which configuration explains: git.
    pub(crate) names_remotes: bool,
    /// An operand with a colon, and no slash before it, is a file of another machine: scp.
    pub(crate) has_host_paths: bool,
    /// `{a,b}` and `[a-c]` in a URL or a file that is read stand for one with each: curl.
    pub(crate) has_globs: bool,
    /// Where each name's option is, made when it is first asked for.
    index: OnceLock<NameMap<&'static [u8], usize>>,
}

impl Operands {
    /// Whether some operand is of that kind.
    pub(crate) fn has(&self, kind: ValueKind) -> bool {
        let mut kinds = self.first.iter().chain(&self.rest).chain(&self.last);
        kinds.any(|own| *own == kind)
    }
}

impl Grammar {
    /// Whether the first operand is the program itself, unless an option brings it.
    pub(crate) fn begins_with_program(&self) -> bool {
        self.operands.first.first() == Some(&ValueKind::Inline)
    }

    /// The grammar behind `word`, if that is a verb here, or another name of one.
    pub(crate) fn verb(&self, word: &[u8]) -> Option<&Self> {
        let word = str::from_utf8(word).ok()?;
        let is_it = |alias: &&Alias| alias.single() == Some(word);
        self.verbs.get(word).or_else(|| {
            let alias = self.aliases.iter().find(is_it)?;
            self.verbs.get(alias.verb)
        })
    }

    /// The same, with the letters of `word` compared by `case`.
    pub(crate) fn verb_in(&self, case: Case, word: &[u8]) -> Option<&Self> {
        let is_it = |name: &str| case.is_same(name.as_bytes(), word);
        let single = |alias: &Alias| alias.single().filter(|name| is_it(name));
        let by_case = || {
            let aliases = self.aliases.iter().filter_map(single);
            let mut names = self.verbs.keys().copied().chain(aliases);
            self.verb(names.find(|name| is_it(name))?.as_bytes())
        };
        self.verb(word).or_else(by_case)
    }

    /// The option of exactly that name, its dashes included.
    pub(crate) fn option(&self, name: &[u8]) -> Option<&Opt> {
        let index = self.index.get_or_init(|| {
            let options = self.options.iter().enumerate();
            let names = options.flat_map(|(at, option)| {
                option.names.iter().map(move |name| (name.as_bytes(), at))
            });
            names.collect()
        });
        self.options.get(*index.get(name)?)
    }

    /// The grammar of what nobody has described: it knows no option.
    pub(crate) fn unknown() -> &'static Self {
        static UNKNOWN: LazyLock<Grammar> = LazyLock::new(Grammar::default);
        &UNKNOWN
    }
}

/// The tables as they are written; each is read when it is first asked for.
static TABLES: LazyLock<NameMap<&'static [u8], Arc<Table>>> = LazyLock::new(|| {
    let tables = FILES.iter().flat_map(|text| file::tables(text));
    let named = tables.flat_map(|table| {
        let table = Arc::new(table);
        let names = table.names.clone().into_iter();
        names.map(move |name| (name.as_bytes(), Arc::clone(&table)))
    });
    named.collect()
});

/// The grammar of the command whose file is called `name`, of whatever version.
pub(crate) fn of(name: &[u8]) -> Option<&'static Grammar> {
    let table = TABLES.get(name);
    let table = table.or_else(|| TABLES.get(unversioned(name)))?;
    table.grammar()
}

/// The same, with the letters of `name` compared by `case`. For what is read once: it looks at every
/// name.
pub(crate) fn named(name: &[u8], case: Case) -> Option<&'static Grammar> {
    let is_it = |own: &&[u8]| case.is_same(own, name) || case.is_same(own, unversioned(name));
    let by_case = || of(TABLES.keys().copied().find(|own| is_it(own))?);
    of(name).or_else(by_case)
}

/// The text of the table of the command called `name`, if there is one: its options with what
/// they take, `!` for the dangerous and `~` for the harmless ones. `LANGUAGE.md` explains it.
#[must_use]
pub fn command_table(name: &str) -> Option<&'static str> {
    let name = name.as_bytes();
    let table = TABLES.get(name).or_else(|| TABLES.get(unversioned(name)));
    table.map(|table| table.text)
}
