use ratatui_core::layout::Rect;

use super::super::state::tests::{press, question, screen};
use super::*;

fn now() -> Timestamp {
    "2026-11-28T00:00:02Z".parse().unwrap()
}

/// The rows of the screen, and where the bars and the bold are.
fn cells(screen: &Screen, palette: Palette) -> Buffer {
    let (columns, rows) = screen.size;
    let mut cells = Buffer::empty(Rect::new(0, 0, columns, rows));
    draw(screen, now(), palette, &mut cells);
    cells
}

fn rows(screen: &Screen) -> Vec<String> {
    let cells = cells(screen, Palette::Plain);
    let symbols: Vec<_> = cells.content.iter().map(|cell| cell.symbol()).collect();
    let rows = symbols.chunks(usize::from(cells.area.width));
    rows.map(|row| row.concat().trim_end().to_owned()).collect()
}

#[test]
fn a_question_at_80_by_24() {
    let mut screen = screen(&["a", "b", "a"]);
    let shown = rows(&screen);
    let expected = [
        "execward watch  session s-1  3 wait",
        "> 2x /usr/bin/curl a                                             denied in 4m58s",
        "  /usr/bin/curl b                                                denied in 4m58s",
    ];
    assert_eq!(shown[..3], expected);
    assert!(shown[3].starts_with("-- question 0000 ---"));
    let expected = [
        "program    /usr/bin/curl",
        "arguments   0 curl",
        "            1 a",
        "directory  /w",
        "process    4711 asks",
        "rule       net (policy.toml:7)",
        "           it sends data",
        "time       denied in 4m58s",
        "can last   exact   this very call",
        "           program `curl` with any arguments",
        "",
    ];
    assert_eq!(shown[4..15], expected);
    assert!(shown[23].starts_with("a allow  d deny"));
    press(&mut screen, "a");
    let shown = rows(&screen);
    let expected = [
        "> 1 once: the oldest process, and no other",
        "  2 once: all 2 that wait alike",
        "  3 this process and what it starts, until it ends",
        "  4 exact: this very call",
        "  5 program: `curl` with any arguments",
        "",
    ];
    assert_eq!(shown[17..23], expected);
    press(&mut screen, "5a");
    let shown = rows(&screen);
    assert_eq!(
        shown[20],
        "ALLOW program: `curl` with any arguments, always"
    );
    assert_eq!(shown[21], "to say so type  k7  >");
    assert!(shown[2].starts_with("program    /usr/bin/curl"));
}

#[test]
fn hostile_arguments_at_80_by_24() {
    let hostile = "\u{202e}\n 2 --dry-run\u{1b}[2J\u{200b}    ";
    let shown = rows(&screen(&[hostile]));
    let expected = r#"            1 "\u{202e}\n 2 --dry-run\u{1b}[2J\u{200b}\x20\x20\x20\x20""#;
    assert_eq!(shown[5], expected);
    assert_eq!(shown[6], "directory  /w");
}

#[test]
fn a_long_question_at_80_by_24_is_read_page_by_page() {
    let mut screen = screen(&[&"x".repeat(3000)]);
    let shown = rows(&screen);
    assert!(shown[2].contains("rows 1-19 of 5") && shown[2].contains("PgDn: more"));
    press(&mut screen, "a1");
    assert!(rows(&screen).contains(&"read the question to its end first: PgDn".to_owned()));
    press(&mut screen, "    ");
    let shown = rows(&screen);
    assert!(
        shown
            .iter()
            .any(|row| row.starts_with("to say so type  k7"))
    );
}

#[test]
fn a_screen_that_is_too_small_says_what_it_needs() {
    let mut screen = screen(&["a"]);
    screen.resize((40, 4));
    assert_eq!(rows(&screen)[0], "watch needs 60 columns and 16 rows");
    screen.resize((3, 1));
    assert_eq!(rows(&screen), ["..."]);
    screen.resize((0, 0));
    cells(&screen, Palette::Plain);
}

#[test]
fn nothing_but_ascii_and_no_colour_without_colours() {
    let mut screen = screen(&["\u{202e}\u{430}\u{1f600}"]);
    screen.ask(question(9, &"y".repeat(6000)));
    press(&mut screen, "j");
    for palette in [Palette::Plain, Palette::Colours] {
        let cells = cells(&screen, palette);
        let is_ascii = |symbol: &str| symbol.bytes().all(|byte| (b' '..=b'~').contains(&byte));
        assert!(cells.content.iter().all(|cell| is_ascii(cell.symbol())));
        let has_colour = cells.content.iter().any(|cell| cell.fg != Color::Reset);
        assert_eq!(has_colour, matches!(palette, Palette::Colours));
    }
}
