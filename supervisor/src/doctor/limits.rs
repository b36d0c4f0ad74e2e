//! Limits under which a session may start, and stop in the middle of its work.

use nix::sys::resource::{RLIM_INFINITY, Resource, getrlimit};

use super::cgroup;
use super::finding::Finding;

/// Fewest open files that the gate should be able to have: a few for each exec in flight.
const FILES: u64 = 256;

/// Fewest processes: those of execward are a dozen, threads included.
const PROCESSES: u64 = 64;

/// Least memory, in bytes. The gate takes some 20 MiB, arguments aside, and the parser of texts as much.
const MEMORY: u64 = 128 << 20;

/// What version 1 says of memory without a limit is about the highest number of a long.
const NO_LIMIT: u64 = 1 << 60;

/// A limit, and what it should not be below.
struct Limit {
    name: &'static str,
    value: u64,
    least: u64,
    step: &'static str,
}

impl Limit {
    fn is_low(&self) -> bool {
        self.value < self.least
    }

    fn in_words(&self) -> String {
        match self.value {
            RLIM_INFINITY => format!("{} unlimited", self.name),
            value => format!("{} {value}", self.name),
        }
    }
}

pub(super) fn findings() -> Vec<Finding> {
    vec![
        of("limits", &own_limits()),
        of("cgroup-limits", &cgroup_limits()),
    ]
}

/// The gate raises what it may to the hard limit.
fn own_limits() -> Vec<Limit> {
    let limit = |resource, name, least, step| {
        let (_, value) = getrlimit(resource).ok()?;
        Some(Limit {
            name,
            value,
            least,
            step,
        })
    };
    let files = "raise the limit of open files (`ulimit -Hn`)";
    let processes = "raise the limit of processes (`ulimit -Hu`)";
    let limits = [
        limit(Resource::RLIMIT_NOFILE, "open files", FILES, files),
        limit(Resource::RLIMIT_NPROC, "processes", PROCESSES, processes),
    ];
    limits.into_iter().flatten().collect()
}

/// Of either version.
fn cgroup_limits() -> Vec<Limit> {
    let own = cgroup::own();
    let limit = |name, least, step| {
        let values = own.iter().filter_map(|it| it.lowest(name));
        let value = values.filter(|value| *value < NO_LIMIT).min()?;
        Some(Limit {
            name,
            value,
            least,
            step,
        })
    };
    let processes = "raise the cgroup's limit of processes (a container's pids limit)";
    let memory = "raise the cgroup's limit of memory";
    let limits = [
        limit("pids.max", PROCESSES, processes),
        limit("memory.max", MEMORY, memory),
        limit("memory.limit_in_bytes", MEMORY, memory),
    ];
    limits.into_iter().flatten().collect()
}

fn of(check: &'static str, limits: &[Limit]) -> Finding {
    let words: Vec<_> = limits.iter().map(Limit::in_words).collect();
    let seen = match words.is_empty() {
        true => "none that is seen from here".to_owned(),
        false => words.join(", "),
    };
    match limits.iter().find(|limit| limit.is_low()) {
        None => Finding::ok(check, seen),
        Some(low) => Finding::weak(check, format!("{seen}: that is little"), low.step),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::finding::State;

    #[test]
    fn a_limit_that_is_low_is_weak_and_says_which() {
        let limit = |name, value| Limit {
            name,
            value,
            least: 64,
            step: "raise it",
        };
        let enough = of("limits", &[limit("open files", RLIM_INFINITY)]);
        assert_eq!(
            (enough.state, enough.seen.as_str()),
            (State::Ok, "open files unlimited")
        );
        let low = of("limits", &[limit("open files", 64), limit("processes", 63)]);
        assert_eq!(low.state, State::Weak);
        assert_eq!(low.seen, "open files 64, processes 63: that is little");
    }
}
