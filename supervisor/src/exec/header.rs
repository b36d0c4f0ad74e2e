//! The first bytes of a file: ELF, `#!`, or something else. Pure.
//!
//! The `#!` rules are those of fs/binfmt_script.c since Linux 5.8, to the byte: what the kernel
//! would run is what must be judged.

/// How much of a file the kernel looks at: `BINPRM_BUF_SIZE`.
pub(crate) const HEADER_BYTES: usize = 256;

/// What a header says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Header {
    /// A program or a loader.
    Elf,
    /// A script.
    Script {
        /// The interpreter's path, as written.
        interpreter: Vec<u8>,
        /// The rest of the line, one argument, if there is any.
        argument: Option<Vec<u8>>,
    },
    /// Neither: `binfmt_misc`'s, or `ENOEXEC`.
    Other,
}

impl Header {
    /// Reads `bytes`, the file's first [`HEADER_BYTES`] or all of it.
    pub(crate) fn parse(bytes: &[u8]) -> Self {
        if bytes.starts_with(b"\x7fELF") {
            return Self::Elf;
        }
        script(bytes).unwrap_or(Self::Other)
    }
}

fn script(bytes: &[u8]) -> Option<Header> {
    // The kernel's buffer is zero-filled, and its last byte is never part of a line.
    let mut buffer = [0; HEADER_BYTES];
    let len = bytes.len().min(HEADER_BYTES);
    buffer.get_mut(..len)?.copy_from_slice(bytes.get(..len)?);
    let line = buffer.strip_prefix(b"#!")?;

    let text = match line.iter().position(|byte| matches!(byte, b'\n' | 0)) {
        Some(end) if line.get(end) == Some(&b'\n') => line.get(..end)?,
        // No end of line in sight: unless something ends the name, it may be cut, and is refused.
        _ => {
            let start = line.iter().position(|byte| !is_blank(*byte))?;
            line.get(start..)?
                .iter()
                .position(|byte| is_terminator(*byte))?;
            line.get(..line.len() - 1)?
        }
    };
    let text = trim_end(text);
    let start = text.iter().position(|byte| !is_blank(*byte))?;
    let text = text.get(start..)?;
    let end = text
        .iter()
        .position(|byte| is_terminator(*byte))
        .unwrap_or(text.len());
    let interpreter = text.get(..end)?.to_vec();
    let argument = text
        .get(end..)
        .filter(|rest| rest.first().is_some_and(|byte| *byte != 0))
        .and_then(|rest| rest.get(rest.iter().position(|byte| !is_blank(*byte))?..))
        .map(until_nul);
    Some(Header::Script {
        interpreter,
        argument,
    })
}

fn trim_end(mut text: &[u8]) -> &[u8] {
    while let [rest @ .., last] = text
        && is_blank(*last)
    {
        text = rest;
    }
    text
}

fn until_nul(text: &[u8]) -> Vec<u8> {
    text.iter().copied().take_while(|byte| *byte != 0).collect()
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

fn is_terminator(byte: u8) -> bool {
    is_blank(byte) || byte == 0
}

#[cfg(test)]
mod tests;
