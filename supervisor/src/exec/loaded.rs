//! What the kernel has loaded, read at the exec-stop before the image runs an instruction.
//!
//! From the stack pointer up lie argc, argv, envp and the auxiliary vector; above them, without a
//! gap, the arguments, the variables and `AT_EXECFN` (create_elf_tables in fs/binfmt_elf.c).

use nix::errno::Errno;
use rustix::fs::{AtFlags, StatxFlags, statx};

use super::{FileId, SystemLoaders};
use crate::ptrace::ExecStop;
use crate::tracee::{Memory, MemoryError, TaskDir, whole_lines};

/// `AT_NULL`, `AT_ENTRY` and `AT_EXECFN` of linux/auxvec.h.
const AT_NULL: u64 = 0;
const AT_ENTRY: u64 = 9;
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
    loader: Loader,
}

/// The file whose code runs first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Loader {
    /// The image itself: it has no ELF interpreter.
    Itself,
    /// An ELF interpreter of the system.
    System,
    /// Another: its identity and its path, as the task's maps have them.
    Other(FileId, Vec<u8>),
    /// Code that no file is behind.
    Unknown,
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
    /// Reads the image of `stop`. In a foreign mount namespace or root, names of loaders prove
    /// nothing.
    ///
    /// # Errors
    /// If anything of it cannot be read.
    pub(crate) fn read(
        stop: &ExecStop,
        task: &TaskDir,
        loaders: &SystemLoaders,
        is_foreign: bool,
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
        // `AT_BASE` would not do: it is 0 for an interpreter that is not position-independent.
        let loader = if tables.entry == registers.instruction_pointer {
            Loader::Itself
        } else {
            loader_at(task, registers.instruction_pointer, loaders, is_foreign)
        };
        Ok(Self {
            exe: FileId::of(&seen),
            argc: tables.argc,
            strings,
            execfn,
            loader,
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

    /// Whose code runs first.
    pub(crate) fn loader(&self) -> &Loader {
        &self.loader
    }

    /// Whether no other file than the image and the system's interpreters has a say.
    pub(crate) fn has_plain_loader(&self) -> bool {
        matches!(self.loader, Loader::Itself | Loader::System)
    }

    /// The variables, one by one.
    pub(crate) fn env(&self) -> Vec<Vec<u8>> {
        let strings = self.strings.strip_suffix(b"\0").unwrap_or(&self.strings);
        let variables = strings.split(|byte| *byte == 0).skip(self.argc);
        variables.map(<[u8]>::to_vec).collect()
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
            loader: Loader::System,
        }
    }
}

/// What the lower part of a new stack says.
struct Tables {
    argc: usize,
    first_argument: u64,
    execfn: u64,
    /// Where the image itself would begin.
    entry: u64,
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
        let (mut execfn, mut entry) = (0, 0);
        loop {
            let (kind, value) = (words.next()?, words.next()?);
            match kind {
                AT_NULL => {
                    return Some(Self {
                        argc,
                        first_argument,
                        execfn,
                        entry,
                    });
                }
                AT_ENTRY => entry = value,
                AT_EXECFN => execfn = value,
                _ => {}
            }
        }
    }
}

/// What is mapped where the image begins.
fn loader_at(task: &TaskDir, address: u64, loaders: &SystemLoaders, is_foreign: bool) -> Loader {
    let maps = task.read("maps").unwrap_or_default();
    match mapping_at(&maps, address) {
        Some((mapped, path)) if loaders.has(mapped, path, is_foreign) => Loader::System,
        Some((mapped, path)) if mapped.inode != 0 => Loader::Other(mapped, path.to_vec()),
        Some(_) | None => Loader::Unknown,
    }
}

/// Device, inode and path of what the text of a maps file has at `address`.
fn mapping_at(maps: &[u8], address: u64) -> Option<(FileId, &[u8])> {
    whole_lines(maps)
        .find(|line| range_of(line).is_some_and(|range| range.contains(&address)))
        .and_then(parse_mapping)
}

/// The addresses of a line of a maps file.
fn range_of(line: &[u8]) -> Option<std::ops::Range<u64>> {
    let range = line.split(|byte| *byte == b' ').next()?;
    let (start, end) = str::from_utf8(range).ok()?.split_once('-')?;
    let hexadecimal = |text| u64::from_str_radix(text, 16).ok();
    Some(hexadecimal(start)?..hexadecimal(end)?)
}

/// Device, inode and path of a line of a maps file, proc_pid_maps(5).
pub(super) fn parse_mapping(line: &[u8]) -> Option<(FileId, &[u8])> {
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
mod tests;
