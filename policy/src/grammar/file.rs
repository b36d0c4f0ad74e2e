//! The form of a file of tables, and how it is read.
//!
//! ```text
//! # a comment
//! source GNU coreutils 9.7, sort(1)
//! command sort
//! abbreviates
//! operands read*
//! -n --numeric-sort
//! -k --key=text
//!    --parallel=number
//! -o --output=write !
//!
//! source Git 2.47, git(1)
//! command git
//! -C=read ~
//! -p --paginate
//! verb push
//! -f --force
//!    --force-with-lease[=text]
//!    --receive-pack=program !
//! operands host text*
//! ```
//!
//! A line that begins with `-` or `+` is an option: its names, the last with what it takes, then
//! its marks. `=KIND` is one value, `[=KIND]` one that is only attached, `=KIND,KIND` two. The
//! kinds are those of [`ValueKind`], in lower case. Marks: `!` dangerous, `~` harmless, `...` ends
//! the options, `word`, `walks`, `cwd`, `replaces-first`, `redirects` (see [`Opt`]). The name `-NUM`
//! stands for a dash and a number, `+` for a plus sign and whatever follows it.
//!
//! `operands` names the kind of each operand; one with `*` stands for any number, and one behind it
//! for the last. `operands command` means another command with its own arguments. `if=read` is a
//! line about an operand that begins with `if=`: of what kind the rest of it is. `prefix + --force`
//! says that an operand with that first byte means that option. `cwd KIND` says what is done to the
//! working directory where no operand of that kind is given. `verb` begins the grammar behind these
//! words. Before the verbs, `alias rm, container rm = remove` names others for one of them, and
//! `implied run` the one that is meant before a word that is no verb. Other lines are the switches
//! of [`Grammar`].
//!
//! ```text
//! command tar
//! -x --extract --get
//! -f --file=write !
//! operands read*
//! with -x
//! -f=read
//! cwd write
//! operands pattern*
//! ```
//!
//! `with` begins what differs in a call that has one of these options, up to the next `with` or
//! `verb`: `operands`, `cwd`, `walks` and keyed operands, of which nothing outside counts then, and
//! the kinds of what options take, where all that is not named again stays. Each option is called
//! by one of its names. Where several blocks are meant, the first counts.

use std::sync::OnceLock;

use super::table::{Alias, Grammar, Operands, Opt, Takes, ValueKind, Variant};

/// Every file.
pub(super) const FILES: &[&str] = &[
    include_str!("../../data/commands/build.txt"),
    include_str!("../../data/commands/containers.txt"),
    include_str!("../../data/commands/coreutils.txt"),
    include_str!("../../data/commands/findutils.txt"),
    include_str!("../../data/commands/forges.txt"),
    include_str!("../../data/commands/git.txt"),
    include_str!("../../data/commands/languages.txt"),
    include_str!("../../data/commands/network.txt"),
    include_str!("../../data/commands/system.txt"),
    include_str!("../../data/commands/text.txt"),
    include_str!("../../data/commands/wrappers.txt"),
];

/// A table: its text, from its source to the next, and what that says once it was read.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) names: Vec<&'static str>,
    pub(super) text: &'static str,
    grammar: OnceLock<Option<Grammar>>,
}

impl Table {
    /// The grammar. A fault is a failed test of this crate, and here means that nothing is known.
    pub(super) fn grammar(&self) -> Option<&Grammar> {
        let read = || parse(self.text).ok();
        self.grammar.get_or_init(read).as_ref()
    }
}

/// The tables of a file, unread.
pub(super) fn tables(text: &'static str) -> impl Iterator<Item = Table> {
    const SOURCE: &str = "source ";
    const COMMAND: &str = "command ";
    let mut starts = text.match_indices(SOURCE);
    let is_line = |at: usize| at == 0 || text.as_bytes().get(at - 1) == Some(&b'\n');
    let starts: Vec<usize> = starts
        .by_ref()
        .map(|(at, _)| at)
        .filter(|at| is_line(*at))
        .collect();
    let ends: Vec<usize> = starts.iter().skip(1).copied().chain([text.len()]).collect();
    starts
        .into_iter()
        .zip(ends)
        .filter_map(move |(start, end)| {
            let text = text.get(start..end)?;
            let names = text.lines().find_map(|line| line.strip_prefix(COMMAND))?;
            Some(Table {
                names: names.split_whitespace().collect(),
                text,
                grammar: OnceLock::new(),
            })
        })
}

/// Reads a table.
///
/// # Errors
/// The first line that is not of the form, and why.
fn parse(text: &'static str) -> Result<Grammar, String> {
    let mut grammar = Grammar::default();
    // Whose lines these are: the command's, a verb's, or those of a variant of either.
    let mut verb = "";
    let mut current = &mut grammar;
    let mut commands = 0;
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        let fault = |why: &str| format!("line {}: {why}: `{line}`", number + 1);
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "source" => {}
            "command" => commands += 1,
            "verb" => {
                verb = rest;
                current = behind(&mut grammar, verb);
            }
            "with" => current = variant(behind(&mut grammar, verb), rest),
            _ => take(current, word, line, rest).map_err(|why| fault(&why))?,
        }
    }
    match commands {
        1 => Ok(grammar),
        _ => Err("a source stands before each command".to_owned()),
    }
}

/// The grammar behind the words of `verb`.
fn behind<'g>(grammar: &'g mut Grammar, verb: &'static str) -> &'g mut Grammar {
    verb.split_whitespace().fold(grammar, |grammar, word| {
        grammar.verbs.entry(word).or_default()
    })
}

/// A new variant of `grammar`, for calls with one of `options`.
fn variant<'g>(grammar: &'g mut Grammar, options: &'static str) -> &'g mut Grammar {
    let variant = grammar.variants.push_mut(Variant::default());
    variant.options = options.split_whitespace().collect();
    &mut variant.grammar
}

/// Takes a line of a grammar.
fn take(
    grammar: &mut Grammar,
    word: &str,
    line: &'static str,
    rest: &'static str,
) -> Result<(), String> {
    match word {
        "abbreviates" => grammar.abbreviates = true,
        "abbreviates-verbs" => grammar.abbreviates_verbs = true,
        "single-dashes" => grammar.has_single_dashes = true,
        "no-end" => grammar.has_no_end = true,
        "separate-values" => grammar.has_separate_values = true,
        "boolean-words" => grammar.has_boolean_words = true,
        "stops-at-operand" => grammar.stops_at_operand = true,
        "old-style" => grammar.is_old_style = true,
        "everywhere" => grammar.is_everywhere = true,
        "commands" => grammar.takes_commands = true,
        "walks" => grammar.walks = true,
        "host-paths" => grammar.has_host_paths = true,
        "remotes" => grammar.names_remotes = true,
        "globs" => grammar.has_globs = true,
        "cwd" => grammar.falls_back_to_cwd = Some(kind(rest)?),
        "operands" => grammar.operands = operands(rest)?,
        "implied" => grammar.implied_verb = Some(rest),
        "alias" => {
            let (names, verb) = rest.split_once(" = ").ok_or("it names no verb")?;
            let words = names.split(", ").map(|name| name.split(' ').collect());
            let aliases = words.map(|words| Alias { words, verb });
            grammar.aliases.extend(aliases);
        }
        "prefix" => {
            let (prefix, name) = rest.split_once(' ').ok_or("it names no option")?;
            let byte = prefix.bytes().next().ok_or("it has no prefix")?;
            grammar.prefixes.push((byte, name));
        }
        _ if word.starts_with(['-', '+']) => grammar.options.push(option(line)?),
        _ => match line.split_once('=') {
            Some((key, value)) if rest.is_empty() => grammar.keyed.push((key, kind(value)?)),
            Some(_) | None => return Err("no such word".to_owned()),
        },
    }
    Ok(())
}

fn operands(text: &str) -> Result<Operands, String> {
    let mut operands = Operands::default();
    for word in text.split_whitespace() {
        match (word, word.strip_suffix('*')) {
            ("command", _) => operands.are_command = true,
            (_, Some(repeated)) if operands.rest.is_none() => {
                operands.rest = Some(kind(repeated)?);
            }
            (_, None) if operands.rest.is_none() => operands.first.push(kind(word)?),
            (_, None) if operands.last.is_none() => operands.last = Some(kind(word)?),
            _ => return Err(format!("`{word}` is one too many")),
        }
    }
    Ok(operands)
}

fn option(line: &'static str) -> Result<Opt, String> {
    let mut option = Opt {
        names: Vec::new(),
        takes: Takes::Nothing,
        is_dangerous: false,
        is_harmless: false,
        is_word: false,
        ends_options: false,
        walks: false,
        moves_cwd: false,
        replaces_first: false,
        redirects: false,
    };
    for word in line.split_whitespace() {
        match word {
            "!" => option.is_dangerous = true,
            "~" => option.is_harmless = true,
            "word" => option.is_word = true,
            "walks" => option.walks = true,
            "cwd" => option.moves_cwd = true,
            "replaces-first" => option.replaces_first = true,
            "redirects" => option.redirects = true,
            "..." => option.ends_options = true,
            name if name.starts_with(['-', '+']) && option.takes == Takes::Nothing => {
                let (name, takes) = named(name)?;
                option.names.push(name);
                option.takes = takes;
            }
            other => return Err(format!("`{other}` is no mark")),
        }
    }
    Ok(option)
}

/// A name, and what the option takes.
fn named(word: &'static str) -> Result<(&'static str, Takes), String> {
    let is_attached = word
        .strip_suffix(']')
        .and_then(|word| word.split_once("[="));
    if let Some((name, value)) = is_attached {
        return Ok((name, Takes::Attached(kind(value)?)));
    }
    let Some((name, value)) = word.split_once('=') else {
        return Ok((word, Takes::Nothing));
    };
    let takes = match value.split_once(',') {
        Some((one, other)) => Takes::Two(kind(one)?, kind(other)?),
        None => Takes::One(kind(value)?),
    };
    Ok((name, takes))
}

fn kind(word: &str) -> Result<ValueKind, String> {
    Ok(match word {
        "number" => ValueKind::Number,
        "text" => ValueKind::Text,
        "pattern" => ValueKind::Pattern,
        "read" => ValueKind::Read,
        "write" => ValueKind::Write,
        "change" => ValueKind::Change,
        "delete" => ValueKind::Delete,
        "move" => ValueKind::Move,
        "list" => ValueKind::List,
        "program" => ValueKind::Program,
        "code" => ValueKind::Code,
        "inline" => ValueKind::Inline,
        "host" => ValueKind::Host,
        "data" => ValueKind::Data,
        "revision" => ValueKind::Revision,
        "any" => ValueKind::Any,
        other => return Err(format!("`{other}` is no kind of value")),
    })
}

#[cfg(test)]
mod tests;
