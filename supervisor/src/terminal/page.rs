//! A question in pages of a terminal's size: pure. Every row of it is on one of them, or there are none.

/// Fewest columns and rows that a question is shown in.
const COLUMNS_MIN: usize = 40;
const BODY_ROWS_MIN: usize = 3;

/// What is drawn around a question.
#[derive(Debug, Default)]
pub(super) struct Frame {
    pub(super) head: Vec<String>,
    /// What can be said, below the last page.
    pub(super) choices: Vec<String>,
    /// Where it is typed.
    pub(super) prompt: String,
}

/// How wide rows may be: the last column is left, where terminals differ.
pub(super) fn width(columns: u16) -> usize {
    usize::from(columns).saturating_sub(1)
}

/// The pages; none if the terminal is too small to show them.
pub(super) fn pages(frame: &Frame, body: &[String], columns: u16, rows: u16) -> Vec<Vec<String>> {
    let width = width(columns);
    let foot: Vec<String> = packed(&frame.choices, width);
    let mut foot: Vec<_> = foot.into_iter().collect();
    foot.extend(broken(&frame.prompt, width));
    let head: Vec<_> = frame
        .head
        .iter()
        .flat_map(|row| broken(row, width))
        .collect();
    let room = usize::from(rows).saturating_sub(head.len() + foot.len());
    let fits = body.iter().all(|row| row.len() <= width);
    if width < COLUMNS_MIN || room < BODY_ROWS_MIN || !fits {
        return Vec::new();
    }
    let parts: Vec<_> = body.chunks(room).collect();
    let count = parts.len();
    let page = |(at, part): (usize, &[String])| {
        let foot = match at + 1 == count {
            true => foot.clone(),
            false => vec![format!("page {} of {count}: Enter goes on", at + 1)],
        };
        [head.clone(), part.to_vec(), foot].concat()
    };
    parts.into_iter().enumerate().map(page).collect()
}

/// Short texts beside each other, as many as a row has room for.
fn packed(texts: &[String], width: usize) -> Vec<String> {
    const BETWEEN: &str = "   ";
    let mut rows: Vec<String> = Vec::new();
    for text in texts {
        match rows.last_mut() {
            Some(row) if row.len() + BETWEEN.len() + text.len() <= width => {
                *row += BETWEEN;
                *row += text;
            }
            _ => rows.extend(broken(text, width)),
        }
    }
    rows
}

/// `text`, which is ASCII, in rows.
fn broken(text: &str, width: usize) -> Vec<String> {
    let bytes = text.as_bytes().chunks(width.max(1));
    bytes
        .map(|piece| piece.iter().copied().map(char::from).collect())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame() -> Frame {
        Frame {
            head: vec!["may this run?".into()],
            choices: ["a  allow once", "d  deny"].map(str::to_owned).into(),
            prompt: "answer: ".into(),
        }
    }

    fn body(rows: usize) -> Vec<String> {
        (0..rows).map(|row| format!("row {row}")).collect()
    }

    #[test]
    fn every_row_is_on_one_page_and_the_answer_on_the_last() {
        for count in 1..60 {
            let pages = pages(&frame(), &body(count), 80, 12);
            let shown: Vec<_> = pages
                .iter()
                .flatten()
                .filter(|it| it.starts_with("row"))
                .collect();
            assert_eq!(shown.len(), count);
            assert!(pages.iter().all(|page| page.len() <= 12));
            let with_prompt = |page: &&Vec<String>| page.last().unwrap() == "answer: ";
            assert_eq!(pages.iter().filter(with_prompt).count(), 1);
            assert!(with_prompt(&pages.last().unwrap()));
        }
    }

    #[test]
    fn a_terminal_that_is_too_small_shows_nothing() {
        assert!(pages(&frame(), &body(1), 39, 24).is_empty());
        assert!(pages(&frame(), &body(1), 80, 5).is_empty());
        assert!(pages(&frame(), &["x".repeat(80)], 80, 24).is_empty());
        assert_eq!(pages(&frame(), &["x".repeat(79)], 80, 24).len(), 1);
    }
}
