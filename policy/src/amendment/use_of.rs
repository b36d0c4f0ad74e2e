//! Amendments for a command, in whatever use.

use super::{Amendment, Scope, text, told_hosts};
use crate::host::Host;
use crate::image::Image;

/// A command with the hosts that a call of it names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct UseOf {
    command: String,
    /// None where one of them cannot be told.
    hosts: Vec<String>,
    has_hosts: bool,
}

impl UseOf {
    pub(super) fn of(command: String, image: &Image<'_>) -> Self {
        Self {
            command,
            hosts: told_hosts(image, Host::entry),
            has_hosts: !image.hosts().is_empty(),
        }
    }

    /// The amendment called `id` for the command with these flags or fewer.
    pub(super) fn with_flags(&self, id: &str, flags: &[String]) -> Amendment {
        let (command, to) = (&self.command, self.to());
        Amendment {
            scope: Scope::Flags,
            rule: self.rule(id, flags),
            covers: format!("`{command}` with no flags but {}{to}", flags.join(", ")),
        }
    }

    /// The one for the command in its ordinary use.
    pub(super) fn ordinary(&self, id: &str) -> Amendment {
        let (command, to) = (&self.command, self.to());
        Amendment {
            scope: Scope::Prefix,
            rule: self.rule(id, &[]),
            covers: format!("`{command}` with any arguments in its ordinary use{to}"),
        }
    }

    fn rule(&self, id: &str, flags: &[String]) -> String {
        let head = format!("[[allow]]\nid = \"{id}\"\n");
        let of_command = text::list("command", std::slice::from_ref(&self.command));
        head + &of_command + &text::list("flags", flags) + &text::list("host", &self.hosts)
    }

    fn to(&self) -> String {
        match (self.hosts.as_slice(), self.has_hosts) {
            ([], false) => String::new(),
            ([], true) => ", whatever hosts it names".to_owned(),
            (hosts, _) => format!(", of {} alone", hosts.join(", ")),
        }
    }
}
