//! Words of a call without what differs from run to run: where it works, and its temporary files.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use globset::{GlobBuilder, GlobMatcher};

/// The directory in which a session was started, in a list.
pub(super) const CWD: &str = "${cwd}";

/// [`CWD`], to a matcher that has a meaning for braces.
const CWD_LITERAL: &str = "$[{]cwd[}]";

/// What is below them has a name of its own each time.
const TEMPORARY: [&str; 2] = ["/tmp/", "/var/tmp/"];

/// A word with wildcards: `*` and `?` stand for any text and any character, `/` among them.
#[derive(Debug)]
pub(super) struct Pattern {
    text: String,
    matcher: GlobMatcher,
}

impl Pattern {
    /// # Errors
    /// What is wrong with its wildcards.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let glob = GlobBuilder::new(&text.replace(CWD, CWD_LITERAL))
            .literal_separator(false)
            .backslash_escape(false)
            .build()
            .map_err(|error| error.kind().to_string())?;
        Ok(Self {
            text: text.to_owned(),
            matcher: glob.compile_matcher(),
        })
    }

    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether it is of `word`, as that is or with [`CWD`] in it.
    pub(super) fn matches(&self, word: &[u8], cwd: Option<&[u8]>) -> bool {
        let is_of = |word: &[u8]| self.matcher.is_match(Path::new(OsStr::from_bytes(word)));
        is_of(word) || is_of(&placed(word, cwd))
    }
}

/// The pattern of a word, as it is learned.
pub(super) fn generalised(word: &[u8], cwd: Option<&[u8]>) -> String {
    let mut text = String::new();
    for chunk in placed(word, cwd).utf8_chunks() {
        text += &globset::escape(chunk.valid());
        if !chunk.invalid().is_empty() {
            // The list is UTF-8.
            text.push('*');
        }
    }
    let text = text.replace(CWD_LITERAL, CWD);
    let ends = TEMPORARY.map(|directory| text.find(directory).map(|at| at + directory.len()));
    let end = ends.into_iter().flatten().min();
    match end.and_then(|end| text.split_at_checked(end)) {
        Some((kept, rest)) if !rest.is_empty() => format!("{kept}*"),
        Some(_) | None => text,
    }
}

/// The word with [`CWD`] for the directory, wherever that is a whole path or the beginning of one.
fn placed(word: &[u8], cwd: Option<&[u8]>) -> Vec<u8> {
    let Some(cwd) = cwd.filter(|cwd| cwd.len() > 1) else {
        return word.to_vec();
    };
    let (mut placed, mut rest) = (Vec::new(), word);
    while let Some((first, others)) = rest.split_first() {
        match rest.strip_prefix(cwd) {
            Some(after) if matches!(after.first(), None | Some(b'/' | b':' | b'=' | b',')) => {
                placed.extend(CWD.as_bytes());
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
            ("-o/var/tmp/a/b", "-o/var/tmp/*"),
            ("/tmp/", "/tmp/"),
            ("a*[b]?{c}!", "a[*][[]b[]][?][{]c[}]!"),
            ("${cwd}", "${cwd}"),
            ("a\\b", "a\\b"),
        ] {
            let text = generalised(word.as_bytes(), HERE);
            assert_eq!(text, expected, "{word}");
            let pattern = Pattern::parse(&text).unwrap();
            assert!(pattern.matches(word.as_bytes(), HERE), "{word} {text}");
        }
        let text = generalised(b"a\xffb", HERE);
        assert_eq!(text, "a*b");
        assert!(Pattern::parse(&text).unwrap().matches(b"a\xfe\xfdb", HERE));
    }

    #[test]
    fn a_pattern_is_of_the_whole_word_alone() {
        for (pattern, word, is_of) in [
            ("*.c", "a/b.c", true),
            ("*.c", "b.cc", false),
            ("a", "aa", false),
            ("a", "./a", false),
            ("*", "", true),
            ("?", "/", true),
            ("*", "a\nb", true),
            ("${cwd}/*", "/home/u/src/x", true),
            ("${cwd}/*", "/home/u/src2/x", false),
            ("/home/u/src/x", "/home/u/src/x", true),
            ("{a,b}", "b", true),
        ] {
            let found = Pattern::parse(pattern).unwrap();
            assert_eq!(
                found.matches(word.as_bytes(), HERE),
                is_of,
                "{pattern} {word}"
            );
        }
        assert!(Pattern::parse("[a").is_err());
    }
}
