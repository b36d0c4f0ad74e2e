//! `execward-shim --socket SOCKET -- CMD [ARG]...`: see the crate's documentation.

use std::process::ExitCode;

fn main() -> ExitCode {
    execward_shim::outside::main(std::env::args_os().skip(1))
}
