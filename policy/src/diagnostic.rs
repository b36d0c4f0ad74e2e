//! What is wrong with a policy: every fault, each where it stands.

use std::error::Error;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use annotate_snippets::{
    AnnotationKind, Group, Level, Origin, Renderer, Snippet, normalize_untrusted_str,
};

/// Longest line that is shown, in bytes. What a renderer does with one takes time.
const LINE_SHOWN_MAX: usize = 16 * 1024;
/// Most bytes of a message or a help: it may quote what the author wrote.
const MESSAGE_MAX: usize = 400;
/// Most faults that are shown; whoever has more of them has one of them many times.
const FAULTS_SHOWN_MAX: usize = 100;

/// The text of one source, kept for as long as a fault points into it.
#[derive(Debug)]
pub(crate) struct SourceText {
    /// Position among the sources of one load.
    order: usize,
    name: String,
    text: String,
    /// Where each line begins, in bytes.
    line_starts: Vec<usize>,
}

impl SourceText {
    pub(crate) fn new(order: usize, name: &str, text: &str) -> Arc<Self> {
        let line_breaks = text.match_indices('\n').map(|(at, _)| at + 1);
        Arc::new(Self {
            order,
            name: name.to_owned(),
            text: text.to_owned(),
            line_starts: std::iter::once(0).chain(line_breaks).collect(),
        })
    }

    /// The place of the bytes `span`.
    /// Of the source.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn place(self: &Arc<Self>, span: Range<usize>) -> Place {
        Place {
            source: Arc::clone(self),
            span,
        }
    }

    /// The number of the line that holds byte `at`, from 0, and where that line begins.
    fn line_of(&self, at: usize) -> (usize, usize) {
        let number = self
            .line_starts
            .partition_point(|start| *start <= at)
            .saturating_sub(1);
        (number, self.line_starts.get(number).copied().unwrap_or(0))
    }
}

/// A stretch of a source.
#[derive(Debug, Clone)]
pub struct Place {
    source: Arc<SourceText>,
    span: Range<usize>,
}

impl Place {
    /// The name of the source, as the caller gave it.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source.name
    }

    /// Where it begins, in bytes from the beginning of its source.
    pub(crate) fn start(&self) -> usize {
        self.span.start
    }

    /// What places are ordered by: the order of the sources, then that of their text.
    pub(crate) fn position(&self) -> (usize, usize) {
        (self.source.order, self.span.start)
    }

    /// The line, from 1.
    #[must_use]
    pub fn line(&self) -> usize {
        self.source.line_of(self.span.start).0 + 1
    }

    /// The column, from 1, in characters.
    #[must_use]
    pub fn column(&self) -> usize {
        let (_, start) = self.source.line_of(self.span.start);
        let before = self.source.text.get(start..self.span.start);
        before.map_or(0, |before| before.chars().count()) + 1
    }

    /// The line of the place and the place within it; what lies on further lines is cut.
    fn excerpt(&self) -> (&str, Range<usize>) {
        let (_, start) = self.source.line_of(self.span.start);
        let rest = self.source.text.get(start..).unwrap_or_default();
        let line = rest.lines().next().unwrap_or_default();
        let within = |at: usize| at.saturating_sub(start).min(line.len());
        (line, within(self.span.start)..within(self.span.end))
    }

    /// Adds the place and its line to `group`; of a line too long to be looked at, the place.
    fn show<'a>(
        &'a self,
        group: Group<'a>,
        kind: AnnotationKind,
        label: Option<&'a str>,
    ) -> Group<'a> {
        let (line, within) = self.excerpt();
        if line.len() > LINE_SHOWN_MAX {
            let origin = Origin::path(self.source()).line(self.line());
            return group.element(origin.char_column(self.column()));
        }
        let snippet = Snippet::source(line)
            .path(self.source())
            .line_start(self.line());
        group.element(snippet.annotation(kind.span(within).label(label)))
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.source(), self.line(), self.column())
    }
}

/// One thing that is wrong.
///
/// Displays as `file:line:column: message`.
#[derive(Debug, Clone)]
pub struct Fault {
    place: Place,
    message: String,
    help: Option<String>,
    related: Option<(Place, &'static str)>,
}

impl Fault {
    pub(crate) fn new(place: Place, message: impl Into<String>) -> Self {
        Self {
            place,
            message: clip(message.into()),
            help: None,
            related: None,
        }
    }

    /// Adds what the author could do.
    pub(crate) fn help(self, help: impl Into<Option<String>>) -> Self {
        Self {
            help: help.into().map(clip),
            ..self
        }
    }

    /// Adds a second place, and what is there.
    pub(crate) fn related(self, place: Place, label: &'static str) -> Self {
        Self {
            related: Some((place, label)),
            ..self
        }
    }

    /// Where it is.
    #[must_use]
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// What is wrong: lower case, no full stop.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What the author could do about it.
    #[must_use]
    pub fn help_text(&self) -> Option<&str> {
        self.help.as_deref()
    }

    /// A second place that belongs to the fault, such as the first use of an id.
    #[must_use]
    pub fn related_place(&self) -> Option<&Place> {
        self.related.as_ref().map(|(place, _)| place)
    }

    fn render(&self, renderer: &Renderer) -> String {
        let title = Level::ERROR.primary_title(self.message.as_str());
        let group = Group::with_title(title);
        let mut group = self.place.show(group, AnnotationKind::Primary, None);
        if let Some((place, label)) = &self.related {
            group = place.show(group, AnnotationKind::Context, Some(label));
        }
        if let Some(help) = &self.help {
            group = group.element(Level::HELP.message(normalize_untrusted_str(help)));
        }
        let report: &[Group<'_>] = &[group];
        renderer.render(report)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)?;
        match &self.related {
            Some((place, label)) => write!(f, " ({label}: {place})"),
            None => Ok(()),
        }
    }
}

/// Leaves out the middle of a long text.
fn clip(text: String) -> String {
    if text.len() <= MESSAGE_MAX {
        return text;
    }
    let (head, _) = text.split_at(text.floor_char_boundary(MESSAGE_MAX / 2));
    let (_, tail) = text.split_at(text.ceil_char_boundary(text.len() - MESSAGE_MAX / 4));
    format!("{head}...{tail}")
}

/// Every fault of a load, in the order of the sources and of their text. Never empty.
///
/// Displays as one line a fault; [`Diagnostics::render`] shows the text as well. Both stop
/// after a hundred faults, and say how many more there are.
#[derive(Debug, Clone)]
pub struct Diagnostics {
    faults: Vec<Fault>,
}

impl Diagnostics {
    /// Returns `Ok` if there are no faults.
    pub(crate) fn check(mut faults: Vec<Fault>) -> Result<(), Self> {
        if faults.is_empty() {
            return Ok(());
        }
        faults.sort_by_key(|fault| fault.place.position());
        Err(Self { faults })
    }

    /// The faults.
    #[must_use]
    pub fn faults(&self) -> &[Fault] {
        &self.faults
    }

    /// Every fault as a compiler would show it, with the line and a mark below it.
    #[must_use]
    pub fn render(&self, style: Style) -> String {
        let renderer = match style {
            Style::Plain => Renderer::plain(),
            Style::Coloured => Renderer::styled(),
        };
        let shown = self.faults.iter().take(FAULTS_SHOWN_MAX);
        let mut reports: Vec<String> = shown.map(|fault| fault.render(&renderer) + "\n").collect();
        reports.extend(self.rest().map(|rest| rest + "\n"));
        reports.join("\n")
    }

    /// How many faults are not shown.
    fn rest(&self) -> Option<String> {
        let count = self.faults.len().checked_sub(FAULTS_SHOWN_MAX)?;
        (count > 0).then(|| format!("and {count} more"))
    }
}

/// Whether rendered faults carry terminal colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Text alone.
    Plain,
    /// Text with ANSI escape sequences.
    Coloured,
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, fault) in self.faults.iter().take(FAULTS_SHOWN_MAX).enumerate() {
            let line_break = if number == 0 { "" } else { "\n" };
            write!(f, "{line_break}{fault}")?;
        }
        match self.rest() {
            Some(rest) => write!(f, "\n{rest}"),
            None => Ok(()),
        }
    }
}

impl Error for Diagnostics {}
