//! From cells to what a terminal is told: ECMA-48, and the private modes of xterm that every terminal has
//! taken over (its `ctlseqs`). Pure.

use ratatui_core::buffer::{Buffer, Cell};
use ratatui_core::style::{Color, Modifier};

/// Another screen than the one that the shell wrote on, without a cursor.
pub(super) const ENTER: &str = "\x1b[?1049h\x1b[?25l";

/// Back to that one as it was.
pub(super) const LEAVE: &str = "\x1b[0m\x1b[?25h\x1b[?1049l";

const CLEAR: &str = "\x1b[0m\x1b[2J";

/// What makes `shown` into `next`; with nothing shown, or whatever, all of it.
pub(super) fn paint(shown: Option<&Buffer>, next: &Buffer) -> Vec<u8> {
    let mut text = String::new();
    match shown.filter(|shown| shown.area == next.area) {
        Some(shown) => put(&mut text, shown.diff(next)),
        None => {
            text.push_str(CLEAR);
            put(&mut text, Buffer::empty(next.area).diff(next));
        }
    }
    text.into_bytes()
}

fn put(text: &mut String, cells: Vec<(u16, u16, &Cell)>) {
    let mut place = None;
    let mut style = None;
    for (x, y, cell) in cells {
        if place != Some((x, y)) {
            text.push_str(&format!("\x1b[{};{}H", y + 1, x + 1));
        }
        let own = (cell.fg, cell.modifier);
        if style != Some(own) {
            text.push_str(&sgr(own.0, own.1));
        }
        text.push_str(cell.symbol());
        place = Some((x + 1, y));
        style = Some(own);
    }
    if style.is_some() {
        text.push_str("\x1b[0m");
    }
}

/// The colours and styles that are drawn with, and no others.
fn sgr(colour: Color, modifier: Modifier) -> String {
    let mut codes = "0".to_owned();
    for (own, code) in [(Modifier::BOLD, ";1"), (Modifier::REVERSED, ";7")] {
        if modifier.contains(own) {
            codes.push_str(code);
        }
    }
    for (own, code) in [
        (Color::Red, ";31"),
        (Color::Yellow, ";33"),
        (Color::Cyan, ";36"),
    ] {
        if colour == own {
            codes.push_str(code);
        }
    }
    format!("\x1b[{codes}m")
}

#[cfg(test)]
mod tests {
    use ratatui_core::layout::Rect;
    use ratatui_core::style::Style;

    use super::*;

    #[test]
    fn what_is_the_same_is_not_written_again() {
        let area = Rect::new(0, 0, 4, 2);
        let mut one = Buffer::empty(area);
        one.set_string(0, 0, "abcd", Style::new());
        let text = |bytes| String::from_utf8(bytes).unwrap();
        assert_eq!(
            text(paint(None, &one)),
            "\x1b[0m\x1b[2J\x1b[1;1H\x1b[0mabcd\x1b[0m"
        );
        let mut other = one.clone();
        other.set_string(1, 0, "x", Style::new().fg(Color::Red));
        assert_eq!(
            text(paint(Some(&one), &other)),
            "\x1b[1;2H\x1b[0;31mx\x1b[0m"
        );
        assert_eq!(text(paint(Some(&one), &one)), "");
        let larger = Buffer::empty(Rect::new(0, 0, 5, 2));
        assert_eq!(text(paint(Some(&one), &larger)), CLEAR);
    }
}
