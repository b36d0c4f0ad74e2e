//! Who can be asked, by `--prompt` and by what there is.

use std::time::Duration;

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// `--prompt`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Prompt {
    /// Ask where someone can answer: on a terminal, or while a client is subscribed
    #[default]
    Auto,
    /// Ask, and wait for a client to come
    Socket,
    /// Ask nobody: a question is a refusal
    None,
}

/// Through whom a question can be answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub(crate) enum Approvers {
    /// Whoever sits at the session's terminal and reads that an exec waits.
    Terminal,
    /// Whoever is connected, or will be.
    Socket,
    /// Nobody.
    Nobody,
}

impl Prompt {
    /// Who can answer a question that is asked now.
    pub(crate) fn approvers(self, has_terminal: bool, subscribers: usize) -> Approvers {
        match self {
            Self::None => Approvers::Nobody,
            Self::Socket => Approvers::Socket,
            Self::Auto if has_terminal => Approvers::Terminal,
            Self::Auto if subscribers > 0 => Approvers::Socket,
            Self::Auto => Approvers::Nobody,
        }
    }
}

/// `5m`, `4m58s`, `7s`.
pub(crate) fn in_words(time: Duration) -> String {
    match (time.as_secs() / 60, time.as_secs() % 60) {
        (0, seconds) => format!("{seconds}s"),
        (minutes, 0) => format!("{minutes}m"),
        (minutes, seconds) => format!("{minutes}m{seconds}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auto_asks_only_where_someone_can_answer() {
        use Approvers::{Nobody, Socket, Terminal};
        for (prompt, has_terminal, subscribers, who) in [
            (Prompt::Auto, true, 0, Terminal),
            (Prompt::Auto, true, 1, Terminal),
            (Prompt::Auto, false, 1, Socket),
            (Prompt::Auto, false, 0, Nobody),
            (Prompt::Socket, true, 0, Socket),
            (Prompt::Socket, false, 0, Socket),
            (Prompt::None, true, 1, Nobody),
        ] {
            assert_eq!(prompt.approvers(has_terminal, subscribers), who);
        }
    }

    #[test]
    fn times_are_read_at_a_glance() {
        let words = |seconds| in_words(Duration::from_secs(seconds));
        assert_eq!([words(300), words(298), words(7)], ["5m", "4m58s", "7s"]);
    }
}
