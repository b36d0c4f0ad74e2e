//! What is wrong with a policy: every fault, each where it stands.

use std::error::Error;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet, normalize_untrusted_str};

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

    fn snippet<'a>(
        &'a self,
        kind: AnnotationKind,
        label: Option<&'a str>,
    ) -> Snippet<'a, annotate_snippets::Annotation<'a>> {
        let (line, within) = self.excerpt();
        Snippet::source(line)
            .path(self.source())
            .line_start(self.line())
            .annotation(kind.span(within).label(label))
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
            message: message.into(),
            help: None,
            related: None,
        }
    }

    /// Adds what the author could do.
    pub(crate) fn help(self, help: impl Into<Option<String>>) -> Self {
        Self {
            help: help.into(),
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
        let mut group = Level::ERROR
            .primary_title(self.message.as_str())
            .element(self.place.snippet(AnnotationKind::Primary, None));
        if let Some((place, label)) = &self.related {
            group = group.element(place.snippet(AnnotationKind::Context, Some(label)));
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

/// Every fault of a load, in the order of the sources and of their text. Never empty.
///
/// Displays as one line a fault; [`Diagnostics::render`] shows the text as well.
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
        faults.sort_by_key(|fault| (fault.place.source.order, fault.place.span.start));
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
        let reports: Vec<String> = self
            .faults
            .iter()
            .map(|fault| fault.render(&renderer) + "\n")
            .collect();
        reports.join("\n")
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
        for (number, fault) in self.faults.iter().enumerate() {
            let line_break = if number == 0 { "" } else { "\n" };
            write!(f, "{line_break}{fault}")?;
        }
        Ok(())
    }
}

impl Error for Diagnostics {}
