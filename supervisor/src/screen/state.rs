//! What the screen knows, and what becomes of keys and messages. Pure: time and codes are arguments.

use std::collections::HashSet;

use jiff::Timestamp;

use super::card::{Card, Queue};
use super::choice::{Choice, Extent};
use super::code::Code;
use super::layout::Layout;
use crate::audit::ExecId;
use crate::consent::Said;
use crate::control::{Required, Response, Settled};
use crate::question_view::{QuestionView, in_ascii, word};

/// Most that is remembered of what was settled.
const HISTORY_MAX: usize = 200;

/// What a person is about to do.
#[derive(Debug)]
pub(super) enum Mode {
    Browse,
    History,
    Help,
    /// For what?
    Extent {
        said: Said,
        offered: Vec<Extent>,
        at: usize,
    },
    /// For how long?
    Lasting {
        said: Said,
        extent: Extent,
    },
    /// Until when?
    Until {
        said: Said,
        extent: Extent,
        text: String,
    },
    /// Why?
    Reason {
        choice: Choice,
        text: String,
    },
    /// Really? The question is drawn afresh, with a code below it.
    Confirm {
        choice: Choice,
        code: Code,
        typed: String,
    },
}

impl Mode {
    /// Whether a question is shown in it.
    pub(super) fn is_of_question(&self) -> bool {
        !matches!(self, Self::History | Self::Help)
    }
}

/// What is to be done.
#[derive(Debug)]
pub(super) enum Effect {
    Say(Box<Response>),
    /// Draw everything afresh, whatever stands on the terminal.
    Redraw,
    Suspend,
    Quit,
}

/// What the screen knows.
#[derive(Debug)]
pub(super) struct Screen {
    /// What the session is called.
    pub(super) session: String,
    pub(super) size: (u16, u16),
    pub(super) queue: Queue,
    /// Which card, by its place.
    pub(super) selected: usize,
    pub(super) mode: Mode,
    /// The question that a mode is about.
    pub(super) target: Option<Box<Required>>,
    /// The first row of the question, or of what stands in its place, that is shown.
    pub(super) scroll: usize,
    /// How many of its rows have been on the screen, from the first on.
    pub(super) seen: usize,
    pub(super) note: String,
    /// Newest first.
    pub(super) history: Vec<String>,
    /// Answered here.
    pub(super) own: HashSet<ExecId>,
}

impl Screen {
    pub(super) fn new(session: String, size: (u16, u16)) -> Self {
        Self {
            session,
            size,
            queue: Queue::default(),
            selected: 0,
            mode: Mode::Browse,
            target: None,
            scroll: 0,
            seen: 0,
            note: String::new(),
            history: Vec::new(),
            own: HashSet::new(),
        }
    }

    pub(super) fn card(&self) -> Option<&Card> {
        self.queue.cards().get(self.selected)
    }

    /// The question that is shown.
    pub(super) fn question(&self) -> Option<&Required> {
        self.target
            .as_deref()
            .or_else(|| self.card().and_then(Card::oldest))
    }

    /// A question was asked.
    pub(super) fn ask(&mut self, required: Required) {
        self.queue.add(required);
    }

    /// A question has ended.
    pub(super) fn settle(&mut self, settled: &Settled, now: Timestamp) {
        let id = settled.request_id;
        let chosen: Vec<_> = self.card().into_iter().flat_map(Card::ids).collect();
        let Some(gone) = self.queue.remove(id) else {
            return;
        };
        let verdict = if settled.is_allowed {
            "allowed"
        } else {
            "denied"
        };
        let own = self.own.remove(&id);
        let by = if own { "here" } else { "not here" };
        let (command, reason) = (title(&gone), in_ascii(&settled.reason));
        self.note = format!("{id} {verdict} {by} ({reason})");
        let time = now.strftime("%H:%M:%SZ");
        self.history
            .insert(0, format!("{time} {} {command}", self.note));
        self.history.truncate(HISTORY_MAX);
        // The chosen one stays that, wherever it stands by now.
        let mut cards = self.queue.cards().iter();
        let place = cards.position(|card| card.ids().any(|id| chosen.contains(&id)));
        let last = self.queue.cards().len().saturating_sub(1);
        let is_kept = place.is_some();
        self.selected = place.unwrap_or(self.selected.min(last));
        let is_target = |required: &Required| required.request_id == id;
        if self.target.as_deref().is_some_and(is_target) {
            self.browse();
        } else if matches!(self.mode, Mode::Browse) && !is_kept {
            self.scroll = 0;
        }
    }

    /// The gate does not do what it was told.
    pub(super) fn refuse(&mut self, error: &str) {
        self.note = format!("not taken: {}", in_ascii(error));
    }

    pub(super) fn resize(&mut self, size: (u16, u16)) {
        self.size = size;
        (self.scroll, self.seen) = (0, 0);
    }

    /// What is about to be drawn counts as seen.
    pub(super) fn show(&mut self, now: Timestamp) {
        if self.is_small() {
            return;
        }
        let page = Layout::of(self).page;
        let rows = self.rows(now);
        self.scroll = self.scroll.min(rows.saturating_sub(page));
        if self.scroll <= self.seen {
            self.seen = self.seen.max(self.scroll + page).min(rows);
        }
        if self.seen == rows {
            self.seen = usize::MAX;
        }
    }

    /// Whether every row of the question has been on the screen since an answer was chosen.
    pub(super) fn has_seen_all(&self) -> bool {
        self.seen == usize::MAX
    }

    pub(super) fn is_small(&self) -> bool {
        self.size.0 < super::layout::MIN.0 || self.size.1 < super::layout::MIN.1
    }

    fn rows(&self, now: Timestamp) -> usize {
        let columns = usize::from(self.size.0);
        if let Mode::History = self.mode {
            return self.history.len();
        }
        let question = self.question().filter(|_| self.mode.is_of_question());
        question.map_or(0, |required| {
            QuestionView::of(required, now).rows(columns).len()
        })
    }

    /// Back to the list; whatever was about to be said is not.
    pub(super) fn browse(&mut self) {
        self.mode = Mode::Browse;
        self.target = None;
        (self.scroll, self.seen) = (0, 0);
    }
}

/// The call in one line, which may be cut where it is drawn.
pub(super) fn title(required: &Required) -> String {
    let proc = &required.request.proc;
    let path = proc.pointer("/path").or(proc.pointer("/req_path"));
    let path = path.and_then(serde_json::Value::as_str).unwrap_or_default();
    let argv = proc.pointer("/argv").and_then(serde_json::Value::as_array);
    let arguments = argv.into_iter().flatten().skip(1);
    let arguments = arguments.filter_map(serde_json::Value::as_str);
    let words = [path].into_iter().chain(arguments);
    let words = words.map(|it| word(it.as_bytes()));
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
pub(super) mod tests;
