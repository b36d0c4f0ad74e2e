//! A whole argument vector: the value of `argv`.

use crate::program::Program;

/// The program, and each argument as it must be. Nothing more may follow.
#[derive(Debug, Clone)]
pub(crate) struct ExactArgv {
    /// The first element.
    pub(crate) program: Program,
    /// The elements after it, literal.
    pub(crate) rest: Vec<Vec<u8>>,
}

impl ExactArgv {
    /// Whether the arguments after the first are exactly these.
    pub(crate) fn is_rest<'a>(&self, arguments: impl Iterator<Item = &'a [u8]>) -> bool {
        arguments.eq(self.rest.iter().map(Vec::as_slice))
    }
}
