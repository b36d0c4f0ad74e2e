//! `execward-shim SOCKET RIGHTS CMD [ARG]...`: see the crate's documentation. Started by a gate, never by hand.

use std::process::ExitCode;

fn main() -> ExitCode {
    execward_shim::main(std::env::args_os().skip(1))
}
