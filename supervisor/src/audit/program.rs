//! The exec itself, as records have it.

use std::time::{Duration, Instant};

use execward_policy::{ExecRequest, Masked, Redaction, Variables};
use serde::Serialize;

use super::chain::digest;
use super::inputs::{History, Inputs};
use super::record::Caller;
use super::shell::ShellNote;
use super::shown::quoted;
use super::text::{ExactBytes, text};
use crate::exec::{FileFacts, Kind};
use crate::tracee::Status;

/// Most bytes of arguments in one record; the rest is cut, and said. With escapes and the other
/// fields a line stays below 64 KiB.
pub(super) const ARGV_MAX_BYTES: usize = 8 << 10;

/// Longest command that a grant's note has, in bytes.
const COMMAND_MAX_BYTES: usize = 240;

/// Most bytes of any other text.
const TEXT_MAX_BYTES: usize = 4 << 10;

/// The exec itself: who, what file, which arguments.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Program {
    pid: u32,
    tid: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    ppid: Option<u32>,
    /// The path as passed.
    #[serde(skip_serializing_if = "Option::is_none")]
    req_path: Option<String>,
    /// The file's own path, below the session's root; absent if it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<File>,
    /// Present when the target starts with `#!`: content as seen, never verified.
    #[serde(skip_serializing_if = "Option::is_none")]
    script: Option<Script>,
    #[serde(skip_serializing_if = "Option::is_none")]
    argv: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    argc: Option<usize>,
    /// True if `argv` lacks arguments that a line cannot hold; `argv_sha256` covers all of them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    argv_cut: bool,
    /// Which arguments have `***` where something looked like a secret.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    redacted: Vec<usize>,
    /// SHA-256 over the arguments, each with a NUL behind it. Not of those with secrets: who guesses them would know.
    #[serde(skip_serializing_if = "Option::is_none")]
    argv_sha256: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cwd: Option<String>,
    /// Present when a shell is given a text.
    #[serde(skip_serializing_if = "Option::is_none")]
    shell: Option<ShellNote>,
    #[serde(skip_serializing_if = "Option::is_none")]
    uid_r: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    uid_e: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gid_e: Option<u32>,
    /// What else the policy was asked with; absent if it was not asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    inputs: Option<Box<Inputs<'static>>>,
    #[serde(skip)]
    pub(super) exact: ExactBytes,
    /// What is not to be written down.
    #[serde(skip)]
    secrets: Vec<Vec<u8>>,
    /// When file and arguments had been read, and when the policy had been asked.
    #[serde(skip)]
    read_at: Option<Instant>,
    #[serde(skip)]
    judged_at: Option<Instant>,
}

#[derive(Clone, Debug, Serialize)]
struct File {
    dev: String,
    ino: u64,
    size: u64,
    mtime_ns: i128,
    mode: u32,
    uid: u32,
    origin: &'static str,
}

#[derive(Clone, Debug, Serialize)]
struct Script {
    path: String,
    interp: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    optarg: Option<String>,
}

impl Program {
    /// What was called, each word as a shell's, and the file that it is.
    pub(crate) fn in_words(&self) -> (String, Option<String>) {
        let words = self.argv.iter().flatten().map(|word| quoted(word));
        let mut command = words.collect::<Vec<_>>().join(" ");
        command.truncate(command.floor_char_boundary(COMMAND_MAX_BYTES));
        (command, self.path.clone())
    }

    pub(crate) fn of(caller: &Caller) -> Self {
        Self {
            pid: caller.pid.as_u32(),
            tid: caller.tid.as_u32(),
            ..Self::default()
        }
    }

    /// The exact bytes of values that are not UTF-8.
    pub(crate) fn exact_bytes(&self) -> &ExactBytes {
        &self.exact
    }

    /// As whoever is asked about it sees it.
    pub(crate) fn shown(&self) -> Self {
        let mut shown = self.clone();
        shown.inputs = None;
        shown.exact.retain(|pointer, _| !Inputs::is_at(pointer));
        shown
    }

    pub(crate) fn set_ids(&mut self, status: &Status) {
        let credentials = &status.credentials;
        self.ppid = Some(status.ppid.as_u32());
        self.uid_r = Some(credentials.uids[0]);
        self.uid_e = Some(credentials.uids[1]);
        self.gid_e = Some(credentials.gids[1]);
    }

    pub(crate) fn set_path(&mut self, path: &[u8]) {
        self.req_path = Some(text(path, || "/proc/req_path".into(), &mut self.exact));
    }

    pub(crate) fn set_argv(&mut self, argv: &[Vec<u8>], redaction: &Redaction) {
        let masked = redaction.argv(argv);
        let words = masked.iter().map(Masked::shown);
        let (shown, is_cut) = shown_argv(words, "/proc/argv", &mut self.exact);
        let numbered = masked.iter().enumerate();
        let redacted = numbered.filter(|(_, word)| word.is_masked());
        self.redacted = redacted.map(|(place, _)| place).collect();
        let secrets = masked.iter().flat_map(Masked::secrets);
        self.secrets.extend(secrets.map(<[u8]>::to_vec));
        self.argc = Some(argv.len());
        self.argv_cut = is_cut;
        self.argv_sha256 = (is_cut && self.secrets.is_empty()).then(|| argv_digest(argv));
        self.argv = Some(shown);
        self.read_at = Some(Instant::now());
    }

    /// How long it took to read what was called, since `received`, and to ask the policy, as far as it came to that.
    pub(crate) fn stages(&self, received: Instant) -> [Option<Duration>; 2] {
        let eval = self.read_at.zip(self.judged_at);
        [
            self.read_at
                .map(|at| at.saturating_duration_since(received)),
            eval.map(|(read, judged)| judged.saturating_duration_since(read)),
        ]
    }

    pub(crate) fn set_cwd(&mut self, cwd: &[u8]) {
        self.cwd = Some(text(cut(cwd), || "/proc/cwd".into(), &mut self.exact));
    }

    pub(crate) fn set_shell(&mut self, note: ShellNote) {
        self.shell = Some(note);
    }

    /// What the policy is asked with beside all this.
    pub(crate) fn set_inputs(
        &mut self,
        request: &ExecRequest,
        variables: &Variables,
        history: Option<History>,
        redaction: &Redaction,
    ) {
        let kept = (self.secrets.as_slice(), redaction);
        let inputs = Inputs::of(request, variables, history, kept, &mut self.exact);
        self.inputs = Some(Box::new(inputs));
        self.judged_at = Some(Instant::now());
    }

    pub(crate) fn set_file(&mut self, facts: &FileFacts, redaction: &Redaction) {
        if let Some(path) = &facts.resolved {
            self.path = Some(text(cut(path), || "/proc/path".into(), &mut self.exact));
        }
        self.file = Some(File {
            dev: format!("{}:{}", facts.id.device.0, facts.id.device.1),
            ino: facts.id.inode,
            size: facts.size,
            mtime_ns: facts.mtime_ns,
            mode: facts.mode,
            uid: facts.uid,
            origin: facts.origin_word(),
        });
        if let Kind::Script {
            interpreter,
            argument,
        } = &facts.kind
        {
            let path = text(
                cut(&facts.given),
                || "/proc/script/path".into(),
                &mut self.exact,
            );
            let interp = text(
                interpreter,
                || "/proc/script/interp".into(),
                &mut self.exact,
            );
            let optarg = argument.as_ref().map(|raw| {
                let masked = redaction.text(raw);
                self.secrets.extend(masked.secrets().map(<[u8]>::to_vec));
                let shown = masked.shown();
                text(&shown, || "/proc/script/optarg".into(), &mut self.exact)
            });
            self.script = Some(Script {
                path,
                interp,
                optarg,
            });
        }
    }
}

pub(crate) fn shown_argv(
    argv: impl IntoIterator<Item = impl AsRef<[u8]>>,
    pointer: &str,
    exact: &mut ExactBytes,
) -> (Vec<String>, bool) {
    let mut left = ARGV_MAX_BYTES;
    let mut shown = Vec::new();
    for (index, argument) in argv.into_iter().enumerate() {
        let argument = argument.as_ref();
        // Each costs its quotes and comma too.
        let Some(rest) = left.checked_sub(argument.len() + 3) else {
            return (shown, true);
        };
        left = rest;
        shown.push(text(argument, || format!("{pointer}/{index}"), exact));
    }
    (shown, false)
}

pub(super) fn argv_digest(argv: &[Vec<u8>]) -> String {
    digest(
        argv.iter()
            .flat_map(|argument| [argument.as_slice(), b"\0"]),
    )
}

pub(super) fn cut(raw: &[u8]) -> &[u8] {
    raw.get(..TEXT_MAX_BYTES).unwrap_or(raw)
}
