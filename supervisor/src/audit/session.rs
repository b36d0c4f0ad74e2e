//! The first and the last record of a session.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::program::ARGV_MAX_BYTES;
use super::record::Position;
use crate::container::Surroundings;
use crate::ptrace::CommandStatus;

/// What a session starts with.
#[derive(Debug, Serialize)]
pub(crate) struct SessionStart {
    pub(crate) sup: Supervisor,
    pub(crate) policy: Vec<PolicyNote>,
    /// The file beside the log that has all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) kept: Option<String>,
    #[serde(flatten)]
    pub(crate) cmd: CommandNote,
    pub(crate) cwd: String,
    /// Who started it.
    pub(crate) uid: u32,
    /// As whom CMD runs, if that is another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cmd_uid: Option<u32>,
    /// The process that became CMD, if it handed itself over (`--socket`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) handed_over: Option<u32>,
    /// Whether CMD is root with all its capabilities: nothing is promised then.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) keeps_caps: bool,
    /// Whether CMD and all below it have process numbers of their own.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) pid_namespace: bool,
    /// Whether everything runs, whatever the policy says.
    #[serde(rename = "observe", skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_observed: bool,
    /// uname's release.
    pub(crate) kernel: String,
    #[serde(flatten)]
    pub(crate) surroundings: Surroundings,
    pub(crate) log: LogNote,
}

#[cfg(test)]
impl SessionStart {
    /// Of a session that never was.
    pub(crate) fn for_tests(log: LogNote) -> Self {
        Self {
            sup: Supervisor {
                version: "0",
                pid: 1,
            },
            policy: Vec::new(),
            kept: None,
            cmd: CommandNote::default(),
            cwd: String::new(),
            uid: 0,
            cmd_uid: None,
            handed_over: None,
            keeps_caps: false,
            pid_namespace: false,
            is_observed: false,
            kernel: String::new(),
            surroundings: Surroundings::default(),
            log,
        }
    }
}

/// CMD and its arguments, as far as a line has room.
#[derive(Debug, Default, Serialize)]
pub(crate) struct CommandNote {
    cmd: Vec<String>,
    #[serde(rename = "cmd_cut", skip_serializing_if = "std::ops::Not::not")]
    is_cut: bool,
}

impl CommandNote {
    pub(crate) fn of<'w>(words: impl Iterator<Item = Cow<'w, [u8]>>) -> Self {
        let mut note = Self::default();
        let mut left = ARGV_MAX_BYTES;
        for word in words {
            let Some((shown, rest)) = word.split_at_checked(left.min(word.len())) else {
                break;
            };
            note.is_cut = !rest.is_empty() || left == 0;
            if left == 0 {
                break;
            }
            note.cmd.push(shown.escape_ascii().to_string());
            left -= shown.len();
        }
        note
    }
}

/// What the log itself is like.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct LogNote {
    /// Bytes that an earlier writer, or a power cut, left of lines that are not whole.
    #[serde(rename = "recovered", skip_serializing_if = "is_zero")]
    pub(crate) recovered_bytes: u64,
    /// Bytes that are set aside for a full disk; 0 if none are.
    #[serde(rename = "reserve")]
    pub(crate) reserve_bytes: u64,
    /// Whether somebody serves its file system (`--audit-unstable`).
    #[serde(rename = "unstable", skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_unstable: bool,
    /// By what the session's first checkpoint is known: an Ed25519 key in hexadecimal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) key: Option<String>,
    /// The last record of another session that stood in the file before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) previous: Option<Position>,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// The program that writes the log.
#[derive(Debug, Serialize)]
pub(crate) struct Supervisor {
    pub(crate) version: &'static str,
    pub(crate) pid: u32,
}

/// A policy file in force.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct PolicyNote {
    pub(crate) name: String,
    pub(crate) sha256: String,
}

/// What a session ends with.
#[derive(Debug, Serialize)]
pub(crate) struct SessionEnd {
    #[serde(flatten)]
    pub(crate) ended: Ended,
    pub(crate) count: Tally,
}

/// How CMD ended.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct Ended {
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<i32>,
}

/// How many of each, over a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Tally {
    pub(crate) decisions: u64,
    pub(crate) allowed: u64,
    pub(crate) refused: u64,
    /// Questions whose task was gone before they were decided.
    pub(crate) withdrawn: u64,
    /// Execs that a person was asked about; each is decided too.
    pub(crate) asked: u64,
    pub(crate) verified: u64,
    pub(crate) changed: u64,
    pub(crate) failed: u64,
    pub(crate) killed: u64,
    /// Images that ran, held to nothing: the session is only observed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) unverified: u64,
    pub(crate) vanished: u64,
    pub(crate) target_missing: u64,
    /// Calls of tools that hosts asked about.
    pub(crate) tool_calls: u64,
}

impl From<CommandStatus> for Ended {
    fn from(status: CommandStatus) -> Self {
        match status {
            CommandStatus::Exited(code) => Self {
                exit_code: Some(code),
                signal: None,
            },
            CommandStatus::Signaled(signal) => Self {
                exit_code: None,
                signal: Some(signal),
            },
            CommandStatus::Unseen => Self::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_has_no_more_than_its_part_of_a_line() {
        let of = |words: &[&[u8]]| {
            let note = CommandNote::of(words.iter().map(|word| Cow::Borrowed(*word)));
            (note.cmd.iter().map(String::len).sum::<usize>(), note.is_cut)
        };
        let full = vec![b'a'; ARGV_MAX_BYTES];
        assert_eq!(of(&[]), (0, false));
        assert_eq!(of(&[b"a", b"", b"\xff"]), (5, false));
        assert_eq!(of(&[&full]), (ARGV_MAX_BYTES, false));
        assert_eq!(of(&[&full, b"x"]), (ARGV_MAX_BYTES, true));
        assert_eq!(of(&[b"x", &full]), (ARGV_MAX_BYTES, true));
    }
}
