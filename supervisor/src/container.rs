//! Which container this is, as far as that is to be seen from inside.
//!
//! What a runtime leaves for its containers to know themselves by. Whoever is root in one may have written
//! it before the session began: it is for those who read a log, and no rule looks at it.

use std::fs;

use serde::Serialize;

use crate::root::Root;
use crate::tracee::TaskDir;

/// An empty file that Docker leaves.
const OF_DOCKER: &str = "/.dockerenv";

/// What podman leaves, with more in it for a container's root: podman-run(1), "`/run/.containerenv`".
const OF_PODMAN: &str = "/run/.containerenv";

/// Most that is read of it.
const PODMANS_MAX_BYTES: u64 = 4 << 10;

/// How many hexadecimal digits a container's ID has for Docker, podman, containerd and CRI-O.
const ID_DIGITS: usize = 64;

/// Where a session runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Surroundings {
    /// The path of the cgroup in the unified hierarchy, as the gate's cgroup namespace shows it: cgroups(7).
    #[serde(skip_serializing_if = "Option::is_none")]
    cgroup: Option<String>,
    /// `None` where nothing tells of a container.
    #[serde(skip_serializing_if = "Option::is_none")]
    container: Option<Container>,
}

/// What is known of a container.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
struct Container {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    image: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    runtime: Option<String>,
}

/// What is there to tell by.
#[derive(Debug, Default)]
struct Traces {
    /// `/proc/self/cgroup`.
    cgroups: String,
    /// `/proc/self/mountinfo`.
    mounts: String,
    is_dockers: bool,
    /// Of podman's file, if it is there.
    podmans: Option<String>,
}

impl Surroundings {
    /// Those of this process.
    pub(crate) fn seen() -> Self {
        let text = |path| fs::read_to_string(path).unwrap_or_default();
        Self::told_by(&Traces {
            cgroups: text("/proc/self/cgroup"),
            mounts: text("/proc/self/mountinfo"),
            is_dockers: fs::metadata(OF_DOCKER).is_ok(),
            podmans: fs::metadata(OF_PODMAN).is_ok().then(|| text(OF_PODMAN)),
        })
    }

    /// Those of a task whose root directory is `root`.
    pub(crate) fn of(task: &TaskDir, root: &Root) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap_or_default();
        let of_proc = |name| text(task.read(name).unwrap_or_default());
        let podmans = root.read(OF_PODMAN.as_bytes(), PODMANS_MAX_BYTES).ok();
        Self::told_by(&Traces {
            cgroups: of_proc("cgroup"),
            mounts: of_proc("mountinfo"),
            is_dockers: root.find(OF_DOCKER.as_bytes()).is_ok(),
            podmans: podmans.map(text),
        })
    }

    fn told_by(traces: &Traces) -> Self {
        let mut lines = traces.cgroups.lines();
        let cgroup = lines.find_map(|line| line.strip_prefix("0::")).map(escaped);
        let container = Container::told_by(traces);
        let is_one = container != Container::default();
        Self {
            cgroup,
            container: is_one.then_some(container),
        }
    }
}

impl Container {
    fn told_by(traces: &Traces) -> Self {
        let said = |key: &str| {
            let mut lines = traces.podmans.as_deref()?.lines();
            let value = lines.find_map(|line| line.strip_prefix(key)?.strip_prefix('='))?;
            let value = value.trim_matches('"');
            (!value.is_empty()).then(|| escaped(value))
        };
        let runtime = match &traces.podmans {
            Some(_) => said("engine").or_else(|| Some("podman".to_owned())),
            None => traces.is_dockers.then(|| "docker".to_owned()),
        };
        // What a runtime mounts of a container's own, as its hostname, lies in a directory of that name.
        let own = traces
            .mounts
            .lines()
            .filter_map(|line| line.split(' ').nth(3));
        let own = own.filter(|root| root.contains("/containers/") || root.contains("-containers/"));
        let id = said("id");
        let id = id.or_else(|| traces.cgroups.lines().find_map(id_in));
        Self {
            id: id.or_else(|| own.into_iter().find_map(id_in)),
            image: said("image"),
            runtime,
        }
    }
}

/// The ID in a path of directories, as `docker-ID.scope`.
fn id_in(path: &str) -> Option<String> {
    let words = path.split(|letter: char| !letter.is_ascii_alphanumeric());
    let mut ids = words.filter(|word| {
        word.len() == ID_DIGITS && word.bytes().all(|byte| byte.is_ascii_hexdigit())
    });
    ids.next_back().map(str::to_owned)
}

fn escaped(text: &str) -> String {
    text.as_bytes().escape_ascii().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

    fn told(traces: &Traces) -> String {
        serde_json::to_string(&Surroundings::told_by(traces)).unwrap()
    }

    #[test]
    fn each_runtime_is_told_by_what_it_leaves() {
        let cgroups = |path: String| Traces {
            cgroups: format!("12:pids:/other\n0::{path}\n"),
            ..Traces::default()
        };
        for path in [
            format!("/docker/{ID}"),
            format!("/system.slice/docker-{ID}.scope"),
            format!("/machine.slice/libpod-{ID}.scope/container"),
            format!("/kubepods.slice/cri-containerd-{ID}.scope"),
        ] {
            let expected = format!(r#"{{"cgroup":"{path}","container":{{"id":"{ID}"}}}}"#);
            assert_eq!(told(&cgroups(path)), expected);
        }
        let docker = Traces {
            is_dockers: true,
            mounts: format!(
                "30 1 0:5 / / rw - overlay none rw\n\
                 31 30 8:1 /var/lib/docker/containers/{ID}/hostname /etc/hostname rw - ext4 /dev/vda rw\n"
            ),
            ..cgroups("/".to_owned())
        };
        let expected =
            format!(r#"{{"cgroup":"/","container":{{"id":"{ID}","runtime":"docker"}}}}"#);
        assert_eq!(told(&docker), expected);
        let podman = Traces {
            podmans: Some(format!(
                "engine=\"podman-4.3.1\"\nname=\"x\"\nid=\"{ID}\"\nimage=\"docker.io/library/debian:12\"\nimageid=\"{ID}\"\n"
            )),
            ..Traces::default()
        };
        let expected = format!(
            r#"{{"container":{{"id":"{ID}","image":"docker.io/library/debian:12","runtime":"podman-4.3.1"}}}}"#
        );
        assert_eq!(told(&podman), expected);
    }

    /// The twins: outside of any, and in one that tells its user nothing.
    #[test]
    fn what_tells_of_none_is_none() {
        let session = Traces {
            cgroups: "0::/user.slice/user-1000.slice/session-2.scope\n".to_owned(),
            mounts: format!("31 30 8:1 /home/u/{ID}/x /mnt rw - ext4 /dev/vda rw\n"),
            ..Traces::default()
        };
        let expected = r#"{"cgroup":"/user.slice/user-1000.slice/session-2.scope"}"#;
        assert_eq!(told(&session), expected);
        let silent = Traces {
            podmans: Some(String::new()),
            ..Traces::default()
        };
        assert_eq!(told(&silent), r#"{"container":{"runtime":"podman"}}"#);
        assert_eq!(told(&Traces::default()), "{}");
    }
}
