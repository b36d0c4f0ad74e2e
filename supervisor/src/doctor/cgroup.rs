//! The cgroups that this process is in: cgroups(7), of both versions.

use std::fs;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, AtFlags, CWD, accessat};

/// Files that freeze or kill the processes of a cgroup, or move them to where somebody may.
const CONTROLS: [&str; 4] = [
    "cgroup.freeze",
    "cgroup.kill",
    "cgroup.procs",
    "freezer.state",
];

/// One of them, from its own directory up to where its hierarchy is mounted.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Cgroup {
    path: PathBuf,
    mount: PathBuf,
}

impl Cgroup {
    /// Its directory and those above.
    fn directories(&self) -> impl Iterator<Item = &Path> {
        let above = self.path.ancestors();
        above.take_while(|path| path.starts_with(&self.mount))
    }

    /// The lowest number that file `name` has here or above, if any has one.
    pub(super) fn lowest(&self, name: &str) -> Option<u64> {
        let texts = self
            .directories()
            .map(|it| fs::read_to_string(it.join(name)));
        let numbers = texts.filter_map(|text| text.ok()?.trim().parse().ok());
        numbers.min()
    }
}

/// Those of this process.
pub(super) fn own() -> Vec<Cgroup> {
    let read = |path| fs::read_to_string(path).unwrap_or_default();
    parse(&read("/proc/self/cgroup"), &read("/proc/self/mountinfo"))
}

/// Files by which this process could freeze or kill one of its cgroups, or leave it.
pub(super) fn writable_files() -> Vec<String> {
    let own = own();
    let directories = own.iter().flat_map(Cgroup::directories);
    let files = directories.flat_map(|it| CONTROLS.map(|name| it.join(name)));
    let is_writable =
        |path: &PathBuf| accessat(CWD, path, Access::WRITE_OK, AtFlags::EACCESS).is_ok();
    let files = files.filter(is_writable);
    files.map(|path| path.display().to_string()).collect()
}

/// By the texts of `/proc/self/cgroup` and `/proc/self/mountinfo`.
fn parse(cgroups: &str, mounts: &str) -> Vec<Cgroup> {
    let lines = cgroups.lines().filter_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        Some((fields.next()?, fields.next()?))
    });
    let found = lines.filter_map(|(controllers, path)| {
        let (root, mount) = mounts.lines().find_map(|line| of(line, controllers))?;
        // A cgroup outside of what is mounted here is out of reach.
        let below = Path::new(path).strip_prefix(root).ok()?;
        Some(Cgroup {
            path: Path::new(mount).join(below),
            mount: mount.into(),
        })
    });
    found.filter(|it| !it.path.ends_with("..")).collect()
}

/// Root and mount point, if the mount is the hierarchy of `controllers`; none is version 2.
fn of<'m>(line: &'m str, controllers: &str) -> Option<(&'m str, &'m str)> {
    let (mount, rest) = line.split_once(" - ")?;
    let mut mount = mount.split(' ').skip(3);
    let (root, point) = (mount.next()?, mount.next()?);
    let mut rest = rest.split(' ');
    let (kind, options) = (rest.next()?, rest.nth(1)?);
    let is_it = match controllers {
        "" => kind == "cgroup2",
        some => {
            kind == "cgroup"
                && options
                    .split(',')
                    .any(|it| some.split(',').any(|of| of == it))
        }
    };
    is_it.then_some((root, point))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "30 25 0:26 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n\
        31 25 0:27 /outer /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n";

    #[test]
    fn a_cgroup_is_found_below_its_mount() {
        let found = parse("8:pids:/outer/in\n1:cpu:/\n0::/user/a\n", MOUNTS);
        let cgroup = |path: &str, mount: &str| Cgroup {
            path: path.into(),
            mount: mount.into(),
        };
        let expected = [
            cgroup("/sys/fs/cgroup/pids/in", "/sys/fs/cgroup/pids"),
            cgroup("/sys/fs/cgroup/unified/user/a", "/sys/fs/cgroup/unified"),
        ];
        assert_eq!(found, expected);
        let above: Vec<_> = found[1].directories().collect();
        assert_eq!(above.len(), 3);
        assert!(parse("8:pids:/elsewhere\n", MOUNTS).is_empty());
    }

    #[test]
    fn the_lowest_limit_on_the_way_up_counts() {
        let base = tempfile::tempdir().unwrap();
        let path = base.path().join("a/b");
        fs::create_dir_all(&path).unwrap();
        fs::write(path.join("pids.max"), "max\n").unwrap();
        let cgroup = Cgroup {
            path,
            mount: base.path().into(),
        };
        assert_eq!(cgroup.lowest("pids.max"), None);
        fs::write(base.path().join("a/pids.max"), "20\n").unwrap();
        assert_eq!(cgroup.lowest("pids.max"), Some(20));
    }
}
