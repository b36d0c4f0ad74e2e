//! The policy in force: files that were named, the user's own, presets, and the machine's floor.

pub(crate) mod accept;
mod bundle;
mod cases;
mod files;
mod import;
mod in_force;
mod kept;
mod learn;
mod lint;
mod replay;
mod scene;
mod trial;
pub(crate) mod verbs;

use std::path::{Path, PathBuf};

use execward_policy::{Diagnostics, Includes, Layer, Ruleset, Source, Style, builtin, preset};

use crate::audit::{PolicyNote, TailError, digest};
use crate::check::CheckError;
use crate::cli::{PolicyArgs, StateArgs};
use crate::exit::ExitStatus;
use crate::named::NamedFiles;
use crate::places::Places;
pub(crate) use bundle::Bundle;
use cases::CaseFaults;
use files::FileIncludes;
pub(crate) use files::PolicyFile;
pub(crate) use import::ImportFrom;
pub(crate) use in_force::InForce;
use kept::Recorder;
pub(crate) use kept::{Kept, KeptError};
pub(crate) use scene::Scene;

/// The preset that holds where nobody names a policy.
const DEFAULT_PRESET: &str = "dev";

/// The rules that hold against everyone on the machine.
pub(crate) const FLOOR: &str = "/etc/execward/floor.toml";

/// Rules without a fault, and where they come from.
#[derive(Debug)]
pub(crate) struct LoadedPolicy {
    pub(crate) rules: Ruleset,
    pub(crate) notes: Vec<PolicyNote>,
    /// The files that it was read from.
    pub(crate) files: Vec<PolicyFile>,
    /// The files that it forbids or asks about, as they were when it was loaded.
    pub(crate) named: NamedFiles,
    /// Where it holds.
    pub(crate) scene: Scene,
    /// All that it was made of.
    pub(crate) kept: Kept,
}

/// Why there is no policy: nothing runs.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PolicyError {
    /// A file that was named, or the user's own.
    #[error("cannot read the policy `{}`: {error}", path.display())]
    Read {
        path: PathBuf,
        error: std::io::Error,
    },
    /// Whose the machine's floor is.
    #[error(
        "the floor `{FLOOR}` {0}; it must be a file of root that nobody else may write, or no \
         session starts"
    )]
    Floor(&'static str),
    /// Its content.
    #[error("the policy has faults and is not loaded\n{}", .0.render(Style::Plain))]
    Faults(Diagnostics),
    /// The workspace.
    #[error(
        "the workspace `{}` is not a directory that can be entered: {error}; name one with \
         --workspace", path.display()
    )]
    Workspace {
        path: PathBuf,
        error: std::io::Error,
    },
    /// Below which every path of a policy is.
    #[error("cannot look at the root directory: {0}")]
    Root(rustix::io::Errno),
    /// A workspace that is no workspace.
    #[error(
        "`{}` cannot be a workspace: a rule about it would be about everything; name a directory \
         below it",
        .0.display()
    )]
    NoWorkspace(PathBuf),
    /// A file that is not to be overwritten.
    #[error("`{}` is there already; name another file, or remove it", .0.display())]
    Exists(PathBuf),
    /// What `init` makes.
    #[error("cannot write `{}`: {error}", path.display())]
    Create {
        path: PathBuf,
        error: std::io::Error,
    },
    /// What people said.
    #[error("{0}")]
    Grants(#[from] crate::grants::StoreError),
    /// Another agent's configuration, as a file.
    #[error("cannot read `{}`: {error}", path.display())]
    ReadImport {
        path: PathBuf,
        error: std::io::Error,
    },
    /// What it holds.
    #[error("{}:{error}", path.display())]
    Import {
        path: PathBuf,
        error: import::ImportError,
    },
    /// What a verb shows.
    #[error("cannot write: {0}")]
    Show(#[from] std::io::Error),
    /// A log that cannot be read.
    #[error("{0}")]
    Log(#[from] TailError),
    /// Files of cases.
    #[error("{0}")]
    Cases(CaseFaults),
    /// A case that cannot be tried.
    #[error("{0}: {1}")]
    Case(String, Box<CheckError>),
    /// Where the user's own would be.
    #[error("{0}")]
    Places(#[from] crate::places::PlacesError),
    /// A command of which nothing is known.
    #[error(
        "there is no table of the command `{0}`: its flags are compared as they are written, and one \
         of unknown arity is read both ways"
    )]
    Command(String),
    /// A name that this version does not bring.
    #[error("there is no preset `{0}`; there are {list}", list = execward_policy::PRESETS.join(", "))]
    Preset(String),
}

impl PolicyError {
    /// How a command other than `run` ends then.
    pub(crate) fn status(&self) -> ExitStatus {
        match self {
            Self::Exists(_) | Self::Command(_) => ExitStatus::Finding,
            Self::Root(_)
            | Self::Create { .. }
            | Self::ReadImport { .. }
            | Self::Show(_)
            | Self::Places(_)
            | Self::Log(_) => ExitStatus::Io,
            Self::Case(_, error) => error.status(),
            Self::Read { .. }
            | Self::Grants(_)
            | Self::Cases(_)
            | Self::Floor(_)
            | Self::Faults(_)
            | Self::Import { .. }
            | Self::Workspace { .. }
            | Self::NoWorkspace(_)
            | Self::Preset(_) => ExitStatus::Usage,
        }
    }
}

/// A policy text with its name and on whose behalf it speaks.
struct Text {
    name: String,
    bytes: Vec<u8>,
    layer: Layer,
}

/// Texts, and the files that they are of: those too that could be there and are not.
#[derive(Default)]
struct Texts {
    texts: Vec<Text>,
    files: Vec<PolicyFile>,
}

impl Texts {
    fn add(&mut self, file: PolicyFile, name: &Path, layer: Layer) {
        self.texts.push(Text {
            name: name.display().to_string(),
            bytes: file.text.clone(),
            layer,
        });
        self.files.push(file);
    }

    fn add_missing(&mut self, path: &Path) -> Result<(), PolicyError> {
        let missing = PolicyFile::missing(path).map_err(files::failed(path))?;
        self.files.push(missing);
        Ok(())
    }

    /// Below the machine's floor, if there is one.
    fn with_floor(mut self) -> Result<Self, PolicyError> {
        let path = Path::new(FLOOR);
        match files::read_floor(path)? {
            Some(floor) => self.add(floor, path, Layer::Floor),
            None => self.add_missing(path)?,
        }
        Ok(self)
    }
}

impl LoadedPolicy {
    /// # Errors
    /// If a file cannot be read or has a fault: all faults at once.
    pub(crate) fn load(args: &PolicyArgs, places: &Places) -> Result<Self, PolicyError> {
        Self::load_in(args, places, Scene::here(args, places)?)
    }

    /// The same for another scene than this process's own.
    ///
    /// # Errors
    /// As [`LoadedPolicy::load`].
    fn load_in(args: &PolicyArgs, places: &Places, scene: Scene) -> Result<Self, PolicyError> {
        let texts = texts(args, places)?.with_floor()?;
        let includes = FileIncludes::below(&scene.root);
        let mut policy = Self::compile(texts, scene, &includes)?;
        let (files, notes) = includes.into_parts();
        policy.files.extend(files);
        policy.notes.extend(notes);
        Ok(policy)
    }

    /// The same with another text of the user, which has a name.
    ///
    /// # Errors
    /// As [`LoadedPolicy::load`].
    fn load_with(
        args: &PolicyArgs,
        places: &Places,
        (name, text): (&str, &str),
    ) -> Result<Self, PolicyError> {
        let mut texts = texts(args, places)?.with_floor()?;
        texts.texts.push(Text {
            name: name.to_owned(),
            bytes: text.into(),
            layer: Layer::User,
        });
        let scene = Scene::here(args, places)?;
        let includes = FileIncludes::below(&scene.root);
        Self::compile(texts, scene, &includes)
    }

    /// The policy of `texts`; its notes and files are theirs.
    fn compile(
        Texts { texts, files }: Texts,
        scene: Scene,
        includes: &dyn Includes,
    ) -> Result<Self, PolicyError> {
        let named = texts.iter().map(|text| Source {
            name: &text.name,
            text: &text.bytes,
            layer: text.layer,
        });
        let sources: Vec<_> = builtin(&scene.places).chain(named).collect();
        let includes = Recorder::of(includes);
        let rules =
            Ruleset::load(&sources, &scene.places, &includes).map_err(PolicyError::Faults)?;
        let notes = texts.iter().map(|text| PolicyNote {
            name: text.name.clone(),
            sha256: digest([&text.bytes]),
        });
        Ok(Self {
            named: NamedFiles::of(&rules, &scene.root),
            rules,
            notes: notes.collect(),
            files,
            kept: Kept::of(&texts, &scene.places, includes),
            scene,
        })
    }

    /// The files in force, for the line at the start.
    pub(crate) fn names(&self) -> String {
        let names: Vec<_> = self.notes.iter().map(|note| note.name.as_str()).collect();
        names.join(", ")
    }
}

/// Finds the faults of a policy for a session whose places and root are not known yet.
///
/// # Errors
/// As [`LoadedPolicy::load`].
pub(crate) fn check_before(args: &PolicyArgs, state: &StateArgs) -> Result<(), PolicyError> {
    let places = Places::of(state)?;
    LoadedPolicy::load_in(args, &places, Scene::unknown()?).map(drop)
}

fn texts(args: &PolicyArgs, places: &Places) -> Result<Texts, PolicyError> {
    let mut texts = Texts::default();
    for name in &args.preset {
        texts.texts.push(preset_text(name)?);
    }
    for path in &args.policy {
        texts.add(files::read(path)?, path, Layer::User);
    }
    if texts.texts.is_empty() {
        let own = places.policy();
        if let Some(file) = files::read_if_there(&own)? {
            texts.add(file, &own, Layer::User);
        } else {
            texts.add_missing(&own)?;
            texts.texts.push(preset_text(DEFAULT_PRESET)?);
        }
    }
    Ok(texts)
}

fn preset_text(name: &str) -> Result<Text, PolicyError> {
    let text = preset(name).ok_or_else(|| PolicyError::Preset(name.to_owned()))?;
    Ok(Text {
        name: format!("preset:{name}"),
        bytes: text.into(),
        layer: Layer::Builtin,
    })
}
