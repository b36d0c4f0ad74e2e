//! What a person says at a question, key by key: pure.
//!
//! ```text
//! Choosing ──► Scoping ──► Confirming ──► Sent
//!     └──────► Reasoning ──────┘
//! ```
//!
//! Nothing is an answer before the question was drawn anew, with a code that nobody knew, and that was typed:
//! what a program draws, and what was typed ahead, is none.

use crate::control::{Decision, REASON_MAX_BYTES, Scope};
use crate::grants::Span;
use crate::screen::Code;

/// What may be said of the question at hand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Offer {
    /// How many wait with the same question.
    pub(super) alike: usize,
    /// What an answer that lasts can cover.
    pub(super) scopes: Vec<Scope>,
}

/// An answer that was made sure of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) decision: Decision,
    pub(super) span: Span,
    pub(super) scope: Scope,
    pub(super) these: Option<usize>,
    pub(super) reason: Option<String>,
    /// In words, for whoever is to make sure of it.
    pub(super) words: String,
}

/// What was said so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Choosing,
    /// What something covers that lasts so long.
    Scoping(Span),
    /// Why it is denied.
    Reasoning,
    /// The question is drawn anew with this code.
    Confirming(Answer, Code),
    /// The gate has the answer.
    Sent,
}

/// What follows from a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reaction {
    Nothing,
    /// The line is another.
    Redraw,
    /// The next page, if there is one; else the line is said.
    Enter,
    /// Denied, and the command interrupted.
    Interrupt,
}

/// What follows from a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// What is asked next is shown from its first page.
    Next,
    Answered(Answer),
}

/// Where in a key's escape sequence the input is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Keys {
    #[default]
    Plain,
    Escape,
    /// Of `ESC [` and `ESC O`, up to a letter.
    Sequence,
}

/// A person at one question.
#[derive(Debug)]
pub(super) struct Dialog {
    pub(super) step: Step,
    /// What is typed.
    pub(super) line: String,
    /// What went wrong before.
    pub(super) note: Option<String>,
    keys: Keys,
}

impl Dialog {
    pub(super) fn new(note: Option<String>) -> Self {
        Self {
            step: Step::Choosing,
            line: String::new(),
            note,
            keys: Keys::Plain,
        }
    }

    /// A key.
    pub(super) fn press(&mut self, byte: u8) -> Reaction {
        let keys = std::mem::take(&mut self.keys);
        match (keys, byte) {
            (_, b'\x1b') => self.keys = Keys::Escape,
            (Keys::Escape, b'[' | b'O') => self.keys = Keys::Sequence,
            (Keys::Sequence, b' '..=b'?') => self.keys = Keys::Sequence,
            (Keys::Escape | Keys::Sequence, _) => {}
            (Keys::Plain, _) if self.step == Step::Sent => {}
            (Keys::Plain, b'\r' | b'\n') => return Reaction::Enter,
            (Keys::Plain, b'\x7f' | b'\x08') => {
                self.line.pop();
                return Reaction::Redraw;
            }
            // Ctrl-C: nothing is allowed by it, so it needs no code.
            (Keys::Plain, b'\x03') => {
                self.step = Step::Sent;
                return Reaction::Interrupt;
            }
            // Ctrl-U.
            (Keys::Plain, b'\x15') => {
                self.line.clear();
                return Reaction::Redraw;
            }
            (Keys::Plain, b' '..=b'~') if self.line.len() < REASON_MAX_BYTES => {
                self.line.push(char::from(byte));
                return Reaction::Redraw;
            }
            (Keys::Plain, _) => {}
        }
        Reaction::Nothing
    }

    /// The line is said.
    pub(super) fn enter(&mut self, offer: &Offer, code: impl FnOnce() -> Code) -> Outcome {
        let line = std::mem::take(&mut self.line);
        let line = line.trim();
        self.note = None;
        let next = match &self.step {
            Step::Choosing => choose(line, offer),
            Step::Scoping(span) => scoped(line, *span, offer),
            Step::Reasoning => Ok(Said::Answer(denial(line))),
            Step::Confirming(answer, code) if code.is(line) => {
                let answer = answer.clone();
                self.step = Step::Sent;
                return Outcome::Answered(answer);
            }
            Step::Confirming(..) => Err("that was not the code, so nothing is answered"),
            Step::Sent => return Outcome::Next,
        };
        self.step = match next {
            Ok(Said::Step(step)) => step,
            Ok(Said::Answer(answer)) => Step::Confirming(answer, code()),
            Err(note) => {
                self.note = Some(note.to_owned());
                Step::Choosing
            }
        };
        Outcome::Next
    }

    /// What is asked for, above the line that is typed.
    pub(super) fn prompt(&self, offer: &Offer) -> (Vec<String>, String) {
        let (choices, prompt) = match &self.step {
            Step::Choosing => (choices(offer), "answer [d]".to_owned()),
            Step::Scoping(span) => {
                let scopes = offer.scopes.iter().zip(1..);
                let scopes = scopes.map(|(scope, at)| format!("{at}  {}", scope_in_words(*scope)));
                let span = span_in_words(*span);
                (
                    scopes.collect(),
                    format!("what is allowed for {span}? a number"),
                )
            }
            Step::Reasoning => (Vec::new(), "why not? (may be left empty)".to_owned()),
            Step::Confirming(answer, code) => (
                Vec::new(),
                format!("{}: type {} to confirm", answer.words, code.as_str()),
            ),
            Step::Sent => (Vec::new(), "answered".to_owned()),
        };
        (choices, format!("{prompt}: {}", self.line))
    }
}

enum Said {
    Step(Step),
    Answer(Answer),
}

/// What can be said first.
fn choices(offer: &Offer) -> Vec<String> {
    let mut choices = vec!["a  allow once".to_owned()];
    if offer.alike > 1 {
        choices.push(format!(
            "{0}  allow all {0} that are alike, once",
            offer.alike
        ));
    }
    choices.push("t  allow it and what it starts, until it ends".into());
    if !offer.scopes.is_empty() {
        choices.push("s  allow for this session".into());
        choices.push("w  allow always".into());
    }
    choices.push("d  deny".into());
    choices
}

fn choose(line: &str, offer: &Offer) -> Result<Said, &'static str> {
    let lasts = !offer.scopes.is_empty();
    let once = |these, words: String| {
        Ok(Said::Answer(Answer {
            decision: Decision::AllowOnce,
            span: Span::Once,
            scope: Scope::Exact,
            these,
            reason: None,
            words,
        }))
    };
    match line {
        "" | "d" => Ok(Said::Step(Step::Reasoning)),
        "a" => once(None, "allow once".into()),
        "t" => Ok(Said::Answer(lasting(Span::Subtree, Scope::Exact))),
        "s" if lasts => Ok(Said::Step(Step::Scoping(Span::Session))),
        "w" if lasts => Ok(Said::Step(Step::Scoping(Span::Always))),
        _ if offer.alike > 1 && line.parse() == Ok(offer.alike) => {
            once(Some(offer.alike), format!("allow all {}", offer.alike))
        }
        _ => Err("that is no answer to this; one of the letters is"),
    }
}

fn scoped(line: &str, span: Span, offer: &Offer) -> Result<Said, &'static str> {
    let number = line.parse().ok().and_then(|at: usize| at.checked_sub(1));
    let found = number.and_then(|at| offer.scopes.get(at));
    let scope = found.ok_or("that is none of what can last, so nothing is answered")?;
    Ok(Said::Answer(lasting(span, *scope)))
}

fn lasting(span: Span, scope: Scope) -> Answer {
    let words = match span {
        Span::Subtree => "allow it and what it starts".to_owned(),
        Span::Once | Span::Session | Span::Always | Span::Until(_) => format!(
            "allow {} for {}",
            scope_in_words(scope),
            span_in_words(span)
        ),
    };
    Answer {
        decision: Decision::AllowAlways,
        span,
        scope,
        these: None,
        reason: None,
        words,
    }
}

/// No to this question and all that are alike.
pub(super) fn denial(reason: &str) -> Answer {
    Answer {
        decision: Decision::Deny,
        span: Span::Once,
        scope: Scope::Exact,
        these: None,
        reason: (!reason.is_empty()).then(|| reason.to_owned()),
        words: "deny".into(),
    }
}

fn span_in_words(span: Span) -> &'static str {
    match span {
        Span::Session => "this session",
        Span::Always => "good",
        Span::Once | Span::Subtree | Span::Until(_) => "now",
    }
}

fn scope_in_words(scope: Scope) -> &'static str {
    match scope {
        Scope::Exact => "this call",
        Scope::Flags => "this command, no further flags",
        Scope::Prefix => "this command",
        Scope::Program => "this program",
    }
}

#[cfg(test)]
mod tests;
