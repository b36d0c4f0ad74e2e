//! What is said of an import: entries that are left out, and such as are narrower.

use super::toml_text::comment;

/// What the policy does not say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LeftOut {
    /// The entry as it is written.
    pub(crate) what: String,
    /// Where; empty for a setting that `what` names.
    pub(crate) place: String,
    pub(crate) why: String,
    /// Whether the policy lets more happen by that: a deny or an ask is missing.
    pub(crate) is_wider: bool,
}

/// What the policy says more narrowly: an allow covers less, a deny or an ask more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Narrowed {
    pub(crate) what: String,
    pub(crate) place: String,
    pub(crate) why: String,
}

impl LeftOut {
    /// One line without its end, for a comment and for a terminal.
    pub(crate) fn line(&self) -> String {
        let word = match self.is_wider {
            true => "WIDER without",
            false => "not imported",
        };
        line(word, &self.what, &self.place, &self.why)
    }
}

impl Narrowed {
    /// One line without its end, for a comment and for a terminal.
    pub(crate) fn line(&self) -> String {
        line("narrower", &self.what, &self.place, &self.why)
    }
}

fn line(word: &str, what: &str, place: &str, why: &str) -> String {
    let place = match place {
        "" => String::new(),
        place => format!(" ({})", comment(place)),
    };
    format!("{word}: {}{place}: {}", comment(what), comment(why))
}
