use std::fs;
use std::io::{ErrorKind, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::{Command, Stdio};

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::mutation::spoilt;

fn script_of(text: &[u8]) -> Option<(Vec<u8>, Option<Vec<u8>>)> {
    match Header::parse(text) {
        Header::Script {
            interpreter,
            argument,
        } => Some((interpreter, argument)),
        Header::Elf | Header::Other => None,
    }
}

fn some(interpreter: &str, argument: Option<&str>) -> Option<(Vec<u8>, Option<Vec<u8>>)> {
    Some((interpreter.into(), argument.map(Into::into)))
}

#[test]
fn the_line_is_a_name_and_at_most_one_argument() {
    assert_eq!(script_of(b"#!/bin/sh\n"), some("/bin/sh", None));
    assert_eq!(script_of(b"#! \t/bin/sh \t\nx"), some("/bin/sh", None));
    let two_words = script_of(b"#!/usr/bin/env  python3 -u \n");
    assert_eq!(two_words, some("/usr/bin/env", Some("python3 -u")));
    assert_eq!(script_of(b"#!/bin/sh\r\n"), some("/bin/sh\r", None));
}

#[test]
fn a_line_without_an_end_needs_a_terminator_after_the_name() {
    assert_eq!(script_of(b"#!/bin/sh"), some("/bin/sh", None));
    let cut = [b"#!/".as_slice(), &[b'x'; 300]].concat();
    assert_eq!(script_of(&cut), None);
    let long_argument = [b"#!/bin/sh ".as_slice(), &[b'x'; 300]].concat();
    let kept = "x".repeat(HEADER_BYTES - 1 - "#!/bin/sh ".len());
    assert_eq!(script_of(&long_argument), some("/bin/sh", Some(&kept)));
}

#[test]
fn a_nul_ends_the_name_and_hides_the_rest_of_the_line() {
    assert_eq!(script_of(b"#!/bin/sh\0 -x\n"), some("/bin/sh", None));
    assert_eq!(script_of(b"#!/bin/sh -x\0y\n"), some("/bin/sh", Some("-x")));
}

#[test]
fn nothing_to_run_is_no_script() {
    for text in [
        &b"#!"[..],
        b"#!\n",
        b"#! \t \n",
        b"#",
        b"",
        b"\n#!/bin/sh\n",
        b"#!\0x\n",
    ] {
        let parsed = Header::parse(text);
        let empty = matches!(&parsed, Header::Script { interpreter, .. } if interpreter.is_empty());
        assert!(parsed == Header::Other || empty, "{text:?}: {parsed:?}");
    }
    assert_eq!(Header::parse(b"\x7fELF\x02"), Header::Elf);
}

/// `load_script` of fs/binfmt_script.c, line by line: interpreter and argument, if it takes the file.
fn as_the_kernel_reads_it(file: &[u8]) -> Option<(Vec<u8>, Option<Vec<u8>>)> {
    let mut buf = [0; 256];
    let len = file.len().min(256);
    buf[..len].copy_from_slice(&file[..len]);
    if buf[..2] != *b"#!" {
        return None;
    }
    let spacetab = |at: usize| buf[at] == b' ' || buf[at] == b'\t';
    let next_non_spacetab = |first: usize, last: usize| (first..=last).find(|at| !spacetab(*at));
    let next_terminator =
        |first, last| (first..=last).find(|at: &usize| spacetab(*at) || buf[*at] == 0);
    let strnchr = |byte| {
        (0..256)
            .take_while(|at| *at == 0 || buf[at - 1] != 0)
            .find(|at| buf[*at] == byte)
    };

    let buf_end = 255;
    let mut i_end = match strnchr(b'\n') {
        Some(i_end) => i_end,
        None => {
            let i_end = next_non_spacetab(2, buf_end)?;
            next_terminator(i_end, buf_end)?;
            buf_end
        }
    };
    while spacetab(i_end - 1) {
        i_end -= 1;
    }
    let i_name = next_non_spacetab(2, i_end).filter(|i_name| *i_name != i_end)?;
    let mut i_arg = None;
    let i_sep = next_terminator(i_name, i_end);
    if let Some(i_sep) = i_sep
        && buf[i_sep] != 0
    {
        i_arg = next_non_spacetab(i_sep, i_end);
    }
    buf[i_end] = 0;
    if let (Some(_), Some(i_sep)) = (i_arg, i_sep) {
        buf[i_sep] = 0;
    }
    let string = |at: usize| {
        buf[at..]
            .iter()
            .copied()
            .take_while(|byte| *byte != 0)
            .collect()
    };
    Some((string(i_name), i_arg.map(string)))
}

/// The beginning of a script whose interpreter is called `name`, one way or another.
fn any_script(name: &'static str) -> impl Strategy<Value = Vec<u8>> {
    let blanks = || vec(select(b" \t".as_slice()), 0..4);
    let lengths = [0, 1, 8, 200, 230, 240, 250];
    let slashes = prop_oneof![4 => Just(0), 1 => select(lengths.to_vec()), 1 => 200..256_usize];
    const PIECES: [&[u8]; 9] = [
        b"-x", b" ", b"\t", b"\xff", b"a b", b"\r", b"\0", b"#!", b"'\"\\",
    ];
    let argument = (vec(select(&PIECES[..]), 0..6), slashes.clone());
    let argument = argument.prop_map(|(pieces, more)| [pieces.concat(), vec![b'y'; more]].concat());
    let end = select(vec![
        &b"\n"[..],
        b"",
        b"\r\n",
        b"\0",
        b"\0\n",
        b"\n#!/x\n",
        b" ",
    ]);
    (blanks(), slashes, blanks(), argument, blanks(), end).prop_map(
        |(before, slashes, between, argument, behind, end)| {
            let slashes = vec![b'/'; slashes];
            let parts = [
                b"#!",
                &before[..],
                &slashes,
                name.as_bytes(),
                &between,
                &argument,
                &behind,
                end,
            ];
            parts.concat()
        },
    )
}

/// The beginning of an ELF file.
fn any_elf() -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), 0..300).prop_map(|rest| [b"\x7fELF\x02\x01\x01", &rest[..]].concat())
}

const LENGTHS: &[usize] = &[2, 127, HEADER_BYTES];

proptest! {
    #[test]
    fn a_header_is_what_the_kernel_makes_of_it(
        file in spoilt(prop_oneof![3 => any_script("/bin/sh"), 1 => any_elf()], LENGTHS),
    ) {
        let header = Header::parse(&file);
        prop_assert_eq!(header == Header::Elf, file.starts_with(b"\x7fELF"));
        if header != Header::Elf {
            prop_assert_eq!(script_of(&file), as_the_kernel_reads_it(&file), "{:?}", file);
        }
        let first = &file[..file.len().min(HEADER_BYTES)];
        prop_assert_eq!(header, Header::parse(first), "more than the first bytes count");
    }
}

/// A program that tells its arguments, and a place for a script beside it.
struct Ground {
    directory: tempfile::TempDir,
}

impl Ground {
    fn new() -> Self {
        let ground = Self {
            directory: tempfile::Builder::new()
                .prefix("h")
                .rand_bytes(4)
                .tempdir()
                .unwrap(),
        };
        ground.put(ground.reporter(), b"#!/bin/sh\ncat /proc/$$/cmdline\n:\n");
        ground
    }

    fn reporter(&self) -> std::path::PathBuf {
        self.directory.path().join("i")
    }

    fn put(&self, path: impl AsRef<Path>, content: &[u8]) {
        let mut file = fs::File::create(&path).unwrap();
        file.write_all(content).unwrap();
        file.set_permissions(fs::Permissions::from_mode(0o700))
            .unwrap();
    }

    fn is_reporter(&self, interpreter: &[u8]) -> bool {
        let interpreter = Path::new(std::ffi::OsStr::from_bytes(interpreter));
        let seen = fs::metadata(interpreter).map(|seen| (seen.dev(), seen.ino()));
        let reporter = fs::metadata(self.reporter()).unwrap();
        seen.is_ok_and(|seen| seen == (reporter.dev(), reporter.ino()))
    }

    /// What the kernel gives the interpreter of a script of this content, or its errno.
    fn run(&self, content: &[u8]) -> Result<Vec<Vec<u8>>, i32> {
        let script = self.directory.path().join("s");
        self.put(&script, content);
        let output = loop {
            let command = Command::new(&script).stdin(Stdio::null()).output();
            match command {
                // A child that another test starts has the file open until its own exec.
                Err(error) if error.kind() == ErrorKind::ExecutableFileBusy => {
                    std::thread::yield_now()
                }
                Err(error) => return Err(error.raw_os_error().unwrap()),
                Ok(output) => break output,
            }
        };
        let arguments = output.stdout.strip_suffix(b"\0").unwrap_or_default();
        Ok(arguments
            .split(|byte| *byte == 0)
            .map(<[u8]>::to_vec)
            .collect())
    }
}

/// What a header says, held against what the kernel of this machine does with it.
#[test]
fn a_script_has_the_interpreter_and_the_argument_that_the_kernel_gives_it() {
    let ground = Ground::new();
    let reporter = ground.reporter().into_os_string().into_string().unwrap();
    let script = ground
        .directory
        .path()
        .join("s")
        .into_os_string()
        .into_encoded_bytes();
    let files = spoilt(any_script(reporter.leak()), LENGTHS);
    let ran = proptest::test_runner::TestRunner::default().run(&files, |file| {
        prop_assume!(!file.starts_with(b"\x7fELF"));
        let run = ground.run(&file);
        let Some((interpreter, argument)) = script_of(&file) else {
            prop_assert_eq!(run, Err(libc::ENOEXEC), "{:?}", file);
            return Ok(());
        };
        if ground.is_reporter(&interpreter) {
            let rest = [interpreter]
                .into_iter()
                .chain(argument)
                .chain([script.clone()]);
            let expected = [b"/bin/sh".to_vec()].into_iter().chain(rest).collect();
            prop_assert_eq!(run, Ok(expected), "{:?}", file);
        } else {
            prop_assert!(run.is_err_and(|errno| errno != libc::ENOEXEC), "{:?}", file);
        }
        Ok(())
    });
    ran.unwrap_or_else(|failure| panic!("{failure}"));
}
