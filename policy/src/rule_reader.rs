//! From one table of a source to one rule.

use std::ops::Range;
use std::sync::Arc;

use jiff::Timestamp;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::case::Case;
use crate::command::Command;
use crate::exact::ExactArgv;
use crate::example::Example;
use crate::fields::{Fields, Text, text_of};
use crate::keys::{self, Section, Support};
use crate::kind::{self, Complaint};
use crate::load::Standing;
use crate::pattern::PathPattern;
use crate::program::Program;
use crate::reader::{DraftRule, Reader};
use crate::rule::{Action, Rule};
use crate::selector::{List, Selectors};
use crate::source::Layer;
use crate::tool;
use crate::word::Word;
use crate::written::Written;

/// The keys that say what an allow is about.
const WHAT: [&str; 4] = ["program", "command", "argv", "tool"];

impl Reader<'_> {
    pub(crate) fn rule(&mut self, action: Action, section: Section, rule: &Spanned<DeValue<'_>>) {
        let Some(table) = rule.get_ref().as_table() else {
            return;
        };
        let fields = self.checker.fields(section, table, rule.span());
        if action == Action::Allow && self.part.layer == Layer::Floor {
            self.refuse_of_layer(rule.span(), "`[[allow]]`");
        }
        let id = fields.text("id");
        if let Some(id) = &id
            && let Err((message, help)) = kind::id(id.text)
        {
            self.checker.fault(id.span.clone(), message, help);
        }
        let is_case_ignored = fields
            .value("ignore_case")
            .and_then(|value| value.get_ref().as_bool());
        let case = Case::ignored(is_case_ignored.unwrap_or(false));
        let selectors = self.selectors(action, &fields, case);
        self.check_selectors((action, section), table, &fields, rule.span());
        let children = self.children(table, &fields, case);
        let expires = fields.value("expires").and_then(|value| self.date(value));
        let examples = self.examples(&fields);
        let escalates = fields
            .value("escalate")
            .and_then(|value| value.get_ref().as_bool());
        let Some(id) = id else {
            return;
        };
        let own_text = |name| fields.text(name).map(|text| text.text.to_owned());
        let place = self.checker.source.place(rule.span());
        let rule = Rule {
            id: id.text.to_owned(),
            action,
            layer: self.part.layer,
            source: Arc::from(place.source()),
            line: place.line(),
            selectors,
            charters: Vec::new(),
            children,
            expires,
            reason: own_text("reason"),
            instead: own_text("instead"),
            escalates: escalates.unwrap_or(false),
            is_grant: self.standing == Standing::Grants,
            is_of_subtree: section == Section::Subtree,
            written: Written::of(&fields, section),
        };
        let place = self.checker.source.place(id.span);
        self.part.rules.push(DraftRule {
            rule,
            place,
            examples,
            charter_list: None,
        });
    }

    /// Records what a rule lacks. Not of what was written wrongly: that is a fault already.
    fn check_selectors(
        &mut self,
        (action, section): (Action, Section),
        table: &DeTable<'_>,
        fields: &Fields<'_>,
        header: Range<usize>,
    ) {
        let is_there = |name: &str| table.contains_key(name) || fields.is_meant(name);
        let mut selecting = keys::of(section).filter(|key| key.selects && is_there(key.name));
        let is_of_later = selecting.clone().any(|key| key.support == Support::Later);
        if !self.checker.is_whole || is_of_later || section == Section::Subtree {
            return;
        }
        let what = "say what it is about: `program`, `command`, `argv` or `tool`".to_owned();
        if selecting.next().is_none() {
            self.checker
                .fault(header, "the rule selects nothing", Some(what));
        } else if action == Action::Allow && !WHAT.into_iter().any(is_there) {
            self.checker
                .fault(header, "an allow says what it allows", Some(what));
        }
    }

    fn selectors(&mut self, action: Action, fields: &Fields<'_>, case: Case) -> Selectors {
        let places = self.checker.places;
        let programs = fields.texts("program");
        let is_bound = !programs.is_empty();
        let path = |text: &str| kind::path(text, places, case);
        let mut selectors = Selectors {
            case,
            program: self.wide_list(
                action,
                &programs,
                |text| kind::program(text, places, case),
                Program::is_anywhere,
            ),
            command: self.wide_list(
                action,
                &fields.texts("command"),
                |text| command_of_rule(kind::command(text, places, case)?, action, is_bound),
                |command| command.program.is_anywhere(),
            ),
            argv: self.argv(action, &fields.texts("argv"), is_bound),
            flags: self.list(&fields.texts("flags"), |text| {
                kind::flag(text, places, case)
            }),
            args: self.list(&fields.texts("args"), |text| kind::word(text, places, case)),
            tool: self.tool(action, &fields.texts("tool"), case),
            path: self.list::<PathPattern>(&fields.texts("path"), path),
            host: self.list(&fields.texts("host"), kind::host),
            script: self.list::<PathPattern>(&fields.texts("script"), path),
            cwd: self.list::<PathPattern>(&fields.texts("cwd"), path),
            env: self.list(&fields.texts("env"), |text| kind::env(text, places, case)),
            via: self.plain_list(&fields.texts("via"), |text| {
                kind::program(text, places, case)
            }),
            sha256: self.plain_list(&fields.texts("sha256"), kind::digest),
        };
        if selectors.script.is_some() {
            let commands = selectors.command.iter_mut().flat_map(List::entries_mut);
            commands.for_each(Command::open);
        }
        selectors
    }

    fn tool(&mut self, action: Action, texts: &[Text<'_>], case: Case) -> Option<List<Word>> {
        let places = self.checker.places;
        let is_exec = |text: &&Text<'_>| {
            let mut names = tool::EXEC.iter();
            names.any(|name| case.is_same(name.as_bytes(), text.text.as_bytes()))
        };
        let mut of_exec = texts.iter().filter(is_exec);
        if action == Action::Allow
            && let Some(text) = of_exec.next()
        {
            let (message, help) = tool::every_exec(text.text);
            self.checker.fault(text.span.clone(), message, help);
        }
        self.wide_list(
            action,
            texts,
            |text| kind::word(text, places, case),
            |_| false,
        )
    }

    fn argv(&mut self, action: Action, texts: &[Text<'_>], is_bound: bool) -> Option<ExactArgv> {
        let (first, rest) = texts.split_first()?;
        let program = kind::program(first.text, self.checker.places, Case::Exact);
        let program = match program.and_then(|program| check_bound(program, is_bound)) {
            Ok(program) => Some(program),
            Err((message, help)) => {
                self.checker.fault(first.span.clone(), message, help);
                None
            }
        };
        if let Some(program) = &program
            && action == Action::Allow
            && program.is_anywhere()
        {
            self.refuse_anywhere(first.span.clone());
        }
        let rest = rest
            .iter()
            .filter_map(|text| match kind::literal(text.text) {
                Ok(bytes) => Some(bytes),
                Err((message, help)) => {
                    self.checker.fault(text.span.clone(), message, help);
                    None
                }
            });
        let rest = rest.collect();
        Some(ExactArgv {
            program: program?,
            rest,
        })
    }

    fn children(
        &mut self,
        table: &DeTable<'_>,
        fields: &Fields<'_>,
        case: Case,
    ) -> Option<List<Program>> {
        let (name, _) = table
            .iter()
            .find(|(name, _)| name.get_ref() == "children")?;
        if self.part.layer == Layer::Agent {
            self.refuse_of_layer(name.span(), "`children`");
        }
        let places = self.checker.places;
        self.wide_list(
            Action::Allow,
            &fields.texts("children"),
            |text| kind::program(text, places, case),
            Program::is_anywhere,
        )
    }

    fn date(&mut self, value: &Spanned<DeValue<'_>>) -> Option<Timestamp> {
        let date = value.get_ref().as_datetime()?.to_string();
        date.parse()
            .map_err(|_| {
                let message = format!("`{date}` is no date that can be reckoned with");
                self.checker.fault(value.span(), message, None);
            })
            .ok()
    }

    fn examples(&mut self, fields: &Fields<'_>) -> Vec<Example> {
        let mut examples = Vec::new();
        for (key, holds) in [("match", true), ("not_match", false)] {
            for element in fields.elements(key) {
                let place = self.checker.source.place(element.span());
                let words = match element.get_ref().as_array() {
                    Some(list) => {
                        let texts = list.iter().filter_map(text_of);
                        Ok(texts.map(|text| text.text.to_owned()).collect())
                    }
                    None => Example::split(text_of(element).map_or("", |text| text.text)),
                };
                match words {
                    Ok(words) => examples.push(Example {
                        words,
                        holds,
                        place,
                    }),
                    Err((message, help)) => self.checker.fault(element.span(), message, help),
                }
            }
        }
        examples
    }

    /// Reads the entries of a key that an allow may not leave open. `None` if it is absent.
    fn wide_list<T>(
        &mut self,
        action: Action,
        texts: &[Text<'_>],
        parse: impl Fn(&str) -> Result<T, Complaint>,
        is_anywhere: impl Fn(&T) -> bool,
    ) -> Option<List<T>> {
        let first = texts.first()?;
        if action != Action::Allow {
            return self.list(texts, parse);
        }
        if texts.iter().all(|text| text.text.starts_with('!')) {
            let message = "an allow needs an entry without `!`";
            self.checker.fault(first.span.clone(), message, None);
        }
        for text in texts {
            if !text.text.starts_with('!')
                && parse(text.text).is_ok_and(|entry| is_anywhere(&entry))
            {
                self.refuse_anywhere(text.span.clone());
            }
        }
        self.list(texts, parse)
    }

    fn refuse_anywhere(&mut self, span: Range<usize>) {
        let help = "whoever can write any directory could place such a file".to_owned();
        self.checker
            .fault(span, "an allow may not begin with `**/`", Some(help));
    }

    /// Reads the entries of one key, with exceptions. `None` if it is absent.
    fn list<T>(
        &mut self,
        texts: &[Text<'_>],
        parse: impl Fn(&str) -> Result<T, Complaint>,
    ) -> Option<List<T>> {
        let (mut wanted, mut exceptions) = (Vec::new(), Vec::new());
        for Text { text, span } in texts {
            let (entries, entry) = match text.strip_prefix('!') {
                Some(entry) => (&mut exceptions, entry),
                None => (&mut wanted, *text),
            };
            match parse(entry) {
                Ok(entry) => entries.push(entry),
                Err((message, help)) => self.checker.fault(span.clone(), message, help),
            }
        }
        (!texts.is_empty()).then_some(List { wanted, exceptions })
    }

    /// Reads the entries of one key that takes no exceptions. `None` if it is absent.
    fn plain_list<T>(
        &mut self,
        texts: &[Text<'_>],
        parse: impl Fn(&str) -> Result<T, Complaint>,
    ) -> Option<Vec<T>> {
        for Text { text, span } in texts {
            if text.starts_with('!') {
                let message = "this key takes no entry with `!`";
                self.checker.fault(span.clone(), message, None);
            }
        }
        self.list(texts, parse).map(|list| list.wanted)
    }
}

/// What a command must be in a rule of its action and beside a `program`.
pub(crate) fn command_of_rule(
    command: Command,
    action: Action,
    is_bound: bool,
) -> Result<Command, Complaint> {
    if action == Action::Allow {
        command
            .check_script()
            .map_err(|error| (error.to_string(), error.help()))?;
    }
    check_bound(command.program.clone(), is_bound)?;
    Ok(command)
}

fn check_bound(program: Program, is_bound: bool) -> Result<Program, Complaint> {
    if is_bound && !matches!(program, Program::Name { .. }) {
        let help = "`program` says which file; the first word says what it is called";
        let message = "beside `program`, the first word is a bare name".to_owned();
        return Err((message, Some(help.to_owned())));
    }
    Ok(program)
}
