//! Whether an awk program only computes and prints.
//!
//! It is taken apart into words, strings, expressions and signs, as POSIX and the awks have them.
//! Where these disagree on what is a regular expression and what a division, text could be code to
//! one and data to the other: that is refused, as is whatever is not known to do nothing.

use super::regex;

/// Functions that only compute.
const FUNCTIONS: &[&[u8]] = &[
    b"length",
    b"substr",
    b"index",
    b"split",
    b"sub",
    b"gsub",
    b"gensub",
    b"match",
    b"sprintf",
    b"sin",
    b"cos",
    b"atan2",
    b"exp",
    b"log",
    b"sqrt",
    b"int",
    b"rand",
    b"srand",
    b"tolower",
    b"toupper",
    b"strtonum",
    b"systime",
    b"strftime",
    b"mktime",
    b"and",
    b"or",
    b"xor",
    b"compl",
    b"lshift",
    b"rshift",
    b"asort",
    b"asorti",
    b"patsplit",
    b"typeof",
    b"isarray",
];

/// What a sign, word or text leaves behind: what a slash means next to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Before {
    /// A value, so that a slash divides.
    Value,
    /// No value, so that a slash begins an expression.
    Nothing,
    /// The awks disagree.
    Unclear,
}

/// An open bracket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    /// Of a value or a call.
    Group,
    /// Of `if`, `while` and the like.
    Control,
    Index,
}

#[derive(Debug)]
struct Program<'a> {
    rest: &'a [u8],
    before: Before,
    open: Vec<Open>,
    /// How many of them are parentheses.
    parentheses: usize,
    /// Whether this is a `print`, where `>` outside of parentheses writes a file. Its end is not
    /// always a line's: only what surely ends it does here.
    is_print: bool,
    /// Whether the next parenthesis is that of `if` and the like.
    is_control: bool,
}

/// Whether `program` only computes and prints.
///
/// # Errors
/// What else it has.
pub(super) fn judge(program: &[u8]) -> Result<(), &'static str> {
    let mut program = Program {
        rest: program,
        before: Before::Nothing,
        open: Vec::new(),
        parentheses: 0,
        is_print: false,
        is_control: false,
    };
    while let Some(byte) = program.rest.first().copied() {
        program.step(byte)?;
    }
    Ok(())
}

impl Program<'_> {
    /// Goes on by `count` bytes.
    fn skip(&mut self, count: usize) {
        self.rest = self.rest.get(count..).unwrap_or_default();
    }

    /// Reads what begins with `byte`.
    fn step(&mut self, byte: u8) -> Result<(), &'static str> {
        match byte {
            b' ' | b'\t' => self.skip(1),
            b'#' => self.comment()?,
            b'\n' => {
                let is_unclear = self.before != Before::Nothing && !self.open.is_empty();
                self.sign(
                    1,
                    if is_unclear {
                        Before::Unclear
                    } else {
                        Before::Nothing
                    },
                );
            }
            b'\\' if self.rest.starts_with(b"\\\n") => self.skip(2),
            b'"' => self.string()?,
            b'/' => self.slash()?,
            b'0'..=b'9' => self.sign(1, Before::Value),
            b'.' if self.rest.get(1).is_some_and(u8::is_ascii_digit) || self.is_value() => {
                self.sign(1, Before::Value);
            }
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => self.word()?,
            b'(' | b'[' | b')' | b']' => self.bracket(byte)?,
            b'{' | b'}' | b';' => {
                if self.open.is_empty() {
                    self.is_print = false;
                } else if byte != b';' {
                    return Err("a brace within parentheses");
                }
                self.sign(1, Before::Nothing);
            }
            b'|' if self.rest.starts_with(b"||") => self.sign(2, Before::Nothing),
            b'|' => return Err("a pipe"),
            b'>' => {
                if self.rest.starts_with(b">>") || self.is_print && self.parentheses == 0 {
                    return Err("output into a file");
                }
                self.sign(1, Before::Nothing);
            }
            b'+' | b'-' if self.rest.get(1) == Some(&byte) => self.sign(2, Before::Unclear),
            b'$' => self.sign(1, Before::Unclear),
            b'+' | b'-' | b'*' | b'%' | b'^' | b'=' | b'!' | b'~' | b'<' | b'&' | b',' | b'?'
            | b':' => self.sign(1, Before::Nothing),
            _ => return Err("a character that is not known there"),
        }
        Ok(())
    }

    fn is_value(&self) -> bool {
        self.before == Before::Value
    }

    fn sign(&mut self, length: usize, before: Before) {
        self.skip(length);
        self.before = before;
    }

    fn comment(&mut self) -> Result<(), &'static str> {
        let mut lines = self.rest.splitn(2, |byte| *byte == b'\n');
        let comment = lines.next().unwrap_or_default();
        if comment.ends_with(b"\\") {
            return Err("a comment that may go on");
        }
        self.skip(comment.len());
        Ok(())
    }

    fn string(&mut self) -> Result<(), &'static str> {
        let text = self.rest.get(1..).unwrap_or_default();
        let length = regex::plain_length(text, b'"').ok_or("a string without an end")?;
        self.sign(length + 2, Before::Unclear);
        Ok(())
    }

    fn slash(&mut self) -> Result<(), &'static str> {
        match self.before {
            Before::Value => self.sign(1, Before::Nothing),
            Before::Unclear => return Err("a slash that may divide or begin an expression"),
            Before::Nothing => {
                let text = self.rest.get(1..).unwrap_or_default();
                let length =
                    regex::length(text, b'/').ok_or("an expression without a clear end")?;
                self.sign(length + 2, Before::Unclear);
            }
        }
        Ok(())
    }

    fn word(&mut self) -> Result<(), &'static str> {
        let is_word_byte = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
        let length = self.rest.iter().take_while(is_word_byte).count();
        let word = self.rest.get(..length).unwrap_or_default();
        let behind = self.rest.get(length..).unwrap_or_default();
        let is_called = behind.trim_ascii_start().starts_with(b"(");
        self.skip(length);
        self.before = match word {
            b"system" => return Err("`system`"),
            b"getline" => return Err("`getline`"),
            b"ENVIRON" | b"PROCINFO" => return Err("the environment"),
            b"ARGV" | b"ARGC" => return Err("its arguments, which are files"),
            b"SYMTAB" | b"FUNCTAB" => return Err("its own variables by name"),
            b"function" | b"func" => return Err("a function of its own"),
            b"print" | b"printf" => {
                self.is_print = true;
                Before::Nothing
            }
            b"if" | b"while" | b"for" | b"switch" => {
                self.is_control = true;
                Before::Nothing
            }
            b"else" | b"do" | b"in" | b"return" | b"exit" | b"delete" | b"case" => Before::Nothing,
            b"BEGIN" | b"END" | b"BEGINFILE" | b"ENDFILE" | b"next" | b"nextfile" | b"break"
            | b"continue" | b"default" => Before::Unclear,
            _ if FUNCTIONS.contains(&word) => Before::Unclear,
            _ if is_called => return Err("a function that is not known"),
            _ => Before::Value,
        };
        Ok(())
    }

    fn bracket(&mut self, byte: u8) -> Result<(), &'static str> {
        let is_control = std::mem::take(&mut self.is_control);
        let (opened, before) = match (byte, is_control) {
            (b'(', true) => (Some(Open::Control), Before::Nothing),
            (b'(', false) => (Some(Open::Group), Before::Nothing),
            (b'[', _) => (Some(Open::Index), Before::Nothing),
            _ => (None, Before::Value),
        };
        self.sign(1, before);
        if let Some(open) = opened {
            self.open.push(open);
            self.parentheses += usize::from(open != Open::Index);
            return Ok(());
        }
        let closed = self.open.pop();
        if (closed == Some(Open::Index)) != (byte == b']') || closed.is_none() {
            return Err("brackets that do not match");
        }
        self.parentheses -= usize::from(byte == b')');
        if closed == Some(Open::Control) {
            self.before = Before::Unclear;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn computing_and_printing_is_safe() {
        for program in [
            "/error|warn/ { print $2 }",
            "{print $1}",
            "{ print $NF, $1/2, ($1+$2)/2 }",
            "NR==1,NR==5",
            "$3 > 100 && $1 !~ /^#/ {s += $3; n++} END {if (n > 0) printf \"%.2f\\n\", s/n}",
            "BEGIN{FS=\":\"} {a[$1]++} END {for (k in a) print k, a[k]}",
            "{ print ($1 > 5 ? \"big\" : \"small\") }",
            "length($0) > 80",
            "!seen[$0]++",
            "{ gsub(/[[:space:]]+/, \" \"); print substr($0, 1, 10) }",
            "{ print toupper($1) \"a > b | c\" }",
            "# a comment\n{ print }",
            "{ print \"system\" }",
            "$1 ~ /=/",
            "1",
            "",
            "{ sum += $1 } END { print sum / NR }",
            "BEGIN { x = 1.5e3; print x }",
            "{ a[1] = $1 / 2; print a[1] / 3 }",
        ] {
            assert_eq!(judge(program.as_bytes()), Ok(()), "{program}");
        }
    }

    #[test]
    fn what_starts_writes_reads_or_is_not_clear_is_refused() {
        for program in [
            "BEGIN{\"touch m\" | getline}",
            "BEGIN{getline x < \"/etc/shadow\"}",
            "BEGIN{print \"DATA\" > \"m\"}",
            "BEGIN{print \"DATA\" >> \"m\"}",
            "BEGIN{print > \"m\"}",
            "BEGIN{printf(\"x\") > \"m\"}",
            "BEGIN{print 1,\n2 > \"m\"}",
            "BEGIN{print (1)(2) > \"m\"}",
            "BEGIN{print a[1] > \"m\"}",
            "BEGIN{print a[(1) > \"m\"]}",
            "BEGIN{print \"x\" | \"touch m\"}",
            "BEGIN{print \"x\" |& \"touch m\"}",
            "BEGIN{system(\"touch m\")}",
            "BEGIN{system (\"touch m\")}",
            "BEGIN{1system(\"touch m\")}",
            "BEGIN{x=1;sys\\\ntem(\"m\")}",
            "BEGIN{print ENVIRON[\"KEY\"]}",
            "BEGIN{ARGV[1]=\"/etc/shadow\";ARGC=2}1",
            "@load \"filefuncs\"",
            "@include \"x\"",
            "BEGIN{f=\"system\";@f(\"m\")}",
            "BEGIN{SYMTAB[\"x\"]=1}",
            "function f(x) {return x} {f(1)}",
            "BEGIN{close(\"x\")}",
            // Two readings each: an expression or a division, and where it ends.
            "BEGIN{if(1) /\"/ ; print \"a\" > \"m\" #\"/\n}",
            "BEGIN{x = length / 2 ; y = \"/; system(1)\"}",
            "{x++ /\"/; print > \"m\" #\"/\n}",
            "/[/]/ {print}",
            "{print \"a",
            "/a",
            "# x\\\nBEGIN{}",
            "{x = \"a\" /b/ 2}",
            "}){",
        ] {
            assert!(judge(program.as_bytes()).is_err(), "{program}");
        }
    }
}
