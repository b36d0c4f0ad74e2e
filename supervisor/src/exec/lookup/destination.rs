//! Where the paths that a call names lead: its operands, not its program.

use std::collections::HashMap;
use std::os::fd::AsFd;

use execward_policy::{Destination, FileKind};
use rustix::fs::{Mode, OFlags, ResolveFlags, StatxFlags, openat2, readlinkat, statx};
use rustix::io::Errno;

use super::{Located, Lookup, LookupError, Patience};
use crate::exec::digest::of_content;
use crate::exec::filesystem::{Filesystem, QUIETLY};
use crate::path::{directory, file_name, join};
use crate::tracee::Credentials;

/// Most links at the end of a path that lead to nothing: as many as the kernel follows at all.
const LINKS_MAX: usize = 40;

/// Where paths lead, by what they are in the call.
pub(crate) type Destinations = HashMap<Vec<u8>, Destination>;

impl Lookup<'_> {
    /// Where each of `paths`, absolute, leads. Those of which nobody can tell are left out.
    ///
    /// # Errors
    /// [`LookupError::WouldWait`], and no other.
    pub(crate) fn destinations(&mut self, paths: &[Vec<u8>]) -> Result<Destinations, LookupError> {
        let mut destinations = Destinations::with_capacity(paths.len());
        for path in paths {
            if let Some(destination) = self.destination(path)? {
                destinations.insert(path.clone(), destination);
            }
        }
        Ok(destinations)
    }

    /// Where `path`, absolute, leads, with the digest of the file there; `None` if it leads to no
    /// file that the task may read.
    ///
    /// # Errors
    /// [`LookupError::WouldWait`], and no other.
    pub(crate) fn digested(
        &mut self,
        path: &[u8],
        own: &Credentials,
    ) -> Result<Option<Destination>, LookupError> {
        let session = self.session;
        let root = self.view.root(session);
        let located = match self.locate(root, path, true) {
            Ok(located) => located,
            Err(LookupError::WouldWait) => return Err(LookupError::WouldWait),
            Err(_) => return Ok(None),
        };
        let is_file = |it: &Destination| it.is_proven && it.kind == FileKind::Regular;
        let destination = self.described(&located).filter(is_file);
        let task = &self.view.status().credentials;
        Ok(destination.and_then(|destination| {
            let sha256 = Some(of_content(located.file.as_fd(), self.proc, task, own)?);
            Some(Destination {
                sha256,
                ..destination
            })
        }))
    }

    /// Where `path`, absolute, leads; `None` if nobody can tell.
    ///
    /// What is not there leads to where it would be made: through links to nothing, and below
    /// directories that are missing too. A link that leads to itself is what it leads to: nobody gets
    /// further by it.
    ///
    /// # Errors
    /// [`LookupError::WouldWait`], and no other.
    fn destination(&mut self, path: &[u8]) -> Result<Option<Destination>, LookupError> {
        let mut path = path.to_vec();
        let mut crossed: Vec<Destination> = Vec::new();
        for _ in 0..LINKS_MAX {
            match self.reach(&path)? {
                Reached::Place(destination) => return Ok(Some(destination)),
                Reached::Link(target) => path = target,
                Reached::Knot(link, _) if crossed.iter().any(|known| known.path == link.path) => {
                    return Ok(crossed.into_iter().next());
                }
                Reached::Knot(link, target) => {
                    crossed.push(link);
                    path = target;
                }
                Reached::Nowhere => break,
            }
        }
        Ok(None)
    }

    fn reach(&mut self, path: &[u8]) -> Result<Reached, LookupError> {
        // The missing part, its components from the last to the first.
        let mut missing: Vec<&[u8]> = Vec::new();
        let mut there = path;
        let directory = loop {
            match self.at(there)? {
                Some(Ok(destination)) => break destination,
                Some(Err(Errno::NOENT | Errno::NOTDIR)) => {}
                Some(Err(Errno::LOOP)) if missing.is_empty() => return self.knot(path),
                Some(Err(_)) | None => return Ok(Reached::Nowhere),
            }
            // What may not wait looks no further than the directory.
            if self.patience == Patience::Cached && !missing.is_empty() {
                return Err(LookupError::WouldWait);
            }
            let Some((directory, name)) = split(there) else {
                return Ok(Reached::Nowhere);
            };
            if name == b".." {
                return Ok(Reached::Nowhere);
            }
            missing.push(name);
            there = directory;
        };
        let Some(first) = missing.last() else {
            return Ok(Reached::Place(directory));
        };
        match self.link_at(&directory, first)? {
            Link::None => {}
            Link::To(target) => {
                let rest = missing.iter().rev().skip(1);
                let target = rest.fold(target, |path, name| join(path, name));
                return Ok(Reached::Link(target));
            }
            Link::Untold => return Ok(Reached::Nowhere),
        }
        let names = missing.iter().rev();
        Ok(Reached::Place(Destination {
            path: names.fold(directory.path.clone(), |path, name| join(path, name)),
            kind: FileKind::Missing,
            is_proven: directory.is_proven,
            sha256: None,
        }))
    }

    /// The link at `path`, by which the kernel came to no end.
    fn knot(&mut self, path: &[u8]) -> Result<Reached, LookupError> {
        let Some((directory, name)) = split(path) else {
            return Ok(Reached::Nowhere);
        };
        let Some(Ok(directory)) = self.at(directory)? else {
            return Ok(Reached::Nowhere);
        };
        Ok(match self.link_at(&directory, name)? {
            Link::To(target) => {
                let link = Destination {
                    path: join(directory.path, name),
                    kind: FileKind::Other,
                    ..directory
                };
                Reached::Knot(link, target)
            }
            Link::None | Link::Untold => Reached::Nowhere,
        })
    }

    /// What is at `path`, or the kernel's errno; `None` if it cannot be told at all.
    fn at(&mut self, path: &[u8]) -> Result<Option<Result<Destination, Errno>>, LookupError> {
        let session = self.session;
        let root = self.view.root(session);
        match self.locate(root, path, true) {
            Ok(located) => Ok(self.described(&located).map(Ok)),
            Err(LookupError::Kernel(errno)) => Ok(Some(Err(errno))),
            Err(LookupError::WouldWait) => Err(LookupError::WouldWait),
            Err(LookupError::Leased | LookupError::Unplaced | LookupError::NotExecutable) => {
                Ok(None)
            }
        }
    }

    fn described(&mut self, located: &Located) -> Option<Destination> {
        let file = located.file.as_fd();
        let seen = statx(file, "", QUIETLY, StatxFlags::TYPE).ok()?;
        let kind = match u32::from(seen.stx_mode) & libc::S_IFMT {
            libc::S_IFREG => FileKind::Regular,
            libc::S_IFDIR => FileKind::Directory,
            _ => FileKind::Other,
        };
        let filesystem = self.filesystems.of(file, self.view.task()).ok()?;
        let path = located
            .path
            .clone()
            .or_else(|| self.proc.name_of(file).ok())?;
        let is_path = path.starts_with(b"/") && !path.ends_with(b" (deleted)");
        Some(Destination {
            is_proven: is_path && filesystem != Filesystem::Unstable && !self.view.is_foreign(),
            path,
            kind,
            sha256: None,
        })
    }

    /// Where `name` in `directory` leads, if it is a link, though to nothing.
    fn link_at(&self, directory: &Destination, name: &[u8]) -> Result<Link, LookupError> {
        // The directory of another root has no path that could be opened from here.
        if self.view.is_foreign() {
            return Ok(Link::None);
        }
        let path = join(directory.path.clone(), name);
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let resolve = ResolveFlags::IN_ROOT | self.cached();
        let text = openat2(self.session, &path, flags, Mode::empty(), resolve)
            .and_then(|link| readlinkat(&link, "", Vec::new()));
        match text {
            Ok(text) if text.as_bytes().starts_with(b"/") => Ok(Link::To(text.into_bytes())),
            Ok(text) => Ok(Link::To(join(directory.path.clone(), text.as_bytes()))),
            Err(Errno::AGAIN) if self.patience == Patience::Cached => Err(LookupError::WouldWait),
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(Link::None),
            Err(_) => Ok(Link::Untold),
        }
    }
}

/// What a name that leads to nothing is.
enum Link {
    None,
    To(Vec<u8>),
    Untold,
}

/// How far a path leads.
enum Reached {
    Place(Destination),
    /// A link that leads to nothing, with what follows it.
    Link(Vec<u8>),
    /// A link by which the kernel came to no end, and what it says.
    Knot(Destination, Vec<u8>),
    Nowhere,
}

/// A path's directory and its last component, slashes and dots at the end aside.
fn split(path: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut path = path;
    while let Some(shorter) = path.strip_suffix(b"/").or_else(|| path.strip_suffix(b"/.")) {
        path = shorter;
    }
    let name = path.starts_with(b"/").then(|| file_name(path))?;
    Some(match directory(path) {
        b"" => (b"/", name),
        directory => (directory, name),
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::symlink;
    use std::path::Path;

    use super::*;
    use crate::kernel::Kernel;
    use crate::tracee::Tid;

    /// Where `path` below `directory` leads, shortened, with what is there.
    fn leads(directory: &Path, path: &str) -> Option<(String, FileKind)> {
        let mut kernel = Kernel::open().unwrap();
        let view = kernel.view(Tid::own()).unwrap();
        let whole = [directory.as_os_str().as_bytes(), b"/", path.as_bytes()].concat();
        let found = kernel.destinations(&view, std::slice::from_ref(&whole), Patience::Waiting);
        let found = found.unwrap().remove(&whole)?;
        let text = String::from_utf8(found.path).unwrap();
        let text = text
            .strip_prefix(directory.to_str().unwrap())
            .map(str::to_owned)
            .unwrap_or(text);
        Some((text, found.kind))
    }

    #[test]
    fn a_path_leads_where_the_kernel_would_follow_it() {
        let directory = tempfile::tempdir().unwrap();
        let directory = directory.path();
        let at = |name: &str| directory.join(name);
        std::fs::create_dir(at("d")).unwrap();
        std::fs::write(at("d/f"), "").unwrap();
        symlink("d/f", at("to-file")).unwrap();
        symlink("d", at("to-directory")).unwrap();
        symlink("new", at("d/to-nothing")).unwrap();
        symlink("/nowhere-at-all/x", at("to-far-nothing")).unwrap();
        symlink("loop", at("loop")).unwrap();
        symlink("d/../circle", at("to-circle")).unwrap();
        symlink(at("back"), at("circle")).unwrap();
        symlink("circle", at("back")).unwrap();
        for number in 0..45 {
            let target = format!("chain{}", number + 1);
            symlink(target, at(&format!("chain{number}"))).unwrap();
        }
        for (path, leads_to, kind) in [
            ("d/f", "/d/f", FileKind::Regular),
            ("to-file", "/d/f", FileKind::Regular),
            ("to-directory/../d//./f", "/d/f", FileKind::Regular),
            ("to-directory", "/d", FileKind::Directory),
            ("to-directory/new", "/d/new", FileKind::Missing),
            ("d/to-nothing", "/d/new", FileKind::Missing),
            ("to-directory/to-nothing", "/d/new", FileKind::Missing),
            ("to-far-nothing", "/nowhere-at-all/x", FileKind::Missing),
            ("a/b/c", "/a/b/c", FileKind::Missing),
            ("a/b/c/", "/a/b/c", FileKind::Missing),
            ("d/f/x", "/d/f/x", FileKind::Missing),
            ("loop", "/loop", FileKind::Other),
            ("to-directory/../loop", "/loop", FileKind::Other),
            ("circle", "/circle", FileKind::Other),
            ("to-circle", "/to-circle", FileKind::Other),
        ] {
            assert_eq!(
                leads(directory, path),
                Some((leads_to.to_owned(), kind)),
                "{path}"
            );
        }
        assert_eq!(leads(directory, "a/../b"), None, "who knows what a will be");
        for path in ["loop/x", "circle/..", "chain0"] {
            assert_eq!(leads(directory, path), None, "{path}");
        }
    }

    /// Whoever reads it may be the gate's own thread.
    #[test]
    fn a_file_without_end_has_no_digest() {
        let mut kernel = Kernel::open().unwrap();
        let view = kernel.view(Tid::own()).unwrap();
        let directory = tempfile::tempdir().unwrap();
        let mut is_digested = |name: &str, len: u64| {
            let path = directory.path().join(name);
            std::fs::File::create(&path).unwrap().set_len(len).unwrap();
            let path = path.as_os_str().as_bytes();
            let found = kernel.digested(&view, path, Patience::Waiting).unwrap();
            found.is_some()
        };
        assert!(is_digested("short", 1 << 20));
        assert!(!is_digested("long", 1 << 42));
    }
}
