//! What stays true of every policy.

mod calls;
mod case;
mod doubt;
mod draft;
mod draw;
mod drawn;
mod keys;
mod modes;
mod rules;
mod text;

use proptest::test_runner::{Config, RngAlgorithm};

/// The draws are many and small, and most of a debug build's time would go into the default
/// generator, which is made for secrets.
fn config() -> Config {
    Config {
        cases: 128,
        rng_algorithm: RngAlgorithm::XorShift,
        failure_persistence: None,
        ..Config::default()
    }
}
