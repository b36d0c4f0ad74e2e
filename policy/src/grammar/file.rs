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
//! the options, `word`, `walks`, `replaces-first` (see [`Opt`]). The name `-NUM` stands for a dash
//! and a number, `+` for a plus sign and whatever follows it.
//!
//! `operands` names the kind of each operand; one with `*` stands for any number, and one behind it
//! for the last. `prefix + --force` says that an operand with that first byte means that option.
//! `operands command` means another command with its own arguments. `verb` begins the
//! grammar behind these words. Other lines are the switches of [`Grammar`].

use std::sync::OnceLock;

use super::table::{Grammar, Operands, Opt, Takes, ValueKind};

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
    // Whose lines these are: the command's, or a verb's.
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
                let words = rest.split_whitespace();
                current = words.fold(&mut grammar, |grammar, word| {
                    grammar.verbs.entry(word).or_default()
                });
            }
            _ => take(current, word, line, rest).map_err(|why| fault(&why))?,
        }
    }
    match commands {
        1 => Ok(grammar),
        _ => Err("a source stands before each command".to_owned()),
    }
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
        "single-dashes" => grammar.has_single_dashes = true,
        "no-end" => grammar.has_no_end = true,
        "separate-values" => grammar.has_separate_values = true,
        "boolean-words" => grammar.has_boolean_words = true,
        "stops-at-operand" => grammar.stops_at_operand = true,
        "old-style" => grammar.is_old_style = true,
        "everywhere" => grammar.is_everywhere = true,
        "commands" => grammar.takes_commands = true,
        "walks" => grammar.walks = true,
        "cwd" => grammar.falls_back_to_cwd = true,
        "operands" => grammar.operands = operands(rest)?,
        "prefix" => {
            let (prefix, name) = rest.split_once(' ').ok_or("it names no option")?;
            let byte = prefix.bytes().next().ok_or("it has no prefix")?;
            grammar.prefixes.push((byte, name));
        }
        _ if word.starts_with(['-', '+']) => grammar.options.push(option(line)?),
        _ => return Err("no such word".to_owned()),
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
        replaces_first: false,
    };
    for word in line.split_whitespace() {
        match word {
            "!" => option.is_dangerous = true,
            "~" => option.is_harmless = true,
            "word" => option.is_word = true,
            "walks" => option.walks = true,
            "replaces-first" => option.replaces_first = true,
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
        "delete" => ValueKind::Delete,
        "list" => ValueKind::List,
        "program" => ValueKind::Program,
        "code" => ValueKind::Code,
        "inline" => ValueKind::Inline,
        "host" => ValueKind::Host,
        other => return Err(format!("`{other}` is no kind of value")),
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn directory() -> std::path::PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("data/commands")
    }

    #[test]
    fn every_file_is_read_and_has_no_fault() {
        let files = std::fs::read_dir(directory()).unwrap();
        let texts: Vec<String> = files
            .map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap())
            .collect();
        assert_eq!(texts.len(), FILES.len());
        assert!(texts.iter().all(|text| FILES.contains(&text.as_str())));
        let tables: Vec<Table> = FILES.iter().flat_map(|text| tables(text)).collect();
        let sources = texts.iter().flat_map(|text| text.lines());
        let sources = sources.filter(|line| line.starts_with("source ")).count();
        assert_eq!(tables.len(), sources);
        for table in &tables {
            let grammar = parse(table.text).unwrap_or_else(|why| panic!("{:?} {why}", table.names));
            check_names(&table.names.join(" "), &grammar);
        }
        let mut names: Vec<_> = tables.iter().flat_map(|table| &table.names).collect();
        names.sort_unstable();
        let twice = names.windows(2).find(|pair| pair[0] == pair[1]);
        assert_eq!(twice, None, "a command has two tables");
    }

    fn check_names(path: &str, grammar: &Grammar) {
        let names = grammar.options.iter().flat_map(|option| &option.names);
        let mut names: Vec<_> = names.collect();
        names.sort_unstable();
        let twice = names.windows(2).find(|pair| pair[0] == pair[1]);
        assert_eq!(twice, None, "{path}");
        for (_, name) in &grammar.prefixes {
            assert!(names.contains(&name), "{path}: {name}");
        }
        for (verb, grammar) in &grammar.verbs {
            check_names(&format!("{path} {verb}"), grammar);
        }
    }

    #[test]
    fn what_is_not_of_the_form_is_refused_with_its_line() {
        for (text, fault) in [
            (
                "source s\ncommand x\ncommand y",
                "a source stands before each command",
            ),
            ("source s\ncommand x\nwalk", "line 3: no such word: `walk`"),
            (
                "source s\ncommand x\n-x=file",
                "line 3: `file` is no kind of value: `-x=file`",
            ),
            (
                "source s\ncommand x\n-x=text --y",
                "line 3: `--y` is no mark: `-x=text --y`",
            ),
            (
                "source s\ncommand x\noperands read* read* read",
                "line 3: `read*` is one too many: `operands read* read* read`",
            ),
        ] {
            assert_eq!(parse(text).unwrap_err(), fault);
        }
    }
}
