//! What is known of a command's own grammar: its options, their values, its operands.
//!
//! The tables are data, one file a family of commands in `data/commands`, each with its sources;
//! [`mod@file`] has their form. [`reader`] reads a call by one.
//! [`mod@operand`] says what the parts of a call are.

mod file;
mod operand;
mod reader;
mod table;

pub(crate) use operand::{Role, Typed};
pub(crate) use reader::{Known, Piece, Side, Unknown};
pub use table::command_table;
pub(crate) use table::{Alias, Grammar, Opt, Takes, ValueKind, named, of};
