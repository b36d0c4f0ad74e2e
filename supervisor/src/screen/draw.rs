//! The screen's state as cells. Pure.

use jiff::Timestamp;
use ratatui_core::buffer::Buffer;
use ratatui_core::style::{Color, Modifier, Style};

use super::layout::{Layout, MIN};
use super::state::{Mode, Screen, title};
use crate::question_view::{QuestionView, Row, Tone, time_left};

/// What `?` shows.
const HELP: [&str; 13] = [
    "A program waits until somebody answers. Whoever says nothing lets it be denied, or",
    "what the policy says of unanswered questions, when its time is over.",
    "",
    "up, down     choose a question; alike ones are one line, with their number",
    "PgUp, PgDn   read on in it",
    "a            allow it: you are asked for what and for how long",
    "d            deny it, with a reason if you like",
    "h            what was settled since this screen was opened",
    "q, Ctrl-C    leave; the questions stay open",
    "",
    "An answer is taken only with the two characters that stand below the question then.",
    "Text in quotes is spelled as in Rust: \\n a new line, \\u{202e} a character that is no",
    "printable ASCII, \\xff a byte that is no character.",
];

/// How things are told apart.
#[derive(Clone, Copy, Debug)]
pub(super) enum Palette {
    Colours,
    /// `NO_COLOR`.
    Plain,
}

impl Palette {
    fn of(self, tone: Tone) -> Style {
        let coloured = |colour, style: Style| match self {
            Self::Colours => style.fg(colour),
            Self::Plain => style,
        };
        let style = Style::new();
        match tone {
            Tone::Plain => style,
            Tone::Strange => coloured(Color::Yellow, style.add_modifier(Modifier::BOLD)),
            Tone::Gap => coloured(Color::Red, style.add_modifier(Modifier::BOLD)),
        }
    }

    fn margin(self) -> Style {
        match self {
            Self::Colours => Style::new().fg(Color::Cyan),
            Self::Plain => Style::new(),
        }
    }
}

/// Draws what there is to see at `now` into `cells`, which are the whole screen.
pub(super) fn draw(screen: &Screen, now: Timestamp, palette: Palette, cells: &mut Buffer) {
    let mut pen = Pen {
        cells,
        palette,
        y: 0,
    };
    if screen.is_small() {
        let (columns, rows) = MIN;
        pen.text(
            &format!("watch needs {columns} columns and {rows} rows"),
            Style::new(),
        );
        return pen.text("make the window larger, or q to leave", Style::new());
    }
    let layout = Layout::of(screen);
    pen.bar(&bar(screen));
    for (at, card) in screen.queue.cards().iter().enumerate() {
        let Some(oldest) = card.oldest().filter(|_| layout.cards.contains(&at)) else {
            continue;
        };
        let mark = if at == screen.selected { '>' } else { ' ' };
        let left = time_left(&oldest.request, now);
        pen.card(
            mark,
            card.count(),
            &title(oldest),
            &left,
            at == screen.selected,
        );
    }
    let body = body(screen, now);
    let shown = body.iter().skip(screen.scroll).take(layout.page);
    pen.rule(&heading(screen, body.len(), layout.page));
    let below = pen.y + u16::try_from(layout.page).unwrap_or(u16::MAX);
    for row in shown {
        pen.row(row);
    }
    pen.y = below;
    for row in &layout.panel {
        pen.row(row);
    }
    pen.text(&screen.note, palette.of(Tone::Strange));
    pen.bar(keys(screen));
}

fn bar(screen: &Screen) -> String {
    let count = screen.queue.waiting();
    let waiting = match count {
        0 => "nothing waits".to_owned(),
        1 => "1 waits".to_owned(),
        more => format!("{more} wait"),
    };
    format!("execward watch  session {}  {waiting}", screen.session)
}

/// What stands above the body, and how much of it is shown.
fn heading(screen: &Screen, rows: usize, page: usize) -> String {
    let what = match (&screen.mode, screen.question()) {
        (Mode::History, _) => "settled".to_owned(),
        (Mode::Help, _) => "help".to_owned(),
        (_, Some(required)) => format!("question {}", required.request_id),
        (_, None) => "no question".to_owned(),
    };
    let last = (screen.scroll + page).min(rows);
    if screen.scroll == 0 && last == rows {
        return what;
    }
    let more = if last < rows { ", PgDn: more" } else { "" };
    format!("{what}  rows {}-{last} of {rows}{more}", screen.scroll + 1)
}

fn body(screen: &Screen, now: Timestamp) -> Vec<Row> {
    let plain = |text: &str| Row {
        margin: String::new(),
        text: text.to_owned(),
        tone: Tone::Plain,
    };
    match (&screen.mode, screen.question()) {
        (Mode::History, _) => screen.history.iter().map(|it| plain(it)).collect(),
        (Mode::Help, _) => HELP.iter().map(|it| plain(it)).collect(),
        (_, Some(required)) => {
            let view = QuestionView::of(required, now);
            view.rows(usize::from(screen.size.0))
        }
        (_, None) => vec![plain("Whatever is asked is shown here.")],
    }
}

fn keys(screen: &Screen) -> &'static str {
    match screen.mode {
        Mode::Browse => {
            "a allow  d deny  up/down choose  PgUp/PgDn read  h settled  ? help  q leave"
        }
        Mode::History | Mode::Help => "PgUp/PgDn read  any other key: back",
        Mode::Extent { .. } => "1-9, or up/down and Enter: for what?  PgUp/PgDn read  Esc nothing",
        Mode::Lasting { .. } => "s a u: for how long?  PgUp/PgDn read  Esc nothing",
        Mode::Until { .. } | Mode::Reason { .. } => "Enter: go on  Esc nothing",
        Mode::Confirm { .. } => "the code: say it  PgUp/PgDn read  Enter, Esc nothing",
    }
}

/// Writes row after row. Whatever is longer than a row ends in dots.
struct Pen<'a> {
    cells: &'a mut Buffer,
    palette: Palette,
    y: u16,
}

impl Pen<'_> {
    fn put(&mut self, x: usize, text: &str, style: Style) {
        let columns = usize::from(self.cells.area.width);
        let x = u16::try_from(x).unwrap_or(u16::MAX);
        if self.y < self.cells.area.height && usize::from(x) < columns {
            self.cells
                .set_stringn(x, self.y, text, columns - usize::from(x), style);
        }
    }

    fn text(&mut self, text: &str, style: Style) {
        let text = cut(text, usize::from(self.cells.area.width));
        self.put(0, &text, style);
        self.y += 1;
    }

    fn bar(&mut self, text: &str) {
        let columns = usize::from(self.cells.area.width);
        let text = format!("{:columns$}", cut(text, columns));
        self.text(&text, Style::new().add_modifier(Modifier::REVERSED));
    }

    fn rule(&mut self, text: &str) {
        let columns = usize::from(self.cells.area.width);
        let text = format!("-- {text} ");
        let style = self.palette.margin();
        self.text(&format!("{text:-<columns$}"), style);
    }

    fn card(&mut self, mark: char, count: usize, title: &str, left: &str, is_chosen: bool) {
        let count = match count {
            1 => String::new(),
            more => format!("{more}x "),
        };
        let columns = usize::from(self.cells.area.width);
        let room = columns.saturating_sub(left.len() + 2);
        let text = cut(&format!("{mark} {count}{title}"), room);
        let style = if is_chosen {
            Style::new().add_modifier(Modifier::BOLD)
        } else {
            Style::new()
        };
        self.text(&format!("{text:room$}  {left}"), style);
    }

    fn row(&mut self, row: &Row) {
        self.put(0, &row.in_full(), self.palette.of(row.tone));
        self.put(0, &row.margin, self.palette.margin());
        self.y += 1;
    }
}

/// `text`, which is ASCII, at this width.
fn cut(text: &str, columns: usize) -> String {
    match text.get(..columns.saturating_sub(3)) {
        Some(head) if text.len() > columns => format!("{head}..."),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests;
