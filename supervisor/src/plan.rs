//! What a session is to be, before anything of it is started; and how its log and its first line say so.

use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use execward_policy::Masked;
use nix::unistd::Uid;

use crate::audit::{CommandNote, Limits, LogNote, SessionNote, SessionStart, Supervisor};
use crate::cli::RunArgs;
use crate::clock;
use crate::cmd::{Cmd, Origin};
use crate::grants::Granted;
use crate::kernel::Kernel;
use crate::newcomer::Newcomer;
use crate::parking::Parking;
use crate::past::Past;
use crate::places::Places;
use crate::policy::{InForce, LoadedPolicy, Scene, accept};
use crate::session::SessionError;
use crate::user::UserError;

/// A session that is to start.
#[derive(Debug)]
pub(crate) struct Plan<'a> {
    pub(crate) args: &'a RunArgs,
    pub(crate) places: Places,
    pub(crate) cmd: Cmd,
    pub(crate) note: SessionNote,
    pub(crate) policy: LoadedPolicy,
    pub(crate) granted: Granted,
    /// What is known of earlier sessions.
    pub(crate) past: Past,
    pub(crate) log: PathBuf,
}

impl<'a> Plan<'a> {
    /// # Errors
    /// If there is no such user or no such policy, if an earlier session changed that, or diagnostics have
    /// no place.
    pub(crate) fn of(args: &'a RunArgs, newcomer: Option<&Newcomer>) -> Result<Self, SessionError> {
        let mut places = Places::of(&args.state)?;
        let cmd = match newcomer {
            None => Cmd::of_gate(args)?,
            Some(newcomer) => newcomer.cmd().map_err(SessionError::Gone)?,
        };
        if let Some(user) = cmd.user() {
            places = places.with_home(user.home());
        }
        let note = session_note(args);
        crate::diagnostics::start(&places.diagnostics(&note.name))?;
        let scene = match newcomer {
            None => Scene::here(&args.policy, &places)?,
            Some(newcomer) => newcomer.scene(args.policy.workspace.as_deref())?,
        };
        let (policy, mut granted, past) = admitted_policy(args, &places, scene)?;
        if args.hide_state {
            granted.hold()?;
        }
        let log = args.audit.clone();
        Ok(Self {
            args,
            log: log.unwrap_or_else(|| places.log(&note.name)),
            places,
            cmd,
            note,
            policy,
            granted,
            past,
        })
    }

    /// Whether CMD is to be root, and without the capabilities to undo the gate: then the kernel's own
    /// files must be closed to it as well. Another user has no right to them anyway.
    pub(crate) fn closes_kernel(&self) -> bool {
        Uid::effective().is_root() && self.cmd.user().is_none() && !self.args.keep_caps
    }

    /// Whether the session needs a mount namespace that the gate makes: a process of a container has one.
    pub(crate) fn needs_namespace(&self) -> bool {
        let has_use = self.closes_kernel() || self.args.hide_state || self.args.pid_namespace;
        has_use && self.cmd.handed_over().is_none()
    }

    /// Makes sure that another user, as whom CMD runs, can change nothing of what is kept from it.
    ///
    /// # Errors
    /// What it could change, and by what.
    pub(crate) fn keep_from_user(&self, kernel: &Kernel) -> Result<(), UserError> {
        let Some(user) = self.cmd.user() else {
            return Ok(());
        };
        let (files, directories) = self.kept();
        let kept = files.into_iter().chain(directories);
        for path in kept.chain(self.args.control.clone()) {
            if let Some(at) = user.may_change(&path, kernel) {
                let user = user.in_words();
                return Err(UserError::Reach { path, at, user });
            }
        }
        Ok(())
    }

    /// Files and directories that a session leaves to its gate alone.
    pub(crate) fn kept(&self) -> (Vec<PathBuf>, Vec<PathBuf>) {
        let policies = self.policy.files.iter().filter(|file| file.is_there());
        let mut files: Vec<_> = policies.map(|file| file.path.clone()).collect();
        files.push(self.log.clone());
        (files, self.places.kept())
    }

    /// What becomes of the log as it grows.
    pub(crate) fn limits(&self) -> Limits {
        Limits {
            segment_bytes: self.args.audit_segment,
            kept_bytes: self.args.audit_keep,
        }
    }

    /// The first record.
    pub(crate) fn session_start(&self, log: LogNote) -> SessionStart {
        let words = self.cmd.words.iter().map(|word| word.as_bytes().to_vec());
        let words: Vec<_> = words.collect();
        let words = self.policy.rules.redaction().argv(&words);
        SessionStart {
            sup: Supervisor {
                version: env!("CARGO_PKG_VERSION"),
                pid: std::process::id(),
            },
            policy: self.policy.notes.clone(),
            kept: None,
            cmd: CommandNote::of(words.iter().map(Masked::shown)),
            cwd: self.cmd.cwd.escape_ascii().to_string(),
            uid: Uid::current().as_raw(),
            cmd_uid: self.cmd.uid(),
            handed_over: self.cmd.handed_over(),
            keeps_caps: self.keeps_caps(),
            pid_namespace: self.args.pid_namespace,
            is_observed: self.args.observe,
            kernel: rustix::system::uname()
                .release()
                .to_str()
                .unwrap_or_default()
                .to_owned(),
            surroundings: self.cmd.surroundings.clone(),
            log,
        }
    }

    /// What whoever starts the session is told of it.
    pub(crate) fn in_words(&self, parking: &Parking, log: &LogNote) -> String {
        let reach = match &self.cmd.origin {
            Origin::HandedOver { pid, uid } => {
                let kept = match self.keeps_caps() {
                    true => ", with its capabilities, and nothing is promised against it",
                    false => "",
                };
                format!("CMD is process {pid} (uid {uid}), which handed itself over{kept}")
            }
            Origin::Lent(user) => format!("CMD runs as {}", user.in_words()),
            Origin::Own if self.keeps_caps() => {
                "root keeps its capabilities, and nothing is promised against it".into()
            }
            Origin::Own if self.args.hide_state => {
                "policy, log and state are hidden from CMD".into()
            }
            Origin::Own => "policy and log lie within CMD's reach (with --user they do not)".into(),
        };
        let reserve = match log.reserve_bytes {
            0 => " (nothing is set aside there for a full disk)",
            _ => "",
        };
        let higher = self.policy.rules.escalate_to();
        let higher = higher.map(|to| format!("; those with `escalate` go to {to}"));
        let asks = match self.args.observe {
            true => "NOTHING IS REFUSED OR ASKED ABOUT, the log says what would be".to_owned(),
            false => format!(
                "{}{}",
                parking.in_words(&self.policy.rules),
                higher.unwrap_or_default()
            ),
        };
        format!(
            "policy {}; {asks}; log {}{reserve}; {reach}",
            self.policy.names(),
            self.log.display()
        )
    }

    /// Whether CMD is to be root and to keep its capabilities.
    fn keeps_caps(&self) -> bool {
        self.args.keep_caps && self.cmd.is_root()
    }
}

/// The policy, none of whose files an earlier session changed, and what is known of earlier sessions.
fn admitted_policy(
    args: &RunArgs,
    places: &Places,
    scene: Scene,
) -> Result<(LoadedPolicy, Granted, Past), SessionError> {
    let in_force = InForce::load_in(&args.policy, places, scene)?;
    let past = Past::open(places.state())?;
    past.admit(&in_force.policy.files, &accept::command(args))?;
    let (policy, granted) = in_force.into_parts(past.clone());
    Ok((policy, granted, past))
}

/// The session's names: one that is unique, one for people.
fn session_note(args: &RunArgs) -> SessionNote {
    let id = uuid::Uuid::now_v7();
    let name = args.session.clone().unwrap_or_else(|| {
        let now = clock::now().strftime("%Y%m%dT%H%M%S");
        // The random end of the id: two sessions of one second differ.
        let (_, end) = id.as_u64_pair();
        format!("{now}-{:04x}", end & 0xffff)
    });
    SessionNote {
        id: id.to_string(),
        name,
    }
}
