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
use crate::keys::{self, Form, Key, Lookup, Section, Support};
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
    /// The keys that unknown names of the table were probably meant to be.
    meant: Vec<&'static str>,
}

impl<'t> Fields<'t> {
    /// The string at `name`.
    pub(crate) fn text(&self, name: &str) -> Option<Text<'t>> {
        self.entries.get(name).copied().and_then(text_of)
    }

    /// The value that the word at `name` spells, if it is one of `all`.
    pub(crate) fn spelt<T: Copy>(
        &self,
        name: &str,
        all: &[T],
        spelling: fn(T) -> &'static str,
    ) -> Option<T> {
        let word = self.text(name)?;
        let mut all = all.iter().copied();
        all.find(|value| spelling(*value) == word.text)
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

    /// Whether an unknown name of the table was probably meant to be `name`.
    pub(crate) fn is_meant(&self, name: &str) -> bool {
        self.meant.contains(&name)
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
        let (mut entries, mut meant) = (BTreeMap::new(), Vec::new());
        for (name, value) in table {
            let key = match self.key(section, name) {
                Ok(key) => key,
                Err(nearest) => {
                    meant.extend(nearest);
                    continue;
                }
            };
            let is_of_form = self.is_of_form(key.name, value, key.form);
            if key.support == Support::Later {
                self.refuse_later(key, name, is_of_form.then_some(value));
            } else if is_of_form || matches!(key.form, Form::Tables(_)) {
                // An element that is no table does not hide what is wrong with the others.
                entries.insert(key.name, value);
            } else {
                self.check_content(key.form, value);
            }
        }
        for key in keys::of(section) {
            let is_required = key.support == Support::Required;
            let is_there = table.contains_key(key.name) || meant.contains(&key.name);
            if is_required && self.is_whole && !is_there {
                let message = format!("`{}` is missing", key.name);
                self.fault(header.clone(), message, help_for_missing(key.name));
            }
        }
        Fields { entries, meant }
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

    /// Finds a key of the section, or records why there is none and returns the nearest.
    fn key(
        &mut self,
        section: Section,
        name: &Spanned<Cow<'_, str>>,
    ) -> Result<&'static Key, Option<&'static str>> {
        let written = name.get_ref().escape_debug();
        let mut meant = None;
        let (message, help) = match keys::find(section, name.get_ref()) {
            Lookup::Here(key) => return Ok(key),
            Lookup::Elsewhere(_) if section == Section::Grants => {
                let message = format!("a file of grants may not have `{written}`");
                (message, Some(keys_of(section)))
            }
            Lookup::Elsewhere([Section::Top, ..]) => (
                format!(
                    "`{written}` is a top-level key, below the header of {}",
                    section.header()
                ),
                Some(match keys::header_of(name.get_ref()) {
                    Some(header) => format!("write {header} as a header of its own"),
                    None => "move it above the first `[table]` of the file".to_owned(),
                }),
            ),
            Lookup::Elsewhere(sections) => {
                let headers: Vec<_> = sections.iter().map(|section| section.header()).collect();
                let message = format!("`{written}` is no key of {}", section.header());
                (
                    message,
                    Some(format!("it belongs to {}", headers.join(", "))),
                )
            }
            Lookup::Unknown(nearest) => {
                meant = nearest;
                let help = match nearest {
                    Some(nearest) => format!("the nearest key is `{nearest}`"),
                    None => keys_of(section),
                };
                (format!("unknown key `{written}`"), Some(help))
            }
        };
        self.fault(name.span(), message, help);
        Err(meant)
    }
}

/// The keys of a section that this version reads, in a sentence.
fn keys_of(section: Section) -> String {
    let supported = keys::of(section).filter(|key| key.support != Support::Later);
    let names: Vec<_> = supported.map(|key| key.name).collect();
    format!(
        "the keys of {} are `{}`",
        section.header(),
        names.join("`, `")
    )
}

/// How a key that must be there is written.
fn help_for_missing(name: &str) -> Option<String> {
    match name {
        "version" => Some("begin the file with `version = 1`".to_owned()),
        "id" => Some("give the rule a name, such as `id = \"no-push\"`".to_owned()),
        _ => None,
    }
}
