//! What becomes of keys: from choosing a question to saying the answer, with its code.
//!
//! No is what comes of every other key: Escape, Enter and a wrong code say nothing.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a key that means nothing here is dropped"
)]

use jiff::Timestamp;

use super::card::Card;
use super::choice::{Choice, Extent};
use super::code::{self, Code};
use super::keys::Key;
use super::layout::Layout;
use super::state::{Effect, Mode, Screen};
use crate::consent::Said;
use crate::control::REASON_MAX_BYTES;
use crate::grants::Span;
use crate::question_view::QuestionView;

/// Longest reason and longest time that can be typed, in bytes: they are to stay in sight.
const TYPED_MAX_BYTES: usize = 200;
const _: () = assert!(TYPED_MAX_BYTES <= REASON_MAX_BYTES);

impl Screen {
    /// A key was pressed; `code` is another one each time.
    pub(super) fn press(&mut self, key: Key, now: Timestamp, code: Code) -> Option<Effect> {
        match key {
            Key::Interrupt => return Some(Effect::Quit),
            Key::Suspend => return Some(Effect::Suspend),
            Key::Redraw => return Some(Effect::Redraw),
            Key::Escape if !matches!(self.mode, Mode::Browse) => {
                let is_answer = self.target.is_some();
                self.browse();
                if is_answer {
                    self.note = "nothing was said".into();
                }
                return None;
            }
            _ => {}
        }
        let page = Layout::of(self).page.max(1);
        match key {
            Key::PageDown => self.scroll += page,
            Key::Char(' ') if matches!(self.mode, Mode::Confirm { .. }) => self.scroll += page,
            Key::PageUp => self.scroll = self.scroll.saturating_sub(page),
            other => return self.obey(other, now, code),
        }
        None
    }

    /// A key that means something in one mode alone.
    fn obey(&mut self, key: Key, now: Timestamp, code: Code) -> Option<Effect> {
        match std::mem::replace(&mut self.mode, Mode::Browse) {
            Mode::Browse => self.press_browsing(key, now),
            Mode::History | Mode::Help => {
                self.scroll = 0;
                None
            }
            Mode::Extent { said, offered, at } => self.press_extent(key, said, offered, at, code),
            Mode::Lasting { said, extent } => self.press_span(key, said, extent, code),
            Mode::Until { said, extent, text } => self.type_end(key, said, extent, text, code),
            Mode::Reason { choice, text } => self.type_reason(key, choice, text, code),
            Mode::Confirm {
                choice,
                code,
                typed,
            } => self.type_code(key, choice, code, typed),
        }
    }

    fn press_browsing(&mut self, key: Key, now: Timestamp) -> Option<Effect> {
        let last = self.queue.cards().len().saturating_sub(1);
        match key {
            Key::Up | Key::Char('k') => self.selected = self.selected.saturating_sub(1),
            Key::Down | Key::Char('j') => self.selected = (self.selected + 1).min(last),
            Key::Char('a') => self.begin(Said::Allow, now),
            Key::Char('d') => self.begin(Said::Deny, now),
            Key::Char('h') => self.mode = Mode::History,
            Key::Char('?') => self.mode = Mode::Help,
            Key::Char('q') => return Some(Effect::Quit),
            _ => return None,
        }
        self.scroll = 0;
        None
    }

    fn begin(&mut self, said: Said, now: Timestamp) {
        let Some(card) = self.card() else {
            self.note = "nothing waits".into();
            return;
        };
        let Some(required) = card.oldest() else {
            return;
        };
        let gaps = QuestionView::of(required, now).gaps;
        if said == Said::Allow && !gaps.is_empty() {
            self.note = "it is not shown whole, and can only be denied here".into();
            return;
        }
        let offered = Extent::offered(said, card);
        self.target = Some(Box::new(required.clone()));
        self.note.clear();
        self.mode = Mode::Extent {
            said,
            offered,
            at: 0,
        };
    }

    fn press_extent(
        &mut self,
        key: Key,
        said: Said,
        offered: Vec<Extent>,
        at: usize,
        code: Code,
    ) -> Option<Effect> {
        let last = offered.len().saturating_sub(1);
        let mut chosen = None;
        let at = match key {
            Key::Enter => {
                chosen = offered.get(at);
                at
            }
            Key::Char(digit) => {
                let number = digit.to_digit(10).and_then(|it| usize::try_from(it).ok());
                let place = number.and_then(|number| number.checked_sub(1));
                chosen = place.and_then(|place| offered.get(place));
                at
            }
            Key::Up => at.saturating_sub(1),
            Key::Down => (at + 1).min(last),
            _ => at,
        };
        if let Some(extent) = chosen {
            return self.choose(said, extent.clone(), code);
        }
        self.mode = Mode::Extent { said, offered, at };
        None
    }

    fn press_span(&mut self, key: Key, said: Said, extent: Extent, code: Code) -> Option<Effect> {
        let text = String::new();
        match key {
            Key::Char('s') => return self.last(said, extent, Span::Session, code),
            Key::Char('a') => return self.last(said, extent, Span::Always, code),
            Key::Char('u') => self.mode = Mode::Until { said, extent, text },
            _ => self.mode = Mode::Lasting { said, extent },
        }
        None
    }

    fn choose(&mut self, said: Said, extent: Extent, code: Code) -> Option<Effect> {
        match extent.span() {
            Some(span) => self.last(said, extent, span, code),
            None => {
                self.mode = Mode::Lasting { said, extent };
                None
            }
        }
    }

    fn last(&mut self, said: Said, extent: Extent, span: Span, code: Code) -> Option<Effect> {
        let choice = Choice {
            said,
            extent,
            span,
            reason: None,
        };
        match said {
            Said::Allow => self.confirm(choice, code),
            Said::Deny => {
                let text = String::new();
                self.mode = Mode::Reason { choice, text };
                None
            }
        }
    }

    fn type_end(
        &mut self,
        key: Key,
        said: Said,
        extent: Extent,
        mut text: String,
        code: Code,
    ) -> Option<Effect> {
        if key == Key::Enter {
            match text.parse::<Span>() {
                Ok(span @ Span::Until(_)) => return self.last(said, extent, span, code),
                Ok(_) => self.note = "type a time, such as 2h".into(),
                Err(error) => self.note = error.to_string(),
            }
        } else {
            edit(&mut text, key);
        }
        self.mode = Mode::Until { said, extent, text };
        None
    }

    fn type_reason(
        &mut self,
        key: Key,
        mut choice: Choice,
        mut text: String,
        code: Code,
    ) -> Option<Effect> {
        if key == Key::Enter {
            choice.reason = Some(text).filter(|text| !text.is_empty());
            return self.confirm(choice, code);
        }
        edit(&mut text, key);
        self.mode = Mode::Reason { choice, text };
        None
    }

    fn confirm(&mut self, choice: Choice, code: Code) -> Option<Effect> {
        (self.scroll, self.seen) = (0, 0);
        let typed = String::new();
        self.mode = Mode::Confirm {
            choice,
            code,
            typed,
        };
        Some(Effect::Redraw)
    }

    fn type_code(
        &mut self,
        key: Key,
        choice: Choice,
        code: Code,
        mut typed: String,
    ) -> Option<Effect> {
        match key {
            Key::Char(c) if self.has_seen_all() => typed.push(c),
            Key::Backspace => drop(typed.pop()),
            Key::Enter => {
                self.browse();
                self.note = "nothing was said: an answer needs its code".into();
                return None;
            }
            _ => {}
        }
        if typed.len() < code::LEN {
            self.mode = Mode::Confirm {
                choice,
                code,
                typed,
            };
            return None;
        }
        let target = self.target.take();
        self.browse();
        let Some(required) = target.filter(|_| code.is(&typed)) else {
            self.note = "that was not the code: nothing was said".into();
            return None;
        };
        let cards = self.queue.cards().iter();
        let mut cards = cards.filter(|card| card.ids().any(|id| id == required.request_id));
        let alike = cards.next().map(Card::ids);
        self.own.extend(alike.into_iter().flatten());
        self.note = "said; the gate looks at it again ...".into();
        Some(Effect::Say(Box::new(choice.response(&required))))
    }
}

fn edit(text: &mut String, key: Key) {
    match key {
        Key::Char(c) if text.len() < TYPED_MAX_BYTES => text.push(c),
        Key::Backspace => drop(text.pop()),
        _ => {}
    }
}
