//! Texts of shells on their way to the parser: one is there, the others wait their turn.

use std::collections::VecDeque;
use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use crate::shell::{Analyser, Analysis, NotAnalysed, TextId};

/// How long a text may take, its turn included. Then its exec goes on without.
const DEADLINE: Duration = Duration::from_secs(1);

/// Which text: numbers are never used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Ticket(u64);

/// The texts that nothing is known of yet.
#[derive(Debug)]
pub(crate) struct Texts {
    analyser: Analyser,
    /// The first of them is at the parser if that has a number for it.
    waiting: VecDeque<Waiting>,
    at_parser: Option<TextId>,
    /// A text that got no answer in time. Until one comes nothing more is asked, so that a parser that is
    /// stopped holds up one exec and not each.
    unanswered: Option<TextId>,
    next: u64,
}

#[derive(Debug)]
struct Waiting {
    ticket: Ticket,
    text: Vec<u8>,
    since: Instant,
}

/// What is known of a text, or why nothing is.
pub(crate) type Analysed = Result<Analysis, NotAnalysed>;

impl Texts {
    pub(crate) fn new(analyser: Analyser) -> Self {
        Self {
            analyser,
            waiting: VecDeque::new(),
            at_parser: None,
            unanswered: None,
            next: 0,
        }
    }

    /// Has a text analysed in its turn.
    pub(crate) fn analyse(&mut self, text: Vec<u8>) -> Ticket {
        let ticket = Ticket(self.next);
        self.next += 1;
        if self.waiting.is_empty() && self.unanswered.is_none() {
            // What keeps it from being sent is found again with the findings.
            self.at_parser = self.analyser.send(&text).ok();
        }
        let since = Instant::now();
        self.waiting.push_back(Waiting {
            ticket,
            text,
            since,
        });
        ticket
    }

    /// What to poll for [`Texts::findings`], while there is something to wait for.
    pub(crate) fn socket(&self) -> Option<BorrowedFd<'_>> {
        self.at_parser.map(|_| self.analyser.socket())
    }

    /// When the next text is late, or is to be sent.
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        let first = self.waiting.front()?;
        Some(first.since + self.at_parser.map_or(Duration::ZERO, |_| DEADLINE))
    }

    /// What has come in, and of what nothing will be known at `now`.
    pub(crate) fn findings(&mut self, now: Instant) -> Vec<(Ticket, Analysed)> {
        let mut found = Vec::new();
        loop {
            let is_silent = self.at_parser.is_none() && self.is_silent();
            let Some(first) = self.waiting.front() else {
                break;
            };
            let is_late = now.saturating_duration_since(first.since) >= DEADLINE;
            let analysed = match self.at_parser {
                Some(id) => self.analyser.receive(id),
                None if is_silent => Some(Err(NotAnalysed::Silent)),
                None => match self.analyser.send(&first.text) {
                    Ok(id) => {
                        self.at_parser = Some(id);
                        None
                    }
                    Err(error) => Some(Err(error)),
                },
            };
            if analysed.is_none() && is_late {
                self.unanswered = self.at_parser;
            }
            let analysed = analysed.or_else(|| is_late.then_some(Err(NotAnalysed::Silent)));
            let Some(analysed) = analysed else {
                break;
            };
            found.push((first.ticket, analysed));
            self.waiting.pop_front();
            self.at_parser = None;
        }
        found
    }

    /// Whether a text is still unanswered that is late.
    fn is_silent(&mut self) -> bool {
        let analyser = &self.analyser;
        self.unanswered = self.unanswered.filter(|id| analyser.receive(*id).is_none());
        self.unanswered.is_some()
    }
}
