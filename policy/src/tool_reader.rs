//! From `[tools]` of a source to what calls of tools get.

use toml::Spanned;
use toml::de::DeValue;

use crate::fields::{Fields, Text};
use crate::keys::Section;
use crate::mode::{Ask, Security};
use crate::reader::Reader;
use crate::tool;
use crate::tool_mode::ToolMode;

impl Reader<'_> {
    pub(crate) fn tools(&mut self, value: &Spanned<DeValue<'_>>) {
        let Some(tables) = value.get_ref().as_table() else {
            return;
        };
        self.refuse_of_layer(value.span(), "`[tools]`");
        for (name, value) in tables {
            let Some(table) = value.get_ref().as_table() else {
                self.checker
                    .fault(value.span(), "a table is wanted here", None);
                continue;
            };
            let fields = self.checker.fields(Section::Tool, table, value.span());
            let text = Text {
                text: name.get_ref(),
                span: name.span(),
            };
            if table.is_empty() {
                let help = "it has `security`, `ask` or both".to_owned();
                self.checker
                    .fault(name.span(), "the table says nothing", Some(help));
            }
            self.tool_table(&text, &fields);
        }
    }

    fn tool_table(&mut self, name: &Text<'_>, fields: &Fields<'_>) {
        let shown = name.text.escape_debug();
        if name.text.is_empty() || name.text.contains(['*', '?', '!']) {
            let message = format!("`{shown}` is no name of a tool");
            let help = "a table is about one tool; rules with `tool` take patterns".to_owned();
            self.checker.fault(name.span.clone(), message, Some(help));
            return;
        }
        let mode = ToolMode {
            security: fields.spelt("security", &Security::ALL, Security::as_str),
            ask: fields.spelt("ask", &Ask::ALL, Ask::as_str),
        };
        if let Some((message, help)) = tool::misspelt(name.text) {
            self.checker.fault(name.span.clone(), message, help);
        }
        if !self.part.tools.add(name.text, mode) {
            let message = format!("`{shown}` has two names, and each has a table");
            let help = "`exec_shell` is `bash_execute`".to_owned();
            self.checker.fault(name.span.clone(), message, Some(help));
        }
    }
}
