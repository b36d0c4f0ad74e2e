//! The command line.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Parser, ValueEnum};

use crate::otlp::Endpoint;
use crate::syslog::Address;

/// Ship an audit log: hand its records to a receiver, each once, in order, and go on where it ended after a restart.
///
/// What a receiver took is remembered in the position file. Where one takes nothing, it is asked again until it does.
#[derive(Debug, Parser)]
#[command(
    name = "execward-ship",
    bin_name = "execward audit ship",
    version,
    max_term_width = 100
)]
pub(crate) struct Arguments {
    /// Who gets the records
    #[arg(long, value_enum, value_name = "RECEIVER")]
    pub(crate) to: To,
    /// The position file [default: beside the log, its name with `.ship-RECEIVER` at the end]
    #[arg(long, value_name = "FILE")]
    pub(crate) state: Option<PathBuf>,
    /// End at the log's end, instead of going on as it grows
    #[arg(long)]
    pub(crate) once: bool,
    /// Without a position, begin with the log's first record: the default
    #[arg(long, conflicts_with = "from_now")]
    pub(crate) from_start: bool,
    /// Without a position, begin behind what the log has now
    #[arg(long)]
    pub(crate) from_now: bool,
    /// journald, syslog: the socket [default: /run/systemd/journal/socket, /dev/log]
    #[arg(long, value_name = "PATH", conflicts_with = "address")]
    pub(crate) socket: Option<PathBuf>,
    /// syslog: `tcp://HOST:PORT` or `udp://HOST:PORT`, instead of a socket
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) address: Option<Address>,
    /// otlp: the collector [default: http://127.0.0.1:4318]
    #[arg(long, value_name = "URL")]
    pub(crate) endpoint: Option<Endpoint>,
    /// prometheus: serve /metrics there [default: 127.0.0.1:9464]
    #[arg(long, value_name = "IP:PORT", conflicts_with = "textfile")]
    pub(crate) listen: Option<SocketAddr>,
    /// prometheus: write node_exporter's file instead
    #[arg(long, value_name = "FILE")]
    pub(crate) textfile: Option<PathBuf>,
    /// The session whose log is meant [default: the newest]
    #[arg(long, value_name = "NAME", conflicts_with = "log")]
    pub(crate) session: Option<String>,
    /// The log
    #[arg(value_name = "LOG")]
    pub(crate) log: Option<PathBuf>,
}

/// Who gets the records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum To {
    /// systemd's journal, each record an entry
    Journald,
    /// A syslog daemon, each record a message of RFC 5424
    Syslog,
    /// A collector of OpenTelemetry's, by HTTP with JSON
    Otlp,
    /// Prometheus: figures, no records
    Prometheus,
}

impl To {
    /// As the position file has it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Journald => "journald",
            Self::Syslog => "syslog",
            Self::Otlp => "otlp",
            Self::Prometheus => "prometheus",
        }
    }
}

impl Arguments {
    /// What is said of an option that the receiver has no use for, if there is one.
    pub(crate) fn misfit(&self) -> Option<String> {
        let is_prometheus = self.to == To::Prometheus;
        let is_syslog = self.to == To::Syslog;
        let has_socket = is_syslog || self.to == To::Journald;
        let given = [
            ("--socket", self.socket.is_some(), has_socket),
            ("--address", self.address.is_some(), is_syslog),
            ("--endpoint", self.endpoint.is_some(), self.to == To::Otlp),
            ("--listen", self.listen.is_some(), is_prometheus),
            ("--textfile", self.textfile.is_some(), is_prometheus),
        ];
        let misfit = given.iter().find(|(_, is_given, fits)| *is_given && !fits);
        let (option, ..) = misfit?;
        let to = self.to.name();
        Some(format!("{option} is no option of --to {to}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_holds_together() {
        <Arguments as clap::CommandFactory>::command().debug_assert();
    }

    #[test]
    fn an_option_of_another_receiver_is_a_mistake() {
        let parsed = |words: &[&str]| Arguments::try_parse_from([&["x", "--to"], words].concat());
        let misfit = |words: &[&str]| parsed(words).unwrap().misfit();
        assert_eq!(misfit(&["syslog", "--socket", "/x"]), None);
        assert_eq!(misfit(&["prometheus", "--listen", "127.0.0.1:0"]), None);
        assert!(misfit(&["journald", "--address", "udp://a:1"]).is_some());
        assert!(misfit(&["otlp", "--textfile", "x"]).is_some());
        assert!(parsed(&["syslog", "--address", "tls://a:1"]).is_err());
        assert!(parsed(&["otlp", "--endpoint", "https://a"]).is_err());
    }
}
