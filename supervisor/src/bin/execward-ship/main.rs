//! `execward audit ship`: hands the records of an audit log to those who collect such: journald, syslog, a collector of
//! OpenTelemetry's, Prometheus.
//!
//! A program of its own: the gate has none of it, and writes files whether or not anybody reads them. What is read comes
//! from `execward audit tail`, which knows a log's files; what was taken is kept in a position file:
//!
//! ```text
//! log files -> execward audit tail -> Batch -> Receiver -> Position -> Store
//! ```
//!
//! It verifies nothing of the log: `execward audit verify` does.

mod arguments;
mod backoff;
mod batch;
mod counters;
mod exit;
mod journald;
mod lines;
mod otlp;
mod position;
mod prometheus;
mod receiver;
mod record;
mod said;
mod sentence;
mod ship;
mod source;
mod stop;
mod syslog;
mod tail;

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;

use crate::arguments::{Arguments, To};
use crate::backoff::Complaint;
use crate::exit::Exit;
use crate::journald::Journal;
use crate::otlp::Collector;
use crate::position::{Position, PositionError, Store, beside};
use crate::prometheus::Metrics;
use crate::receiver::Receiver;
use crate::said::say;
use crate::ship::{ShipError, Shipper};
use crate::source::{Source, SourceError};
use crate::stop::Stop;
use crate::syslog::Syslog;

/// The port of OpenTelemetry's exporters for Prometheus.
const METRICS_PORT: u16 = 9464;

/// Why nothing is shipped, or no more.
#[derive(Debug, thiserror::Error)]
enum MainError {
    #[error("{0}")]
    Source(#[from] SourceError),
    #[error("{0}")]
    Position(#[from] PositionError),
    #[error("{0}")]
    Ship(#[from] ShipError),
    #[error("cannot hear signals: {0}")]
    Signals(#[source] io::Error),
    #[error("cannot serve metrics at {address}: {error}")]
    Listen {
        address: SocketAddr,
        error: io::Error,
    },
}

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    if std::env::args_os()
        .nth(1)
        .is_some_and(|first| first == tail::ARGUMENT)
    {
        arguments.next();
        return tail::main(arguments);
    }
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return usage(&error).into(),
    };
    if let Some(misfit) = arguments.misfit() {
        say(&misfit);
        return Exit::Usage.into();
    }
    let shipped = ship(&arguments);
    let exit = shipped.unwrap_or_else(|error| {
        say(&error.to_string());
        Exit::Io
    });
    exit.into()
}

fn ship(arguments: &Arguments) -> Result<Exit, MainError> {
    // Before any thread: each has it so.
    let stop = Stop::hear().map_err(MainError::Signals)?;
    let source = Source::of(arguments)?;
    let to = arguments.to.name();
    let state = arguments.state.clone();
    let state = state.unwrap_or_else(|| beside(&source.log, &format!(".ship-{to}")));
    let (store, found) = Store::open(&state, to)?;
    let is_first = found.is_none();
    let position = found.unwrap_or_else(|| Position::start(to));
    let receiver = receiver(arguments, &position)?;
    let mut shipper = Shipper {
        source,
        receiver,
        stop,
        store,
        position,
        is_once: arguments.once,
        reading: Complaint::default(),
        handing: Complaint::default(),
        damaged: 0,
    };
    if is_first
        && arguments.from_now
        && let Some(exit) = shipper.pass_over()?
    {
        return Ok(exit);
    }
    Ok(shipper.ship()?)
}

fn receiver(arguments: &Arguments, position: &Position) -> Result<Box<dyn Receiver>, MainError> {
    let socket = arguments.socket.as_deref();
    Ok(match arguments.to {
        To::Journald => Box::new(Journal::at(socket)),
        To::Syslog => Box::new(match &arguments.address {
            Some(address) => Syslog::at_address(address.clone()),
            None => Syslog::at_socket(socket),
        }),
        To::Otlp => Box::new(Collector::at(
            arguments.endpoint.clone().unwrap_or_default(),
        )),
        To::Prometheus => Box::new(metrics(arguments, position)?),
    })
}

fn metrics(arguments: &Arguments, position: &Position) -> Result<Metrics, MainError> {
    let counters = position.counters.clone().unwrap_or_default();
    let file: Option<PathBuf> = arguments.textfile.clone();
    if let Some(file) = file {
        return Ok(Metrics::in_file(file, counters));
    }
    let local = SocketAddr::from((Ipv4Addr::LOCALHOST, METRICS_PORT));
    let address = arguments.listen.unwrap_or(local);
    Metrics::listen(address, counters).map_err(|error| MainError::Listen { address, error })
}

/// What clap says, and the status for it.
fn usage(error: &clap::Error) -> Exit {
    let is_asked = matches!(
        error.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
    );
    match (is_asked, error.print()) {
        (true, Ok(())) => Exit::Success,
        (true, Err(_)) => Exit::Io,
        (false, _) => Exit::Usage,
    }
}
