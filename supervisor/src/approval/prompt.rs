//! Who can be asked, by `--prompt` and by what there is.

use std::time::Duration;

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// `--prompt`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Prompt {
    /// Ask where someone can answer: on this terminal, or while a client is subscribed
    #[default]
    Auto,
    /// Ask on this terminal, and nowhere else without it
    Tty,
    /// Ask, and wait for a client to come
    Socket,
    /// Ask nobody: a question is a refusal
    None,
}

/// What the front has of a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seat {
    /// It asks there.
    Prompt,
    /// Whoever is there reads that an exec waits.
    Reader,
    /// None.
    Empty,
}

/// Through whom a question can be answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub(crate) enum Approvers {
    /// Whoever sits at the front's terminal, where the question is drawn.
    Prompt,
    /// Whoever sits at the session's terminal and reads that an exec waits.
    Terminal,
    /// Whoever is connected, or will be.
    Socket,
    /// Nobody.
    Nobody,
}

impl Prompt {
    /// Who can answer a question that is asked now.
    pub(crate) fn approvers(self, seat: Seat, subscribers: usize) -> Approvers {
        match (self, seat) {
            (Self::None, _) => Approvers::Nobody,
            (Self::Socket, _) => Approvers::Socket,
            (Self::Auto | Self::Tty, Seat::Prompt) => Approvers::Prompt,
            (Self::Auto, Seat::Reader) => Approvers::Terminal,
            (Self::Auto | Self::Tty, _) if subscribers > 0 => Approvers::Socket,
            (Self::Auto | Self::Tty, _) => Approvers::Nobody,
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
        for (prompt, seat, subscribers, who) in [
            (Prompt::Auto, Seat::Prompt, 0, Approvers::Prompt),
            (Prompt::Auto, Seat::Reader, 0, Terminal),
            (Prompt::Auto, Seat::Reader, 1, Terminal),
            (Prompt::Auto, Seat::Empty, 1, Socket),
            (Prompt::Auto, Seat::Empty, 0, Nobody),
            (Prompt::Tty, Seat::Prompt, 1, Approvers::Prompt),
            (Prompt::Tty, Seat::Reader, 0, Nobody),
            (Prompt::Tty, Seat::Empty, 1, Socket),
            (Prompt::Socket, Seat::Reader, 0, Socket),
            (Prompt::Socket, Seat::Empty, 0, Socket),
            (Prompt::None, Seat::Reader, 1, Nobody),
        ] {
            assert_eq!(prompt.approvers(seat, subscribers), who);
        }
    }

    #[test]
    fn times_are_read_at_a_glance() {
        let words = |seconds| in_words(Duration::from_secs(seconds));
        assert_eq!([words(300), words(298), words(7)], ["5m", "4m58s", "7s"]);
    }
}
