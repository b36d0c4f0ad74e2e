//! The socket that journald listens at, and how what is too large for a datagram reaches it.

use std::fs::File;
use std::io::{self, IoSlice, Write};
use std::mem::MaybeUninit;
use std::os::fd::AsFd;
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::time::Duration;

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
use rustix::io::Errno;
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};

/// How long is waited for room where journald reads slowly.
const PATIENCE: Duration = Duration::from_secs(5);

/// A connection.
#[derive(Debug)]
pub(super) struct Socket(UnixDatagram);

impl Socket {
    /// Connects to the socket at `path`.
    ///
    /// # Errors
    /// If nobody listens there.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let socket = UnixDatagram::unbound()?;
        socket.connect(path)?;
        socket.set_write_timeout(Some(PATIENCE))?;
        Ok(Self(socket))
    }

    /// Sends a datagram, or where it is too large a file with it.
    ///
    /// # Errors
    /// If it is not taken in time.
    pub(super) fn send(&self, entry: &[u8]) -> io::Result<()> {
        match self.0.send(entry) {
            Ok(_) => Ok(()),
            Err(error) if is_too_large(&error) => self.send_file(entry),
            Err(error) => Err(error),
        }
    }

    /// memfd_create(2), which cannot change any more, by SCM_RIGHTS with an empty datagram.
    fn send_file(&self, entry: &[u8]) -> io::Result<()> {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let mut file = File::from(memfd_create("execward-record", flags)?);
        file.write_all(entry)?;
        let seals = SealFlags::SHRINK | SealFlags::GROW | SealFlags::WRITE | SealFlags::SEAL;
        fcntl_add_seals(&file, seals)?;
        let handed = [file.as_fd()];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        if !control.push(SendAncillaryMessage::ScmRights(&handed)) {
            return Err(Errno::NOBUFS.into());
        }
        sendmsg(
            &self.0,
            &[IoSlice::new(&[])],
            &mut control,
            SendFlags::NOSIGNAL,
        )?;
        Ok(())
    }
}

fn is_too_large(error: &io::Error) -> bool {
    matches!(
        Errno::from_io_error(error),
        Some(Errno::MSGSIZE | Errno::NOBUFS)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_large_for_a_datagram_comes_as_a_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("socket");
        let journald = UnixDatagram::bind(&path).unwrap();
        let socket = Socket::open(&path).unwrap();
        socket.send(b"small").unwrap();
        let mut read = [0; 16];
        assert_eq!(journald.recv(&mut read).unwrap(), 5);
        let large = vec![b'x'; 8 * 1024 * 1024];
        socket.send(&large).unwrap();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = rustix::net::RecvAncillaryBuffer::new(&mut space);
        let flags = rustix::net::RecvFlags::CMSG_CLOEXEC;
        let mut nothing = [0; 1];
        let mut parts = [io::IoSliceMut::new(&mut nothing)];
        rustix::net::recvmsg(&journald, &mut parts, &mut control, flags).unwrap();
        let message = control.drain().next();
        let Some(rustix::net::RecvAncillaryMessage::ScmRights(mut files)) = message else {
            panic!("no file")
        };
        let file = File::from(files.next().unwrap());
        let mut seen = vec![0; large.len()];
        std::os::unix::fs::FileExt::read_exact_at(&file, &mut seen, 0).unwrap();
        assert!(seen == large);
    }
}
