//! `execward grants`.

use clap::{Args, Subcommand};

use super::{StateArgs, WhereArgs};

#[derive(Debug, Subcommand)]
pub(crate) enum GrantsCommand {
    /// Show the grants that count: in a session, or where none is live in every new one
    List(GrantsListArgs),
    /// Take a grant back, in every live session and for good
    Revoke(RevokeArgs),
}

#[derive(Debug, Args)]
pub(crate) struct GrantsListArgs {
    /// One line of JSON a grant
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) place: WhereArgs,
}

#[derive(Debug, Args)]
pub(crate) struct RevokeArgs {
    /// Which grant: its ID, or enough of the start to tell it from the others
    pub(crate) id: String,
    #[command(flatten)]
    pub(crate) state: StateArgs,
    #[command(flatten)]
    pub(crate) place: WhereArgs,
}
