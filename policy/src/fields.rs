//! One TOML table against the table of keys.
//!
//! Whatever is wrong with the names of a table's entries, and with the forms of their values,
//! is found here, so that the reader of rules meets only entries of the right form.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::diagnostic::{Fault, SourceText};
use crate::keys::{self, Key, Lookup, Section, Support};
use crate::places::Places;

/// A string of a policy and where it stands.
#[derive(Debug, Clone)]
pub(crate) struct Text<'t> {
    pub(crate) text: &'t str,
    pub(crate) span: Range<usize>,
}

/// The entries of one table that are of the form their key demands.
#[derive(Debug)]
pub(crate) struct Fields<'t> {
    entries: BTreeMap<&'static str, &'t Spanned<DeValue<'t>>>,
}

impl<'t> Fields<'t> {
    /// The string at `name`.
    pub(crate) fn text(&self, name: &str) -> Option<Text<'t>> {
        self.entries.get(name).copied().and_then(text_of)
    }

    /// The strings at `name`; none if the key is absent.
    pub(crate) fn texts(&self, name: &str) -> Vec<Text<'t>> {
        let Some(value) = self.entries.get(name).copied() else {
            return Vec::new();
        };
        match value.get_ref().as_array() {
            Some(list) => list.iter().filter_map(text_of).collect(),
            None => text_of(value).into_iter().collect(),
        }
    }

    /// The integer at `name`, as written without its digit separators, and where it stands.
    pub(crate) fn number(&self, name: &str) -> Option<Text<'t>> {
        let value = self.entries.get(name).copied()?;
        let text = value.get_ref().as_integer()?.as_str();
        Some(Text {
            text,
            span: value.span(),
        })
    }

    /// The value at `name`, whatever its form.
    pub(crate) fn value(&self, name: &str) -> Option<&'t Spanned<DeValue<'t>>> {
        self.entries.get(name).copied()
    }

    /// Whether the flag at `name` is set.
    pub(crate) fn is_true(&self, name: &str) -> bool {
        let value = self.value(name).map(Spanned::get_ref);
        value.and_then(DeValue::as_bool).unwrap_or(false)
    }

    /// The elements of the list at `name`; none if the key is absent.
    pub(crate) fn elements(&self, name: &str) -> impl Iterator<Item = &'t Spanned<DeValue<'t>>> {
        let list = self
            .entries
            .get(name)
            .and_then(|value| value.get_ref().as_array());
        list.into_iter().flat_map(|list| list.iter())
    }
}

/// The string that a value is, with its place.
pub(crate) fn text_of<'t>(value: &'t Spanned<DeValue<'t>>) -> Option<Text<'t>> {
    let text = value.get_ref().as_str()?;
    Some(Text {
        text,
        span: value.span(),
    })
}

/// Checks tables and collects what is wrong with them.
#[derive(Debug)]
pub(crate) struct Checker<'p> {
    pub(crate) source: Arc<SourceText>,
    pub(crate) places: &'p Places,
    pub(crate) faults: Vec<Fault>,
    /// Whether what the file lacks is a fault. Not after a syntax error, which may have
    /// swallowed it.
    pub(crate) is_whole: bool,
}

impl Checker<'_> {
    /// Takes the entries of `table` that are keys of `section` and of the right form.
    ///
    /// `header` is the place to blame for what is missing.
    pub(crate) fn fields<'t>(
        &mut self,
        section: Section,
        table: &'t DeTable<'t>,
        header: Range<usize>,
    ) -> Fields<'t> {
        let mut entries = BTreeMap::new();
        for (name, value) in table {
            let Some(key) = self.key(section, name) else {
                continue;
            };
            let is_of_form = self.is_of_form(key.name, value, key.form);
            if key.support == Support::Later {
                self.refuse_later(key, name, is_of_form.then_some(value));
            } else if is_of_form {
                entries.insert(key.name, value);
            }
        }
        for key in keys::of(section) {
            let is_required = key.support == Support::Required;
            if is_required && self.is_whole && !table.contains_key(key.name) {
                let message = format!("`{}` is missing", key.name);
                self.fault(header.clone(), message, None);
            }
        }
        Fields { entries }
    }

    /// Records that a key waits for a later version, after what is wrong with its value: who
    /// writes for that version learns of it now.
    fn refuse_later(
        &mut self,
        key: &Key,
        name: &Spanned<Cow<'_, str>>,
        value: Option<&Spanned<DeValue<'_>>>,
    ) {
        if let Some(value) = value {
            self.check_content(key.form, value);
        }
        let message = format!("`{}` is not supported by this version yet", key.name);
        self.fault(name.span(), message, None);
    }

    /// Records a fault at `span`.
    pub(crate) fn fault(
        &mut self,
        span: Range<usize>,
        message: impl Into<String>,
        help: Option<String>,
    ) {
        let place = self.source.place(span);
        self.faults.push(Fault::new(place, message).help(help));
    }

    /// Finds a key of the section, or records why there is none.
    fn key(&mut self, section: Section, name: &Spanned<Cow<'_, str>>) -> Option<&'static Key> {
        let written = name.get_ref().escape_debug();
        let (message, help) = match keys::find(section, name.get_ref()) {
            Lookup::Here(key) => return Some(key),
            Lookup::Elsewhere([Section::Top]) => (
                format!(
                    "`{written}` is a top-level key, below the header of {}",
                    section.header()
                ),
                Some("move it above the first `[table]` of the file".to_owned()),
            ),
            Lookup::Elsewhere(sections) => {
                let headers: Vec<_> = sections.iter().map(|section| section.header()).collect();
                let message = format!("`{written}` is no key of {}", section.header());
                (
                    message,
                    Some(format!("it belongs to {}", headers.join(", "))),
                )
            }
            Lookup::Unknown(nearest) => (
                format!("unknown key `{written}`"),
                nearest.map(|nearest| format!("the nearest key is `{nearest}`")),
            ),
        };
        self.fault(name.span(), message, help);
        None
    }
}
