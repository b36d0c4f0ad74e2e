//! From what is shown to rows of a width.

/// How wide the column of headings is.
const HEADING_COLUMNS: usize = 11;

/// Fewest columns that a text gets beside its margin.
const TEXT_COLUMNS_MIN: usize = 8;

/// How a row is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    Plain,
    /// Something about it is to be looked at twice.
    Strange,
    /// It keeps the question from being allowed.
    Gap,
}

/// A row: printable ASCII.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    /// Heading and number, written by nobody but this program.
    pub(crate) margin: String,
    pub(crate) text: String,
    pub(crate) tone: Tone,
}

impl Row {
    /// The whole of it.
    pub(crate) fn in_full(&self) -> String {
        format!("{}{}", self.margin, self.text)
    }
}

/// A question as a person sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct QuestionView {
    /// Why it is not shown whole, each a sentence. Unless there is none it must not be allowed.
    pub(crate) gaps: Vec<String>,
    pub(super) sections: Vec<Section>,
}

/// What is said under one heading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Section {
    pub(super) heading: &'static str,
    pub(super) items: Vec<Item>,
}

/// One text of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Item {
    /// Before the text, in the margin.
    pub(super) mark: String,
    pub(super) text: String,
    pub(super) tone: Tone,
    /// Whether it breaks between words; else wherever the row ends.
    pub(super) is_prose: bool,
}

impl Item {
    pub(super) fn word(text: String) -> Self {
        Self {
            mark: String::new(),
            text,
            tone: Tone::Plain,
            is_prose: false,
        }
    }

    pub(super) fn prose(text: String) -> Self {
        Self {
            is_prose: true,
            ..Self::word(text)
        }
    }

    pub(super) fn marked(self, mark: String) -> Self {
        Self { mark, ..self }
    }

    pub(super) fn toned(self, tone: Tone) -> Self {
        Self { tone, ..self }
    }
}

impl QuestionView {
    /// The rows at this width, in columns; none is longer where that can be.
    pub(crate) fn rows(&self, width: usize) -> Vec<Row> {
        let gaps = self
            .gaps
            .iter()
            .map(|gap| Item::prose(gap.clone()).toned(Tone::Gap));
        let gaps = Section {
            heading: "not whole",
            items: gaps.collect(),
        };
        let sections = [&gaps].into_iter().chain(&self.sections);
        sections.flat_map(|section| section.rows(width)).collect()
    }
}

impl Section {
    fn rows(&self, width: usize) -> Vec<Row> {
        let mut rows = Vec::new();
        let mut heading = self.heading;
        for item in &self.items {
            let indent = " ".repeat(item.mark.len());
            let columns = width.saturating_sub(HEADING_COLUMNS + item.mark.len());
            let mut mark = item.mark.as_str();
            for text in broken(&item.text, columns.max(TEXT_COLUMNS_MIN), item.is_prose) {
                rows.push(Row {
                    margin: format!("{heading:HEADING_COLUMNS$}{mark}"),
                    text: text.to_owned(),
                    tone: item.tone,
                });
                (heading, mark) = ("", &indent);
            }
        }
        rows
    }
}

/// `text` in pieces of at most `columns`; at least one. ASCII, so that a byte is a column.
fn broken(text: &str, columns: usize, is_prose: bool) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while rest.len() > columns {
        let space = rest.get(..=columns).and_then(|head| head.rfind(' '));
        let at = space.filter(|at| is_prose && *at > 0).unwrap_or(columns);
        let Some((piece, after)) = rest.split_at_checked(at) else {
            break;
        };
        pieces.push(piece);
        rest = if is_prose { after.trim_start() } else { after };
    }
    pieces.push(rest);
    pieces
}
