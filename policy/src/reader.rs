//! From the text of one source to what it says.
//!
//! The file is read to its end whatever is wrong with it, so that all faults come out at
//! once. A faulty entry is left out or stands as something harmless; nothing that was read
//! is used when there is a single fault.

use std::ops::Range;
use std::str;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::approval::Approval;
use crate::case::Case;
use crate::charter::CharterList;
use crate::diagnostic::{Fault, Place, SourceText};
use crate::duration;
use crate::example::Example;
use crate::fields::{Checker, Fields, Text};
use crate::keys::Section;
use crate::kind;
use crate::load::Standing;
use crate::mode::{Ask, Security};
use crate::outlets::Outlets;
use crate::pattern::PathPattern;
use crate::places::Places;
use crate::redaction::Redaction;
use crate::rule::{Action, Rule};
use crate::safe_bin::SafeBins;
use crate::settings::Settings;
use crate::source::{Layer, SOURCE_MAX_BYTES, Source};
use crate::syntax::{self, MadeUp};
use crate::tool_mode::ToolModes;
use crate::watch::EnvName;

/// What one source says.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) layer: Layer,
    /// What the source includes, with its places.
    pub(crate) includes: Vec<(String, Place)>,
    pub(crate) trusted_dirs: Vec<PathPattern>,
    /// `[safe_bins]`, if the source has it.
    pub(crate) safe_bins: Option<SafeBins>,
    /// `[env] untrusted`.
    pub(crate) untrusted: Vec<EnvName>,
    pub(crate) settings: Settings,
    pub(crate) outlets: Outlets,
    /// `[tools]`.
    pub(crate) tools: ToolModes,
    /// `[audit] redact`.
    pub(crate) redaction: Redaction,
    /// Whether the source has `[charter]`, the entries of which are among the rules.
    pub(crate) has_charter: bool,
    pub(crate) rules: Vec<DraftRule>,
    pub(crate) faults: Vec<Fault>,
}

/// A rule as it was written.
#[derive(Debug)]
pub(crate) struct DraftRule {
    pub(crate) rule: Rule,
    /// Where its id is.
    pub(crate) place: Place,
    /// The calls that it must hold for, and those that it must not.
    pub(crate) examples: Vec<Example>,
    /// The list of a charter that it is an entry of, if it is one.
    pub(crate) charter_list: Option<&'static CharterList>,
}

/// Reads one source; `order` is its position among those of the load.
pub(crate) fn read(source: &Source<'_>, standing: Standing, order: usize, places: &Places) -> Part {
    let empty = |faults| Part {
        layer: source.layer,
        includes: Vec::new(),
        trusted_dirs: Vec::new(),
        untrusted: Vec::new(),
        safe_bins: None,
        settings: Settings::default(),
        outlets: Outlets::default(),
        tools: ToolModes::default(),
        redaction: Redaction::default(),
        has_charter: false,
        rules: Vec::new(),
        faults,
    };
    let text = match decode(source, order) {
        Ok(text) => text,
        Err(fault) => return empty(vec![fault]),
    };
    let (document, mut syntax_errors) = DeTable::parse_recoverable(text);
    syntax_errors.sort_by_key(|error| syntax::span(error).start);
    let mut reader = Reader {
        checker: Checker {
            source: SourceText::new(order, source.name, text),
            places,
            faults: Vec::new(),
            is_whole: syntax_errors.is_empty(),
        },
        standing,
        part: empty(Vec::new()),
    };
    reader.document(document.get_ref());
    let made_up = MadeUp::of(&syntax_errors);
    let is_own = |fault: &Fault| !made_up.contains(fault.place().start());
    reader.checker.faults.retain(is_own);
    for error in syntax::first_of_lines(&syntax_errors, text) {
        let (message, help) = syntax::explain(error, text);
        reader.checker.fault(syntax::span(error), message, help);
    }
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
    if u64::try_from(source.text.len()).is_ok_and(|len| len > SOURCE_MAX_BYTES) {
        let message = format!("a policy has at most {SOURCE_MAX_BYTES} bytes, and this has more");
        return Err(fault("", 0, message));
    }
    // A byte order mark is no part of the text, and of no column.
    let text = source.text.strip_prefix(b"\xef\xbb\xbf");
    let text = text.unwrap_or(source.text);
    str::from_utf8(text).map_err(|error| {
        let readable = error.valid_up_to();
        let before = text
            .get(..readable)
            .and_then(|text| str::from_utf8(text).ok());
        fault(
            before.unwrap_or_default(),
            readable,
            "a policy is UTF-8, and this byte is not".to_owned(),
        )
    })
}

/// A source on its way to a [`Part`].
pub(crate) struct Reader<'p> {
    pub(crate) checker: Checker<'p>,
    pub(crate) standing: Standing,
    pub(crate) part: Part,
}

impl Reader<'_> {
    fn document(&mut self, table: &DeTable<'_>) {
        let section = match self.standing {
            Standing::Named | Standing::Included => Section::Top,
            Standing::Grants => Section::Grants,
        };
        let fields = self.checker.fields(section, table, 0..0);
        self.version(&fields);
        self.notes(&fields);
        self.layer(&fields);
        for include in fields.texts("include") {
            let place = self.checker.source.place(include.span.clone());
            self.part.includes.push((include.text.to_owned(), place));
            self.refuse_preset(&include);
        }
        self.trusted_dirs(table, &fields);
        self.notify(table, &fields);
        if let Some(mode) = fields.value("mode") {
            self.mode(mode);
        }
        if let Some(env) = fields.value("env") {
            self.env(env);
        }
        if let Some(safe_bins) = fields.value("safe_bins") {
            self.safe_bins(safe_bins);
        }
        if let Some(tools) = fields.value("tools") {
            self.tools(tools);
        }
        if let Some(audit) = fields.value("audit") {
            self.audit(audit);
        }
        if let Some(charter) = fields.value("charter") {
            self.charter(charter);
        }
        for (action, section) in [
            (Action::Allow, Section::Allow),
            (Action::Ask, Section::Ask),
            (Action::Deny, Section::Deny),
        ] {
            for table in fields.elements(action.as_str()) {
                self.rule(action, section, table);
            }
        }
        for table in fields.elements("subtree") {
            self.rule(Action::Allow, Section::Subtree, table);
        }
    }

    fn version(&mut self, fields: &Fields<'_>) {
        if let Some(version) = fields.number("version")
            && version.text != "1"
        {
            let message = format!("version {} of the language is not known", version.text);
            let help = "write `version = 1`".to_owned();
            self.checker.fault(version.span, message, Some(help));
        }
    }

    /// Makes sure that the notes of grants are whole.
    fn notes(&mut self, fields: &Fields<'_>) {
        let notes = fields
            .value("grants")
            .and_then(|it| it.get_ref().as_table());
        for (_, note) in notes.into_iter().flatten() {
            if let Some(table) = note.get_ref().as_table() {
                self.checker.fields(Section::Grant, table, note.span());
            }
        }
    }

    /// Takes the file's own word for whose it is, where that is not settled.
    fn layer(&mut self, fields: &Fields<'_>) {
        let Some(word) = fields.text("layer") else {
            return;
        };
        let written = match word.text {
            "agent" => Layer::Agent,
            "floor" => Layer::Floor,
            _ => Layer::User,
        };
        if self.part.layer == Layer::User && self.standing == Standing::Named {
            self.part.layer = written;
        } else if self.part.layer != written {
            let message = format!(
                "this file is of the layer `{}`, and `{written}` does not change that",
                self.part.layer
            );
            self.checker.fault(word.span, message, None);
        }
    }

    fn refuse_preset(&mut self, include: &Text<'_>) {
        if include.text.starts_with("preset:") {
            self.refuse_of_layer(include.span.clone(), "a preset");
        }
    }

    /// Records that the file's layer may not have `what`, if it may not.
    pub(crate) fn refuse_of_layer(&mut self, span: Range<usize>, what: &str) {
        let help = match self.part.layer {
            Layer::Builtin | Layer::User => return,
            Layer::Agent => "an agent's file states rules; what they rest on is the user's",
            Layer::Floor => "a floor has `[[deny]]`, `[[ask]]` and `[mode]`",
        };
        let message = format!(
            "a file of the layer `{}` may not have {what}",
            self.part.layer
        );
        self.checker.fault(span, message, Some(help.to_owned()));
    }

    fn trusted_dirs(&mut self, table: &DeTable<'_>, fields: &Fields<'_>) {
        let key = table
            .iter()
            .find(|(name, _)| name.get_ref() == "trusted_dirs");
        if let Some((name, _)) = key {
            self.refuse_of_layer(name.span(), "`trusted_dirs`");
        }
        for text in fields.texts("trusted_dirs") {
            match kind::path(text.text, self.checker.places, Case::Exact) {
                Ok(pattern) if pattern.is_anywhere() => {
                    let message = "a trusted directory may not begin with `**/`";
                    self.checker.fault(text.span, message, None);
                }
                Ok(pattern) => self.part.trusted_dirs.push(pattern),
                Err((message, help)) => self.checker.fault(text.span, message, help),
            }
        }
    }

    fn env(&mut self, env: &Spanned<DeValue<'_>>) {
        let Some(table) = env.get_ref().as_table() else {
            return;
        };
        self.refuse_of_layer(env.span(), "`[env]`");
        let fields = self.checker.fields(Section::Env, table, env.span());
        for text in fields.texts("untrusted") {
            match kind::env_name(text.text, self.checker.places) {
                Ok(name) => self.part.untrusted.push(name),
                Err((message, help)) => self.checker.fault(text.span, message, help),
            }
        }
    }

    fn audit(&mut self, audit: &Spanned<DeValue<'_>>) {
        let Some(table) = audit.get_ref().as_table() else {
            return;
        };
        self.refuse_of_layer(audit.span(), "`[audit]`");
        let fields = self.checker.fields(Section::Audit, table, audit.span());
        for text in fields.texts("redact") {
            match kind::word(text.text, self.checker.places, Case::Exact) {
                Ok(word) => self.part.redaction.add(text.text, word),
                Err((message, help)) => self.checker.fault(text.span, message, help),
            }
        }
    }

    fn mode(&mut self, mode: &Spanned<DeValue<'_>>) {
        let Some(table) = mode.get_ref().as_table() else {
            return;
        };
        let fields = self.checker.fields(Section::Mode, table, mode.span());
        let security = |name| fields.spelt(name, &Security::ALL, Security::as_str);
        self.part.settings = Settings {
            security: security("security"),
            ask: fields.spelt("ask", &Ask::ALL, Ask::as_str),
            ask_fallback: security("ask_fallback"),
            ask_timeout: self.ask_timeout(&fields),
            approval: fields
                .value("approval")
                .and_then(|value| self.approval(value)),
        };
        self.escalate_to(&fields);
    }

    fn ask_timeout(&mut self, fields: &Fields<'_>) -> Option<std::time::Duration> {
        let text = fields.text("ask_timeout")?;
        duration::parse(text.text)
            .map_err(|(message, help)| self.checker.fault(text.span, message, help))
            .ok()
    }

    fn approval(&mut self, value: &Spanned<DeValue<'_>>) -> Option<Approval> {
        if let Some(table) = value.get_ref().as_table() {
            return self.reject(table, value.span());
        }
        value.get_ref().as_str().map(|word| match word {
            "unless_trusted" => Approval::UnlessTrusted,
            "on_request" => Approval::OnRequest,
            _ => Approval::Never,
        })
    }

    /// `{ reject = { … } }`.
    fn reject(&mut self, table: &DeTable<'_>, span: Range<usize>) -> Option<Approval> {
        let help = || Some("write a word, or `{ reject = { rules = true } }`".to_owned());
        let mut reject = None;
        for (name, value) in table {
            if name.get_ref() != "reject" {
                let message = format!("unknown key `{}`", name.get_ref().escape_debug());
                self.checker.fault(name.span(), message, help());
            } else if let Some(table) = value.get_ref().as_table() {
                let fields = self.checker.fields(Section::Reject, table, value.span());
                reject = Some(Approval::Reject {
                    rules: fields.is_true("rules"),
                    sandbox_approval: fields.is_true("sandbox_approval"),
                    mcp_elicitations: fields.is_true("mcp_elicitations"),
                });
            } else {
                let found = value.get_ref().type_str();
                let message = format!("`reject` takes a table, not {found}");
                self.checker.fault(value.span(), message, help());
            }
        }
        if table.is_empty() {
            let message = "the table of `approval` is empty";
            self.checker.fault(span, message, help());
        }
        reject
    }
}
