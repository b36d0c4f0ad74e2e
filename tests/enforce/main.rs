//! execward on the real kernel. Each attack stands beside its harmless twin.

#![expect(
    clippy::indexing_slicing,
    reason = "a record without the field is a failed test"
)]

mod audit;
mod identity;
mod input;
mod interpreter;
mod lifetime;
mod race;
mod threads;
mod verdict;
