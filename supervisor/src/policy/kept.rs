//! A policy as it is kept beside a log: all of its texts, and what its places stood for.
//!
//! By it what was decided can be decided again from the record, wherever its files are by then. What people said beside
//! the policy (grants) is not in it: the log has that.

use std::cell::RefCell;
use std::path::Path;

use execward_policy::{Included, Includes, Layer, Places as PolicyPlaces};
use serde::{Deserialize, Serialize};

use super::bundle::{BundledFile, BundledInclude, BundledIncludes, from_base64, to_base64};
use super::files::{Namer, Notes};
use super::{LoadedPolicy, PolicyError, Scene, Text, Texts};
use crate::audit::{digest, escaped};
use crate::root::Root;

/// The version of its form.
const VERSION: u32 = 1;

/// How many digits of its digest its name has.
const NAME_DIGITS: usize = 16;

/// Longest one that is read, in bytes: base64 of some sources.
const READ_MAX_BYTES: u64 = 256 << 20;

/// All that a policy was made of.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Kept {
    version: u32,
    #[serde(serialize_with = "to_base64", deserialize_with = "from_base64")]
    home: Vec<u8>,
    #[serde(serialize_with = "to_base64", deserialize_with = "from_base64")]
    workspace: Vec<u8>,
    #[serde(serialize_with = "to_base64", deserialize_with = "from_base64")]
    tmp: Vec<u8>,
    texts: Vec<KeptText>,
    includes: Vec<BundledInclude>,
    /// What the directories that its rules name came to; `None` in what was kept before they were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    directories: Option<Vec<KeptDirectory>>,
}

/// A directory that a rule names.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct KeptDirectory {
    #[serde(serialize_with = "to_base64", deserialize_with = "from_base64")]
    path: Vec<u8>,
    /// The kernel's name of it; empty where there was none.
    #[serde(serialize_with = "to_base64", deserialize_with = "from_base64")]
    name: Vec<u8>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct KeptText {
    #[serde(flatten)]
    file: BundledFile,
    layer: KeptLayer,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum KeptLayer {
    Builtin,
    Agent,
    User,
    Floor,
}

/// Why a kept policy is of no use.
#[derive(Debug, thiserror::Error)]
pub(crate) enum KeptError {
    #[error(
        "the policy that was kept beside the log, `{name}`, cannot be read: {1}; see `explain ID --policy FILE`",
        name = escaped(.0)
    )]
    Read(String, std::io::Error),
    #[error(
        "the policy that was kept beside the log, `{name}`, is not as it was; see `explain ID --policy FILE`",
        name = escaped(.0)
    )]
    Changed(String),
    #[error("a record says that its policy is kept as `{name}`, which is no file beside the log", name = escaped(.0))]
    Elsewhere(String),
    #[error("the policy that was kept beside the log, `{name}`, does not load here: {1}", name = escaped(.0))]
    Load(String, Box<PolicyError>),
}

impl Kept {
    /// That of `texts` in a session of `places`, with what `recorder` saw them lead to.
    pub(super) fn of(texts: &[Text], places: &PolicyPlaces, recorder: Recorder<'_>) -> Self {
        let (includes, directories) = recorder.into_parts();
        let texts = texts.iter().map(|text| KeptText {
            file: BundledFile {
                name: text.name.clone(),
                text: text.bytes.clone(),
            },
            layer: text.layer.into(),
        });
        Self {
            version: VERSION,
            home: places.home.clone(),
            workspace: places.workspace.clone(),
            tmp: places.tmp.clone(),
            texts: texts.collect(),
            includes,
            directories: Some(directories),
        }
    }

    /// What is written, and how it is called: by what it is.
    ///
    /// # Errors
    /// If it is no JSON, which it is.
    pub(crate) fn file(&self) -> serde_json::Result<(String, Vec<u8>)> {
        let text = serde_json::to_vec(self)?;
        let name = name_of(&text);
        Ok((name, text))
    }

    /// The policy that is kept as `name` in the directory of the log at `log`.
    ///
    /// # Errors
    /// If it is not there, is not what its name says, or does not load.
    pub(crate) fn load(log: &Path, name: &str) -> Result<LoadedPolicy, KeptError> {
        let changed = || KeptError::Changed(name.to_owned());
        let own_name = name.rsplit("policy-").next().unwrap_or_default();
        // It is beside the log, whatever a record says.
        if name.contains('/') {
            return Err(KeptError::Elsewhere(name.to_owned()));
        }
        let read = || {
            use std::io::Read as _;
            let mut text = Vec::new();
            let file = crate::regular::open(&log.with_file_name(name))?;
            file.take(READ_MAX_BYTES).read_to_end(&mut text)?;
            Ok(text)
        };
        let text = read().map_err(|error| KeptError::Read(name.to_owned(), error))?;
        if name_of(&text) != own_name {
            return Err(changed());
        }
        let kept: Self = serde_json::from_slice(&text).map_err(|_| changed())?;
        let loaded = kept.compiled();
        loaded.map_err(|error| KeptError::Load(name.to_owned(), Box::new(error)))
    }

    fn compiled(self) -> Result<LoadedPolicy, PolicyError> {
        let texts = self.texts.into_iter().map(|text| Text {
            name: text.file.name,
            bytes: text.file.text,
            layer: text.layer.into(),
        });
        let texts = Texts {
            texts: texts.collect(),
            files: Vec::new(),
        };
        let places = PolicyPlaces {
            home: self.home,
            workspace: self.workspace,
            tmp: self.tmp,
        };
        let root = Root::own().map_err(PolicyError::Root)?;
        let scene = Scene::of(places, None, root)?;
        let includes = KeptIncludes {
            includes: BundledIncludes {
                found: self.includes,
                notes: Notes::default(),
                namer: Namer::below(&scene.root),
            },
            directories: self.directories,
        };
        let mut policy = LoadedPolicy::compile(texts, scene, &includes)?;
        policy.notes.extend(includes.includes.notes.into_vec());
        Ok(policy)
    }
}

/// Finds what a kept policy was made of in it.
struct KeptIncludes {
    includes: BundledIncludes,
    directories: Option<Vec<KeptDirectory>>,
}

impl Includes for KeptIncludes {
    fn read(&self, includer: &str, path: &str) -> Result<Included, String> {
        self.includes.read(includer, path)
    }

    fn resolve(&self, directory: &[u8]) -> Option<Vec<u8>> {
        let Some(known) = &self.directories else {
            return self.includes.resolve(directory);
        };
        let known = known.iter().find(|known| known.path == directory)?;
        Some(known.name.clone()).filter(|name| !name.is_empty())
    }
}

/// Reads includes and names directories, and keeps what they led to.
pub(super) struct Recorder<'a> {
    inner: &'a dyn Includes,
    found: RefCell<Vec<BundledInclude>>,
    directories: RefCell<Vec<KeptDirectory>>,
}

impl<'a> Recorder<'a> {
    pub(super) fn of(inner: &'a dyn Includes) -> Self {
        Self {
            inner,
            found: RefCell::default(),
            directories: RefCell::default(),
        }
    }

    pub(super) fn into_parts(self) -> (Vec<BundledInclude>, Vec<KeptDirectory>) {
        (self.found.into_inner(), self.directories.into_inner())
    }
}

impl Includes for Recorder<'_> {
    fn read(&self, includer: &str, path: &str) -> Result<Included, String> {
        let found = self.inner.read(includer, path);
        let kept = found
            .clone()
            .map(|Included { name, text }| BundledFile { name, text });
        self.found.borrow_mut().push(BundledInclude {
            includer: includer.to_owned(),
            path: path.to_owned(),
            found: kept,
        });
        found
    }

    fn resolve(&self, directory: &[u8]) -> Option<Vec<u8>> {
        let name = self.inner.resolve(directory);
        let mut directories = self.directories.borrow_mut();
        if !directories.iter().any(|known| known.path == directory) {
            directories.push(KeptDirectory {
                path: directory.to_vec(),
                name: name.clone().unwrap_or_default(),
            });
        }
        name
    }
}

fn name_of(text: &[u8]) -> String {
    let mut digest = digest([text]);
    digest.truncate(NAME_DIGITS);
    digest
}

impl From<Layer> for KeptLayer {
    fn from(layer: Layer) -> Self {
        match layer {
            Layer::Builtin => Self::Builtin,
            Layer::Agent => Self::Agent,
            Layer::User => Self::User,
            Layer::Floor => Self::Floor,
        }
    }
}

impl From<KeptLayer> for Layer {
    fn from(layer: KeptLayer) -> Self {
        match layer {
            KeptLayer::Builtin => Self::Builtin,
            KeptLayer::Agent => Self::Agent,
            KeptLayer::User => Self::User,
            KeptLayer::Floor => Self::Floor,
        }
    }
}
