//! The test's own process is the task: what the gate finds must be what open(2) opens here.

use std::os::unix::fs::{MetadataExt, symlink};
use std::path::Path;

use std::os::fd::AsFd;

use rustix::fs::{StatxFlags, statx};

use super::*;
use crate::exec::FileId;
use crate::exec::filesystem::QUIETLY;
use crate::tracee::Tid;

struct Ground {
    proc: Procfs,
    session: SessionRoot,
    view: View,
    filesystems: Filesystems,
    elves: KnownElves,
    directory: tempfile::TempDir,
}

impl Ground {
    fn new() -> Self {
        let proc = Procfs::open().unwrap();
        let session = SessionRoot::own(&proc).unwrap();
        let tid = Tid::new(nix::unistd::gettid().as_raw().cast_unsigned());
        let task = proc.task(tid).unwrap();
        let status = task.status().unwrap();
        let view = View::of(task, status, &session).unwrap();
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir(directory.path().join("d")).unwrap();
        std::fs::write(directory.path().join("d/file"), "x").unwrap();
        Self {
            proc,
            session,
            view,
            filesystems: Filesystems::default(),
            elves: KnownElves::default(),
            directory,
        }
    }

    fn link(&self, name: &str, to: &str) {
        symlink(to, self.directory.path().join(name)).unwrap();
    }

    fn locate(&mut self, path: &str) -> Result<(FileId, Vec<String>), LookupError> {
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let start = rustix::fs::open(self.directory.path(), flags, Mode::empty()).unwrap();
        let mut lookup = Lookup {
            view: &self.view,
            session: &self.session,
            proc: &self.proc,
            filesystems: &mut self.filesystems,
            elves: &mut self.elves,
            patience: Patience::Waiting,
        };
        let found = lookup.locate(start.as_fd(), path.as_bytes(), true)?;
        let seen = statx(&found.file, "", QUIETLY, StatxFlags::INO).unwrap();
        let links = found
            .links
            .into_iter()
            .map(|link| String::from_utf8(link).unwrap());
        Ok((FileId::of(&seen), links.collect()))
    }
}

fn id(path: impl AsRef<Path>) -> FileId {
    let seen = std::fs::metadata(path).unwrap();
    let device = (libc::major(seen.dev()), libc::minor(seen.dev()));
    FileId {
        device,
        inode: seen.ino(),
    }
}

#[test]
fn a_path_leads_where_open_leads() {
    let mut ground = Ground::new();
    let file = id(ground.directory.path().join("d/file"));
    ground.link("direct", "d/file");
    ground.link("dir", "./d/");
    ground.link("up", "../up-again/../../../../../etc");
    for path in [
        "d/file",
        "./d//./file",
        "d/../d/file",
        "direct",
        "dir/file",
        "dir/../direct",
    ] {
        assert_eq!(ground.locate(path).unwrap().0, file, "{path}");
    }
    for path in [
        "/usr/bin/env",
        "/proc/../usr/bin/env",
        "/../../usr/bin/env",
        "/bin/sh",
        "/",
    ] {
        assert_eq!(ground.locate(path).unwrap().0, id(path), "{path}");
    }
}

#[test]
fn links_that_stand_for_the_file_are_told_and_those_of_directories_are_not() {
    let mut ground = Ground::new();
    ground.link("first", "second");
    ground.link("second", "dir/file");
    ground.link("dir", "d");
    let here = ground.directory.path().display().to_string();
    let (_, links) = ground.locate("first").unwrap();
    assert_eq!(links, [format!("{here}/first"), format!("{here}/second")]);
    assert_eq!(ground.locate("dir/file").unwrap().1, Vec::<String>::new());
}

#[test]
fn links_of_proc_mean_the_tasks_own_files() {
    let mut ground = Ground::new();
    let exe = id("/proc/self/exe");
    let kept = std::fs::File::open("/etc/hostname").unwrap();
    let number = std::os::fd::AsRawFd::as_raw_fd(&kept);
    ground.link("exe", "/proc/self/exe");
    ground.link("fd", &format!("/dev/fd/{number}"));
    for path in [
        "/proc/self/exe",
        "/proc/thread-self/exe",
        "exe",
        "/proc/self/../self/exe",
    ] {
        assert_eq!(ground.locate(path).unwrap().0, exe, "{path}");
    }
    assert_eq!(
        ground
            .locate(&format!("/proc/{}/exe", std::process::id()))
            .unwrap()
            .0,
        exe
    );
    assert_eq!(ground.locate("fd").unwrap().0, id("/etc/hostname"));
    assert_eq!(
        ground.locate("/proc/self/root/usr/bin/env").unwrap().0,
        id("/usr/bin/env")
    );
    assert_eq!(ground.locate("/proc/self/cwd").unwrap().0, id("."));
}

#[test]
fn what_is_not_there_gets_the_kernels_errno() {
    let mut ground = Ground::new();
    ground.link("loop", "loop");
    ground.link("dangling", "nowhere");
    for (path, errno) in [
        ("", Errno::NOENT),
        ("nothing", Errno::NOENT),
        ("dangling", Errno::NOENT),
        ("loop", Errno::LOOP),
        ("d/file/x", Errno::NOTDIR),
        ("d/file/", Errno::NOTDIR),
        ("d/../d/file/", Errno::NOTDIR),
        ("/proc/self/fd/9999", Errno::NOENT),
    ] {
        assert_eq!(
            ground.locate(path).unwrap_err(),
            LookupError::Kernel(errno),
            "{path:?}"
        );
    }
    let long = "x".repeat(300);
    assert_eq!(
        ground.locate(&long).unwrap_err(),
        LookupError::Kernel(Errno::NAMETOOLONG)
    );
}

#[test]
fn forty_links_are_followed_and_one_more_is_not() {
    let mut ground = Ground::new();
    let file = id(ground.directory.path().join("d/file"));
    ground.link("l1", "d/file");
    for n in 2..=41 {
        ground.link(&format!("l{n}"), &format!("l{}", n - 1));
    }
    assert_eq!(ground.locate("l40").unwrap().0, file);
    assert_eq!(
        ground.locate("l41").unwrap_err(),
        LookupError::Kernel(Errno::LOOP)
    );
}
