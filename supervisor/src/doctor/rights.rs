//! What a session may do to the kernel and to its own gate.

use nix::errno::Errno;
use nix::unistd::Uid;

use super::finding::Finding;
use super::inside::{Met, Seen};
use super::probes::in_words;

/// What the inside of a session has seen of it.
pub(super) fn findings(seen: &Seen) -> Vec<Finding> {
    let namespaces = match seen.user_namespace {
        Met::Ran => "a session can make them; sandboxes of its own work".to_owned(),
        no => format!(
            "a session cannot make them ({}); an agent's own sandbox may need them",
            in_words(no)
        ),
    };
    vec![
        of_root(seen),
        cgroup(&seen.cgroup_files),
        Finding::note("user-namespaces", namespaces),
    ]
}

fn of_root(seen: &Seen) -> Finding {
    const PROMISE: &str = "a session has no hold on the kernel";
    if seen.capabilities != 0 || seen.core_pattern == Met::Ran {
        let open = match seen.core_pattern {
            Met::Ran => ", and /proc/sys/kernel/core_pattern is open to it",
            Met::Errno(_) => "",
        };
        return Finding::fails(
            "rights",
            format!(
                "a session keeps capabilities {:#x}{open}",
                seen.capabilities
            ),
            "run execward as a user of its own",
        )
        .promising(PROMISE);
    }
    if Uid::effective().is_root() {
        let refused = match seen.core_pattern {
            Met::Errno(errno) => Errno::from_raw(errno),
            Met::Ran => Errno::UnknownErrno,
        };
        return Finding::weak(
            "rights",
            format!(
                "root, without the capabilities to undo the gate, and with /proc/sys closed \
                 ({refused:?}); it owns the machine's files and devices all the same"
            ),
            "run execward as a user of its own: of a session of root nothing is promised but against \
             mistakes",
        )
        .promising(PROMISE);
    }
    Finding::ok("rights", "a user's session, without rights of root").promising(PROMISE)
}

fn cgroup(files: &[String]) -> Finding {
    match files {
        [] => Finding::ok("cgroup", "a session can neither freeze nor kill its own"),
        [first, ..] => Finding::weak(
            "cgroup",
            format!("a session can freeze or kill its own, and the gate in it, by {first}"),
            "nothing gets through then, but execs wait or fail; start execward in a cgroup of root's \
             (a service, not a user's scope)",
        ),
    }
}
