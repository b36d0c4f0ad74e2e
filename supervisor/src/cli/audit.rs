//! What is done with audit logs.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::session_name;

#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
    /// Show a log, a line a record
    Tail(TailArgs),
    /// Compare what logs have with a list of the execs that are expected, or learn that list
    Expect(ExpectArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ExpectArgs {
    /// The list
    #[arg(
        long,
        value_name = "FILE",
        required_unless_present = "learn",
        conflicts_with = "learn"
    )]
    pub(crate) against: Option<PathBuf>,
    /// Write the difference as a JUnit report too
    #[arg(long, value_name = "FILE", requires = "against")]
    pub(crate) junit: Option<PathBuf>,
    /// Make a list by which all of it is expected
    #[arg(long)]
    pub(crate) learn: bool,
    /// Have the list say how often, too
    #[arg(long, requires = "learn")]
    pub(crate) counts: bool,
    /// Write the list there, over no other file, instead of on standard output
    #[arg(short, long, value_name = "FILE", requires = "learn")]
    pub(crate) output: Option<PathBuf>,
    /// The session whose log is meant [default: the newest]
    #[arg(long, value_name = "NAME", conflicts_with = "logs", value_parser = session_name)]
    pub(crate) session: Option<String>,
    /// The logs
    #[arg(value_name = "LOG")]
    pub(crate) logs: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct TailArgs {
    /// Go on as the log grows
    #[arg(short, long)]
    pub(crate) follow: bool,
    /// Begin with the last N records
    #[arg(short = 'n', long, value_name = "N")]
    pub(crate) lines: Option<usize>,
    /// Records as they are, instead of one-liners
    #[arg(long)]
    pub(crate) json: bool,
    /// The session whose log to show [default: the newest]
    #[arg(long, value_name = "NAME", conflicts_with = "log", value_parser = session_name)]
    pub(crate) session: Option<String>,
    /// The log to show
    pub(crate) log: Option<PathBuf>,
}
