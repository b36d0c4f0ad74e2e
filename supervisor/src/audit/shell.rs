//! What records say of the text that a shell is given.

use std::borrow::Cow;

use serde::Serialize;

/// Most commands of a text, and most things that cannot be told of it, in one record.
const SHOWN_MAX: usize = 16;

/// Most characters of one command.
const COMMAND_MAX: usize = 160;

/// What the text says beforehand: each exec of it has its own record.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct ShellNote {
    /// Its commands as they are written, the first ones.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    commands: Vec<String>,
    /// What it does without an exec, or what only the running shell can tell, the first ones.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    untold: Vec<String>,
    /// Whether there are more of either.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    cut: bool,
    /// Why nothing is known of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_analysed: Option<String>,
}

impl ShellNote {
    /// Of a text with these commands, and these things that cannot be told of it.
    pub(crate) fn of<'a>(
        commands: impl Iterator<Item = Cow<'a, str>>,
        untold: impl Iterator<Item = String>,
    ) -> Self {
        let mut is_short = true;
        let commands = commands.map(|command| {
            let shown: String = command.chars().take(COMMAND_MAX).collect();
            is_short &= shown.len() == command.len();
            shown
        });
        let mut commands: Vec<_> = commands.collect();
        let mut untold: Vec<_> = untold.collect();
        let is_cut = !is_short || commands.len().max(untold.len()) > SHOWN_MAX;
        commands.truncate(SHOWN_MAX);
        untold.truncate(SHOWN_MAX);
        Self {
            commands,
            untold,
            cut: is_cut,
            not_analysed: None,
        }
    }

    /// Of a text of which nothing is known.
    pub(crate) fn not_analysed(why: &str) -> Self {
        Self {
            not_analysed: Some(why.to_owned()),
            ..Self::default()
        }
    }
}
