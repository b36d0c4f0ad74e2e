//! What the session began with, by which later execs are measured: CMD's environment and standard
//! descriptors. Nothing that is still as it was is the session's doing.

use std::sync::Arc;

use execward_policy::Stream;

use crate::tracee::TaskDir;

/// The standard descriptors, by their names in a task's proc directory.
const DESCRIPTORS: [&str; 3] = ["fd/0", "fd/1", "fd/2"];

/// Taken before CMD runs.
#[derive(Debug)]
pub(crate) struct Beginning {
    /// `NAME=VALUE`, one an element.
    pub(crate) env: Arc<[Vec<u8>]>,
    /// What the standard descriptors led to; `None` for what was closed.
    streams: [Option<Vec<u8>>; 3],
}

impl Beginning {
    /// Of the task that will become CMD, with its environment, `NAME=VALUE` each.
    pub(crate) fn of(task: &TaskDir, env: Vec<Vec<u8>>) -> Self {
        Self {
            env: env.into(),
            streams: DESCRIPTORS.map(|link| task.link_text(link).ok()),
        }
    }

    /// What the standard descriptors of `task` are.
    pub(crate) fn streams(&self, task: &TaskDir) -> [Stream; 3] {
        DESCRIPTORS.map(|link| match task.link_text(link) {
            Ok(text) => self.stream(text),
            Err(rustix::io::Errno::NOENT) => Stream::Plain,
            Err(_) => Stream::Unknown,
        })
    }

    /// A pipe or a socket has a name that is no path.
    fn stream(&self, text: Vec<u8>) -> Stream {
        let is_file = text.starts_with(b"/") && !is_plain_device(&text);
        let was_there = || self.streams.iter().flatten().any(|own| *own == text);
        if is_file && !was_there() {
            Stream::File(text)
        } else {
            Stream::Plain
        }
    }
}

/// Whether it is a terminal or `/dev/null`, whatever is written to it.
fn is_plain_device(path: &[u8]) -> bool {
    path.starts_with(b"/dev/pts/")
        || path.starts_with(b"/dev/tty")
        || matches!(path, b"/dev/null" | b"/dev/console" | b"/dev/full")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_one_that_the_session_did_not_begin_with() {
        let beginning = Beginning {
            env: Arc::default(),
            streams: [None, Some(b"/var/log/session".to_vec()), None],
        };
        for (text, stream) in [
            ("pipe:[1]", Stream::Plain),
            ("socket:[1]", Stream::Plain),
            ("/dev/null", Stream::Plain),
            ("/dev/pts/3", Stream::Plain),
            ("/var/log/session", Stream::Plain),
            ("/etc/passwd", Stream::File(b"/etc/passwd".to_vec())),
            ("/dev/sda", Stream::File(b"/dev/sda".to_vec())),
        ] {
            assert_eq!(beginning.stream(text.into()), stream, "{text}");
        }
    }
}
