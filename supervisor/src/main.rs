//! `execward run -- CMD`: every execve of CMD and its descendants stops in the kernel, is judged by
//! policy, and is checked again once it is loaded. See the README for what this stops and what not.

mod admission;
mod answer;
mod approval;
mod attached;
mod audit;
mod beginning;
mod changeable;
mod check;
mod cli;
mod clock;
mod cmd;
mod command;
mod confinement;
mod consent;
mod container;
mod contents;
mod control;
mod describer;
mod diagnostics;
mod directory;
mod doctor;
mod door;
mod ending;
mod escalation;
mod exec;
mod exit;
mod expect;
#[cfg(test)]
mod failures;
mod fault;
mod fdpass;
mod findings;
mod from_below;
mod front;
mod gate;
mod granting;
mod grants;
mod handover;
mod hidden;
mod hindsight;
mod hook;
mod influence;
mod inherited;
mod init;
mod jobs;
mod judge;
mod kernel;
mod kin;
mod ledger;
mod lineage;
mod link;
mod messenger;
#[cfg(test)]
mod mutation;
mod named;
mod named_socket;
mod newcomer;
mod notices;
mod observation;
mod offered;
mod outsider;
mod outward;
mod own_process;
mod ownership;
mod parking;
mod past;
mod path;
mod pid_namespace;
mod pipeline;
mod places;
mod plan;
mod policy;
mod preflight;
mod proof;
mod ptrace;
mod question_view;
mod readers;
mod reading;
mod recent;
mod recorded;
mod refusal;
mod regular;
mod reload;
mod remedy;
mod room;
mod root;
mod run;
mod screen;
mod sealed;
mod seccomp;
mod second_look;
mod session;
mod settled;
mod shell;
mod shipping;
mod status;
mod stop;
mod subject;
mod system;
mod terminal;
mod texts;
mod threads;
mod tool_check;
mod tracee;
mod user;
mod vfork;
mod watch;
mod way_out;
mod withdrawal;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};

use crate::audit::{Shown, TailError};
use crate::check::CheckError;
use crate::cli::{AnswerArgs, AuditCommand, Cli, Command, GrantsCommand, TailArgs};
use crate::control::{Decision, VerbError};
use crate::exit::ExitStatus;
use crate::expect::ExpectError;
use crate::proof::ProofError;
use crate::reading::ReadingError;
use crate::run::RunError;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os();
    let name = arguments.next().unwrap_or_default();
    let arguments: Vec<OsString> = arguments.collect();
    // Six processes are this program again. They are no commands of its users.
    match arguments.first().and_then(|first| first.to_str()) {
        Some("__shim") => return execward_shim::main(arguments.into_iter().skip(1)),
        Some("__gate") => return run::gate(&name, &arguments),
        Some(init::ARGUMENT) => return init::main(),
        Some(messenger::process::ARGUMENT) => return messenger::process::main(),
        Some(shell::keeper::ARGUMENT) => return shell::keeper::main(),
        Some(shell::process::ARGUMENT) => return shell::process::main(),
        Some(doctor::inside::ARGUMENT) => {
            return doctor::inside::main(arguments.get(1..).unwrap_or_default());
        }
        _ => {}
    }
    let is_run = arguments.first().is_some_and(|first| first == "run");
    let given = [name].into_iter().chain(arguments.iter().cloned());
    match Cli::try_parse_from(given).and_then(Cli::checked) {
        Ok(cli) => dispatch(cli, arguments).into(),
        Err(error) => usage(&error, is_run).into(),
    }
}

fn dispatch(cli: Cli, arguments: Vec<OsString>) -> ExitStatus {
    match cli.command {
        Command::Run(args) => told_of(run::run(&args, arguments), RunError::status),
        Command::Check(args) => told_of(
            check::check(&args, &mut std::io::stdout()),
            CheckError::status,
        ),
        Command::Explain(args) => told_of(
            check::explain(&args, &mut std::io::stdout()),
            CheckError::status,
        ),
        Command::Policy(command) => told_of(
            policy::verbs::obey(&command, &mut std::io::stdout()),
            VerbError::status,
        ),
        Command::Pending(pending) => {
            let shown = control::pending(&pending, &mut std::io::stdout());
            told_of(shown.map(|()| ExitStatus::Success), VerbError::status)
        }
        Command::Watch(args) => told_of(
            screen::watch(&args.place.meant()),
            screen::ScreenError::status,
        ),
        Command::Allow(allow) => answer_call(&allow, control::allowing(allow.span)),
        Command::Deny(deny) => answer_call(&deny, Decision::Deny),
        Command::Status(args) => told_of(
            control::status(&args, &mut std::io::stdout()),
            VerbError::status,
        ),
        Command::Stop(args) => told_of(
            control::stop(&args, &mut std::io::stdout()),
            VerbError::status,
        ),
        Command::Grants(GrantsCommand::List(list)) => told_of(
            grants::list(&list, &mut std::io::stdout()),
            VerbError::status,
        ),
        Command::Grants(GrantsCommand::Revoke(revoke)) => told_of(
            grants::revoke(&revoke, &mut std::io::stdout()),
            VerbError::status,
        ),
        Command::Audit(command) => audit(&command),
        Command::Hook(command) => {
            hook::obey(&command, &mut std::io::stdin(), &mut std::io::stdout())
        }
        Command::Doctor(args) => told_of(doctor::examine(&args, &mut std::io::stdout()), |_| {
            ExitStatus::Io
        }),
        Command::Completions { shell } => {
            clap_complete::generate(
                shell,
                &mut Cli::command(),
                "execward",
                &mut std::io::stdout(),
            );
            ExitStatus::Success
        }
        Command::Man { command } => show_manual(command.as_deref()),
    }
}

/// The manual page of execward, or of one of its commands.
fn show_manual(command: Option<&str>) -> ExitStatus {
    let mut cli = Cli::command();
    cli.build();
    let shown = match command {
        None => Some(&cli),
        Some(name) => cli.find_subcommand(name),
    };
    let Some(shown) = shown else {
        front::say(&format!(
            "there is no command `{}`; `execward --help` lists them",
            command.unwrap_or_default().escape_debug()
        ));
        return ExitStatus::Usage;
    };
    let page = clap_mangen::Man::new(shown.clone()).render(&mut std::io::stdout());
    told_of(page.map(|()| ExitStatus::Success), |_| ExitStatus::Io)
}

fn answer_call(args: &AnswerArgs, decision: Decision) -> ExitStatus {
    let answered = control::answer(args, decision, &mut std::io::stdout());
    told_of(answered, VerbError::status)
}

/// The status of a command, its error said.
fn audit(command: &AuditCommand) -> ExitStatus {
    match command {
        AuditCommand::Tail(tail) => show_log(tail),
        AuditCommand::Verify(args) => told_of(
            proof::verify(args, &mut std::io::stdout()),
            ProofError::status,
        ),
        AuditCommand::Seal(args) => told_of(
            proof::seal(args, &mut std::io::stdout()),
            ProofError::status,
        ),
        AuditCommand::Expect(args) => told_of(
            expect::expect(args, &mut std::io::stdout()),
            ExpectError::status,
        ),
        AuditCommand::Stats(args) => told_of(
            reading::stats(args, &mut std::io::stdout()),
            ReadingError::status,
        ),
        AuditCommand::Tree(args) => told_of(
            reading::tree(args, &mut std::io::stdout()),
            ReadingError::status,
        ),
        AuditCommand::Export(args) => told_of(
            reading::export(args, &mut std::io::stdout()),
            ReadingError::status,
        ),
        AuditCommand::Ship(args) => told_of(Err(shipping::ship(args)), |_| ExitStatus::Io),
        AuditCommand::Where(args) => {
            told_of(shipping::say_where(args, &mut std::io::stdout()), |_| {
                ExitStatus::Io
            })
        }
    }
}

fn told_of<E: std::fmt::Display>(
    done: Result<ExitStatus, E>,
    status: impl Fn(&E) -> ExitStatus,
) -> ExitStatus {
    done.unwrap_or_else(|error| {
        front::say(&error.to_string());
        status(&error)
    })
}

/// clap's message, and the status of the command that was meant.
fn usage(error: &clap::Error, is_run: bool) -> ExitStatus {
    let is_asked = matches!(
        error.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
    );
    if is_asked {
        return if error.print().is_ok() {
            ExitStatus::Success
        } else {
            ExitStatus::Io
        };
    }
    front::say(&in_one_line(&error.render().to_string()));
    if is_run {
        ExitStatus::OwnFailure
    } else {
        ExitStatus::Usage
    }
}

/// clap's message with its first paragraph, which may go on below, as one line.
fn in_one_line(text: &str) -> String {
    let text = text.strip_prefix("error: ").unwrap_or(text).trim_end();
    let (first, rest) = text.split_at(text.find("\n\n").unwrap_or(text.len()));
    let words: Vec<_> = first.lines().map(str::trim).collect();
    words.join(" ") + rest
}

fn show_log(args: &TailArgs) -> ExitStatus {
    let how = Shown {
        as_json: args.json,
        last: args.lines,
        follows: args.follow,
        filter: args.filter.meant(),
    };
    let log = args.log.meant();
    let shown = log.and_then(|path| audit::tail(&path, &how, &mut std::io::stdout()));
    match shown {
        Ok(()) => ExitStatus::Success,
        // Whoever reads has seen enough.
        Err(TailError::Write(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => {
            ExitStatus::Success
        }
        Err(error) => {
            front::say(&error.to_string());
            match error {
                TailError::Damaged { .. } => ExitStatus::LogDamaged,
                TailError::Read { .. } | TailError::Write(_) => ExitStatus::Io,
            }
        }
    }
}
