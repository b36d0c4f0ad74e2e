//! Where what stands on the screen.

use super::state::{Mode, Screen};
use crate::question_view::{Row, Tone};

/// The smallest screen, in columns and rows.
pub(super) const MIN: (u16, u16) = (60, 16);

/// Most cards that are listed at once.
const CARDS_MAX: usize = 5;

/// Title, the line above the question, note, keys.
const FIXED_ROWS: usize = 4;

/// The parts of a screen of one size.
#[derive(Debug)]
pub(super) struct Layout {
    /// Which cards are listed.
    pub(super) cards: std::ops::Range<usize>,
    /// What stands below the question.
    pub(super) panel: Vec<Row>,
    /// How many rows of the question, or of what stands in its place, there is room for.
    pub(super) page: usize,
}

impl Layout {
    pub(super) fn of(screen: &Screen) -> Self {
        let (columns, rows) = (usize::from(screen.size.0), usize::from(screen.size.1));
        let panel = panel(screen, columns);
        let is_listed = matches!(screen.mode, Mode::Browse);
        let count = screen.queue.cards().len();
        let listed = if is_listed { count.min(CARDS_MAX) } else { 0 };
        // The chosen one is among them.
        let first = (screen.selected + 1).saturating_sub(listed);
        Self {
            cards: first..first + listed,
            page: rows.saturating_sub(FIXED_ROWS + listed + panel.len()),
            panel,
        }
    }
}

/// `text` as rows of this width, the first behind `mark` and the others as far in.
fn wrapped(mark: &str, text: &str, columns: usize, tone: Tone) -> Vec<Row> {
    let room = columns.saturating_sub(mark.len());
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        if let Some(line) = lines.last_mut()
            && (line.is_empty() || line.len() + 1 + word.len() <= room)
        {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    let rows = lines.into_iter().enumerate().map(|(at, text)| Row {
        margin: if at == 0 {
            mark.to_owned()
        } else {
            " ".repeat(mark.len())
        },
        text,
        tone,
    });
    rows.collect()
}

/// What is chosen, or asked for, below the question.
fn panel(screen: &Screen, columns: usize) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut say = |text: &str, tone| rows.extend(wrapped("", text, columns, tone));
    match &screen.mode {
        Mode::Browse | Mode::History | Mode::Help => {}
        Mode::Extent { said, offered, at } => {
            for (place, extent) in offered.iter().enumerate() {
                let mark = if place == *at { ">" } else { " " };
                let mark = format!("{mark} {} ", place + 1);
                rows.extend(wrapped(
                    &mark,
                    &extent.in_words(*said),
                    columns,
                    Tone::Plain,
                ));
            }
        }
        Mode::Lasting { said, extent } => {
            say(&extent.in_words(*said), Tone::Plain);
            say(
                "how long?  s the session  a always  u until a time",
                Tone::Plain,
            );
        }
        Mode::Until { text, .. } => {
            say(
                "until when? 2h, 3d, a date, or a time with its zone",
                Tone::Plain,
            );
            say(&format!("> {text}"), Tone::Plain);
        }
        Mode::Reason { text, .. } => {
            say(
                "why? It is logged, and the program is told. Enter: no reason",
                Tone::Plain,
            );
            say(&format!("> {text}"), Tone::Plain);
        }
        Mode::Confirm {
            choice,
            code,
            typed,
        } => {
            say(&choice.in_words(), Tone::Strange);
            if screen.has_seen_all() {
                let text = format!("to say so type  {}  > {typed}", code.as_str());
                say(&text, Tone::Plain);
            } else {
                say("read the question to its end first: PgDn", Tone::Plain);
            }
        }
    }
    rows
}
