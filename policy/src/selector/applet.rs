//! An allow of a multi-call file: `program` says which file, `command` which of its applets.

use super::{List, Selectors};
use crate::command::Command;
use crate::guise::Guise;
use crate::image::{Image, Reading};

impl Selectors {
    /// The first key that does not hold for a file that runs `applet`, where `commands` says which.
    pub(super) fn failing_applet(
        &self,
        commands: &List<Command>,
        image: &Image<'_>,
        applet: &Guise<'_>,
    ) -> Option<&'static str> {
        if !self.program_holds(image, Reading::Strict) {
            return Some("program");
        }
        let meant = commands.wanted.iter();
        let mut meant = meant.filter(|command| command.means(applet)).peekable();
        let mut excepted = commands.exceptions.iter();
        if meant.peek().is_none() || excepted.any(|command| command.may_be(applet)) {
            return Some("command");
        }
        if self.argv.is_some() {
            return Some("argv");
        }
        let has_flags =
            |command: &&Command| self.permits_flags(command, command.grammar, applet.arguments());
        let mut permitted = meant.filter(has_flags).peekable();
        if permitted.peek().is_none() {
            return Some("flags");
        }
        let has_args = |command: &Command| {
            let mut operands = command.operands(applet.arguments());
            operands.all(|operand| self.is_arg(operand, Reading::Strict))
        };
        if !permitted.any(has_args) {
            return Some("args");
        }
        self.failing_rest(image, Reading::Strict)
    }
}
