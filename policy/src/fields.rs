//! One TOML table against the table of keys.
//!
//! Whatever is wrong with the names and the types of a table's entries is found here, so
//! that the reader of rules meets only entries of the right form.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::diagnostic::{Fault, SourceText};
use crate::keys::{self, Form, Lookup, Section, Support};

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

    /// The table at `name`.
    pub(crate) fn table(&self, name: &str) -> Option<&'t Spanned<DeValue<'t>>> {
        self.entries.get(name).copied()
    }

    /// The tables at `name`; none if the key is absent.
    pub(crate) fn tables(&self, name: &str) -> impl Iterator<Item = &'t Spanned<DeValue<'t>>> {
        let list = self
            .entries
            .get(name)
            .and_then(|value| value.get_ref().as_array());
        list.into_iter().flat_map(|list| list.iter())
    }
}

fn text_of<'t>(value: &'t Spanned<DeValue<'t>>) -> Option<Text<'t>> {
    let text = value.get_ref().as_str()?;
    Some(Text {
        text,
        span: value.span(),
    })
}

/// Checks tables and collects what is wrong with them.
#[derive(Debug)]
pub(crate) struct Checker {
    pub(crate) source: Arc<SourceText>,
    pub(crate) faults: Vec<Fault>,
    /// Whether what the file lacks is a fault. Not after a syntax error, which may have
    /// swallowed it.
    pub(crate) is_whole: bool,
}

impl Checker {
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
            let Some((name, form)) = self.key(section, name) else {
                continue;
            };
            if self.is_of_form(name, value, form) {
                entries.insert(name, value);
            }
        }
        for key in keys::of(section) {
            let is_required = matches!(key.support, Support::Required(_));
            if is_required && self.is_whole && !table.contains_key(key.name) {
                let message = format!("`{}` is missing", key.name);
                self.fault(header.clone(), message, None);
            }
        }
        Fields { entries }
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

    /// Finds a key that this version reads, or records why there is none.
    fn key(
        &mut self,
        section: Section,
        name: &Spanned<Cow<'_, str>>,
    ) -> Option<(&'static str, Form)> {
        let written = name.get_ref().escape_debug();
        let (message, help) = match keys::find(section, name.get_ref()) {
            Lookup::Here(key) => match key.support {
                Support::Required(form) | Support::Optional(form) => return Some((key.name, form)),
                Support::Later => (
                    format!("`{written}` is not supported by this version yet"),
                    None,
                ),
            },
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

    /// Whether `value` has `form`, with every fault of it recorded.
    fn is_of_form(&mut self, name: &str, value: &Spanned<DeValue<'_>>, form: Form) -> bool {
        let (is_of_form, wanted) = match (form, value.get_ref()) {
            (Form::Texts, DeValue::Array(list)) if list.is_empty() => {
                let help = "leave the key out, or name something".to_owned();
                self.fault(
                    value.span(),
                    format!("the list of `{name}` is empty"),
                    Some(help),
                );
                return false;
            }
            (Form::Texts, DeValue::Array(list)) => {
                return self.are_all(name, list.iter(), Form::Text);
            }
            (Form::Tables, DeValue::Array(list)) => {
                return self.are_all(name, list.iter(), Form::Table);
            }
            (Form::Number, value) => (value.is_integer(), "an integer".to_owned()),
            (Form::Text, value) => (value.is_str(), "a string".to_owned()),
            (Form::Texts, value) => (value.is_str(), "a string or a list of strings".to_owned()),
            (Form::Table, value) => (value.is_table(), "a table".to_owned()),
            (Form::Tables, _) => (false, format!("a list of tables, written `[[{name}]]`")),
        };
        if !is_of_form {
            let found = value.get_ref().type_str();
            let message = format!("`{name}` takes {wanted}, not {found}");
            self.fault(value.span(), message, None);
        }
        is_of_form
    }

    fn are_all<'v>(
        &mut self,
        name: &str,
        list: impl Iterator<Item = &'v Spanned<DeValue<'v>>>,
        form: Form,
    ) -> bool {
        // Counted, not `all`: every element is looked at, so that every fault is found.
        let faulty = list.filter(|element| !self.is_of_form(name, element, form));
        faulty.count() == 0
    }
}
