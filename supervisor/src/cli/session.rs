//! What is done to a live session.

use clap::Args;

use super::WhereArgs;
use crate::control::Scope;
use crate::grants::Span;

#[derive(Debug, Args)]
pub(crate) struct PendingArgs {
    /// A JSON object a line, as on the control socket
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) place: WhereArgs,
}

#[derive(Debug, Args)]
pub(crate) struct StatusArgs {
    /// One JSON object, as on the control socket
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) place: WhereArgs,
}

#[derive(Debug, Args)]
pub(crate) struct StopArgs {
    /// Kill them at once
    #[arg(long)]
    pub(crate) kill: bool,
    #[command(flatten)]
    pub(crate) place: WhereArgs,
}

#[derive(Debug, Args)]
pub(crate) struct AnswerArgs {
    /// Which exec: its ID, or enough of the start to tell it from the others
    pub(crate) id: String,
    /// What an answer that lasts covers
    #[arg(long, value_enum, default_value_t)]
    pub(crate) scope: Scope,
    /// How long the answer holds: once, session, always, 2h, 3d, or until a date
    #[arg(long = "for", default_value_t, value_name = "SPAN")]
    pub(crate) span: Span,
    /// Let all go that wait with the same question, which must be N [default: the oldest of them]
    #[arg(long, value_name = "N")]
    pub(crate) these: Option<usize>,
    /// Why, for the log
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
    #[command(flatten)]
    pub(crate) place: WhereArgs,
}
