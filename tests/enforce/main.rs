//! execward on the real kernel. Each attack stands beside its harmless twin.

mod approvals;
mod audit;
mod bench;
mod check;
mod dodges;
mod failed;
mod hooks;
mod identity;
mod input;
mod interpreter;
mod lifetime;
mod named;
mod preflight;
mod race;
mod reload;
mod rights;
mod selectors;
mod senders;
mod shell;
mod signals;
mod start;
mod terminal;
mod threads;
mod tools;
mod verdict;
mod withdrawn;
