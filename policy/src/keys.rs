//! The table of keys: which key belongs where, what it holds, and whether it works yet.
//!
//! All of the language is here, also what this version refuses. A key that is known but not
//! supported is a fault of its own: taking such a rule without the key would make the rule
//! weaker than it reads.

/// A table of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Section {
    /// The file itself, before the first table.
    Top,
    /// `[mode]`.
    Mode,
    /// `[[allow]]`.
    Allow,
    /// `[[ask]]`.
    Ask,
    /// `[[deny]]`.
    Deny,
}

impl Section {
    /// The header that begins the section.
    pub(crate) fn header(self) -> &'static str {
        match self {
            Self::Top => "the top of the file",
            Self::Mode => "`[mode]`",
            Self::Allow => "`[[allow]]`",
            Self::Ask => "`[[ask]]`",
            Self::Deny => "`[[deny]]`",
        }
    }
}

/// What a key holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// An integer.
    Number,
    /// A string.
    Text,
    /// A string, or a list of strings that is not empty.
    Texts,
    /// A table.
    Table,
    /// A list of tables.
    Tables,
}

/// Whether this version reads a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Support {
    /// It must be there.
    Required(Form),
    /// It may be there.
    Optional(Form),
    /// A later version reads it; in this one it is a fault.
    Later,
}

/// One row of the table.
#[derive(Debug)]
pub(crate) struct Key {
    pub(crate) name: &'static str,
    sections: &'static [Section],
    pub(crate) support: Support,
}

const TOP: &[Section] = &[Section::Top];
const MODE: &[Section] = &[Section::Mode];
const RULES: &[Section] = &[Section::Allow, Section::Ask, Section::Deny];

const fn required(name: &'static str, sections: &'static [Section], form: Form) -> Key {
    Key {
        name,
        sections,
        support: Support::Required(form),
    }
}

const fn optional(name: &'static str, sections: &'static [Section], form: Form) -> Key {
    Key {
        name,
        sections,
        support: Support::Optional(form),
    }
}

const fn later(name: &'static str, sections: &'static [Section]) -> Key {
    Key {
        name,
        sections,
        support: Support::Later,
    }
}

/// Every key of the language. A name that has a meaning in two sections has two rows.
#[rustfmt::skip]
const KEYS: &[Key] = &[
    required("version",      TOP, Form::Number),
    optional("mode",         TOP, Form::Table),
    optional("allow",        TOP, Form::Tables),
    optional("ask",          TOP, Form::Tables),
    optional("deny",         TOP, Form::Tables),
    later("layer",           TOP),
    later("include",         TOP),
    later("trusted_dirs",    TOP),
    later("tools",           TOP),
    later("safe_bins",       TOP),
    later("charter",         TOP),
    later("env",             TOP),
    later("audit",           TOP),

    optional("security",     MODE, Form::Text),
    optional("ask",          MODE, Form::Text),
    later("ask_fallback",    MODE),
    later("ask_timeout",     MODE),
    later("approval",        MODE),
    later("escalate_to",     MODE),

    required("id",           RULES, Form::Text),
    optional("program",      RULES, Form::Texts),
    optional("command",      RULES, Form::Texts),
    optional("reason",       RULES, Form::Text),
    optional("instead",      &[Section::Deny], Form::Text),
    later("argv",            RULES),
    later("flags",           RULES),
    later("args",            RULES),
    later("path",            RULES),
    later("host",            RULES),
    later("script",          RULES),
    later("env",             RULES),
    later("cwd",             RULES),
    later("via",             RULES),
    later("tool",            RULES),
    later("sha256",          RULES),
    later("ignore_case",     RULES),
    later("expires",         RULES),
    later("match",           RULES),
    later("not_match",       RULES),
    later("escalate",        &[Section::Ask]),
    later("children",        &[Section::Allow]),
];

/// The rows of one section.
pub(crate) fn of(section: Section) -> impl Iterator<Item = &'static Key> {
    KEYS.iter()
        .filter(move |key| key.sections.contains(&section))
}

/// What a name means in a section.
#[derive(Debug)]
pub(crate) enum Lookup {
    /// A key of the section.
    Here(&'static Key),
    /// A key of other sections only.
    Elsewhere(&'static [Section]),
    /// No key of the language. The nearest spelling that this version reads, if one is near.
    Unknown(Option<&'static str>),
}

/// Finds `name` in `section`.
pub(crate) fn find(section: Section, name: &str) -> Lookup {
    if let Some(key) = of(section).find(|key| key.name == name) {
        return Lookup::Here(key);
    }
    if let Some(key) = KEYS.iter().find(|key| key.name == name) {
        return Lookup::Elsewhere(key.sections);
    }
    let supported = of(section).filter(|key| key.support != Support::Later);
    Lookup::Unknown(nearest(name, supported.map(|key| key.name)))
}

/// The word among `known` that `written` was probably meant to be.
pub(crate) fn nearest(
    written: &str,
    known: impl IntoIterator<Item = &'static str>,
) -> Option<&'static str> {
    let distances = known.into_iter().map(|word| {
        let distance = strsim::damerau_levenshtein(&written.to_ascii_lowercase(), word);
        (distance, word)
    });
    // A third of the word may be wrong: enough for a slip of two keys, too little for another word.
    let near = distances.filter(|(distance, word)| *distance <= (word.len() / 3).max(1));
    near.min().map(|(_, word)| word)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECTIONS: [Section; 5] = [
        Section::Top,
        Section::Mode,
        Section::Allow,
        Section::Ask,
        Section::Deny,
    ];

    #[test]
    fn no_section_has_two_rows_of_one_name() {
        for section in SECTIONS {
            let mut names: Vec<_> = of(section).map(|key| key.name).collect();
            let rows = names.len();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), rows, "{section:?}");
        }
    }

    #[test]
    fn a_name_is_found_in_its_own_section_first() {
        assert!(matches!(find(Section::Mode, "ask"), Lookup::Here(key)
            if key.support == Support::Optional(Form::Text)));
        assert!(matches!(find(Section::Top, "ask"), Lookup::Here(key)
            if key.support == Support::Optional(Form::Tables)));
        assert!(matches!(
            find(Section::Allow, "version"),
            Lookup::Elsewhere([Section::Top])
        ));
        assert!(matches!(
            find(Section::Allow, "instead"),
            Lookup::Elsewhere([Section::Deny])
        ));
    }

    #[test]
    fn the_nearest_spelling_is_one_that_works() {
        for (section, written, meant) in [
            (Section::Top, "verison", Some("version")),
            (Section::Top, "allows", Some("allow")),
            (Section::Deny, "Instaed", Some("instead")),
            (Section::Deny, "flag", None),
            (Section::Allow, "priority", None),
        ] {
            assert!(
                matches!(find(section, written), Lookup::Unknown(nearest) if nearest == meant),
                "{written}"
            );
        }
    }
}
