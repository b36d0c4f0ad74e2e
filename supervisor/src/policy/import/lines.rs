//! The lines of a text.

/// Where each line of a text begins.
#[derive(Debug)]
pub(super) struct Lines(Vec<usize>);

impl Lines {
    pub(super) fn of(text: &str) -> Self {
        let breaks = text.match_indices('\n').map(|(at, _)| at + 1);
        Self(std::iter::once(0).chain(breaks).collect())
    }

    /// The number of the line that holds byte `at`, from 1.
    pub(super) fn number(&self, at: usize) -> usize {
        self.0.partition_point(|start| *start <= at)
    }
}
