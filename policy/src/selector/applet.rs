//! An allow of a multi-call file: `program` says which file, `command` which of its applets.

use super::Selectors;
use crate::command::Command;
use crate::flag;
use crate::guise::Guise;
use crate::image::{Image, Reading};
use crate::tabled;

impl Selectors {
    /// Whether the rule says of a multi-call file which applets it means.
    pub(super) fn names_applets(&self) -> bool {
        self.program.is_some() && self.command.is_some()
    }

    /// The first key that does not hold for a file that runs `applet`.
    pub(super) fn failing_applet(
        &self,
        image: &Image<'_>,
        applet: &Guise<'_>,
    ) -> Option<&'static str> {
        if !self.program_holds(image, Reading::Strict) {
            return Some("program");
        }
        let commands = self.command.iter().flat_map(|commands| &commands.wanted);
        let mut meant = commands.filter(|command| command.means(applet)).peekable();
        let excepted = self
            .command
            .iter()
            .flat_map(|commands| &commands.exceptions);
        if meant.peek().is_none() || { excepted }.any(|command| command.may_be(applet)) {
            return Some("command");
        }
        if self.argv.is_some() {
            return Some("argv");
        }
        let are_permitted = |command: &Command| self.permits(command, applet);
        if !meant.any(are_permitted) {
            return Some("flags");
        }
        self.failing_rest(image, Reading::Strict)
    }

    /// Whether the flags of a call of `applet`, by `command`, may be there, and its operands.
    fn permits(&self, command: &Command, applet: &Guise<'_>) -> bool {
        let (list, named) = (self.flags.as_ref(), command.flags.as_slice());
        let are_permitted = match command.grammar {
            Some(grammar) => tabled::are_permitted(list, named, grammar.read(applet.arguments())),
            None => list.is_none_or(|list| flag::are_all_on(list, named, applet.arguments())),
        };
        let mut operands = command.operands(applet.arguments());
        are_permitted
            && self.args.as_ref().is_none_or(|list| {
                operands.all(|operand| {
                    list.holds(Reading::Strict, |word, reading| {
                        word.covers(operand, reading)
                    })
                })
            })
    }
}
