//! The command line. Nothing here looks at the environment.

mod audit;
mod grants;
mod hook;
mod policy;
mod session;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;

use crate::approval::Prompt;
use crate::control::{Scope, Where};
pub(crate) use audit::{
    AuditCommand, ExpectArgs, ExportArgs, LogArgs, SealArgs, ShipArgs, StatsArgs, TailArgs,
    TreeArgs, VerifyArgs,
};
pub(crate) use grants::{GrantsCommand, GrantsListArgs, RevokeArgs};
pub(crate) use hook::{HookCommand, InstallArgs};
pub(crate) use policy::{
    AcceptArgs, DiffArgs, ImportArgs, InitArgs, LearnArgs, LintArgs, LoadArgs, PolicyCommand,
    ReplayArgs, ShowArgs, TestArgs,
};
pub(crate) use session::{AnswerArgs, PendingArgs, StatusArgs, StopArgs, WatchArgs};

/// An execve gate for AI-agent shells: every program that CMD or a descendant starts is judged by
/// policy before it runs, and checked again once it is loaded.
#[derive(Debug, Parser)]
#[command(name = "execward", version, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Cli {
    /// # Errors
    /// If two options contradict each other in what they say.
    pub(crate) fn checked(self) -> Result<Self, clap::Error> {
        const NOBODY: &str = "--prompt tty and --observe contradict each other: of a session that is only \
                              observed nobody is asked";
        const ELSEWHERE: &str = "--prompt tty and --socket contradict each other: CMD's terminal is the \
                                 container's; answer with `execward watch`, or with `allow` and `deny`";
        if let Command::Run(run) = &self.command
            && (run.observe || run.socket.is_some())
            && run.prompt == Prompt::Tty
        {
            let why = if run.observe { NOBODY } else { ELSEWHERE };
            let mut command = <Self as clap::CommandFactory>::command();
            return Err(command.error(clap::error::ErrorKind::ArgumentConflict, why));
        }
        Ok(self)
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run CMD and all that it starts under the gate
    Run(RunArgs),
    /// Say what the policy answers for a call; exit 0 allow, 3 ask, 4 deny
    Check(CheckArgs),
    /// Say why a recorded exec gets its verdict
    Explain(ExplainArgs),
    /// Show what waits for an answer
    Pending(PendingArgs),
    /// Answer on a screen that shows what waits
    Watch(WatchArgs),
    /// Let a waiting exec go on, or for next time one that is over
    Allow(AnswerArgs),
    /// Refuse a waiting exec, or for next time one that is over
    Deny(AnswerArgs),
    /// Tell how a session is: exit 0 healthy, 1 if something of it does not work
    Status(StatusArgs),
    /// End a session: tell each of its processes to end, and wait until none is left
    Stop(StopArgs),
    /// Show what people said for longer than once, and take it back
    #[command(subcommand)]
    Grants(GrantsCommand),
    /// Write and read policies
    #[command(subcommand)]
    Policy(PolicyCommand),
    /// Read audit logs
    #[command(subcommand)]
    Audit(AuditCommand),
    /// Answer agents that ask before they use a tool: advice, beside what the gate enforces
    #[command(subcommand)]
    Hook(HookCommand),
    /// Find out whether what execward promises holds on this machine
    Doctor(DoctorArgs),
    /// Print a shell's completions
    Completions {
        /// Which shell
        shell: Shell,
    },
    /// Print a manual page
    Man {
        /// Of this command instead of execward itself
        command: Option<String>,
    },
}

/// Which policy.
#[derive(Debug, Args)]
pub(crate) struct PolicyArgs {
    /// Policy file; repeat to join several [default: the user's own, else the preset `dev`]
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Vec<PathBuf>,
    /// A policy that execward brings, below the files; repeat to join several
    #[arg(long, value_name = "NAME")]
    pub(crate) preset: Vec<String>,
    /// What ${workspace} means in the policy [default: the current directory]
    #[arg(long, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
}

impl PolicyArgs {
    /// Whether one is named.
    pub(crate) fn is_named(&self) -> bool {
        !self.policy.is_empty() || !self.preset.is_empty()
    }
}

/// Where is remembered what outlives a session.
#[derive(Debug, Args)]
pub(crate) struct StateArgs {
    /// Where execward remembers sessions and accepted policies, and keeps its diagnostics [default:
    /// $XDG_STATE_HOME/execward; root's /var/lib/execward]
    #[arg(long, value_name = "DIR")]
    pub(crate) state: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    pub(crate) policy: PolicyArgs,
    /// One line of JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What `check` judges beside calls of tools.
const OTHER_CALLS: [&str; 3] = ["cmd", "request", "shell"];

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) policy: PolicyArgs,
    /// Where the call is made [default: the current directory]
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// A variable of the call's environment, which has no others; repeat for several
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) env: Vec<OsString>,
    /// A program below which the call is made; repeat upward
    #[arg(long, value_name = "PROGRAM")]
    pub(crate) via: Vec<OsString>,
    /// Take a file that is not there as the kernel would, not as if it were there
    #[arg(long)]
    pub(crate) missing: bool,
    /// One line of JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Take the call from an exec.decision record; `-` is standard input
    #[arg(long, value_name = "FILE", conflicts_with = "cmd")]
    pub(crate) request: Option<PathBuf>,
    /// Judge the commands in a shell's text instead
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["cmd", "request", "tool", "missing"])]
    pub(crate) shell: Option<OsString>,
    /// Judge a call of a tool instead: file_read, file_write, file_delete, file_list, web_fetch,
    /// bash_execute, or any other name
    #[arg(
        long,
        value_name = "NAME",
        value_parser = NonEmptyStringValueParser::new(),
        conflicts_with_all = ["cmd", "request", "env", "via", "missing"]
    )]
    pub(crate) tool: Option<String>,
    /// A file that the tool is given; repeat for several
    #[arg(long, value_name = "PATH", requires = "tool", conflicts_with_all = OTHER_CALLS)]
    pub(crate) path: Vec<OsString>,
    /// A URL that it is given; repeat for several
    #[arg(long, value_name = "URL", requires = "tool", conflicts_with_all = OTHER_CALLS)]
    pub(crate) url: Vec<OsString>,
    /// Another argument that it is given; repeat for several
    #[arg(
        long,
        value_name = "KEY=VALUE",
        requires = "tool",
        conflicts_with_all = OTHER_CALLS,
        value_parser = keyed
    )]
    pub(crate) arg: Vec<String>,
    /// The program and its arguments
    #[arg(
        required_unless_present_any = ["request", "tool", "shell"],
        value_name = "PROGRAM",
        trailing_var_arg = true
    )]
    pub(crate) cmd: Vec<OsString>,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// Which exec: its ID in a refusal line, a question or the log, all of it
    #[arg(required_unless_present = "all")]
    pub(crate) id: Option<String>,
    /// Decide every exec of the log again, from its record, by the policy that was kept beside the log, and say what
    /// differs
    #[arg(long, conflicts_with_all = ["id", "rule", "policy", "preset"])]
    pub(crate) all: bool,
    /// Print a rule: one that allows exactly this call, or of another scope what could be saved of it
    #[arg(long, value_name = "SCOPE", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "exact", value_enum)]
    pub(crate) rule: Option<Scope>,
    /// One line of JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) policy: PolicyArgs,
    /// The session whose log to search [default: the newest]
    #[arg(long, value_name = "NAME", value_parser = session_name)]
    pub(crate) session: Option<String>,
    /// The log to search
    #[arg(long, value_name = "LOG")]
    pub(crate) log: Option<PathBuf>,
}

/// `run`'s own arguments. The gate, a process of its own, reads the same.
#[derive(Debug, Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of the command line"
)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) policy: PolicyArgs,
    /// Gate no command of this machine, but the one process that a container hands over at this socket by
    /// `execward-shim --socket SOCKET -- CMD`; its paths, its workspace and its home are the container's
    #[arg(
        long,
        value_name = "SOCKET",
        conflicts_with_all = ["user", "hide_state", "pid_namespace", "cmd"]
    )]
    pub(crate) socket: Option<PathBuf>,
    /// What the session is called [default: made from the time]
    #[arg(long, value_name = "NAME", value_parser = session_name)]
    pub(crate) session: Option<String>,
    /// Audit log [default: in the state directory of the session]
    #[arg(long, value_name = "FILE")]
    pub(crate) audit: Option<PathBuf>,
    /// Keep the log on a file system that somebody serves (FUSE, a network's) all the same: they can
    /// keep the session waiting, and lose or change what is logged
    #[arg(long)]
    pub(crate) audit_unstable: bool,
    /// Begin the next file of the log once one has so many bytes (with K, M or G at the end, 1024 each, 64K at least)
    #[arg(long, value_name = "SIZE", default_value = "64M", value_parser = segment_size)]
    pub(crate) audit_segment: u64,
    /// Remove the oldest files of the log where the earlier ones have more bytes together [default: keep all]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(crate) audit_keep: Option<u64>,
    #[command(flatten)]
    pub(crate) state: StateArgs,
    /// Where the control socket is to be, in a directory of your own [default: found by --session]
    #[arg(long, value_name = "SOCKET")]
    pub(crate) control: Option<PathBuf>,
    /// Who is asked where the policy asks
    #[arg(long, value_enum, default_value_t, value_name = "WHO")]
    prompt: Prompt,
    /// Show those who are asked what looks like a secret in the arguments, which is `***` everywhere else
    #[arg(long)]
    pub(crate) reveal: bool,
    /// Let everything run, ask nobody, and log what the policy would have said
    #[arg(long)]
    pub(crate) observe: bool,
    /// Compare what was executed with this list, say the difference, and end with 1 where CMD ended with 0;
    /// what CMD left running is killed
    #[arg(long, value_name = "FILE", conflicts_with = "linger")]
    pub(crate) expect: Option<PathBuf>,
    /// Write that as a JUnit report too
    #[arg(long, value_name = "FILE", requires = "expect")]
    pub(crate) junit: Option<PathBuf>,
    /// When CMD ends, kill what it left running (default with --user, and as a container's first process)
    #[arg(long, overrides_with = "linger")]
    pub(crate) kill_at_exit: bool,
    /// When CMD ends, go on gating what it left running (else the default)
    #[arg(long, overrides_with = "kill_at_exit")]
    pub(crate) linger: bool,
    /// Run CMD as this user (root only): it can then reach neither the gate nor policy, log and answers
    #[arg(long, value_name = "NAME")]
    pub(crate) user: Option<String>,
    /// Hide policy, logs, state and sockets from CMD (root only)
    #[arg(long, conflicts_with = "keep_caps")]
    pub(crate) hide_state: bool,
    /// Give CMD and all below it process numbers of their own: they have none for the gate (root only)
    #[arg(long, conflicts_with = "keep_caps")]
    pub(crate) pid_namespace: bool,
    /// Leave root its capabilities, and the kernel's files open: nothing is promised then
    #[arg(long, conflicts_with = "user")]
    pub(crate) keep_caps: bool,
    /// No line on a refused program's standard error
    #[arg(long)]
    pub(crate) no_notice: bool,
    /// No line at the start
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// The command to run, with its arguments
    #[arg(
        required_unless_present = "socket",
        value_name = "CMD",
        trailing_var_arg = true
    )]
    pub(crate) cmd: Vec<OsString>,
}

impl RunArgs {
    /// Who is asked. Of a session that is only observed it is nobody; clients answer for others' sessions. No
    /// terminal here is that of a container's CMD.
    pub(crate) fn prompt(&self) -> Prompt {
        match (self.observe || self.socket.is_some(), self.prompt) {
            (true, Prompt::Auto) => Prompt::Socket,
            (_, prompt) => prompt,
        }
    }
}

/// Which live session is meant.
#[derive(Debug, Args)]
pub(crate) struct WhereArgs {
    /// The session's name [default: the newest that is live]
    #[arg(long, value_name = "NAME", conflicts_with = "control", value_parser = session_name)]
    pub(crate) session: Option<String>,
    /// The session's control socket
    #[arg(long, value_name = "SOCKET")]
    control: Option<PathBuf>,
}

impl WhereArgs {
    pub(crate) fn meant(&self) -> Where {
        match (&self.session, &self.control) {
            (_, Some(socket)) => Where::At(socket.clone()),
            (Some(name), None) => Where::Named(name.clone()),
            (None, None) => Where::Newest,
        }
    }
}

/// Bytes.
fn size(text: &str) -> Result<u64, String> {
    let (digits, unit) = match text.char_indices().last() {
        Some((at, 'K')) => (text.get(..at), 1 << 10),
        Some((at, 'M')) => (text.get(..at), 1 << 20),
        Some((at, 'G')) => (text.get(..at), 1 << 30),
        _ => (Some(text), 1),
    };
    let digits = digits.filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
    let number = digits.and_then(|digits| digits.parse::<u64>().ok());
    let bytes = number.and_then(|number| number.checked_mul(unit));
    bytes.ok_or_else(|| "a number of bytes, or one with K, M or G behind it".into())
}

/// Bytes of a file of the log.
fn segment_size(text: &str) -> Result<u64, String> {
    const LEAST_BYTES: u64 = 64 << 10;
    let bytes = size(text)?;
    let is_enough = bytes >= LEAST_BYTES;
    let enough = is_enough.then_some(bytes);
    enough.ok_or_else(|| "64K is the least: a record alone may have that".into())
}

/// An argument of a tool has a name.
fn keyed(argument: &str) -> Result<String, String> {
    let is_keyed = argument
        .split_once('=')
        .is_some_and(|(key, _)| !key.is_empty());
    let keyed = is_keyed.then(|| argument.to_owned());
    keyed.ok_or_else(|| "write it as KEY=VALUE".into())
}

/// A session's name is a directory's: one component, plain characters.
fn session_name(name: &str) -> Result<String, String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let is_name =
        (1..=64).contains(&name.len()) && !name.starts_with('.') && name.chars().all(is_plain);
    if is_name {
        Ok(name.to_owned())
    } else {
        Err("a session is called by 1 to 64 letters, digits, `.`, `_` or `-`, not `.` first".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }

    #[test]
    fn all_behind_the_dashes_is_cmds() {
        let cli = Cli::parse_from(["execward", "run", "-q", "--", "sh", "-c", "--policy", "--"]);
        let Command::Run(run) = cli.command else {
            panic!("not run")
        };
        assert_eq!(run.cmd, ["sh", "-c", "--policy", "--"]);
        assert!(run.quiet && run.policy.policy.is_empty());
    }

    #[test]
    fn an_option_that_does_not_exist_is_no_cmd() {
        for command in ["run", "check"] {
            for words in [["--polcy=p", "sh"], ["-x", "sh"], ["--polcy", "sh"]] {
                let words = ["execward", command].into_iter().chain(words);
                let error = Cli::try_parse_from(words).unwrap_err();
                assert_eq!(error.kind(), clap::error::ErrorKind::UnknownArgument);
            }
            let cli = Cli::try_parse_from(["execward", command, "ls", "-la", "--", "--x"]);
            assert!(cli.is_ok());
            assert!(Cli::try_parse_from(["execward", command, "--", "-x"]).is_ok());
        }
    }

    #[test]
    fn a_session_name_is_no_path() {
        for bad in ["", "..", ".x", "a/b", "a b", &"x".repeat(65)] {
            assert!(session_name(bad).is_err(), "{bad:?}");
        }
        assert!(session_name("build-7.x_y").is_ok());
    }
}
