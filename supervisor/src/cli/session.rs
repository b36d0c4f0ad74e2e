//! What is done to a live session.

use std::path::PathBuf;

use clap::Args;

use super::{PolicyArgs, StateArgs, WhereArgs};
use crate::control::Scope;
use crate::grants::Span;

/// What answers an exec that waits no more, for next time.
const OVER: &str = "For an exec that is over";

#[derive(Debug, Args)]
pub(crate) struct PendingArgs {
    /// A JSON object a line, as on the control socket
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) place: WhereArgs,
}

#[derive(Debug, Args)]
pub(crate) struct WatchArgs {
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
    /// Which exec: its ID, all of it
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
    /// Where an exec that is over is recorded [default: the log of the session, or the newest]
    #[arg(long, value_name = "LOG", help_heading = OVER)]
    pub(crate) log: Option<PathBuf>,
    #[command(flatten, next_help_heading = OVER)]
    pub(crate) policy: PolicyArgs,
    #[command(flatten)]
    pub(crate) state: StateArgs,
    #[command(flatten)]
    pub(crate) place: WhereArgs,
}
