//! The supervised side of a session's start: install the filter, hand the listener over, exec.
//!
//! Two programs share this crate. The supervisor re-executes itself as the shim before the filter
//! exists, so nobody forks by hand; the static `execward-shim` binary does the same in images that do
//! not carry the supervisor, over a socket at which that listens.
//!
//! The order below is the contract, and each step can fail only towards "CMD does not run":
//!
//! ```text
//! shim                                   gate
//!  │ no_new_privs, CMD's rights            │
//!  │ seccomp(NEW_LISTENER)                 │
//!  │ ── Report::Listening + listener ────► │  the listener now lives in the gate alone
//!  │    (own copy closed)                  │  threads, log, session.start
//!  │ ◄──────────── go-ahead, or a refusal ─ │
//!  │ execvp(CMD) ─────────────────────────►│  the first notification
//! ```

pub mod abi;
mod capabilities;
pub mod filter;
pub mod handshake;
mod install;
mod keyring;
pub mod outside;
mod rights;
mod start;

pub use capabilities::{DROPPED, drop_all};
pub use rights::{Ids, NoRights, Rights};
pub use start::{CANNOT_EXEC, NOT_FOUND, OWN_FAILURE, main};
