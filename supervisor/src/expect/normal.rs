//! Words of a call without what differs from run to run: where it works, and its temporary files.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use globset::{GlobBuilder, GlobMatcher};

/// The directory in which a session was started, in a list.
const CWD: &str = "${cwd}";

/// The same in a word that is matched: no argument has that byte.
const PLACE: u8 = 0;

/// What is below them has a name of its own each time.
const TEMPORARY: [&str; 2] = ["/tmp/", "/var/tmp/"];

/// A word with wildcards: `*` is any text but `/`, `?` a character but `/`, `**` any text; `\` before one has
/// it be itself.
#[derive(Debug)]
pub(super) struct Pattern {
    text: String,
    matcher: GlobMatcher,
    /// Whether a step upwards is written out in it.
    has_upward: bool,
}

impl Pattern {
    /// # Errors
    /// What is wrong with it.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let glob = GlobBuilder::new(&glob(text)?)
            .literal_separator(true)
            .backslash_escape(true)
            .build()
            .map_err(|error| error.kind().to_string())?;
        Ok(Self {
            has_upward: goes_up(text.as_bytes()),
            matcher: glob.compile_matcher(),
            text: text.to_owned(),
        })
    }

    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether it is of `word`, as that is or with [`CWD`] in it.
    pub(super) fn matches(&self, word: &[u8], cwd: Option<&[u8]>) -> bool {
        // What is below a directory is not what `..` leads to.
        if goes_up(word) && !self.has_upward && self.text != "**" {
            return false;
        }
        let is_of = |word: &[u8]| self.matcher.is_match(Path::new(OsStr::from_bytes(word)));
        is_of(word) || is_of(&placed(word, cwd))
    }
}

fn goes_up(word: &[u8]) -> bool {
    word.split(|byte| *byte == b'/').any(|step| step == b"..")
}

/// The pattern in globset's syntax, which has a meaning for more.
fn glob(text: &str) -> Result<String, String> {
    let mut glob = String::new();
    let mut rest = text.chars();
    while let Some(letter) = rest.next() {
        match letter {
            '\\' => {
                let next = rest
                    .next()
                    .ok_or("a backslash stands before what is to be itself")?;
                glob.extend([letter, next]);
            }
            '$' if rest.as_str().starts_with('{') => {
                const NAME: &str = "{cwd}";
                let after = rest.as_str().strip_prefix(NAME);
                rest = after.ok_or("only `${cwd}` is known here")?.chars();
                glob.push(char::from(PLACE));
            }
            '[' | ']' | '{' | '}' => glob.extend(['\\', letter]),
            other => glob.push(other),
        }
    }
    Ok(glob)
}

/// The pattern of a word, as it is learned.
pub(super) fn generalised(word: &[u8], cwd: Option<&[u8]>) -> String {
    let mut text = String::new();
    for chunk in placed(word, cwd).utf8_chunks() {
        for letter in chunk.valid().chars() {
            match letter {
                '\0' => text += CWD,
                '*' | '?' | '\\' | '$' => text.extend(['\\', letter]),
                other => text.push(other),
            }
        }
        // The list is UTF-8.
        text.extend(chunk.invalid().iter().map(|_| '?'));
    }
    // A secret, which the log has not.
    let text = match text.replace("\\*\\*\\*", "**") {
        // At the end of a list that would be whatever follows.
        any if any == "**" => "?**".to_owned(),
        masked => masked,
    };
    let of_path = |byte: &u8| byte.is_ascii_alphanumeric() || b"/._-+?".contains(byte);
    let is_temporary = |name: &str| {
        !name.is_empty() && name.bytes().all(|byte| of_path(&byte)) && !goes_up(name.as_bytes())
    };
    let below = TEMPORARY.iter().find_map(|directory| {
        let (option, name) = text.split_once(directory)?;
        (is_option(option) && is_temporary(name)).then_some((option, directory, name))
    });
    match below {
        None => text,
        Some((option, directory, name)) => {
            let names: Vec<_> = name
                .split('/')
                .map(|step| if step.is_empty() { "" } else { "*" })
                .collect();
            format!("{option}{directory}{}", names.join("/"))
        }
    }
}

/// Whether `text` before a path names an option or a variable, also one of another (`-plugin-opt=-fresolution=`,
/// `-Wl,-Map,`), or is nothing.
fn is_option(text: &str) -> bool {
    let is_name = |text: &str| {
        text.bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_=,".contains(&byte))
    };
    match text.strip_suffix('=') {
        Some(name) => !name.is_empty() && is_name(name),
        None => text.is_empty() || text.starts_with('-') && is_name(text),
    }
}

/// The word with [`PLACE`] for the directory, wherever that is a whole path or the beginning of one.
fn placed(word: &[u8], cwd: Option<&[u8]>) -> Vec<u8> {
    let Some(cwd) = cwd.filter(|cwd| cwd.len() > 1) else {
        return word.to_vec();
    };
    let (mut placed, mut rest) = (Vec::new(), word);
    while let Some((first, others)) = rest.split_first() {
        match rest.strip_prefix(cwd) {
            Some(after) if matches!(after.first(), None | Some(b'/' | b':' | b'=' | b',')) => {
                placed.push(PLACE);
                rest = after;
            }
            Some(_) | None => {
                placed.push(*first);
                rest = others;
            }
        }
    }
    placed
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: Option<&[u8]> = Some(b"/home/u/src");

    #[test]
    fn a_word_is_learned_without_what_differs() {
        for (word, expected) in [
            ("-c", "-c"),
            ("", ""),
            ("/home/u/src", "${cwd}"),
            ("-I/home/u/src/include", "-I${cwd}/include"),
            ("/home/u/src:/home/u/src2", "${cwd}:/home/u/src2"),
            ("/tmp/ccX1.o", "/tmp/*"),
            ("-o/var/tmp/a/b", "-o/var/tmp/*/*"),
            ("--out=/tmp/a/", "--out=/tmp/*/"),
            (
                "-plugin-opt=-fresolution=/tmp/a.res",
                "-plugin-opt=-fresolution=/tmp/*",
            ),
            ("-Wl,-Map,/tmp/a.map", "-Wl,-Map,/tmp/*"),
            ("a,/tmp/b", "a,/tmp/b"),
            ("/tmp/", "/tmp/"),
            // Not a path below it, and nothing else.
            ("x/tmp/a", "x/tmp/a"),
            ("/tmp/../etc/passwd", "/tmp/../etc/passwd"),
            ("/tmp/a; id", "/tmp/a; id"),
            ("--o=/tmp/x:/etc/passwd", "--o=/tmp/x:/etc/passwd"),
            ("open('/tmp/a')", "open('/tmp/a')"),
            ("a*[b]?{c}!", "a\\*[b]\\?{c}!"),
            ("${cwd}", "\\${cwd}"),
            ("a\\b", "a\\\\b"),
        ] {
            let text = generalised(word.as_bytes(), HERE);
            assert_eq!(text, expected, "{word}");
            let pattern = Pattern::parse(&text).unwrap();
            assert!(pattern.matches(word.as_bytes(), HERE), "{word} {text}");
        }
        let text = generalised(b"a\xff\xfeb", HERE);
        assert_eq!(text, "a??b");
        let pattern = Pattern::parse(&text).unwrap();
        assert!(pattern.matches(b"a\xfe\xfdb", HERE) && !pattern.matches(b"a\xfeb", HERE));
    }

    #[test]
    fn a_pattern_is_of_the_whole_word_alone() {
        for (pattern, word, is_of) in [
            ("*.c", "b.c", true),
            ("*.c", "a/b.c", false),
            ("**/*.c", "a/b.c", true),
            ("*.c", "b.cc", false),
            ("a", "aa", false),
            ("a", "./a", false),
            ("*", "", true),
            ("?", "/", false),
            ("**", "/a/../b", true),
            ("*", "a\nb", true),
            ("/tmp/*/*", "/tmp/../etc", false),
            ("/tmp/../*", "/tmp/../etc", true),
            ("${cwd}/*", "/home/u/src/x", true),
            ("${cwd}/*", "/home/u/src2/x", false),
            ("\\${cwd}", "/home/u/src", false),
            ("/home/u/src/x", "/home/u/src/x", true),
            ("{a,b}[c]", "{a,b}[c]", true),
            ("{a,b}", "a", false),
            ("\\*", "a", false),
        ] {
            let found = Pattern::parse(pattern).unwrap();
            assert_eq!(
                found.matches(word.as_bytes(), HERE),
                is_of,
                "{pattern} {word}"
            );
        }
        for faulty in ["a\\", "${nope}/x"] {
            assert!(Pattern::parse(faulty).is_err(), "{faulty}");
        }
    }
}
