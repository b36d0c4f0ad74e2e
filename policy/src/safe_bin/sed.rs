//! Whether a sed script only edits what goes through.
//!
//! Every command is read, as GNU sed and BusyBox have them. Where they disagree on where one ends,
//! text could be a command to one and data to the other: that is refused. Each script stands for
//! itself, so one whose last line goes on in the next is refused too.

use super::regex;

#[derive(Debug)]
struct Script<'a> {
    rest: &'a [u8],
}

/// What is not understood.
const UNCLEAR: &str = "a command that is not understood";

/// Whether `script` only edits what goes through.
///
/// # Errors
/// What else it has.
pub(super) fn judge(script: &[u8]) -> Result<(), &'static str> {
    if script.ends_with(b"\\") {
        return Err("a last line that goes on");
    }
    // GNU sed ends a label there, and others do not.
    if script.iter().any(|byte| b"\r\x0b\x0c".contains(byte)) {
        return Err("blanks of another kind");
    }
    let mut script = Script { rest: script };
    loop {
        script.skip_while(|byte| byte.is_ascii_whitespace() || byte == b';');
        if script.rest.is_empty() {
            return Ok(());
        }
        script.addresses()?;
        let command = script.rest.first().copied().ok_or(UNCLEAR)?;
        script.skip(1);
        script.command(command)?;
    }
}

impl Script<'_> {
    /// Goes on by `count` bytes.
    fn skip(&mut self, count: usize) {
        self.rest = self.rest.get(count..).unwrap_or_default();
    }

    fn skip_while(&mut self, is_skipped: impl Fn(u8) -> bool) {
        let count = self.rest.iter().take_while(|byte| is_skipped(**byte));
        self.skip(count.count());
    }

    fn skip_blanks(&mut self) {
        self.skip_while(|byte| matches!(byte, b' ' | b'\t'));
    }

    /// What says where a command applies, and whether everywhere else.
    fn addresses(&mut self) -> Result<(), &'static str> {
        if self.address()? {
            self.skip_blanks();
            if self.rest.first() == Some(&b',') {
                self.skip(1);
                self.skip_blanks();
                if matches!(self.rest.first(), Some(b'+' | b'~')) {
                    self.skip(1);
                }
                if !self.address()? {
                    return Err(UNCLEAR);
                }
            }
        }
        self.skip_while(|byte| matches!(byte, b' ' | b'\t' | b'!'));
        Ok(())
    }

    /// One address, if there is one.
    fn address(&mut self) -> Result<bool, &'static str> {
        let delimiter = match self.rest {
            [b'0'..=b'9', ..] => {
                self.skip_while(|byte| byte.is_ascii_digit());
                if self.rest.first() == Some(&b'~') {
                    self.skip(1);
                    self.skip_while(|byte| byte.is_ascii_digit());
                }
                return Ok(true);
            }
            [b'$', ..] => {
                self.skip(1);
                return Ok(true);
            }
            [b'/', ..] => {
                self.skip(1);
                b'/'
            }
            [b'\\', delimiter, ..] => {
                self.skip(2);
                *delimiter
            }
            _ => return Ok(false),
        };
        self.expression(delimiter)?;
        // Letters that belong to the expression, with blanks or without.
        self.skip_while(|byte| matches!(byte, b' ' | b'\t' | b'I' | b'M'));
        Ok(true)
    }

    /// A regular expression and its closing delimiter.
    fn expression(&mut self, delimiter: u8) -> Result<(), &'static str> {
        let is_plain = !delimiter.is_ascii_whitespace() && !b"[]\\".contains(&delimiter);
        let length = regex::length(self.rest, delimiter).filter(|_| is_plain);
        self.skip(length.ok_or("an expression without a clear end")? + 1);
        Ok(())
    }

    /// What stands behind the letter of a command.
    fn command(&mut self, command: u8) -> Result<(), &'static str> {
        match command {
            b'{' | b'}' => Ok(()),
            b'=' | b'd' | b'D' | b'g' | b'G' | b'h' | b'H' | b'n' | b'N' | b'p' | b'P' | b'x'
            | b'z' | b'F' => self.end(),
            b'l' | b'L' | b'q' | b'Q' => {
                self.skip_blanks();
                self.skip_while(|byte| byte.is_ascii_digit());
                self.end()
            }
            b':' | b'b' | b't' | b'T' | b'v' => {
                self.skip_blanks();
                self.skip_while(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte));
                self.skip_blanks();
                match self.rest.first() {
                    // To BusyBox it belongs to the label, and what follows is the next command.
                    Some(b'}' | b'#') => Err("a label without a clear end"),
                    _ => self.end(),
                }
            }
            b'a' | b'i' | b'c' => self.text(),
            b's' | b'y' => self.substitution(command),
            b'#' => self.comment(),
            b'e' => Err("`e`, which runs a command"),
            b'r' | b'R' => Err("a command that reads a file"),
            b'w' | b'W' => Err("a command that writes a file"),
            _ => Err(UNCLEAR),
        }
    }

    /// The end of a command, which something else may follow.
    fn end(&mut self) -> Result<(), &'static str> {
        self.skip_blanks();
        match self.rest.first() {
            None | Some(b'\n' | b';' | b'}' | b'#') => Ok(()),
            Some(b'\r') => Ok(()),
            Some(_) => Err(UNCLEAR),
        }
    }

    fn comment(&mut self) -> Result<(), &'static str> {
        let comment = self.line();
        if comment.ends_with(b"\\") {
            return Err("a comment that may go on");
        }
        let length = comment.len();
        self.skip(length);
        Ok(())
    }

    /// The rest of the line.
    fn line(&self) -> &[u8] {
        let mut lines = self.rest.splitn(2, |byte| *byte == b'\n');
        lines.next().unwrap_or_default()
    }

    /// The text of `a`, `i` and `c`: up to a line that does not end with a backslash.
    fn text(&mut self) -> Result<(), &'static str> {
        self.skip_blanks();
        if self.line().is_empty() {
            return Err(UNCLEAR);
        }
        loop {
            let line = self.line();
            let length = line.len();
            let (goes_on, is_clear) = (line.ends_with(b"\\"), !line.ends_with(b"\\\\"));
            if !is_clear {
                return Err("a text without a clear end");
            }
            self.skip(length + 1);
            if !goes_on {
                return Ok(());
            }
        }
    }

    /// The two parts of `s` and `y`, and the letters behind those of `s`.
    fn substitution(&mut self, command: u8) -> Result<(), &'static str> {
        let delimiter = self.rest.first().copied().ok_or(UNCLEAR)?;
        self.skip(1);
        self.expression(delimiter)?;
        let length = regex::plain_length(self.rest, delimiter);
        self.skip(length.ok_or("a replacement without a clear end")? + 1);
        if command == b'y' {
            return self.end();
        }
        loop {
            match self.rest.first() {
                Some(b'g' | b'p' | b'i' | b'I' | b'm' | b'M' | b'0'..=b'9') => self.skip(1),
                Some(b'e') => return Err("`s` with `e`, which runs a command"),
                Some(b'w') => return Err("`s` with `w`, which writes a file"),
                Some(_) | None => return self.end(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn editing_what_goes_through_is_safe() {
        for script in [
            "s/e/w/",
            "s|w|e|g",
            "1,3p",
            "/X/I,/Y/Mp",
            "$!N;P;D",
            ":a;N;$!ba;s/\\n/ /g",
            "s/[[:space:]]*$//",
            "s/[^a-z]//g;s,a,b,2p",
            "/^#/d; /^$/d",
            "0~3d",
            "2,+3p",
            "1~2!d",
            "0,/re/s/a/b/",
            "/a/{s/b/c/;p}",
            "/a/{\ns/b/c/\np\n}",
            "a text w m",
            "a\\\ntext\\\nw m",
            "$a\\end",
            "y/abc/xyz/",
            "\\,a/b,p",
            "s/a\\/b/c/",
            "s/a/b\\\nc/",
            "# w m\np",
            "10q",
            "q",
            "l 5",
            "=",
            "",
            "/start/,/end/{//!d}",
            "tx; :x",
            "s/x/\\//w".strip_suffix('w').unwrap(),
            "s/^[ \\t]*//",
        ] {
            assert_eq!(judge(script.as_bytes()), Ok(()), "{script}");
        }
    }

    #[test]
    fn what_runs_reads_or_writes_is_refused() {
        for script in [
            "1w m",
            "w m",
            "W m",
            "r /etc/shadow",
            "R x",
            "e",
            "e touch m",
            "1e touch m",
            "/X/Iw m",
            "/X/I,/Y/M w m",
            "/X/ I w m",
            "s/a/b/w m",
            "s/a/b/gw m",
            "s/a/b/ew",
            "s/x/touch m/e",
            "s/a/b/;w m",
            "s/a/b/ w m",
            "p;e",
            "{w m\n}",
            "/a/{p;w m\n}",
            "$!{w m\n}",
            "1!w m",
            ":a;w m",
            "ba;w m",
            "b}\nw m",
            "a x\nw m",
            "# c\nw m",
            "=;w m",
            "q5;w m",
            "y/a/b/;w m",
            "2,+3w m",
            "0~3w m",
            "\\,a,w m",
        ] {
            assert!(judge(script.as_bytes()).is_err(), "{script}");
        }
    }

    #[test]
    fn what_seds_disagree_on_is_refused() {
        for script in [
            "s/[/]/;w m;s/]//",
            "s/[/]/x/",
            "b}/x/a w m",
            ":a1}i x;w m",
            "b }",
            ":]g",
            "# x\\\nw m",
            "a foo\\\\\\\np",
            "a\\",
            "a",
            "a\np",
            "s/a/b",
            "s/a\nb/c/",
            "s\na\nb\n",
            "1,p",
            "/a",
            "k",
            "pp",
            "s/a/b/gz",
            "1",
        ] {
            assert!(judge(script.as_bytes()).is_err(), "{script}");
        }
    }
}
