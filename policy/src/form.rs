//! Whether the value of a key has the form that the table of keys demands.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::fields::{Checker, text_of};
use crate::keys::{self, Form, Kind, Section, nearest};

/// How a flag of a safe bin takes its value.
const FLAG_FORMS: [&str; 4] = ["none", "value", "=value", "two"];
/// The words of `approval` that this version reads.
const APPROVALS: [&str; 3] = ["unless_trusted", "on_request", "never"];

/// How a value of the form is written, where the name of its type does not say it.
fn help_for(form: Form, found: &DeValue<'_>) -> Option<String> {
    match form {
        Form::Table(section) => Some(format!("write {} and below it the keys", section.header())),
        Form::List(_) | Form::Names(_) | Form::Examples if found.is_str() => {
            Some("put it in `[` and `]`".to_owned())
        }
        Form::Date if found.is_str() => Some("write it without quotes".to_owned()),
        Form::Text(Kind::Duration) => Some("write it with its unit, such as `\"5m\"`".to_owned()),
        Form::Approval => Some(format!("the words are `{}`", APPROVALS.join("`, `"))),
        Form::Number
        | Form::Bool
        | Form::Text(_)
        | Form::Choice(_)
        | Form::Texts(_)
        | Form::List(_)
        | Form::Names(_)
        | Form::Examples
        | Form::Date
        | Form::Tables(_)
        | Form::Map(_)
        | Form::FlagForms => None,
    }
}

impl Checker<'_> {
    /// Whether `value` has `form`, with every fault of it recorded.
    pub(crate) fn is_of_form(
        &mut self,
        name: &str,
        value: &Spanned<DeValue<'_>>,
        form: Form,
    ) -> bool {
        let (is_of_form, wanted) = match (form, value.get_ref()) {
            (Form::Texts(_) | Form::List(_) | Form::Examples, DeValue::Array(list))
                if list.is_empty() =>
            {
                let help = "leave the key out, or name something".to_owned();
                let message = format!("the list of `{name}` is empty");
                self.fault(value.span(), message, Some(help));
                return false;
            }
            (Form::Texts(kind) | Form::List(kind) | Form::Names(kind), DeValue::Array(list)) => {
                return self.are_all(name, list.iter(), Form::Text(kind));
            }
            (Form::Examples, DeValue::Array(list)) => {
                return self.are_all(name, list.iter(), Form::Texts(Kind::Literal));
            }
            (Form::Tables(section), DeValue::Array(list)) => {
                return self.are_all(name, list.iter(), Form::Table(section));
            }
            (Form::Choice(words), DeValue::String(word)) => {
                return self.is_word(value, word, words);
            }
            (Form::Approval, DeValue::String(word)) => return self.is_approval(value, word),
            (Form::Date, DeValue::Datetime(date)) => {
                let has_all = date.date.is_some() && date.time.is_some() && date.offset.is_some();
                (has_all, "a date and time with an offset".to_owned())
            }
            (Form::Number, value) => (value.is_integer(), "an integer".to_owned()),
            (Form::Bool, value) => (value.is_bool(), "true or false".to_owned()),
            (Form::Text(_), value) => (value.is_str(), "a string".to_owned()),
            (Form::Choice(words), _) => (false, format!("one of `{}`", words.join("`, `"))),
            (Form::Texts(_), value) => (value.is_str(), "a string or a list of strings".to_owned()),
            (Form::List(_) | Form::Names(_), _) => (false, "a list of strings".to_owned()),
            (Form::Examples, _) => (false, "a list of command lines".to_owned()),
            (Form::Date, _) => (false, "a date and time with an offset".to_owned()),
            (Form::Approval, value) => (value.is_table(), "a word or a table".to_owned()),
            (Form::Table(_) | Form::Map(_) | Form::FlagForms, value) => {
                (value.is_table(), "a table".to_owned())
            }
            (Form::Tables(_), _) => (false, format!("a list of tables, written `[[{name}]]`")),
        };
        if !is_of_form {
            let found = value.get_ref().type_str();
            let message = if form == Form::Date && value.get_ref().is_datetime() {
                format!("`{name}` takes {wanted}, such as `2027-01-31T18:00:00+01:00`")
            } else {
                format!("`{name}` takes {wanted}, not {found}")
            };
            self.fault(value.span(), message, help_for(form, value.get_ref()));
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

    fn is_word(
        &mut self,
        value: &Spanned<DeValue<'_>>,
        word: &str,
        words: &[&'static str],
    ) -> bool {
        if words.contains(&word) {
            return true;
        }
        let help = match nearest(word, words.iter().copied()) {
            Some(nearest) => format!("the nearest value is `{nearest}`"),
            None => format!("the values are `{}`", words.join("`, `")),
        };
        let message = format!("unknown value `{}`", word.escape_debug());
        self.fault(value.span(), message, Some(help));
        false
    }

    fn is_approval(&mut self, value: &Spanned<DeValue<'_>>, word: &str) -> bool {
        if word == "on_failure" {
            let message = "`on_failure` is refused until there is a confined first run";
            let help = "`on_request` asks before every call".to_owned();
            self.fault(value.span(), message, Some(help));
            return false;
        }
        self.is_word(value, word, &APPROVALS)
    }

    /// Records what is wrong inside a value that has its form.
    pub(crate) fn check_content(&mut self, form: Form, value: &Spanned<DeValue<'_>>) {
        match (form, value.get_ref()) {
            (Form::Text(kind) | Form::Texts(kind) | Form::List(kind) | Form::Names(kind), _) => {
                let list = value.get_ref().as_array().map(|list| list.iter());
                let texts = list.into_iter().flatten().filter_map(text_of);
                for text in texts.chain(text_of(value)) {
                    if let Err((message, help)) = kind.check(text.text, self.places) {
                        self.fault(text.span, message, help);
                    }
                }
            }
            (Form::Table(section), DeValue::Table(table)) => {
                self.check_section(section, table, value);
            }
            (Form::Map(section), DeValue::Table(tables)) => {
                for (_, value) in tables {
                    if let Some(table) = value.get_ref().as_table() {
                        self.check_section(section, table, value);
                    } else {
                        self.fault(value.span(), "a table is wanted here", None);
                    }
                }
            }
            (Form::FlagForms, DeValue::Table(flags)) => {
                for (flag, form) in flags {
                    if let Err((message, help)) = Kind::Flag.check(flag.get_ref(), self.places) {
                        self.fault(flag.span(), message, help);
                    }
                    let form_of = Form::Choice(&FLAG_FORMS);
                    self.is_of_form(flag.get_ref(), form, form_of);
                }
            }
            _ => {}
        }
    }

    fn check_section(
        &mut self,
        section: Section,
        table: &DeTable<'_>,
        value: &Spanned<DeValue<'_>>,
    ) {
        let fields = self.fields(section, table, value.span());
        for key in keys::of(section) {
            if let Some(value) = fields.value(key.name) {
                self.check_content(key.form, value);
            }
        }
    }
}
