//! The digest of a file's content, taken on what is held and not by a name.

use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use execward_policy::{Digest, Origin};
use rustix::fs::OFlags;
use sha2::{Digest as _, Sha256};

use super::file::{HeldFile, Kind};
use super::image::Image;
use crate::tracee::{Credentials, Procfs, as_task};

/// How long a file may take to be read; the look-up of an exec is given up by then too.
const READ_WITHIN: Duration = Duration::from_secs(1);

/// How much is read at once.
const PIECE_BYTES: usize = 128 << 10;

impl Image {
    /// Reads every file of the image whole. One that the task may not read, or that lies where
    /// each reading may differ, stays without a digest.
    pub(crate) fn take_digests(&mut self, proc: &Procfs, task: &Credentials, own: &Credentials) {
        for file in self.files_mut() {
            file.facts.sha256 = digest(file, proc, task, own);
        }
    }

    /// Every file that had a digest when it was judged, with that.
    pub(crate) fn digests(&self) -> impl Iterator<Item = (BorrowedFd<'_>, Digest)> {
        let files = self.files().iter();
        files.filter_map(|file| Some((file.fd.as_fd(), file.facts.sha256?)))
    }
}

fn digest(file: &HeldFile, proc: &Procfs, task: &Credentials, own: &Credentials) -> Option<Digest> {
    if file.facts.kind == Kind::NotRegular || file.facts.origin == Origin::Unstable {
        return None;
    }
    of_content(file.fd.as_fd(), proc, task, own)
}

/// The digest of what `file` holds, if the task may read it and it has an end.
pub(crate) fn of_content(
    file: BorrowedFd<'_>,
    proc: &Procfs,
    task: &Credentials,
    own: &Credentials,
) -> Option<Digest> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
    let opened = as_task(task, own, || proc.reopen(file, flags)).ok()?;
    let mut content = File::from(opened.ok()?);
    let started = Instant::now();
    let mut hash = Sha256::new();
    let mut piece = vec![0; PIECE_BYTES];
    while started.elapsed() < READ_WITHIN {
        match content.read(&mut piece).ok()? {
            0 => return Some(Digest(hash.finalize().into())),
            len => hash.update(piece.get(..len)?),
        }
    }
    None
}
