//! The process that carries word outside: `execward __messenger`.

use std::collections::BTreeMap;
use std::io::{self, PipeReader, stdin};
use std::os::fd::{AsFd, BorrowedFd};
use std::process::ExitCode;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::prctl;
use rustix::net::{RecvFlags, SendFlags};

use super::message::{FromMessenger, PACKET_MAX_BYTES, ToMessenger};
use super::program::Programs;
use super::route::Route;
use crate::control::Escalated;
use crate::fdpass;
use crate::own_process::{close_callers, hear_of_children};

/// The first argument by which execward is this process.
pub(crate) const ARGUMENT: &str = "__messenger";

/// Carries until the other end of the socket is closed.
pub(crate) fn main() -> ExitCode {
    match carry(stdin().as_fd()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// By the paths of their sockets.
type Routes = BTreeMap<String, Route>;

fn carry(gate: BorrowedFd<'_>) -> io::Result<()> {
    close_callers()?;
    prctl::set_dumpable(false)?;
    hear_of_children()?;
    let (mut routes, mut programs) = (Routes::new(), Programs::default());
    let (stopped, stop) = io::pipe()?;
    loop {
        let ready = wait(gate, &routes)?;
        for path in ready.routes {
            hear(gate, &mut routes, &path);
        }
        if !ready.gate {
            continue;
        }
        let Some(message) = receive(gate)? else {
            drop(stop);
            programs.join();
            return Ok(());
        };
        obey(gate, message, &mut routes, (&mut programs, &stopped));
    }
}

struct Ready {
    gate: bool,
    routes: Vec<String>,
}

fn wait(gate: BorrowedFd<'_>, routes: &Routes) -> io::Result<Ready> {
    let all = [gate].into_iter().chain(routes.values().map(AsFd::as_fd));
    let mut fds: Vec<_> = all.map(|fd| PollFd::new(fd, PollFlags::POLLIN)).collect();
    loop {
        match poll(&mut fds, PollTimeout::NONE) {
            Ok(_) => break,
            Err(Errno::EINTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    let is_ready = |fd: &PollFd<'_>| fd.any() == Some(true);
    let ready = routes.keys().zip(fds.iter().skip(1));
    Ok(Ready {
        gate: fds.first().is_some_and(is_ready),
        routes: ready
            .filter(|(_, fd)| is_ready(fd))
            .map(|(path, _)| path.clone())
            .collect(),
    })
}

/// The gate's next word; none once it is gone.
fn receive(gate: BorrowedFd<'_>) -> io::Result<Option<ToMessenger>> {
    let mut packet = vec![0; PACKET_MAX_BYTES];
    let (length, _) = fdpass::receive(gate, &mut packet, RecvFlags::empty())?;
    if length == 0 {
        return Ok(None);
    }
    let message = packet.get(..length).unwrap_or_default();
    Ok(Some(serde_json::from_slice(message)?))
}

fn obey(
    gate: BorrowedFd<'_>,
    message: ToMessenger,
    routes: &mut Routes,
    (programs, stopped): (&mut Programs, &PipeReader),
) {
    match message {
        ToMessenger::Notify { argv, question } => {
            let started = gate
                .try_clone_to_owned()
                .map_err(|error| error.to_string())
                .and_then(|gate| programs.start(&argv, &question, stopped, gate));
            if let Err(why) = started {
                let program = argv.into_iter().next().unwrap_or_default();
                let said = String::new();
                report(gate, &FromMessenger::NotNotified { program, why, said });
            }
        }
        ToMessenger::Escalate { to, question } => escalate(gate, to, question, routes),
        ToMessenger::Withdraw { to, request_id } => {
            if let Some(route) = routes.get_mut(&to) {
                route.withdraw(request_id);
                if route.is_idle() {
                    routes.remove(&to);
                }
            }
        }
    }
}

/// Puts a question by the way that there is, or a new one.
fn escalate(gate: BorrowedFd<'_>, to: String, question: Box<Escalated>, routes: &mut Routes) {
    let request_id = question.request_id;
    let no_route = |why| FromMessenger::NoRoute { request_id, why };
    let mut route = match routes.remove(&to).map_or_else(|| Route::to(&to), Ok) {
        Ok(route) => route,
        Err(why) => return report(gate, &no_route(why)),
    };
    match route.put(question) {
        Ok(()) => {
            routes.insert(to, route);
        }
        Err((why, is_lost)) => {
            report(gate, &no_route(why.clone()));
            if is_lost {
                report_all(gate, &route.lost(&why));
            } else if !route.is_idle() {
                routes.insert(to, route);
            }
        }
    }
}

/// Takes what has come by a way, and gives up those that are lost or needed no more: a connection that
/// waits for nothing takes a place that an approver could have.
fn hear(gate: BorrowedFd<'_>, routes: &mut Routes, path: &str) {
    let Some(mut route) = routes.remove(path) else {
        return;
    };
    match route.take() {
        Ok(messages) => {
            report_all(gate, &messages);
            if !route.is_idle() {
                routes.insert(path.to_owned(), route);
            }
        }
        Err(why) => report_all(gate, &route.lost(&why)),
    }
}

fn report_all(gate: BorrowedFd<'_>, messages: &[FromMessenger]) {
    for message in messages {
        report(gate, message);
    }
}

/// Tells the gate. It may be gone; then its session is over.
pub(super) fn report(gate: BorrowedFd<'_>, message: &FromMessenger) {
    let packet = serde_json::to_vec(message).map_err(io::Error::from);
    let sent = packet.and_then(|packet| Ok(fdpass::send(gate, &packet, &[], SendFlags::empty())?));
    if let Err(error) = sent {
        tracing::debug!(%error, "the gate does not hear");
    }
}
