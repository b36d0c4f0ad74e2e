//! syslog: a message of RFC 5424 a record, to a socket of this machine or over a network.
//!
//! syslog acknowledges nothing. A record is taken once this machine's kernel has it.

mod address;
mod message;
mod transport;

use std::path::{Path, PathBuf};

use crate::receiver::{Delivery, Receiver, Refusal};
use crate::record::Record;
use crate::said::printable;

pub(crate) use address::Address;
use message::message;
use transport::Transport;

/// Where a syslog daemon listens.
const SOCKET: &str = "/dev/log";

/// Whom messages are for.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Target {
    Socket(PathBuf),
    Address(Address),
}

/// A syslog daemon.
#[derive(Debug)]
pub(crate) struct Syslog {
    target: Target,
    host: String,
    /// Absent until the first record, and after a failure.
    transport: Option<Transport>,
}

impl Syslog {
    /// This machine's, or the one at `path`.
    pub(crate) fn at_socket(path: Option<&Path>) -> Self {
        Self::at(Target::Socket(path.unwrap_or(Path::new(SOCKET)).to_owned()))
    }

    /// One over a network.
    pub(crate) fn at_address(address: Address) -> Self {
        Self::at(Target::Address(address))
    }

    fn at(target: Target) -> Self {
        let name = rustix::system::uname();
        let host = printable(name.nodename().to_bytes());
        Self {
            target,
            host,
            transport: None,
        }
    }

    fn send(&mut self, records: &[Record]) -> Result<(), (usize, std::io::Error)> {
        let none = |error| (0, error);
        let usable = self.transport.take().filter(Transport::is_usable);
        let mut transport = match usable {
            Some(transport) => transport,
            None => Transport::open(&self.target).map_err(none)?,
        };
        let messages = records.iter().map(|record| message(record, &self.host));
        transport.send(messages)?;
        self.transport = Some(transport);
        Ok(())
    }
}

impl Receiver for Syslog {
    fn deliver(&mut self, records: &[Record]) -> Delivery {
        if records.is_empty() {
            return Delivery::all(records);
        }
        match self.send(records) {
            Ok(()) => Delivery::all(records),
            Err((taken, error)) => {
                let place = match &self.target {
                    Target::Socket(path) => path.display().to_string(),
                    Target::Address(address) => address.to_string(),
                };
                let why = format!("syslog at `{place}` takes no records: {error}");
                Delivery::only(taken, Refusal::of(why))
            }
        }
    }
}
