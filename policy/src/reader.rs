//! From the text of one source to its rules and its mode.
//!
//! The file is read to its end whatever is wrong with it, so that all faults come out at
//! once. A faulty entry is left out or stands as something harmless; nothing that was read
//! is used when there is a single fault.

use std::ops::Range;
use std::str;
use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::command::Command;
use crate::diagnostic::{Fault, Place, SourceText};
use crate::fields::{Checker, Fields, Text};
use crate::keys::{Section, nearest};
use crate::mode::{Ask, Security};
use crate::places::Places;
use crate::program::Program;
use crate::rule::{Action, Rule};
use crate::selector::{List, Selectors};
use crate::source::{Layer, Source};

/// Largest source, in bytes: the bound of the language.
const SOURCE_MAX_BYTES: usize = 8 * 1024 * 1024;

/// What one source says.
#[derive(Debug, Default)]
pub(crate) struct Part {
    /// The rules with the places of their ids.
    pub(crate) rules: Vec<(Rule, Place)>,
    pub(crate) security: Option<Security>,
    pub(crate) ask: Option<Ask>,
    pub(crate) faults: Vec<Fault>,
}

/// Reads one source; `order` is its position among those of the load.
pub(crate) fn read(source: &Source<'_>, order: usize, places: &Places) -> Part {
    let text = match decode(source, order) {
        Ok(text) => text,
        Err(fault) => {
            return Part {
                faults: vec![fault],
                ..Part::default()
            };
        }
    };
    let (document, syntax_errors) = DeTable::parse_recoverable(text);
    let mut reader = Reader {
        layer: source.layer,
        name: source.name.into(),
        places,
        checker: Checker {
            source: SourceText::new(order, source.name, text),
            faults: Vec::new(),
            is_whole: syntax_errors.is_empty(),
        },
        part: Part::default(),
    };
    for error in syntax_errors {
        let message = error.message().replace('\n', ", ");
        reader
            .checker
            .fault(error.span().unwrap_or(0..0), message, None);
    }
    reader.document(document.get_ref());
    Part {
        faults: reader.checker.faults,
        ..reader.part
    }
}

/// The text of a source, if it is one that can be read at all.
fn decode<'s>(source: &Source<'s>, order: usize) -> Result<&'s str, Fault> {
    let fault = |text: &str, at: usize, message: String| {
        Fault::new(
            SourceText::new(order, source.name, text).place(at..at),
            message,
        )
    };
    if !source.layer.is_supported() {
        let message = format!(
            "the layer `{}` is not supported by this version yet",
            source.layer
        );
        return Err(fault("", 0, message));
    }
    if source.text.len() > SOURCE_MAX_BYTES {
        let message = format!(
            "a policy has at most {SOURCE_MAX_BYTES} bytes, this has {}",
            source.text.len()
        );
        return Err(fault("", 0, message));
    }
    str::from_utf8(source.text).map_err(|error| {
        let readable = error.valid_up_to();
        let before = source
            .text
            .get(..readable)
            .and_then(|text| str::from_utf8(text).ok());
        fault(
            before.unwrap_or_default(),
            readable,
            "a policy is UTF-8, and this byte is not".to_owned(),
        )
    })
}

struct Reader<'a> {
    layer: Layer,
    name: Arc<str>,
    places: &'a Places,
    checker: Checker,
    part: Part,
}

impl Reader<'_> {
    fn document(&mut self, table: &DeTable<'_>) {
        let fields = self.checker.fields(Section::Top, table, 0..0);
        if let Some(version) = fields.number("version")
            && version.text != "1"
        {
            let message = format!("version {} of the language is not known", version.text);
            self.checker.fault(
                version.span,
                message,
                Some("write `version = 1`".to_owned()),
            );
        }
        if let Some(mode) = fields.table("mode") {
            self.mode(mode);
        }
        for (action, section) in [
            (Action::Allow, Section::Allow),
            (Action::Ask, Section::Ask),
            (Action::Deny, Section::Deny),
        ] {
            for table in fields.tables(action.as_str()) {
                self.rule(action, section, table);
            }
        }
    }

    fn mode(&mut self, mode: &Spanned<DeValue<'_>>) {
        let Some(table) = mode.get_ref().as_table() else {
            return;
        };
        let fields = self.checker.fields(Section::Mode, table, mode.span());
        self.part.security = fields
            .text("security")
            .map(|word| self.word(&word, Security::ALL, Security::as_str));
        self.part.ask = fields
            .text("ask")
            .map(|word| self.word(&word, Ask::ALL, Ask::as_str));
    }

    /// Reads one of a few words. What is not one of them counts as the first, which is the
    /// strictest; the fault keeps it from being used.
    fn word<T: Copy>(
        &mut self,
        word: &Text<'_>,
        all: [T; 3],
        spelling: fn(T) -> &'static str,
    ) -> T {
        let [strictest, ..] = all;
        let found = all.into_iter().find(|value| spelling(*value) == word.text);
        found.unwrap_or_else(|| {
            let spellings = all.map(spelling);
            let help = match nearest(word.text, spellings) {
                Some(nearest) => format!("the nearest value is `{nearest}`"),
                None => format!("the values are `{}`", spellings.join("`, `")),
            };
            let message = format!("unknown value `{}`", word.text.escape_debug());
            self.checker.fault(word.span.clone(), message, Some(help));
            strictest
        })
    }

    fn rule(&mut self, action: Action, section: Section, rule: &Spanned<DeValue<'_>>) {
        let Some(table) = rule.get_ref().as_table() else {
            return;
        };
        let fields = self.checker.fields(section, table, rule.span());
        let id = fields.text("id");
        if let Some(id) = &id
            && !is_id(id.text)
        {
            let message = format!("`{}` is no id", id.text.escape_debug());
            let help = "an id has the characters a to z, 0 to 9, `.`, `_` and `-`".to_owned();
            self.checker.fault(id.span.clone(), message, Some(help));
        }
        let selectors = self.selectors(action, &fields, table, rule.span());
        let (Some(id), Some(selectors)) = (id, selectors) else {
            return;
        };
        let own_text = |name| fields.text(name).map(|text| text.text.to_owned());
        let rule = Rule {
            id: id.text.to_owned(),
            action,
            layer: self.layer,
            source: Arc::clone(&self.name),
            line: self.checker.source.place(rule.span()).line(),
            selectors,
            reason: own_text("reason"),
            instead: own_text("instead"),
        };
        self.part
            .rules
            .push((rule, self.checker.source.place(id.span)));
    }

    /// The selecting keys of a rule. `None` if they are at fault, which is then recorded.
    fn selectors(
        &mut self,
        action: Action,
        fields: &Fields<'_>,
        table: &DeTable<'_>,
        header: Range<usize>,
    ) -> Option<Selectors> {
        let programs = self.programs(action, &fields.texts("program"));
        let commands = self.commands(action, &fields.texts("command"), programs.is_some());
        match (programs, commands) {
            (Some(programs), None) => Some(Selectors::Program(programs)),
            (None, Some(commands)) => Some(Selectors::Command(commands)),
            (Some(programs), Some(commands)) => Some(Selectors::Both(programs, commands)),
            (None, None) => {
                let has_selector = table.contains_key("program") || table.contains_key("command");
                if self.checker.is_whole && !has_selector {
                    let help = "say what it is about: `program`, `command` or both".to_owned();
                    self.checker
                        .fault(header, "the rule selects nothing", Some(help));
                }
                None
            }
        }
    }

    fn programs(&mut self, action: Action, texts: &[Text<'_>]) -> Option<List<Program>> {
        let places = self.places;
        self.list(
            action,
            texts,
            |text| {
                let program = Program::parse(text, places);
                program.map_err(|error| (error.to_string(), error.help()))
            },
            Program::is_anywhere,
        )
    }

    fn commands(
        &mut self,
        action: Action,
        texts: &[Text<'_>],
        is_bound: bool,
    ) -> Option<List<Command>> {
        let places = self.places;
        self.list(
            action,
            texts,
            |text| {
                let command = Command::parse(text, places);
                let command = command.map_err(|error| (error.to_string(), error.help()))?;
                match command.program {
                    Program::Path(_) if is_bound => Err((
                        "beside `program`, a command begins with a bare name".to_owned(),
                        Some(
                            "`program` says which file; the first word says what it is called"
                                .to_owned(),
                        ),
                    )),
                    Program::Path(_) | Program::Name(_) => Ok(command),
                }
            },
            |command| command.program.is_anywhere(),
        )
    }

    /// Reads the entries of one selecting key. `None` if it is absent.
    fn list<T>(
        &mut self,
        action: Action,
        texts: &[Text<'_>],
        parse: impl Fn(&str) -> Result<T, (String, Option<String>)>,
        is_anywhere: impl Fn(&T) -> bool,
    ) -> Option<List<T>> {
        let first = texts.first()?;
        let mut list = List {
            wanted: Vec::new(),
            exceptions: Vec::new(),
        };
        for Text { text, span } in texts {
            let (is_exception, entry) = match text.strip_prefix('!') {
                Some(entry) => (true, entry),
                None => (false, *text),
            };
            match parse(entry) {
                Err((message, help)) => self.checker.fault(span.clone(), message, help),
                Ok(entry) if is_exception => list.exceptions.push(entry),
                Ok(entry) if action == Action::Allow && is_anywhere(&entry) => {
                    let message = "an allow may not begin with `**/`";
                    let help = "whoever can write any directory could place such a file".to_owned();
                    self.checker.fault(span.clone(), message, Some(help));
                }
                Ok(entry) => list.wanted.push(entry),
            }
        }
        if action == Action::Allow && texts.iter().all(|text| text.text.starts_with('!')) {
            let message = "an allow needs an entry without `!`";
            self.checker.fault(first.span.clone(), message, None);
        }
        Some(list)
    }
}

fn is_id(text: &str) -> bool {
    let is_id_byte = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'_' | b'-');
    !text.is_empty() && text.bytes().all(is_id_byte)
}
