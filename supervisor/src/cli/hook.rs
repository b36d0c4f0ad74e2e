//! `execward hook …`.

use clap::{Args, Subcommand};

use super::PolicyArgs;
use crate::hook::Agent;

/// The hooks of agents.
#[derive(Debug, Subcommand)]
pub(crate) enum HookCommand {
    /// Answer a message of Claude Code on standard input
    Claude(PolicyArgs),
    /// Answer a message of Codex CLI
    Codex(PolicyArgs),
    /// Answer a message of Gemini CLI
    Gemini(PolicyArgs),
    /// Answer a message of Cursor
    Cursor(PolicyArgs),
    /// Have an agent ask: change its settings, and show how
    Install(InstallArgs),
    /// Have it ask no longer
    Uninstall(InstallArgs),
}

#[derive(Debug, Args)]
pub(crate) struct InstallArgs {
    /// Which agent
    #[arg(long = "for", value_enum, value_name = "AGENT")]
    pub(crate) agent: Agent,
    /// Its settings in the current directory, not those in the home directory
    #[arg(long)]
    pub(crate) project: bool,
    /// Show what would change, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) policy: PolicyArgs,
}
