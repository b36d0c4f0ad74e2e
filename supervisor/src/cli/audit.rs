//! What is done with audit logs.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use globset::{GlobBuilder, GlobMatcher};
use jiff::{SignedDuration, Timestamp};

use super::{PolicyArgs, session_name};
use crate::audit::{Filter, TailError};
use crate::places::log_meant;
use crate::reading::{Form, moment};

#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
    /// Show a log, a line a record
    Tail(Box<TailArgs>),
    /// Say whether a log is whole: nothing changed, nothing missing
    Verify(VerifyArgs),
    /// Say that what is wrong with a log is known: a new file begins, and `verify` tells if the rest changes
    Seal(SealArgs),
    /// Compare what logs have with a list of the execs that are expected, or learn that list
    Expect(ExpectArgs),
    /// Say what a log has in figures: verdicts, times, programs, rules, questions
    Stats(StatsArgs),
    /// Draw a session's execs as a tree, each below what started it
    Tree(TreeArgs),
    /// Write a log in a form that others take
    Export(ExportArgs),
    /// Hand a log's records to journald, syslog, an OpenTelemetry collector or Prometheus as they come: `--help` says how
    #[command(disable_help_flag = true)]
    Ship(ShipArgs),
    /// Print where a log is, for what reads it in a process of its own
    #[command(hide = true)]
    Where(LogArgs),
}

/// Which log is read, with all its files.
#[derive(Debug, Args)]
pub(crate) struct LogArgs {
    /// The session whose log is meant [default: the newest]
    #[arg(long, value_name = "NAME", conflicts_with = "log", value_parser = session_name)]
    pub(crate) session: Option<String>,
    /// The log; for tail, stats and export `-` is standard input
    #[arg(value_name = "LOG")]
    pub(crate) log: Option<PathBuf>,
}

impl LogArgs {
    /// The log that is meant.
    ///
    /// # Errors
    /// If there is none.
    pub(crate) fn meant(&self) -> Result<PathBuf, TailError> {
        log_meant(self.log.as_deref(), self.session.as_deref())
    }
}

/// What execward-ship is started with.
#[derive(Debug, Args)]
pub(crate) struct ShipArgs {
    /// What `execward-ship` takes
    #[arg(
        value_name = "ARGS",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    pub(crate) arguments: Vec<OsString>,
}

#[derive(Debug, Args)]
pub(crate) struct StatsArgs {
    /// From this time on: a time, a date, or how long ago, such as `2h`
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub(crate) since: Option<Timestamp>,
    /// Before this time
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub(crate) until: Option<Timestamp>,
    /// The policy whose rules are looked for; repeat to join several [default: none, and nothing is said of
    /// rules that were never hit]
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Vec<PathBuf>,
    /// One that execward brings, likewise
    #[arg(long, value_name = "NAME")]
    pub(crate) preset: Vec<String>,
    /// What ${workspace} means in the policy [default: the current directory]
    #[arg(long, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
    /// One line of JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) log: LogArgs,
}

impl StatsArgs {
    /// The policy that is named, if one is.
    pub(crate) fn named_policy(&self) -> Option<PolicyArgs> {
        let is_named = !self.policy.is_empty() || !self.preset.is_empty();
        is_named.then(|| PolicyArgs {
            policy: self.policy.clone(),
            preset: self.preset.clone(),
            workspace: self.workspace.clone(),
        })
    }
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
pub(crate) struct VerifyArgs {
    /// A file with copies of records that was kept elsewhere, each a line as it was in the log (best those with a
    /// `checkpoint`); repeat for several
    #[arg(long, value_name = "FILE")]
    pub(crate) anchor: Vec<PathBuf>,
    /// One object of JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) log: LogArgs,
}

#[derive(Debug, Args)]
pub(crate) struct SealArgs {
    /// What is known of it, for the log
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: String,
    #[command(flatten)]
    pub(crate) log: LogArgs,
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
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    #[command(flatten)]
    pub(crate) log: LogArgs,
}

/// Which records are shown; what is missing from the log always is.
#[derive(Debug, Args)]
#[command(next_help_heading = "Only records that meet all of it")]
pub(crate) struct FilterArgs {
    /// What was refused
    #[arg(long)]
    deny: bool,
    /// What a person was asked about
    #[arg(long)]
    held: bool,
    /// What this rule decided
    #[arg(long, value_name = "ID")]
    rule: Option<String>,
    /// What was decided on this ground: rule, default, user, timeout …
    #[arg(long, value_name = "REASON")]
    reason: Option<String>,
    /// Programs whose path is of this pattern: `*` is any text but `/`, `**` any
    #[arg(long, value_name = "GLOB", value_parser = glob)]
    exe: Option<GlobMatcher>,
    /// Execs with such an argument
    #[arg(long, value_name = "GLOB", value_parser = glob)]
    arg: Option<GlobMatcher>,
    /// Execs in such a directory
    #[arg(long, value_name = "GLOB", value_parser = glob)]
    cwd: Option<GlobMatcher>,
    /// What was recorded at that time or later: a time, or as long ago as `2h`
    #[arg(long, value_name = "TIME", value_parser = moment)]
    since: Option<Timestamp>,
    /// Or earlier
    #[arg(long, value_name = "TIME", value_parser = moment)]
    until: Option<Timestamp>,
    /// Decisions that took as long, such as `10ms`
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    slow: Option<Duration>,
    /// What stands behind the record with this `seq` of its session: where a reader goes on
    #[arg(long, value_name = "SEQ")]
    after: Option<u64>,
}

impl FilterArgs {
    pub(crate) fn meant(&self) -> Filter {
        Filter {
            is_refused: self.deny,
            is_asked: self.held,
            rule: self.rule.clone(),
            reason: self.reason.clone(),
            program: self.exe.clone(),
            argument: self.arg.clone(),
            cwd: self.cwd.clone(),
            since: self.since,
            until: self.until,
            slow: self.slow,
            after: self.after,
        }
    }
}

fn glob(text: &str) -> Result<GlobMatcher, String> {
    let glob = GlobBuilder::new(text).literal_separator(true).build();
    let glob = glob.map_err(|error| error.kind().to_string())?;
    Ok(glob.compile_matcher())
}

fn duration(text: &str) -> Result<Duration, String> {
    let parsed = text.parse::<SignedDuration>().ok();
    let duration = parsed.and_then(|it| Duration::try_from(it).ok());
    duration.ok_or_else(|| "write how long: `10ms`, `2s`".into())
}

#[derive(Debug, Args)]
pub(crate) struct TreeArgs {
    /// Write it as a page for a browser there, over no other file, instead of on standard output
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    pub(crate) html: Option<PathBuf>,
    /// One line of JSON: the processes in a list, each with its parent's place in it
    #[arg(long)]
    pub(crate) json: bool,
    /// Which session [default: the last that begins in the log]
    #[arg(long, value_name = "NAME", value_parser = session_name)]
    pub(crate) session: Option<String>,
    /// The log; `-` is standard input [default: the session's, else the newest]
    #[arg(value_name = "LOG")]
    pub(crate) log: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// Which form
    #[arg(long = "as", value_enum, value_name = "FORM")]
    pub(crate) form: Form,
    /// Write there, over no other file, instead of on standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// The machine of the log, which no record names: for `ecs`, and for `ocsf`, which wants one
    #[arg(long, value_name = "NAME")]
    pub(crate) host: Option<String>,
    #[command(flatten)]
    pub(crate) log: LogArgs,
}
