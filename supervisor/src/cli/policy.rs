//! `execward policy …`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{PolicyArgs, StateArgs, WhereArgs};
use crate::policy::ImportFrom;

#[derive(Debug, Subcommand)]
pub(crate) enum PolicyCommand {
    /// Write a first policy of your own, to go on from
    Init(InitArgs),
    /// Show what is in force: files, mode, rules
    Show(ShowArgs),
    /// Say what is no fault of a policy and hardly meant
    Lint(LintArgs),
    /// Try a policy on files of cases, each a call with the verdict that it is to get
    Test(TestArgs),
    /// Say of which cases two policies say different things
    Diff(DiffArgs),
    /// Say which execs of a log a policy would have treated differently
    Replay(ReplayArgs),
    /// Write the narrowest rules that would have let run what people approved
    Learn(LearnArgs),
    /// Write the permissions of another agent as a policy
    Import(ImportArgs),
    /// Replace the policy of a live session
    Load(LoadArgs),
    /// Show what was changed in policy files while a session was alive, and accept it
    Accept(AcceptArgs),
    /// Print the JSON Schema of policy files, for editors
    Schema,
}

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// Where [default: policy.toml in the user's configuration directory]
    pub(crate) file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) state: StateArgs,
}

#[derive(Debug, Args)]
pub(crate) struct LintArgs {
    #[command(flatten)]
    pub(crate) policy: PolicyArgs,
    /// One line of JSON a warning
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TestArgs {
    #[command(flatten)]
    pub(crate) policy: PolicyArgs,
    /// Files of `[[case]]` tables
    #[arg(required = true, value_name = "CASES")]
    pub(crate) files: Vec<PathBuf>,
    /// One line of JSON a case
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    /// A policy file, or preset:NAME
    #[arg(value_name = "A")]
    pub(crate) before: PathBuf,
    /// Another
    #[arg(value_name = "B")]
    pub(crate) after: PathBuf,
    /// Files of `[[case]]` tables
    #[arg(long, required = true, value_name = "FILE")]
    pub(crate) cases: Vec<PathBuf>,
    /// What ${workspace} means in the policies [default: the current directory]
    #[arg(long, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
    /// One line of JSON a case that differs
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    #[command(flatten)]
    pub(crate) policy: PolicyArgs,
    /// An audit log; `-` is standard input
    pub(crate) log: PathBuf,
    /// One line of JSON a group, then one with the counts
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct LearnArgs {
    #[command(flatten)]
    pub(crate) policy: PolicyArgs,
    /// Audit logs
    #[arg(required = true, value_name = "LOG")]
    pub(crate) logs: Vec<PathBuf>,
    /// Take what was asked about and never answered as approved
    #[arg(long)]
    pub(crate) asked: bool,
    /// Take what ran in a session that was only observed (`run --observe`) as approved, but for what a rule
    /// denies
    #[arg(long)]
    pub(crate) observed: bool,
    /// Write there, over no other file, instead of on standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// Whose permissions they are
    #[arg(long, value_enum, value_name = "AGENT")]
    pub(crate) from: ImportFrom,
    /// The agent's configuration
    pub(crate) file: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    pub(crate) policy: PolicyArgs,
    /// Print the text of a preset instead
    #[arg(long, value_name = "NAME", conflicts_with = "command")]
    pub(crate) text: Option<String>,
    /// Print what is known of a command's options instead
    #[arg(long, value_name = "NAME")]
    pub(crate) command: Option<String>,
    /// Print the classes of programs instead: `@shells` …
    #[arg(long, conflicts_with_all = ["text", "command"])]
    pub(crate) classes: bool,
    /// Print the rules that execward brings to every policy instead
    #[arg(long, conflicts_with_all = ["text", "command", "classes"])]
    pub(crate) builtin: bool,
}

#[derive(Debug, Args)]
pub(crate) struct LoadArgs {
    /// Policy files, joined; the session's other files are in force no longer
    #[arg(required_unless_present = "preset", value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// A policy that execward brings, below the files; repeat to join several
    #[arg(long, value_name = "NAME")]
    pub(crate) preset: Vec<String>,
    #[command(flatten)]
    pub(crate) place: WhereArgs,
    #[command(flatten)]
    pub(crate) state: StateArgs,
}

#[derive(Debug, Args)]
pub(crate) struct AcceptArgs {
    /// Policy files, accepted with what they include [default: the user's own]
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// What ${workspace} means in the policy [default: the current directory]
    #[arg(long, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) state: StateArgs,
}
