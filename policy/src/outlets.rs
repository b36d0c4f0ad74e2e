//! Where a policy has word of a question sent: to a higher supervisor, and to a program of the user's.

use crate::source::Layer;

/// What one source says, and what all of a policy's come to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Outlets {
    pub(crate) escalate_to: Option<String>,
    pub(crate) notify: Option<Notify>,
}

/// A program that is told of each question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notify {
    /// The program, by its absolute path, and its arguments.
    pub argv: Vec<String>,
    /// The name of the source that names it.
    pub source: String,
}

impl Outlets {
    /// Joins those of the sources, given in the order in which they were named: a floor's word counts before
    /// the user's, and in a layer the last one.
    pub(crate) fn of<'s>(sources: impl IntoIterator<Item = (Layer, &'s Self)>) -> Self {
        let mut sorted: Vec<_> = sources.into_iter().collect();
        sorted.sort_by_key(|(layer, _)| *layer == Layer::Floor);
        let mut all = Self::default();
        for (_, said) in sorted {
            all.escalate_to = said.escalate_to.clone().or(all.escalate_to);
            all.notify = said.notify.clone().or(all.notify);
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn escalate_to(path: &str) -> Outlets {
        let escalate_to = Some(path.to_owned());
        Outlets {
            escalate_to,
            ..Outlets::default()
        }
    }

    #[test]
    fn a_floors_word_counts_before_the_users_and_the_last_of_a_layer() {
        let (floor, first, last) = (escalate_to("/f"), escalate_to("/1"), escalate_to("/2"));
        let silent = Outlets::default();
        for (sources, expected) in [
            (vec![(Layer::Floor, &floor), (Layer::User, &first)], "/f"),
            (vec![(Layer::User, &first), (Layer::User, &last)], "/2"),
            (vec![(Layer::User, &first), (Layer::User, &silent)], "/1"),
        ] {
            let found = Outlets::of(sources).escalate_to;
            assert_eq!(found.as_deref(), Some(expected));
        }
    }
}
