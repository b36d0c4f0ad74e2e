//! Faults and crowds at a size that is meant, each with figures; see `scripts/check --drill`.

mod clock;
mod crowds;
mod deaths;
mod kept;
mod logs;
mod numbers;
mod power;
mod reloads;
mod soak;
mod stalls;
