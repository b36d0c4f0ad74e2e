//! The kernel's own files, closed to a session of root.
//!
//! User 0 may write most of `/proc/sys` and `/sys` by owning it, without a capability: what it names
//! as `core_pattern` the kernel starts outside every filter (tried). So the gate moves into a mount
//! namespace in which these directories are read-only, wherever they are mounted, and whoever it starts is in
//! there with it.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::fd::RawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use nix::sched::{CloneFlags, unshare};
use nix::sys::statfs::{
    CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC, FsType, PROC_SUPER_MAGIC, SYSFS_MAGIC, TMPFS_MAGIC,
    fstatfs,
};
use nix::sys::statvfs::{FsFlags, fstatvfs};
use rustix::mount::{
    MountFlags, MountPropagationFlags, mount_bind_recursive, mount_change, mount_remount,
};

use crate::exec::Standing;
use crate::hidden::HideError;
use crate::kernel::Kernel;
use crate::pid_namespace::PidNamespaceError;
use crate::plan::Plan;
use crate::root::Root;
use crate::session::SessionError;
use crate::system::cannot;
use crate::tracee::{Procfs, whole_lines};
use crate::way_out;

/// The directories, where they are expected.
const SEALED: [&str; 3] = ["/proc/sys", "/sys/kernel", "/sys/fs/cgroup"];

const MOUNTS: &str = "/proc/self/mountinfo";

/// The file systems that have them.
const KERNELS: [FsType; 4] = [
    PROC_SUPER_MAGIC,
    SYSFS_MAGIC,
    CGROUP_SUPER_MAGIC,
    CGROUP2_SUPER_MAGIC,
];

/// Why they are not closed.
#[derive(Debug, thiserror::Error)]
#[error(
    "cannot make `{}` read-only for a session of root ({error}), which could then undo the \
     gate; run execward as a user of its own, or with --keep-caps, and nothing is promised against root",
    directory.display()
)]
pub(crate) struct SealError {
    directory: PathBuf,
    error: io::Error,
}

/// The kernel as CMD is to see it: with these directories closed, if they need to be, and in a mount namespace of its
/// own, out of which none of `callers` leads, its descriptors above 2.
///
/// # Errors
/// If they cannot be closed, if something leads out, or if proc or the root directory cannot be looked at.
pub(crate) fn kernel(plan: &Plan<'_>, callers: &[RawFd]) -> Result<Kernel, SessionError> {
    const LOOK: &str = "look at proc and at the root directory";
    if !plan.needs_namespace() {
        return Ok(Kernel::open().map_err(cannot(LOOK))?);
    }
    let proc = Procfs::open().map_err(cannot(LOOK))?;
    let outside = Standing::own(&proc).map_err(cannot(LOOK))?;
    let own = own_namespace();
    if plan.closes_kernel() {
        seal(&own)?;
    }
    if own.is_ok() {
        way_out::refuse_descriptors(callers)?;
        way_out::enter_anew()?;
    }
    match own {
        Err(error) if plan.args.hide_state => return Err(HideError::Namespace(error).into()),
        Err(error) if plan.args.pid_namespace => {
            return Err(PidNamespaceError::NotRoot(error).into());
        }
        Ok(()) | Err(_) => {}
    }
    let mut kernel = Kernel::open().map_err(cannot(LOOK))?;
    kernel.session.is_seen_from(outside);
    Ok(kernel)
}

/// Closes them, in a mount namespace of the session's own.
///
/// # Errors
/// If one of them can still be written.
fn seal(own: &io::Result<()>) -> Result<(), SealError> {
    for directory in SEALED {
        seal_directory(directory.as_bytes(), own)?;
    }
    for directory in open_elsewhere().map_err(failed(b"/proc"))? {
        seal_directory(&directory, own)?;
    }
    Ok(())
}

fn seal_directory(directory: &[u8], own: &io::Result<()>) -> Result<(), SealError> {
    let sealed = match own {
        Ok(()) => close(directory),
        Err(error) => Err(io::Error::from(error.kind())),
    };
    match sealed {
        Err(error) if !is_closed_here(directory) => Err(failed(directory)(error)),
        Ok(()) | Err(_) => Ok(()),
    }
}

fn failed(directory: &[u8]) -> impl Fn(io::Error) -> SealError {
    let directory = PathBuf::from(OsStr::from_bytes(directory));
    move |error| SealError {
        directory: directory.clone(),
        error,
    }
}

/// The same files where they are mounted once more, as below the root directory of another system. What hides
/// such a mount is another's, and left as it is.
fn open_elsewhere() -> io::Result<Vec<Vec<u8>>> {
    let (root, mounts) = (Root::own()?, fs::read(MOUNTS)?);
    let places = whole_lines(&mounts).filter_map(place_of_kernel);
    // What cannot be looked at is open.
    let is_anothers = |place: &[u8]| {
        let kind = root.find(place).map(|file| fstatfs(&file));
        matches!(kind, Ok(Ok(kind)) if !KERNELS.contains(&kind.filesystem_type()))
    };
    let is_open = |place: &Vec<u8>| !is_anothers(place) && !is_closed(place, &root, &mounts);
    Ok(places.filter(is_open).collect())
}

/// A mount namespace in which later mounts of the outside appear, and none of it outside. The calling
/// thread must be the only one.
fn own_namespace() -> io::Result<()> {
    unshare(CloneFlags::CLONE_NEWNS)?;
    let downstream = MountPropagationFlags::DOWNSTREAM | MountPropagationFlags::REC;
    Ok(mount_change("/", downstream)?)
}

/// Makes a directory and every mount below it read-only.
pub(crate) fn close(directory: &[u8]) -> io::Result<()> {
    mount_bind_recursive(directory, directory)?;
    for (point, flags) in mounted_below(directory)? {
        let flags = flags | MountFlags::BIND | MountFlags::RDONLY;
        mount_remount(point.as_slice(), flags, "")?;
    }
    Ok(())
}

/// Where something is mounted at `directory` or below, and how.
pub(crate) fn mounted_below(directory: &[u8]) -> io::Result<Vec<(Vec<u8>, MountFlags)>> {
    let table = fs::read(MOUNTS)?;
    Ok(mounts_below(directory, &table).collect())
}

/// Whether `path` is `directory` or lies in it.
pub(crate) fn is_below(path: &[u8], directory: &[u8]) -> bool {
    let rest = path.strip_prefix(directory);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
}

/// The mounts at and below `directory` in the text of a mountinfo file, proc_pid_mountinfo(5), each
/// with its flags.
fn mounts_below<'t>(
    directory: &'t [u8],
    table: &'t [u8],
) -> impl Iterator<Item = (Vec<u8>, MountFlags)> + 't {
    whole_lines(table).filter_map(|line| {
        let mut fields = line.split(|byte| *byte == b' ').skip(4);
        let (point, options) = (fields.next()?, fields.next()?);
        let point = unescaped(point);
        is_below(&point, directory).then(|| (point, flags_of(options)))
    })
}

/// The flags of a mount, which a remount must name again.
fn flags_of(options: &[u8]) -> MountFlags {
    let flag = |option: &[u8]| match option {
        b"nosuid" => MountFlags::NOSUID,
        b"nodev" => MountFlags::NODEV,
        b"noexec" => MountFlags::NOEXEC,
        b"noatime" => MountFlags::NOATIME,
        b"nodiratime" => MountFlags::NODIRATIME,
        b"relatime" => MountFlags::RELATIME,
        _ => MountFlags::empty(),
    };
    options.split(|byte| *byte == b',').map(flag).collect()
}

/// The path that the table shows, where a space is `\040`.
fn unescaped(shown: &[u8]) -> Vec<u8> {
    let (mut path, mut rest) = (Vec::with_capacity(shown.len()), shown);
    loop {
        let (byte, behind) = match rest {
            [b'\\', b'0', b'4', b'0', behind @ ..] => (b' ', behind),
            [b'\\', b'0', b'1', b'1', behind @ ..] => (b'\t', behind),
            [b'\\', b'0', b'1', b'2', behind @ ..] => (b'\n', behind),
            [b'\\', b'1', b'3', b'4', behind @ ..] => (b'\\', behind),
            [byte, behind @ ..] => (*byte, behind),
            [] => return path,
        };
        path.push(byte);
        rest = behind;
    }
}

/// The first of the kernel's own files that can be written below `root`, wherever they are mounted; `mounts` is the
/// text of a mountinfo file.
pub(crate) fn first_open(root: &Root, mounts: &[u8]) -> Option<Vec<u8>> {
    let mut places = whole_lines(mounts).filter_map(place_of_kernel);
    places.find(|place| !is_closed(place, root, mounts))
}

/// Where the files are that are to be closed, if a line of a mountinfo file is of a mount that has some.
fn place_of_kernel(line: &[u8]) -> Option<Vec<u8>> {
    let mut fields = line.split(|byte| *byte == b' ').skip(3);
    let (part, point) = (unescaped(fields.next()?), unescaped(fields.next()?));
    let kind = fields.skip_while(|field| *field != b"-").nth(1)?;
    let inner: &[u8] = match kind {
        b"proc" => b"/sys",
        b"sysfs" => b"/kernel",
        b"cgroup" | b"cgroup2" => b"",
        _ => return None,
    };
    // Of a part of such a file system, as runtimes mount it over the whole, that part.
    let below: &[u8] = match part.as_slice() {
        b"/" => inner,
        part if inner.is_empty() || is_below(part, inner) => b"",
        _ => return None,
    };
    let point = point.strip_suffix(b"/").unwrap_or(&point);
    Some([point, below].concat())
}

/// Whether a directory is closed already where this process is.
fn is_closed_here(directory: &[u8]) -> bool {
    match (Root::own(), fs::read(MOUNTS)) {
        (Ok(root), Ok(mounts)) => is_closed(directory, &root, &mounts),
        (Err(_), _) | (_, Err(_)) => false,
    }
}

/// Whether a directory and all that is mounted below it is closed already, by a container's runtime or by
/// another gate. What the table has of them counts for its places alone: one mount may hide another.
fn is_closed(directory: &[u8], root: &Root, mounts: &[u8]) -> bool {
    let below = mounts_below(directory, mounts).map(|(point, _)| point);
    let mut places = std::iter::once(directory.to_vec()).chain(below);
    places.all(|place| is_read_only(root, &place))
}

/// Whether nothing of the kernel's can be written at `place`. A tmpfs, such as the one that runtimes put
/// the hierarchies of cgroups into, has nothing of the kernel's.
fn is_read_only(root: &Root, place: &[u8]) -> bool {
    let file = match root.find(place) {
        Ok(file) => file,
        // What is not there cannot be written.
        Err(errno) => return errno == rustix::io::Errno::NOENT,
    };
    match (fstatvfs(&file), fstatfs(&file)) {
        (Ok(seen), Ok(kind)) => {
            seen.flags().contains(FsFlags::ST_RDONLY) || kind.filesystem_type() == TMPFS_MAGIC
        }
        (Err(_), _) | (_, Err(_)) => false,
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::{select, subsequence};

    use super::*;

    const FLAGS: [(&str, MountFlags); 4] = [
        ("nosuid", MountFlags::NOSUID),
        ("nodev", MountFlags::NODEV),
        ("noexec", MountFlags::NOEXEC),
        ("relatime", MountFlags::RELATIME),
    ];

    /// As fs/proc_namespace.c escapes a mount point.
    fn escaped(point: &[u8]) -> Vec<u8> {
        let escape = |byte: &u8| match byte {
            b' ' | b'\t' | b'\n' | b'\\' => format!("\\{byte:03o}").into_bytes(),
            other => vec![*other],
        };
        point.iter().flat_map(escape).collect()
    }

    /// A mount point, and where its flags are in [`FLAGS`].
    fn any_mount() -> impl Strategy<Value = (Vec<u8>, Vec<usize>)> {
        let start = select(vec![
            "/sys/kernel",
            "/sys/kernel/",
            "/sys/kernels",
            "/sys",
            "/",
        ]);
        let ends = select(vec![
            "",
            "a b",
            "\\040",
            "\n7 1 0:1 / /sys/kernel/x rw",
            "\u{e9}",
        ]);
        let end = prop_oneof![
            ends.prop_map(|end| end.as_bytes().to_vec()),
            vec(1..=u8::MAX, 0..8)
        ];
        let point = (start, end).prop_map(|(start, end)| [start.as_bytes(), &end].concat());
        (point, subsequence(vec![0, 1, 2, 3], 0..=4))
    }

    proptest! {
        #[test]
        fn a_mount_below_is_remounted_by_its_own_name_and_flags(mounts in vec(any_mount(), 0..6)) {
            let mut table = Vec::new();
            let mut expected = Vec::new();
            for (point, flags) in &mounts {
                let words: String = flags.iter().map(|at| format!(",{}", FLAGS[*at].0)).collect();
                table.extend(b"7 1 0:9 / ");
                table.extend(escaped(point));
                table.extend(format!(" rw{words} shared:1 - tmpfs x rw\n").into_bytes());
                let is_below = point == b"/sys/kernel" || point.starts_with(b"/sys/kernel/");
                if is_below {
                    let flags: MountFlags = flags.iter().map(|at| FLAGS[*at].1).collect();
                    expected.push((point.clone(), flags));
                }
            }
            let found: Vec<_> = mounts_below(b"/sys/kernel", &table).collect();
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn the_kernels_files_are_told_wherever_they_are_mounted() {
        for (line, place) in [
            ("9 1 0:5 / /proc rw - proc proc rw", Some("/proc/sys")),
            (
                "9 1 0:5 / /x/p\\0402 rw,nosuid shared:1 - proc none rw",
                Some("/x/p 2/sys"),
            ),
            (
                "9 1 0:5 /sys /proc/sys ro - proc proc rw",
                Some("/proc/sys"),
            ),
            ("9 1 0:5 /sys/net /n rw - proc proc rw", Some("/n")),
            ("9 1 0:5 /bus /proc/bus ro - proc proc rw", None),
            ("9 1 0:5 /systems /n rw - proc proc rw", None),
            ("9 1 0:6 / /sys ro - sysfs sysfs ro", Some("/sys/kernel")),
            ("9 1 0:6 /kernel/debug /d rw - sysfs sysfs ro", Some("/d")),
            (
                "9 1 0:7 /../a /sys/fs/cgroup rw - cgroup2 none rw",
                Some("/sys/fs/cgroup"),
            ),
            ("9 1 0:8 / / rw - ext4 /dev/vda rw", None),
            ("9 1 0:5 / /", None),
        ] {
            let place = place.map(|place| place.as_bytes().to_vec());
            assert_eq!(place_of_kernel(line.as_bytes()), place, "{line}");
        }
    }

    #[test]
    fn a_remount_names_the_flags_that_were() {
        let flags = flags_of(b"rw,nosuid,noexec,relatime");
        let expected = MountFlags::NOSUID | MountFlags::NOEXEC | MountFlags::RELATIME;
        assert_eq!(flags, expected);
        assert_eq!(unescaped(b"/sys/a\\040b"), b"/sys/a b");
    }
}
