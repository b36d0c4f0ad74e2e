//! From `[charter]` of a source to its rules.

use std::sync::Arc;

use toml::Spanned;
use toml::de::DeValue;

use crate::case::Case;
use crate::charter::{CharterList, LISTS, is_tool};
use crate::command::Command;
use crate::fields::Text;
use crate::keys::Section;
use crate::kind::{self, Complaint};
use crate::reader::{DraftRule, Reader};
use crate::rule::{Action, Rule};
use crate::rule_reader::command_of_rule;
use crate::selector::{List, Selectors};
use crate::source::Layer;
use crate::tool;
use crate::written::Written;

impl Reader<'_> {
    pub(crate) fn charter(&mut self, value: &Spanned<DeValue<'_>>) {
        let Some(table) = value.get_ref().as_table() else {
            return;
        };
        if self.part.layer == Layer::Floor {
            self.refuse_of_layer(value.span(), "`[charter]`");
        }
        self.part.has_charter = true;
        let fields = self.checker.fields(Section::Charter, table, value.span());
        for list in &LISTS {
            for text in fields.texts(list.name) {
                match self.entry(&text, list.action) {
                    Ok(selectors) => self.charter_rule(&text, list, selectors),
                    Err((message, help)) => self.checker.fault(text.span, message, help),
                }
            }
        }
    }

    /// What an entry is about.
    fn entry(&self, text: &Text<'_>, action: Action) -> Result<Selectors, Complaint> {
        let places = self.checker.places;
        if text.text.starts_with('!') {
            let help = "a charter has lists of its own for what it forbids".to_owned();
            return Err(("an entry of a charter takes no `!`".to_owned(), Some(help)));
        }
        if !is_tool(text.text) {
            let command = kind::command(text.text, places, Case::Exact)?;
            let command: Command = command_of_rule(command, action, false)?;
            return Ok(Selectors {
                command: Some(List::of(command)),
                ..Selectors::default()
            });
        }
        if action == Action::Allow && tool::EXEC.contains(&text.text) {
            return Err(tool::every_exec(text.text));
        }
        Ok(Selectors {
            tool: Some(List::of(kind::word(text.text, places, Case::Exact)?)),
            ..Selectors::default()
        })
    }

    fn charter_rule(&mut self, text: &Text<'_>, list: &'static CharterList, selectors: Selectors) {
        let place = self.checker.source.place(text.span.clone());
        let rule = Rule {
            // Numbered once every charter is read.
            id: String::new(),
            action: list.action,
            layer: Layer::Agent,
            source: Arc::from(place.source()),
            line: place.line(),
            selectors,
            charters: Vec::new(),
            children: None,
            expires: None,
            is_grant: false,
            is_of_subtree: false,
            reason: None,
            instead: None,
            escalates: list.escalates,
            written: Written::single(
                if is_tool(text.text) {
                    "tool"
                } else {
                    "command"
                },
                text.text,
            ),
        };
        self.part.rules.push(DraftRule {
            rule,
            place,
            examples: Vec::new(),
            charter_list: Some(list),
        });
    }
}
