//! What is known of a command's own grammar: its options, their values, its operands.
//!
//! The tables are data, one file a family of commands in `data/commands`, each with its sources;
//! [`mod@file`] has their form. [`reader`] reads a call by one.
//!
//! The tables say more than is asked of them so far: what operands are (beyond the first), what
//! goes through directories and what works on the working directory. That is for `path`.

mod file;
mod reader;
mod table;

pub(crate) use reader::{Known, Piece, Side, Unknown};
pub use table::command_table;
pub(crate) use table::{Grammar, Takes, ValueKind, of};
