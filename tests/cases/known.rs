//! The cases that do not come out as they should, each with its reason.

/// A case, and why.
pub(crate) type Known = (&'static str, &'static str);

const UNSAID: &str = "what decides is not in the case's fields, and `check` sees no other";

/// What `check` answers otherwise.
pub(crate) const CHECK: &[Known] = &[
    ("cd-then-bare-name", UNSAID),
    ("memfd-program", UNSAID),
    ("symlink-retarget-between-check-and-exec", UNSAID),
];

/// What comes out otherwise under the gate.
pub(crate) const RUN: &[Known] = &[];
