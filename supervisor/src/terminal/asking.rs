//! The questions of the session, one after the other, before a person: which is drawn, and what is said of it.
//!
//! An ordinary client of the front's own gate, judged as any.

use std::collections::VecDeque;
use std::os::fd::{AsFd, BorrowedFd};

use clap::ValueEnum;

use super::dialog::{Answer, Dialog, Offer, Outcome, Reaction, Step, denial};
use super::page::{Frame, pages, width};
use crate::approval::FactsDigest;
use crate::clock;
use crate::control::{ClientError, Feed, FromGate, Required, Response, Scope, Settled};
use crate::question_view::{QuestionView, in_ascii};
use crate::screen::Code;

/// Open questions, and the person at the first.
#[derive(Debug)]
pub(super) struct Asking {
    feed: Feed,
    /// The one that is asked about first.
    open: VecDeque<Required>,
    dialog: Dialog,
    page: usize,
    /// How many were asked about since there was none, for the count.
    done: usize,
    /// The card that was answered last: its questions end by that.
    answered: Option<FactsDigest>,
}

/// What a key does to the screen, and to the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pressed {
    Nothing,
    /// Something else is to be drawn.
    Changed,
    /// The question is denied, and the command is to be interrupted.
    Interrupted,
}

/// What became of what the gate said.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// Lines for the person, below the command's output.
    pub(super) notes: Vec<String>,
    /// Whether something else is to be drawn, or nothing.
    pub(super) has_changed: bool,
}

impl Asking {
    pub(super) fn of(feed: Feed) -> Self {
        Self {
            feed,
            open: VecDeque::new(),
            dialog: Dialog::new(None),
            page: 0,
            done: 0,
            answered: None,
        }
    }

    pub(super) fn is_idle(&self) -> bool {
        self.open.is_empty()
    }

    /// Takes what the gate has said.
    ///
    /// # Errors
    /// If nothing more is to be heard of it.
    pub(super) fn hear(&mut self) -> Result<Told, ClientError> {
        let mut told = Told::default();
        for message in self.feed.receive()? {
            match message {
                FromGate::ApprovalRequired(required) => self.add(*required, &mut told)?,
                FromGate::ApprovalSettled(settled) => self.settle(&settled, &mut told),
                FromGate::Error { error } => {
                    self.restart(Some(in_ascii(&error)));
                    told.has_changed = true;
                }
                FromGate::Hello { .. }
                | FromGate::Listed
                | FromGate::Subscribed
                | FromGate::PolicyLoaded(_)
                | FromGate::PolicyRejected { .. }
                | FromGate::ToolVerdict(_)
                | FromGate::Grant(_)
                | FromGate::GrantsListed
                | FromGate::Granted { .. }
                | FromGate::Status(_)
                | FromGate::Stopping
                | FromGate::EscalationSettled(_)
                | FromGate::Revoked { .. } => {}
            }
        }
        Ok(told)
    }

    /// What cannot be shown whole is refused, not cut.
    fn add(&mut self, required: Required, told: &mut Told) -> Result<(), ClientError> {
        let gaps = QuestionView::of(&required, clock::now()).gaps;
        if let Some(gap) = gaps.first() {
            let id = required.request_id;
            told.notes
                .push(format!("refused [{id}]: it cannot be shown whole: {gap}"));
            let why = format!("it cannot be shown whole on a terminal: {gap}");
            return self.send(&required, denial(&why));
        }
        // The count and what is alike are drawn, too.
        told.has_changed = true;
        self.open.push_back(required);
        Ok(())
    }

    fn settle(&mut self, settled: &Settled, told: &mut Told) {
        let is_it = |it: &Required| it.request_id == settled.request_id;
        let Some(at) = self.open.iter().position(is_it) else {
            return;
        };
        let removed = self.open.remove(at);
        self.done += 1;
        told.has_changed = true;
        let is_own = removed.is_some_and(|it| Some(it.digest) == self.answered);
        let outcome = if settled.is_allowed {
            "allowed"
        } else {
            "denied"
        };
        let reason = in_ascii(&settled.reason);
        let note = format!(
            "{outcome} without your answer: {reason} [{}]",
            settled.request_id
        );
        let note = (!is_own).then_some(note);
        if self.open.is_empty() {
            self.done = 0;
            told.notes.extend(note);
            self.restart(None);
        } else if at == 0 {
            self.restart(note);
        }
    }

    /// Begins anew with the first question.
    pub(super) fn restart(&mut self, note: Option<String>) {
        self.dialog = Dialog::new(note);
        self.page = 0;
    }

    /// A line for the person at a question.
    pub(super) fn note(&mut self, text: &str) {
        self.dialog.note = Some(in_ascii(text));
    }

    /// A key.
    ///
    /// # Errors
    /// If the gate does not take the answer.
    pub(super) fn press(
        &mut self,
        key: u8,
        columns: u16,
        rows: u16,
    ) -> Result<Pressed, ClientError> {
        let pages = self.pages(columns, rows).len();
        if self.dialog.step != Step::Sent {
            self.answered = None;
        }
        match self.dialog.press(key) {
            Reaction::Nothing => return Ok(Pressed::Nothing),
            Reaction::Redraw => {}
            Reaction::Interrupt => {
                self.answer(denial("Ctrl-C"))?;
                return Ok(Pressed::Interrupted);
            }
            Reaction::Enter if self.page + 1 < pages => {
                self.page += 1;
                self.dialog.line.clear();
            }
            // What is not shown is not answered.
            Reaction::Enter if pages == 0 => self.dialog.line.clear(),
            Reaction::Enter => {
                let offer = self.offer();
                self.page = 0;
                if let Outcome::Answered(answer) = self.dialog.enter(&offer, Code::fresh) {
                    self.page = pages.saturating_sub(1);
                    self.answer(answer)?;
                }
            }
        }
        Ok(Pressed::Changed)
    }

    /// Of the question at hand.
    fn answer(&mut self, answer: Answer) -> Result<(), ClientError> {
        let Some(required) = self.open.front().cloned() else {
            return Ok(());
        };
        self.answered = Some(required.digest.clone());
        self.send(&required, answer)
    }

    fn send(&mut self, required: &Required, answer: Answer) -> Result<(), ClientError> {
        self.feed.say(Response {
            session_id: required.session_id.clone(),
            request_id: required.request_id,
            digest: required.digest.clone(),
            decision: answer.decision,
            scope: answer.scope,
            these: answer.these,
            duration: Some(answer.span),
            reason: answer.reason,
        })
    }

    /// What is drawn now.
    pub(super) fn page(&self, columns: u16, rows: u16) -> Vec<String> {
        let mut pages = self.pages(columns, rows);
        if pages.is_empty() {
            let text = "execward asks, and this terminal is too small to show what: enlarge it";
            return vec![text.chars().take(width(columns)).collect()];
        }
        pages.swap_remove(self.page.min(pages.len() - 1))
    }

    fn pages(&self, columns: u16, rows: u16) -> Vec<Vec<String>> {
        let Some(required) = self.open.front() else {
            return Vec::new();
        };
        let view = QuestionView::of(required, clock::now());
        let body = view.rows(width(columns));
        let body: Vec<_> = body
            .iter()
            .map(|row| row.in_full().trim_end().to_owned())
            .collect();
        let count = match self.done + self.open.len() {
            1 => String::new(),
            all => format!(" ({} of {all})", self.done + 1),
        };
        let id = required.request_id;
        let mut head = vec![format!("execward: may this run?{count}  [{id}]")];
        head.extend(self.dialog.note.as_ref().map(|note| format!("! {note}")));
        let (choices, prompt) = self.dialog.prompt(&self.offer());
        let frame = Frame {
            head,
            choices,
            prompt,
        };
        pages(&frame, &body, columns, rows)
    }

    fn offer(&self) -> Offer {
        let Some(required) = self.open.front() else {
            return Offer::default();
        };
        let alike = self.open.iter().filter(|it| it.digest == required.digest);
        let scopes = required.request.amendments.iter();
        let scopes = scopes.filter_map(|it| Scope::from_str(&it.scope, false).ok());
        Offer {
            alike: alike.count(),
            scopes: scopes.collect(),
        }
    }
}

impl AsFd for Asking {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.feed.as_fd()
    }
}
