//! A table for a spreadsheet: a line an exec, by RFC 4180, printable ASCII alone.
//!
//! A spreadsheet takes what begins with `=`, `+`, `-` or `@` for a formula, and runs it: such a field begins with
//! `'` here, which a spreadsheet does not show.

use std::io::{self, Write};

use super::joined::Joined;

/// A column: its name, and what stands in it.
type Column = (&'static str, fn(&Joined) -> String);

/// What stands in each line.
const COLUMNS: &[Column] = &[
    ("time", |it| it.time.clone()),
    ("session", |it| it.session_name.clone()),
    ("session_id", |it| it.session.clone()),
    ("exec_id", |it| it.exec.id.clone()),
    ("pid", |it| number(it.pid)),
    ("parent_pid", |it| number(it.ppid)),
    ("program", |it| it.program.clone()),
    ("arguments", |it| it.arguments.clone()),
    ("directory", |it| it.cwd.clone()),
    ("verdict", |it| it.exec.verdict.clone()),
    ("reason", |it| it.exec.reason.clone()),
    ("rule", |it| it.exec.rule.clone().unwrap_or_default()),
    ("rule_source", |it| it.rule_src.clone()),
    ("effect", |it| it.effect.clone()),
    ("errno", |it| it.errno.clone()),
    ("result", |it| it.exec.fate.word().to_ascii_lowercase()),
    ("detail", |it| it.exec.detail.clone().unwrap_or_default()),
    ("waited_ms", |it| number(it.wait_ms)),
    ("took_us", |it| number(it.took_us)),
];

fn number(number: Option<impl ToString>) -> String {
    number.map_or(String::new(), |number| number.to_string())
}

/// Writes the line with the columns' names.
///
/// # Errors
/// If it cannot be written.
pub(super) fn heading(out: &mut impl Write) -> io::Result<()> {
    line(out, COLUMNS.iter().map(|(name, _)| (*name).to_owned()))
}

/// Writes an exec's line.
///
/// # Errors
/// If it cannot be written.
pub(super) fn row(out: &mut impl Write, joined: &Joined) -> io::Result<()> {
    line(out, COLUMNS.iter().map(|(_, of)| of(joined)))
}

fn line(out: &mut impl Write, fields: impl Iterator<Item = String>) -> io::Result<()> {
    let fields: Vec<_> = fields.map(|text| field(&text)).collect();
    write!(out, "{}\r\n", fields.join(","))
}

fn field(text: &str) -> String {
    let is_formula = text
        .trim_start()
        .starts_with(['=', '+', '-', '@', '\t', '\r']);
    let guarded = match is_formula {
        true => format!("'{text}"),
        false => text.to_owned(),
    };
    match guarded.contains([',', '"', '\r', '\n']) {
        true => format!("\"{}\"", guarded.replace('"', "\"\"")),
        false => guarded,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_itself_and_no_formula() {
        for (text, expected) in [
            ("", ""),
            ("plain text", "plain text"),
            ("a,b", "\"a,b\""),
            ("say \"x\"", "\"say \"\"x\"\"\""),
            ("=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"),
            ("+1", "'+1"),
            ("-rf /", "'-rf /"),
            ("@SUM(1,2)", "\"'@SUM(1,2)\""),
            (" =1", "' =1"),
            ("a=1", "a=1"),
        ] {
            assert_eq!(field(text), expected, "{text}");
        }
    }
}
