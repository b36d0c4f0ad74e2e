//! execward on the real kernel. Each attack stands beside its harmless twin.

mod audit;
mod identity;
mod input;
mod interpreter;
mod lifetime;
mod race;
mod threads;
mod verdict;
