//! Whether a jq filter only looks at its input.
//!
//! The builtins have no effect; but `env` and `$ENV` show the environment, and modules are files.
//! Those names mean nothing of the kind behind a dot or as the key of an object.

/// Words that reach outside.
const OUTSIDE: &[&[u8]] = &[
    b"env",
    b"ENV",
    b"import",
    b"include",
    b"modulemeta",
    b"get_search_list",
];

/// Words behind which a comma in an object may be part of a value.
const KEYWORDS: &[&[u8]] = &[
    b"if", b"def", b"reduce", b"foreach", b"try", b"label", b"as",
];

/// An open bracket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    Object,
    /// `(` or `[`.
    Other,
    /// `\(` of a string, which goes on behind it.
    Interpolation,
}

/// What the last sign announces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    Anything,
    /// The key of an object.
    Key,
    /// The name of a variable.
    Variable,
}

#[derive(Debug)]
struct Filter<'a> {
    rest: &'a [u8],
    open: Vec<Open>,
    next: Next,
    has_keywords: bool,
}

/// Whether `filter` only looks at its input.
///
/// # Errors
/// What else it has.
pub(super) fn judge(filter: &[u8]) -> Result<(), &'static str> {
    let mut filter = Filter {
        rest: filter,
        open: Vec::new(),
        next: Next::Anything,
        has_keywords: false,
    };
    while let Some(byte) = filter.rest.first().copied() {
        filter.step(byte)?;
    }
    Ok(())
}

impl Filter<'_> {
    /// Goes on by `count` bytes.
    fn skip(&mut self, count: usize) {
        self.rest = self.rest.get(count..).unwrap_or_default();
    }

    fn sign(&mut self, length: usize, next: Next) {
        self.skip(length);
        self.next = next;
    }

    fn step(&mut self, byte: u8) -> Result<(), &'static str> {
        let second = self.rest.get(1).copied().unwrap_or_default();
        match byte {
            b' ' | b'\t' | b'\r' | b'\n' => self.skip(1),
            b'#' => self.comment()?,
            b'"' => {
                self.skip(1);
                self.string()?;
            }
            b'.' if second == b'.' => self.sign(2, Next::Anything),
            b'.' if is_word_start(second) => {
                self.skip(1);
                let field = self.word_length();
                self.sign(field, Next::Anything);
            }
            b'@' => {
                self.skip(1);
                let format = self.word_length();
                self.sign(format, Next::Anything);
            }
            b'0'..=b'9' => {
                let is_of_number = |byte: &&u8| byte.is_ascii_digit() || **byte == b'.';
                let length = self.rest.iter().take_while(is_of_number).count();
                self.sign(length, Next::Anything);
            }
            b'$' => self.sign(1, Next::Variable),
            b'{' => {
                self.open.push(Open::Object);
                self.sign(1, Next::Key);
            }
            b'(' | b'[' => {
                self.open.push(Open::Other);
                self.sign(1, Next::Anything);
            }
            b')' | b']' | b'}' => {
                self.sign(1, Next::Anything);
                if self.open.pop() == Some(Open::Interpolation) {
                    self.string()?;
                }
            }
            b',' => {
                let is_in_object = self.open.last() == Some(&Open::Object) && !self.has_keywords;
                self.sign(
                    1,
                    if is_in_object {
                        Next::Key
                    } else {
                        Next::Anything
                    },
                );
            }
            byte if is_word_start(byte) => self.word()?,
            _ => self.sign(1, Next::Anything),
        }
        Ok(())
    }

    fn comment(&mut self) -> Result<(), &'static str> {
        let mut lines = self.rest.splitn(2, |byte| *byte == b'\n');
        let comment = lines.next().unwrap_or_default();
        // Versions differ on whether these end it or make it go on.
        if comment.contains(&b'\\') || comment.contains(&b'\r') {
            return Err("a comment without a clear end");
        }
        self.skip(comment.len());
        Ok(())
    }

    /// Reads a string, or the rest of one, up to its end or to a filter within it.
    fn string(&mut self) -> Result<(), &'static str> {
        let mut at = 0;
        loop {
            match (self.rest.get(at), self.rest.get(at + 1)) {
                (None, _) => return Err("a string without an end"),
                (Some(b'"'), _) => break,
                (Some(b'\\'), Some(b'(')) => {
                    self.open.push(Open::Interpolation);
                    self.sign(at + 2, Next::Anything);
                    return Ok(());
                }
                (Some(b'\\'), _) => at += 2,
                (Some(_), _) => at += 1,
            }
        }
        self.sign(at + 1, Next::Anything);
        Ok(())
    }

    fn word(&mut self) -> Result<(), &'static str> {
        let length = self.word_length();
        let word = self.rest.get(..length).unwrap_or_default();
        let is_outside = match self.next {
            Next::Key => false,
            Next::Variable => word == b"ENV",
            Next::Anything => OUTSIDE.contains(&word),
        };
        self.has_keywords |= self.next == Next::Anything && KEYWORDS.contains(&word);
        if is_outside {
            return Err("the environment, or a module");
        }
        self.sign(length, Next::Anything);
        Ok(())
    }

    fn word_length(&self) -> usize {
        let is_word_byte = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
        self.rest.iter().take_while(is_word_byte).count()
    }
}

fn is_word_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looking_at_the_input_is_safe() {
        for filter in [
            ".",
            ".env",
            ".spec.env[] | {name, env: .value}",
            "{env}",
            "{a: 1, env: .b, import}",
            ".[] | select(.a > 1) | \"\\(.b): \\(.c | tostring)\"",
            "\"env $ENV\"",
            "\"a\\\\\" | .env",
            "$env",
            ". as {env: $e} | $e",
            "[.[] | .a] | add / length",
            "to_entries[] | \"\\(.key)=\\(.value)\"",
            "@base64 \"x\\(.a)\"",
            "input_filename, input, inputs, getpath([\"env\"])",
            "reduce .[] as $x (0; . + $x) # env",
            "environment",
            "",
        ] {
            assert_eq!(judge(filter.as_bytes()), Ok(()), "{filter}");
        }
    }

    #[test]
    fn the_environment_and_modules_are_refused() {
        for filter in [
            "env",
            "env|keys|length",
            "env.KEY",
            "$ENV.KEY",
            "$ ENV",
            "$ # x\n ENV",
            "{$ENV}",
            "{(env|tostring): 1}",
            "{a: env}",
            "{a: (1, env)}",
            "{a: if true, env then 1 else 2 end}",
            "[1, env]",
            "[path(.[env:])]",
            "\"\\(env)\"",
            "\"a\\(\"b\\(env)\")\"",
            "..env",
            "1.env",
            ". env",
            "import \"d\" as $d; $d",
            "include \"m\"; f",
            "\"m\" | modulemeta",
            "# x\\\nenv",
            "# x\renv",
            "\"abc",
            "\"abc\\",
        ] {
            assert!(judge(filter.as_bytes()).is_err(), "{filter}");
        }
    }
}
