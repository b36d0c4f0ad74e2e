//! What the kernel has loaded, read at the exec-stop before the image runs an instruction.
//!
//! From the stack pointer up lie argc, argv, envp and the auxiliary vector; above them, without a
//! gap, the arguments, the variables and `AT_EXECFN` (create_elf_tables in fs/binfmt_elf.c).

use nix::errno::Errno;
use rustix::fs::{AtFlags, StatxFlags, statx};

use super::{FileId, SessionRoot};
use crate::ptrace::ExecStop;
use crate::tracee::{Memory, MemoryError, TaskDir};

/// `AT_NULL`, `AT_BASE` and `AT_EXECFN` of linux/auxvec.h.
const AT_NULL: u64 = 0;
const AT_BASE: u64 = 7;
const AT_EXECFN: u64 = 31;

/// Most bytes of tables, strings and padding that a new stack can hold: the kernel's 6 MiB of
/// strings and pointers, and room for the vector and the gap that randomisation leaves.
const STACK_MAX_BYTES: usize = (6 << 20) + (64 << 10);

/// First look at a stack: the tables of an ordinary exec.
const FIRST_LOOK_BYTES: usize = 2048;

/// Longest `AT_EXECFN`: a path, with `/dev/fd/N/` before it.
const EXECFN_MAX_BYTES: usize = 4096 + 32;

/// A loaded image, as it is.
#[derive(Debug)]
pub(crate) struct LoadedImage {
    exe: FileId,
    argc: usize,
    strings: Vec<u8>,
    execfn: Vec<u8>,
    has_session_loader: bool,
}

/// Why a loaded image could not be read: it must not run.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LoadedError {
    /// Its memory.
    #[error("cannot read the new image's stack: {0}")]
    Memory(#[from] MemoryError),
    /// Its registers, its proc directory or its file.
    #[error("cannot look at the new image: {0}")]
    Look(Errno),
    /// Its stack is not of the documented form.
    #[error("the new image's stack has no {0}")]
    Shape(&'static str),
}

impl LoadedImage {
    /// Reads the image of `stop`. The loader is looked at only where `session` is given.
    ///
    /// # Errors
    /// If anything of it cannot be read.
    pub(crate) fn read(
        stop: &ExecStop,
        task: &TaskDir,
        session: Option<&SessionRoot>,
    ) -> Result<Self, LoadedError> {
        let registers = stop.registers().map_err(LoadedError::Look)?;
        let memory = Memory::new(stop.tgid(), registers.pointer_bytes);
        let tables = Tables::read(memory, registers.stack_pointer, registers.pointer_bytes)?;

        let len = tables.execfn.checked_sub(tables.first_argument);
        let len = len
            .and_then(|len| usize::try_from(len).ok())
            .filter(|len| *len <= STACK_MAX_BYTES)
            .ok_or(LoadedError::Shape("arguments"))?;
        let mut strings = vec![0; len];
        memory.read_exact(tables.first_argument, &mut strings)?;
        let execfn = memory.string(tables.execfn, EXECFN_MAX_BYTES)?;

        let seen = statx(task, "exe", AtFlags::STATX_DONT_SYNC, StatxFlags::INO)
            .map_err(|errno| LoadedError::Look(Errno::from_raw(errno.raw_os_error())))?;
        let has_session_loader = session
            .is_none_or(|session| tables.loader == 0 || is_own(task, tables.loader, session));
        Ok(Self {
            exe: FileId::of(&seen),
            argc: tables.argc,
            strings,
            execfn,
            has_session_loader,
        })
    }

    /// The file that runs.
    pub(crate) fn exe(&self) -> FileId {
        self.exe
    }

    /// Number of arguments.
    pub(crate) fn argc(&self) -> usize {
        self.argc
    }

    /// Arguments and variables as they lie on the stack, each with its NUL.
    pub(crate) fn strings(&self) -> &[u8] {
        &self.strings
    }

    /// The name that the kernel gave it.
    pub(crate) fn execfn(&self) -> &[u8] {
        &self.execfn
    }

    /// Whether its ELF interpreter, if it has one, is the file of that name of the session's root.
    pub(crate) fn has_session_loader(&self) -> bool {
        self.has_session_loader
    }

    /// The arguments, one by one.
    pub(crate) fn argv(&self) -> Vec<Vec<u8>> {
        let strings = self.strings.split(|byte| *byte == 0).take(self.argc);
        strings.map(<[u8]>::to_vec).collect()
    }

    #[cfg(test)]
    pub(super) fn for_tests(exe: FileId, argc: usize, strings: Vec<u8>, execfn: &[u8]) -> Self {
        Self {
            exe,
            argc,
            strings,
            execfn: execfn.to_vec(),
            has_session_loader: true,
        }
    }
}

/// What the lower part of a new stack says.
struct Tables {
    argc: usize,
    first_argument: u64,
    execfn: u64,
    /// Where the ELF interpreter is mapped; 0 for none.
    loader: u64,
}

impl Tables {
    fn read(memory: Memory, start: u64, pointer_bytes: usize) -> Result<Self, LoadedError> {
        let mut len = FIRST_LOOK_BYTES;
        loop {
            let mut bytes = vec![0; len];
            let read = memory.read(start, &mut bytes)?;
            let words = bytes
                .get(..read)
                .unwrap_or_default()
                .chunks_exact(pointer_bytes);
            let words = words.map(|raw| {
                raw.iter()
                    .rev()
                    .fold(0, |value, byte| value << 8 | u64::from(*byte))
            });
            match Self::parse(words) {
                Some(tables) => return Ok(tables),
                None if read < len || len >= STACK_MAX_BYTES => {
                    return Err(LoadedError::Shape("end"));
                }
                None => len *= 4,
            }
        }
    }

    /// `None` if the words end before the tables do.
    fn parse(mut words: impl Iterator<Item = u64>) -> Option<Self> {
        let argc = usize::try_from(words.next()?).ok()?;
        let mut first_argument = 0;
        for index in 0..argc {
            let pointer = words.next()?;
            if index == 0 {
                first_argument = pointer;
            }
        }
        (words.next()? == 0).then_some(())?;
        while words.next()? != 0 {}
        let (mut execfn, mut loader) = (0, 0);
        loop {
            let (kind, value) = (words.next()?, words.next()?);
            match kind {
                AT_NULL => {
                    return Some(Self {
                        argc,
                        first_argument,
                        execfn,
                        loader,
                    });
                }
                AT_BASE => loader = value,
                AT_EXECFN => execfn = value,
                _ => {}
            }
        }
    }
}

/// Whether what is mapped at `address` is the file that the session's root has under that name.
fn is_own(task: &TaskDir, address: u64, session: &SessionRoot) -> bool {
    let Ok(maps) = task.read("maps") else {
        return false;
    };
    let start = format!("{address:08x}-");
    let line = maps
        .split(|byte| *byte == b'\n')
        .find(|line| line.starts_with(start.as_bytes()));
    let Some((mapped, path)) = line.and_then(parse_mapping) else {
        return false;
    };
    session.file_at(path) == Some(mapped)
}

/// Device, inode and path of a line of a maps file, proc_pid_maps(5).
fn parse_mapping(line: &[u8]) -> Option<(FileId, &[u8])> {
    let mut fields = line.splitn(6, |byte| *byte == b' ');
    let device = str::from_utf8(fields.nth(3)?).ok()?;
    let (major, minor) = device.split_once(':')?;
    let inode = str::from_utf8(fields.next()?).ok()?.parse().ok()?;
    let path = fields.next()?.trim_ascii_start();
    let hexadecimal = |text| u32::from_str_radix(text, 16).ok();
    let id = FileId {
        device: (hexadecimal(major)?, hexadecimal(minor)?),
        inode,
    };
    Some((id, path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_read_to_the_end_of_the_vector() {
        let words = [2, 100, 104, 0, 108, 0, 7, 0x7000, 31, 120, 0, 0];
        let tables = Tables::parse(words.into_iter()).unwrap();
        assert_eq!((tables.argc, tables.first_argument), (2, 100));
        assert_eq!((tables.execfn, tables.loader), (120, 0x7000));
        for cut in 0..words.len() {
            assert!(
                Tables::parse(words.into_iter().take(cut)).is_none(),
                "cut at {cut}"
            );
        }
    }

    #[test]
    fn a_mapping_names_its_file() {
        let line = b"7f00-7f10 r--p 00000000 fe:00 2752 /lib/ld so";
        let (id, path) = parse_mapping(line).unwrap();
        assert_eq!(
            id,
            FileId {
                device: (0xfe, 0),
                inode: 2752
            }
        );
        assert_eq!(path, b"/lib/ld so");
    }
}
