//! journald's native protocol: a datagram a record. <https://systemd.io/JOURNAL_NATIVE_PROTOCOL>
//!
//! journald acknowledges nothing: a record is taken once the kernel has its datagram.

mod entry;
mod socket;

use std::path::{Path, PathBuf};

use crate::receiver::{Delivery, Receiver, Refusal};
use crate::record::Record;

use entry::entry;
use socket::Socket;

/// Where journald listens.
const SOCKET: &str = "/run/systemd/journal/socket";

/// A journal that is written to.
#[derive(Debug)]
pub(crate) struct Journal {
    path: PathBuf,
    /// Absent until the first record, and after a failure.
    socket: Option<Socket>,
}

impl Journal {
    /// The machine's, or the one at `path`.
    pub(crate) fn at(path: Option<&Path>) -> Self {
        Self {
            path: path.unwrap_or(Path::new(SOCKET)).to_owned(),
            socket: None,
        }
    }

    fn send(&mut self, record: &Record) -> std::io::Result<()> {
        let socket = match self.socket.take() {
            Some(socket) => socket,
            None => Socket::open(&self.path)?,
        };
        socket.send(&entry(record))?;
        self.socket = Some(socket);
        Ok(())
    }
}

impl Receiver for Journal {
    fn deliver(&mut self, records: &[Record]) -> Delivery {
        for (taken, record) in records.iter().enumerate() {
            if let Err(error) = self.send(record) {
                let path = self.path.display();
                let why = format!("journald at `{path}` takes no records: {error}");
                return Delivery::only(taken, Refusal::of(why));
            }
        }
        Delivery::all(records)
    }
}
