//! The policy files in force: named, the user's own, or the built-in preset.

use std::io;
use std::path::{Path, PathBuf};

use execward_policy::{Diagnostics, Layer, Places as PolicyPlaces, Ruleset, Source, Style, preset};

use crate::audit::{PolicyNote, digest};
use crate::cli::RunArgs;
use crate::places::{self, Places};

/// The preset that holds where nobody names a policy.
const DEFAULT_PRESET: &str = "dev";

/// Rules without a fault, and where they come from.
#[derive(Debug)]
pub(crate) struct LoadedPolicy {
    pub(crate) rules: Ruleset,
    pub(crate) notes: Vec<PolicyNote>,
}

/// Why there is no policy: nothing runs.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PolicyError {
    /// A file that was named, or the user's own.
    #[error("cannot read the policy `{}`: {error}", path.display())]
    Read { path: PathBuf, error: io::Error },
    /// Its content.
    #[error("the policy has faults and is not loaded\n{}", .0.render(Style::Plain))]
    Faults(Diagnostics),
    /// The workspace.
    #[error("the workspace `{}` is not a directory that can be entered: {error}", path.display())]
    Workspace { path: PathBuf, error: io::Error },
    /// A name that this version does not bring.
    #[error("this build lacks the preset `{0}`")]
    Preset(&'static str),
}

/// A policy text with its name and on whose behalf it speaks.
struct Text {
    name: String,
    bytes: Vec<u8>,
    layer: Layer,
}

impl LoadedPolicy {
    /// # Errors
    /// If a file cannot be read or has a fault: all faults at once.
    pub(crate) fn load(args: &RunArgs, places: &Places) -> Result<Self, PolicyError> {
        let texts = texts(args, places)?;
        let sources: Vec<_> = texts
            .iter()
            .map(|text| Source {
                name: &text.name,
                text: &text.bytes,
                layer: text.layer,
            })
            .collect();
        let meant = PolicyPlaces {
            home: places::bytes(places.home()),
            workspace: places::bytes(&workspace(args)?),
            tmp: places::bytes(&places::temporary()),
        };
        let rules = Ruleset::load(&sources, &meant).map_err(PolicyError::Faults)?;
        let note = |text: &Text| PolicyNote {
            name: text.name.clone(),
            sha256: digest([&text.bytes]),
        };
        Ok(Self {
            rules,
            notes: texts.iter().map(note).collect(),
        })
    }

    /// The files in force, for the line at the start.
    pub(crate) fn names(&self) -> String {
        let names: Vec<_> = self.notes.iter().map(|note| note.name.as_str()).collect();
        names.join(", ")
    }
}

fn texts(args: &RunArgs, places: &Places) -> Result<Vec<Text>, PolicyError> {
    if !args.policy.is_empty() {
        return args.policy.iter().map(|path| read(path)).collect();
    }
    let own = places.policy();
    match read(&own) {
        Err(PolicyError::Read { error, .. }) if error.kind() == io::ErrorKind::NotFound => {
            let text = preset(DEFAULT_PRESET).ok_or(PolicyError::Preset(DEFAULT_PRESET))?;
            let name = format!("preset:{DEFAULT_PRESET}");
            Ok(vec![Text {
                name,
                bytes: text.into(),
                layer: Layer::Builtin,
            }])
        }
        other => other.map(|text| vec![text]),
    }
}

fn read(path: &Path) -> Result<Text, PolicyError> {
    let bytes = std::fs::read(path).map_err(|error| PolicyError::Read {
        path: path.to_owned(),
        error,
    })?;
    Ok(Text {
        name: path.display().to_string(),
        bytes,
        layer: Layer::User,
    })
}

/// The workspace as the kernel names it: links in it would not match what execs resolve to.
fn workspace(args: &RunArgs) -> Result<PathBuf, PolicyError> {
    let path = args.workspace.clone().unwrap_or_else(|| ".".into());
    let failed = |error| PolicyError::Workspace {
        path: path.clone(),
        error,
    };
    let flags =
        rustix::fs::OFlags::PATH | rustix::fs::OFlags::DIRECTORY | rustix::fs::OFlags::CLOEXEC;
    let fd = rustix::fs::open(&path, flags, rustix::fs::Mode::empty())
        .map_err(|errno| failed(errno.into()))?;
    let proc = crate::tracee::Procfs::open().map_err(|error| failed(error.into()))?;
    let name = proc
        .name_of(std::os::fd::AsFd::as_fd(&fd))
        .map_err(|errno| failed(errno.into()))?;
    Ok(PathBuf::from(
        <std::ffi::OsString as std::os::unix::ffi::OsStringExt>::from_vec(name),
    ))
}
