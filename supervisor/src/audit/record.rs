//! Every record, field by field. Names are a contract: they are never renamed inside a major
//! version; readers ignore what they do not know; absent means unknown, and null is never written.

use execward_policy::{ExecRequest, Variables};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::approval::{ApprovalNote, Approver};
use super::chain::digest;
use super::exec_id::ExecId;
use super::inputs::{History, Inputs};
use super::outcome::Outcome;
use super::reason::Reason;
use super::session::{PolicyNote, SessionEnd, SessionStart};
use super::shell::ShellNote;
use super::text::{ExactBytes, text};
use super::tool::ToolNote;
use crate::exec::{FileFacts, Kind};
use crate::tracee::Tid;

/// What a record says, by its `type`.
#[derive(Debug, Serialize)]
#[serde(tag = "type")]
pub(crate) enum Body {
    /// What was decided about one exec. Written before the kernel is told.
    #[serde(rename = "exec.decision")]
    Decision {
        exec_id: ExecId,
        proc: Box<Program>,
        decision: Decided,
        effect: Effect,
        /// Present if a person was asked.
        #[serde(skip_serializing_if = "Option::is_none")]
        approval: Option<ApprovalNote>,
        lat: Latency,
    },
    /// An exec waits for a person's answer. Its decision follows.
    #[serde(rename = "exec.held")]
    Held {
        exec_id: ExecId,
        proc: Box<Program>,
        decision: Decided,
        approval: ApprovalNote,
    },
    /// What was decided about a call of a tool, which its host makes or not.
    #[serde(rename = "tool.decision")]
    ToolDecision {
        tool: Box<ToolNote>,
        decision: Decided,
        sender: Approver,
    },
    /// A process that may not answer tried to use the control channel.
    #[serde(rename = "approval.refused")]
    ApprovalRefused { sender: Approver, detail: String },
    /// Another policy is in force from here on.
    #[serde(rename = "policy.loaded")]
    PolicyLoaded {
        sender: Approver,
        policy: Vec<PolicyNote>,
    },
    /// A policy that was sent is not in force; the one before goes on.
    #[serde(rename = "policy.rejected")]
    PolicyRejected { sender: Approver, detail: String },
    /// What came of an exec that the kernel was told to go on with. Written before its image runs.
    #[serde(rename = "exec.outcome")]
    Outcome {
        exec_id: ExecId,
        proc: Caller,
        outcome: Outcome,
    },
    /// Execs of files that are not there, answered with the kernel's errno.
    #[serde(rename = "exec.summary")]
    Summary(Summary),
    /// The session's first record.
    #[serde(rename = "session.start")]
    SessionStart(Box<SessionStart>),
    /// Its last.
    #[serde(rename = "session.end")]
    SessionEnd(SessionEnd),
    /// Records that could not be written; their execs were refused.
    #[serde(rename = "audit.gap")]
    Gap { gap: Gap },
}

/// Which session a record belongs to.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct SessionNote {
    /// Unique.
    pub(crate) id: String,
    /// What the operator calls it.
    pub(crate) name: String,
}

/// The task that called exec.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Caller {
    /// Its process.
    pub(crate) pid: Tid,
    /// Its thread.
    pub(crate) tid: Tid,
}

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
    /// SHA-256 over the arguments, each with a NUL behind it.
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

/// What was said of an exec.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Decided {
    /// allow, ask, deny, or none where nothing was judged.
    pub(crate) verdict: &'static str,
    /// On what ground.
    pub(crate) reason: Reason,
    /// The rule that the verdict rests on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rule: Option<RuleNote>,
    /// What went wrong, in words, where something did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) detail: Option<String>,
}

/// A rule, as far as a reader needs it to find it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RuleNote {
    pub(crate) id: String,
    /// `file:line`.
    pub(crate) src: String,
}

/// What the kernel was told.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Effect {
    /// `continue`, `errno`, or `none` where nobody was left to be told.
    pub(crate) sent: &'static str,
    /// The errno's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) errno: Option<String>,
}

/// How long it took, in microseconds.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Latency {
    /// From the notification's receipt to this record.
    pub(crate) total: u64,
}

/// Execs that met no file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Summary {
    /// How many since the last summary.
    pub(crate) target_missing: u64,
}

/// Records that are missing here.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Gap {
    pub(crate) reason: &'static str,
    pub(crate) count: u64,
    /// When the first of them should have been written.
    pub(crate) from: Timestamp,
}

/// Most bytes of arguments in one record; the rest is cut, and said. With escapes and the other
/// fields a line stays below 64 KiB.
const ARGV_MAX_BYTES: usize = 8 << 10;

/// Most bytes of any other text.
const TEXT_MAX_BYTES: usize = 4 << 10;

impl Program {
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

    pub(crate) fn set_ids(&mut self, status: &crate::tracee::Status) {
        let credentials = &status.credentials;
        self.ppid = Some(status.ppid.as_u32());
        self.uid_r = Some(credentials.uids[0]);
        self.uid_e = Some(credentials.uids[1]);
        self.gid_e = Some(credentials.gids[1]);
    }

    pub(crate) fn set_path(&mut self, path: &[u8]) {
        self.req_path = Some(text(path, || "/proc/req_path".into(), &mut self.exact));
    }

    pub(crate) fn set_argv(&mut self, argv: &[Vec<u8>]) {
        let (shown, is_cut) = shown_argv(argv, "/proc/argv", &mut self.exact);
        self.argc = Some(argv.len());
        if is_cut {
            self.argv_cut = true;
            self.argv_sha256 = Some(argv_digest(argv));
        }
        self.argv = Some(shown);
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
    ) {
        let inputs = Inputs::of(request, variables, history, &mut self.exact);
        self.inputs = Some(Box::new(inputs));
    }

    pub(crate) fn set_file(&mut self, facts: &FileFacts) {
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
            let optarg = argument
                .as_ref()
                .map(|raw| text(raw, || "/proc/script/optarg".into(), &mut self.exact));
            self.script = Some(Script {
                path,
                interp,
                optarg,
            });
        }
    }
}

impl Body {
    /// The exact bytes of this record's values that are not UTF-8.
    pub(super) fn exact_bytes(&self) -> Option<&ExactBytes> {
        let exact = match self {
            Self::Decision { proc, .. } | Self::Held { proc, .. } => &proc.exact,
            Self::Outcome { outcome, .. } => &outcome.exact,
            Self::ToolDecision { .. }
            | Self::ApprovalRefused { .. }
            | Self::PolicyLoaded { .. }
            | Self::PolicyRejected { .. }
            | Self::Summary(_)
            | Self::SessionStart(_)
            | Self::SessionEnd(_)
            | Self::Gap { .. } => return None,
        };
        (!exact.is_empty()).then_some(exact)
    }
}

pub(super) fn shown_argv(
    argv: &[Vec<u8>],
    pointer: &str,
    exact: &mut ExactBytes,
) -> (Vec<String>, bool) {
    let mut left = ARGV_MAX_BYTES;
    let mut shown = Vec::new();
    for (index, argument) in argv.iter().enumerate() {
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
