//! The file that an agent keeps its settings in: read whole, written whole, and otherwise left as it is.

use std::fs::{self, File, Metadata};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::regular;

/// The file, as it was found.
#[derive(Debug)]
pub(super) struct SettingsFile {
    pub(super) path: PathBuf,
    /// Nothing, if there is none yet.
    pub(super) text: String,
    seen: Option<Metadata>,
}

impl SettingsFile {
    /// Reads the one at `path`, or where a link there leads.
    ///
    /// # Errors
    /// What open(2) and read(2) answer, and if it cannot be replaced without a loss: it has another name, or is not to be
    /// written.
    pub(super) fn read(path: &Path) -> io::Result<Self> {
        let none = Self {
            path: path.to_owned(),
            text: String::new(),
            seen: None,
        };
        let is_missing = |error: io::Error| error.kind() == io::ErrorKind::NotFound;
        if fs::symlink_metadata(path).is_err_and(is_missing) {
            return Ok(none);
        }
        let path = followed(path)?;
        let mut file = regular::open(&path)?;
        let seen = file.metadata()?;
        if seen.nlink() > 1 {
            return Err(io::Error::other(
                "it has another name too (a hard link), which would be left behind",
            ));
        }
        if seen.mode() & 0o200 == 0 {
            return Err(io::Error::other("it is read-only"));
        }
        let mut text = String::new();
        file.read_to_string(&mut text)?;
        Ok(Self {
            path,
            text,
            seen: Some(seen),
        })
    }

    /// Puts `text` in its place, whole or not at all.
    ///
    /// # Errors
    /// What the system answers: the file is as it was.
    pub(super) fn replace(&self, text: &str) -> io::Result<()> {
        let directory = self.path.parent().ok_or(io::ErrorKind::InvalidInput)?;
        fs::create_dir_all(directory)?;
        let name = self.path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let mut temporary = name.to_owned();
        temporary.push(format!(".execward-{}", std::process::id()));
        let temporary = directory.join(temporary);
        let file = File::create_new(&temporary)?;
        let written = self
            .fill(file, text)
            .and_then(|()| fs::rename(&temporary, &self.path));
        written.inspect_err(|_| {
            // What is left of it is of no use to anybody.
            fs::remove_file(&temporary).unwrap_or_default();
        })
    }

    fn fill(&self, mut file: File, text: &str) -> io::Result<()> {
        if let Some(seen) = &self.seen {
            let made = file.metadata()?;
            if (made.uid(), made.gid()) != (seen.uid(), seen.gid()) {
                fchown(&file, Some(seen.uid()), Some(seen.gid()))?;
            }
            file.set_permissions(fs::Permissions::from_mode(seen.mode() & 0o777))?;
        }
        file.write_all(text.as_bytes())?;
        file.sync_all()
    }
}

/// Where a link leads: to where such files are kept.
#[expect(
    clippy::disallowed_methods,
    reason = "the user's own file, and no task's"
)]
fn followed(path: &Path) -> io::Result<PathBuf> {
    fs::canonicalize(path)
}

/// The value that `text` is, if nothing of it is lost when that is written again: a key that is there
/// twice would be, and digits of a large number.
///
/// # Errors
/// Why it is no JSON, or where it would be lost.
pub(super) fn value_of(text: &str) -> Result<Value, String> {
    let value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let again = value.to_string();
    let mut again = again.chars();
    let (mut line, mut is_in_string, mut is_escaped) = (1, false, false);
    for character in text.chars() {
        line += usize::from(character == '\n');
        if !is_in_string && character.is_ascii_whitespace() {
            continue;
        }
        if again.next() != Some(character) {
            return Err(format!(
                "what line {line} has would not be written again as it is there"
            ));
        }
        is_in_string ^= character == '"' && !is_escaped;
        is_escaped = is_in_string && character == '\\' && !is_escaped;
    }
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_not_come_back_is_refused() {
        for text in [
            "{}",
            " { \"a\" : [ 1, -2.5, null, true ],\n\t\"b\\\"\\\\\": \" \\n é \" }\r\n",
        ] {
            assert!(value_of(text).is_ok(), "{text}");
        }
        for (text, line) in [
            ("{\"a\": 1,\n\"a\": 2}", 1),
            ("{\n\"a\": 12345678901234567890123}", 2),
            ("{\n\n\"a\": 9007199254740993.0}", 3),
            ("{\"a\": \"\\u00e9\"}", 1),
        ] {
            let why = value_of(text).unwrap_err();
            assert!(why.contains(&format!("line {line} ")), "{text}: {why}");
        }
        assert!(value_of("{\"a\": 1,}").is_err());
    }
}
