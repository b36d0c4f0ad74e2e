//! Amendments for a command, in whatever use.

use super::{Amendment, Content, Scope, text, told_hosts};
use crate::host::Host;
use crate::image::Image;
use crate::rule::Action;

/// A command with the hosts that a call of it names. A deny looks neither at flags nor at hosts: who says
/// no to a command means all of it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct UseOf {
    action: Action,
    command: String,
    /// None where one of them cannot be told.
    hosts: Vec<String>,
    has_hosts: bool,
    content: Content,
}

impl UseOf {
    pub(super) fn of(action: Action, command: String, image: &Image<'_>) -> Self {
        let is_allow = action == Action::Allow;
        let hosts = is_allow.then(|| told_hosts(image, Host::entry));
        Self {
            action,
            command,
            hosts: hosts.unwrap_or_default(),
            has_hosts: is_allow && !image.hosts().is_empty(),
            content: Content::of(action, image),
        }
    }

    /// The amendment for the command with these flags or fewer, unless flags are not looked at.
    pub(super) fn with_flags(&self, id: &str, flags: &[String]) -> Option<Amendment> {
        if self.action != Action::Allow {
            return None;
        }
        // The language has no empty list.
        let (flags, use_) = match flags {
            [] => (&["!*".to_owned()][..], "no flags".to_owned()),
            flags => (flags, format!("no flags but {}", flags.join(", "))),
        };
        Some(self.amendment(Scope::Flags, id, flags, &use_))
    }

    /// The one for the command in its ordinary use.
    pub(super) fn ordinary(&self, id: &str) -> Amendment {
        let use_ = match self.action {
            Action::Allow => "any arguments in its ordinary use",
            Action::Ask | Action::Deny => "any arguments",
        };
        self.amendment(Scope::Prefix, id, &[], use_)
    }

    fn amendment(&self, scope: Scope, id: &str, flags: &[String], use_: &str) -> Amendment {
        let (command, to) = (&self.command, self.to());
        let head = text::head(self.action, id, scope);
        let of_command = text::list("command", std::slice::from_ref(command));
        let content = self.content.clone();
        Amendment {
            scope,
            rule: head
                + &of_command
                + &text::list("flags", flags)
                + &text::list("host", &self.hosts),
            covers: format!("`{command}` with {use_}{to}{}", content.in_words()),
            content,
        }
    }

    fn to(&self) -> String {
        match (self.hosts.as_slice(), self.has_hosts) {
            ([], false) => String::new(),
            ([], true) => ", whatever hosts it names".to_owned(),
            (hosts, _) => format!(", of {} alone", hosts.join(", ")),
        }
    }
}
