//! One who goes through the words of a call, or of a shell's text.

use std::ops::Range;

use super::flags::{self, Value};
use super::name::{Place, is_secret};
use super::shape::places;
use super::tame::Words;
use super::{MASK, Masked, Redaction, header, shape, url};

/// Programs whose settings are given as a name and, in the next word, a value.
const SETTERS: [&[u8]; 8] = [
    b"aws", b"npm", b"pnpm", b"yarn", b"git", b"gcloud", b"pip", b"poetry",
];

/// What stands between two words of a shell's text; the last ones begin a command.
const BLANKS: &[u8] = b" \t\r";
const STARTS: &[u8] = b"\n;|&(";
const OTHERS: &[u8] = b"\"'`<>){},?";

/// What the next word is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    Any,
    Secret,
    /// Of a user and what is secret.
    Pair,
}

pub(super) struct Scanner<'r> {
    redaction: &'r Redaction,
    program: Vec<u8>,
    /// What becomes of the words of the call, whose text may have commands of its own.
    words: Words,
    /// Whether the word was there behind which a flag of the program is one.
    is_behind: bool,
    /// Whether what follows are no flags any more, behind `--`.
    is_operand: bool,
    next: Next,
}

impl<'r> Scanner<'r> {
    pub(super) fn new(redaction: &'r Redaction) -> Self {
        Self {
            redaction,
            program: Vec::new(),
            words: Words::Run,
            is_behind: false,
            is_operand: false,
            next: Next::Any,
        }
    }

    /// What follows are arguments of a call of `program`.
    pub(super) fn call(&mut self, program: &[u8]) {
        self.words = Words::of(program);
        self.begin(program);
    }

    fn begin(&mut self, program: &[u8]) {
        self.program = program.to_vec();
        self.is_behind = false;
        self.is_operand = false;
        self.next = Next::Any;
    }

    /// One argument, or a text.
    pub(super) fn word<'t>(&mut self, word: &'t [u8]) -> Masked<'t> {
        let mut secrets: Vec<_> = places(word, MASK).map(|at| at..at + MASK.len()).collect();
        // It may be any text, if it is a value as a whole.
        let is_value = self.next == Next::Secret && !word.starts_with(b"--");
        if is_value && self.words != Words::Run {
            self.next = Next::Any;
            secrets.push(0..word.len());
        } else if let (Next::Pair, Words::Taken) = (self.next, self.words) {
            self.next = Next::Any;
            secrets.extend(secret_of_pair(word).map(|from| from..word.len()));
        } else if self.redaction.has_word(word) {
            secrets.push(0..word.len());
        } else {
            secrets.extend(header::find(word));
            secrets.extend(url::find(word));
            secrets.extend(shape::find(word));
            self.tokens(word, &mut secrets);
        }
        let text = word;
        let words = self.words;
        let masks = secrets.into_iter().filter(|secret| !is_path(word, secret));
        let masks = masks.map(|secret| words.tame(word, secret));
        let secrets = merged(masks.collect());
        Masked { text, secrets }
    }

    fn tokens(&mut self, word: &[u8], secrets: &mut Vec<Range<usize>>) {
        let mut at = 0;
        // The text that a shell is given begins with a command of its own.
        let is_text = self.words == Words::Run && word.iter().any(u8::is_ascii_whitespace);
        let mut is_start = self.program.is_empty() || is_text && self.next == Next::Any;
        while at < word.len() {
            let tail = word.get(at..).unwrap_or_default();
            let len = tail.iter().take_while(|byte| !is_between(**byte)).count();
            let token = tail.get(..len).unwrap_or_default();
            let until = (at + len).min(word.len());
            if !token.is_empty() {
                let name = crate::path::file_name(token);
                let is_known = self.words == Words::Run && flags::has_any(name);
                if is_start && !token.contains(&b'=') || is_known {
                    self.begin(name);
                    is_start = false;
                }
                self.token(word, at..until, secrets);
            }
            is_start |= word.get(until).is_some_and(|byte| STARTS.contains(byte));
            at = until + 1;
        }
    }

    fn token(&mut self, word: &[u8], at: Range<usize>, secrets: &mut Vec<Range<usize>>) {
        let token = word.get(at.clone()).unwrap_or_default();
        self.is_behind |= flags::is_begun_by(&self.program, token);
        let is_flag = token.len() > 1 && token.starts_with(b"-") && !self.is_operand;
        self.is_operand |= token == b"--";
        let next = std::mem::replace(&mut self.next, Next::Any);
        if !is_flag && next != Next::Any {
            let from = match next {
                Next::Pair => secret_of_pair(token),
                Next::Any | Next::Secret => Some(0),
            };
            secrets.extend(from.map(|from| at.start + from..at.end));
            return;
        }
        if let Some(of_key) = token.strip_prefix(b"pass:".as_slice()) {
            secrets.push(at.end - of_key.len()..at.end);
        }
        if self.redaction.has_word(token) {
            secrets.push(at);
        } else if token.contains(&b'=') {
            let places = (0..token.len()).filter(|place| token.get(*place) == Some(&b'='));
            let mut values = places.filter_map(|equals| self.assigned(word, &at, equals));
            secrets.extend(values.next());
        } else if is_flag {
            secrets.extend(self.flag(token, &at));
        } else if is_secret(token, Place::Word) {
            let of_json = of_json(word, at.end);
            if of_json.is_none() && SETTERS.contains(&self.program.as_slice()) {
                self.next = Next::Secret;
            }
            secrets.extend(of_json);
        }
    }

    /// The value in `NAME=VALUE`, if the name has one that is a secret.
    fn assigned(&self, word: &[u8], at: &Range<usize>, equals: usize) -> Option<Range<usize>> {
        let token = word.get(at.clone())?;
        let name = name_at_end(token.get(..equals)?)?;
        if self.is_operand && name.starts_with(b"-") {
            return None;
        }
        let is_of_url = at.start > 0 && word.get(..at.start)?.contains(&b'?');
        let place = if is_of_url { Place::Url } else { Place::Word };
        if !is_secret(name, place) && !self.redaction.has_flag(name) {
            return None;
        }
        let from = at.start + equals + 1;
        // In a shell's text the value may stand in quotes, or be a variable's.
        let quote = word.get(from).filter(|byte| b"\"'".contains(byte));
        match quote {
            // As a whole argument it has no other end.
            None if at.start == 0 && name.starts_with(b"-") && self.words != Words::Run => {
                not_a_variable(word, from..word.len())
            }
            Some(quote) if from == at.end => {
                let tail = word.get(from + 1..)?;
                let len = tail.iter().take_while(|byte| *byte != quote).count();
                not_a_variable(word, from + 1..from + 1 + len)
            }
            _ => not_a_variable(word, from..at.end),
        }
    }

    /// The value that is written right behind a flag; else the next word may be one.
    fn flag(&mut self, token: &[u8], at: &Range<usize>) -> Option<Range<usize>> {
        if self.redaction.has_flag(token)
            || token.starts_with(b"--") && is_secret(token, Place::Word)
        {
            self.next = Next::Secret;
            return None;
        }
        if let Some(len) = self.redaction.attached(token) {
            return Some(at.start + len..at.end);
        }
        let given = flags::value_of(&self.program, token, self.is_behind)?;
        match (given.value, given.from) {
            (Value::Word | Value::Attached, Some(from)) => return Some(at.start + from..at.end),
            (Value::Pair, Some(_)) => {
                return secret_of_pair(token).map(|from| at.start + from..at.end);
            }
            (Value::Word, None) => self.next = Next::Secret,
            (Value::Pair, None) => self.next = Next::Pair,
            (Value::Attached, None) => {}
        }
        None
    }
}

/// The name at the end of what stands before a `=`: as a whole, or behind a colon or another `=`.
fn name_at_end(before: &[u8]) -> Option<&[u8]> {
    let is_of_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.".contains(byte);
    let other = before.iter().rposition(|byte| !is_of_name(byte));
    match other {
        None => Some(before),
        Some(at) if matches!(before.get(at), Some(b':' | b'=')) => before.get(at + 1..),
        Some(_) => None,
    }
}

/// Whether a value is a file's path, which who is asked must see, or says what is no secret: `@file`, `src=...`.
fn is_path(word: &[u8], value: &Range<usize>) -> bool {
    let value = word.get(value.clone()).unwrap_or_default();
    let begins = |start: &&[u8]| value.starts_with(start);
    let has = |part: &[u8]| value.windows(part.len()).any(|it| it == part);
    let is_one = [
        b"/".as_slice(),
        b"./",
        b"../",
        b"~",
        b"@",
        b"!",
        b"id=",
        b"type=",
    ]
    .iter()
    .any(begins);
    is_one || has(b"/../") || has(b"src=") || has(b"source=") || has(b"file=") || has(b"path=")
}

fn is_between(byte: u8) -> bool {
    // Letters and digits are by far the most.
    !byte.is_ascii_alphanumeric()
        && (BLANKS.contains(&byte) || STARTS.contains(&byte) || OTHERS.contains(&byte))
}

/// Where it begins in `USER:SECRET` or `USER%SECRET`.
fn secret_of_pair(token: &[u8]) -> Option<usize> {
    let at = token.iter().position(|byte| b":%".contains(byte))?;
    (at + 1 < token.len()).then_some(at + 1)
}

fn not_a_variable(word: &[u8], at: Range<usize>) -> Option<Range<usize>> {
    let value = word.get(at.clone())?;
    (!value.is_empty() && !value.starts_with(b"$")).then_some(at)
}

/// The value in `"NAME": "VALUE"`, behind the name.
fn of_json(word: &[u8], from: usize) -> Option<Range<usize>> {
    let tail = word.get(from..)?.strip_prefix(b"\"")?.trim_ascii_start();
    let value = tail
        .strip_prefix(b":")?
        .trim_ascii_start()
        .strip_prefix(b"\"")?;
    let start = header::behind_scheme(word, word.len() - value.len());
    let value = word.get(start..)?;
    let len = value.iter().take_while(|byte| **byte != b'"').count();
    (len > 0).then(|| start..start + len)
}

/// In their order, those that touch as one.
fn merged(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.retain(|range| !range.is_empty());
    ranges.sort_unstable_by_key(|range| (range.start, range.end));
    let mut merged: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}
