//! How far a mask may reach.
//!
//! Whoever is asked about a call must see what it does. A shell, and whatever passes words on to one, may run what looks
//! like a secret's value: there a mask covers one plain word and nothing that a shell has a meaning for.

use std::ops::Range;

use crate::class;

/// Programs whose arguments nobody runs: there a value is masked as a whole.
const LITERAL: [&[u8]; 25] = [
    b"curl",
    b"wget",
    b"http",
    b"https",
    b"xh",
    b"gh",
    b"glab",
    b"grpcurl",
    b"mysql",
    b"mysqldump",
    b"mysqladmin",
    b"mariadb",
    b"mariadb-dump",
    b"psql",
    b"redis-cli",
    b"zip",
    b"unzip",
    b"7z",
    b"7za",
    b"openssl",
    b"ssh-keygen",
    b"ldapsearch",
    b"ldapmodify",
    b"smbclient",
    b"aws",
];

/// Classes of programs that run words, here or elsewhere.
const RUNNING: [&str; 9] = [
    "shells",
    "wrappers",
    "interpreters",
    "loaders",
    "multicall",
    "runners",
    "editors",
    "network",
    "brokers",
];

/// What a shell has a meaning for.
const META: &[u8] = b";|&()<>$`{}\n\r\\\"'!";

/// Who is called, as far as that says what becomes of its words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Words {
    /// They are taken as they are.
    Taken,
    /// Nobody knows.
    Unknown,
    /// They may be run.
    Run,
}

impl Words {
    pub(super) fn of(program: &[u8]) -> Self {
        let runs = |class: &&str| class::is_of(program, class);
        if LITERAL.contains(&program) {
            Self::Taken
        } else if program.is_empty() || RUNNING.iter().any(runs) {
            Self::Run
        } else {
            Self::Unknown
        }
    }

    /// The part of a secret that may be masked.
    pub(super) fn tame(self, word: &[u8], secret: Range<usize>) -> Range<usize> {
        let value = word.get(secret.clone()).unwrap_or_default();
        let ends = |byte: &u8| match self {
            Self::Taken => false,
            Self::Unknown => META.contains(byte),
            Self::Run => META.contains(byte) || byte.is_ascii_whitespace(),
        };
        let len = value.iter().position(ends).unwrap_or(value.len());
        secret.start..secret.start + len
    }
}
