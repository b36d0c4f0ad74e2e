//! A file system of a test's own, as linux/fuse.h has it: enough for regular files in one directory.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;

use nix::mount::{MsFlags, mount};

/// Operations of linux/fuse.h.
pub const LOOKUP: u32 = 1;
/// No answer is expected.
pub const FORGET: u32 = 2;
/// Attributes of a node.
pub const GETATTR: u32 = 3;
/// Sets some of them, its length above all.
pub const SETATTR: u32 = 4;
/// Opens a file.
pub const OPEN: u32 = 14;
/// Reads from it.
pub const READ: u32 = 15;
/// Writes to it.
pub const WRITE: u32 = 16;
/// Its last descriptor is closed.
pub const RELEASE: u32 = 18;
/// What was written is to be on the disk.
pub const FSYNC: u32 = 20;
/// A descriptor is closed.
pub const FLUSH: u32 = 25;
/// The first request.
pub const INIT: u32 = 26;
/// Opens a directory.
pub const OPENDIR: u32 = 27;
/// The last descriptor of a directory is closed.
pub const RELEASEDIR: u32 = 29;
/// The names in a directory are to be on the disk.
pub const FSYNCDIR: u32 = 30;
/// Makes a file and opens it.
pub const CREATE: u32 = 35;
/// Somebody waits no longer; no answer is expected.
pub const INTERRUPT: u32 = 36;
/// As [`FORGET`], for several.
pub const BATCH_FORGET: u32 = 42;

/// In the answer to an open: every read and write is asked for, whatever the kernel has of the file.
pub const FOPEN_DIRECT_IO: u32 = 1;

/// The node of the mounted directory.
pub const ROOT: u32 = 1;

/// Most bytes of a request.
const REQUEST_MAX_BYTES: usize = 1 << 18;

/// What the kernel asks.
#[derive(Clone, Debug)]
pub struct Request {
    /// Which operation.
    pub operation: u32,
    /// Names the request in its answer.
    pub unique: u64,
    /// Of which file.
    pub node: u32,
    /// By which process.
    pub pid: u32,
    /// What follows the head.
    pub body: Vec<u8>,
}

/// Mounts on `directory`; the kernel's requests are read from the file that is returned.
///
/// # Panics
/// If it cannot be mounted.
#[must_use]
pub fn mounted(name: &str, directory: &str) -> File {
    let mut options = File::options();
    let server = options.read(true).write(true).open("/dev/fuse");
    let server = server.expect("/dev/fuse");
    let fd = server.as_raw_fd();
    let data = format!("fd={fd},rootmode=40000,user_id=0,group_id=0,allow_other");
    let flags = MsFlags::empty();
    mount(Some(name), directory, Some("fuse"), flags, Some(&*data)).expect("a mount");
    server
}

impl Request {
    /// The next one; none when the file system is gone.
    #[must_use]
    pub fn next(mut server: &File) -> Option<Self> {
        let mut bytes = vec![0; REQUEST_MAX_BYTES];
        let len = server.read(&mut bytes).ok()?;
        bytes.truncate(len);
        Some(Self {
            operation: word(&bytes, 4),
            unique: u64::from(word(&bytes, 8)) | u64::from(word(&bytes, 12)) << 32,
            node: word(&bytes, 16),
            pid: word(&bytes, 32),
            body: bytes.split_off(40),
        })
    }

    /// The word at byte `at` of the body.
    #[must_use]
    pub fn word(&self, at: usize) -> u32 {
        word(&self.body, at)
    }

    /// Answers with `body`, or with an errno.
    ///
    /// # Errors
    /// If nobody waits for it any more.
    pub fn answer(&self, mut server: &File, body: Result<&[u8], i32>) -> io::Result<()> {
        let error = body.err().map_or(0, |errno| -errno);
        let body = body.unwrap_or_default();
        let len = u32::try_from(16 + body.len()).map_err(io::Error::other)?;
        let unique = self.unique.to_le_bytes();
        let head = [&len.to_le_bytes()[..], &error.to_le_bytes(), &unique].concat();
        server.write_all(&[head, body.to_vec()].concat())
    }
}

/// The answer to [`INIT`]: a write(2) is one request.
#[must_use]
pub fn init() -> Vec<u8> {
    const FUSE_BIG_WRITES: u32 = 1 << 5;
    words(&[
        7,
        31,
        0,
        FUSE_BIG_WRITES,
        0,
        1 << 17,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
    ])
}

/// The answer to [`LOOKUP`]: a node that the kernel must ask for again each time.
#[must_use]
pub fn entry(node: u32, attributes: Vec<u8>) -> Vec<u8> {
    [words(&[node, 0, 0, 0, 0, 0, 0, 0, 0, 0]), attributes].concat()
}

/// `struct fuse_attr` of node 1, the root, or of a file of `len` bytes.
#[must_use]
pub fn attributes(node: u32, len: u32, mode: u32) -> Vec<u8> {
    let mode = if node == ROOT { 0o040_755 } else { mode };
    let mut fields = vec![node, 0];
    fields.extend([len, 0]);
    fields.extend([0; 11]);
    fields.extend([mode, 1, 0, 0, 0, 4096, 0]);
    words(&fields)
}

/// Little-endian words.
#[must_use]
pub fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn word(bytes: &[u8], at: usize) -> u32 {
    let word = bytes.get(at..at + 4).and_then(|raw| raw.try_into().ok());
    u32::from_le_bytes(word.unwrap_or_default())
}
