//! A policy on its way to a live session: the texts of its files, read by whoever sends them.
//!
//! The gate reads no file of an operator's choice: whoever sends reads with their own rights, and the
//! gate compiles. What it must look at itself, the directories that rules name, may lie on a file
//! system that a member of the session serves; the control channel compiles where nothing waits.

use std::path::PathBuf;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use execward_policy::{Included, Includes, Layer, Places as PolicyPlaces, Ruleset, Source};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::files::{self, FileIncludes, Namer, Notes};
use super::kept::Recorder;
use super::{LoadedPolicy, PolicyError, PolicyFile, Scene, Text, Texts, preset_text};
use crate::root::Root;

/// Everything that a policy is made of, but for the machine's floor.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Bundle {
    presets: Vec<String>,
    files: Vec<BundledFile>,
    includes: Vec<BundledInclude>,
    /// As whoever sends it read them; not sent.
    #[serde(skip)]
    pub(crate) read: Vec<PolicyFile>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct BundledFile {
    pub(super) name: String,
    #[serde(serialize_with = "to_base64", deserialize_with = "from_base64")]
    pub(super) text: Vec<u8>,
}

/// What an include of one file led to.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct BundledInclude {
    pub(super) includer: String,
    pub(super) path: String,
    pub(super) found: Result<BundledFile, String>,
}

impl Bundle {
    /// Reads `paths`, and what they include.
    ///
    /// # Errors
    /// If a file that is named cannot be read. An include that cannot is a fault of the policy, and
    /// found when it is compiled.
    pub(crate) fn gather(presets: &[String], paths: &[PathBuf]) -> Result<Self, PolicyError> {
        let mut read = Vec::new();
        for path in paths {
            read.push(files::read(path)?);
        }
        let bundled = |file: &PolicyFile| BundledFile {
            // The session may be anybody's, wherever its gate was started.
            name: file.path.display().to_string(),
            text: file.text.clone(),
        };
        let files: Vec<_> = read.iter().map(bundled).collect();
        let root = Root::own().map_err(PolicyError::Root)?;
        let files_read = FileIncludes::below(&Arc::new(root));
        let includes = Recorder::of(&files_read);
        let sources = files.iter().map(|file| Source {
            name: &file.name,
            text: &file.text,
            layer: Layer::User,
        });
        // Only the session knows its places, and so whether there are faults: what counts here are
        // the includes that loading asks for.
        drop(Ruleset::load(
            &sources.collect::<Vec<_>>(),
            &PolicyPlaces {
                home: Vec::new(),
                workspace: Vec::new(),
                tmp: Vec::new(),
            },
            &includes,
        ));
        let (found, _) = includes.into_parts();
        let (included, _) = files_read.into_parts();
        read.extend(included);
        Ok(Self {
            presets: presets.to_vec(),
            files,
            includes: found,
            read,
        })
    }

    /// The policy whose JSON this is.
    ///
    /// # Errors
    /// In words, what is wrong with it.
    pub(crate) fn read(json: &str, scene: &Scene) -> Result<Box<LoadedPolicy>, String> {
        let bundle: Self =
            serde_json::from_str(json).map_err(|error| format!("this is no policy: {error}"))?;
        let loaded = bundle.load(scene).map(Box::new);
        loaded.map_err(|error| error.to_string())
    }

    /// The policy that it is in a session of `scene`, below the machine's floor as it is now.
    ///
    /// # Errors
    /// All its faults at once.
    pub(crate) fn load(self, scene: &Scene) -> Result<LoadedPolicy, PolicyError> {
        let presets = self.presets.iter().map(|name| preset_text(name));
        let mut texts = Texts {
            texts: presets.collect::<Result<_, _>>()?,
            files: self.read,
        };
        texts.texts.extend(self.files.into_iter().map(|file| Text {
            name: file.name,
            bytes: file.text,
            layer: Layer::User,
        }));
        let includes = BundledIncludes {
            found: self.includes,
            notes: Notes::default(),
            namer: Namer::below(&scene.root),
        };
        let mut policy = LoadedPolicy::compile(texts.with_floor()?, scene.clone(), &includes)?;
        policy.notes.extend(includes.notes.into_vec());
        Ok(policy)
    }
}

/// Finds includes in a bundle.
pub(super) struct BundledIncludes {
    pub(super) found: Vec<BundledInclude>,
    pub(super) notes: Notes,
    pub(super) namer: Namer,
}

impl Includes for BundledIncludes {
    fn read(&self, includer: &str, path: &str) -> Result<Included, String> {
        let is_meant = |it: &&BundledInclude| it.includer == includer && it.path == path;
        let known = self.found.iter().find(is_meant);
        let known = known.ok_or("it was not sent along")?;
        let BundledFile { name, text } = known.found.clone()?;
        self.notes.keep(&name, &text);
        Ok(Included { name, text })
    }

    fn resolve(&self, directory: &[u8]) -> Option<Vec<u8>> {
        self.namer.resolve(directory)
    }
}

pub(super) fn to_base64<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    STANDARD.encode(bytes).serialize(serializer)
}

pub(super) fn from_base64<'a, D: Deserializer<'a>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    let text = String::deserialize(deserializer)?;
    STANDARD.decode(text).map_err(serde::de::Error::custom)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn bundle(files: &[(&str, &str)]) -> (tempfile::TempDir, Result<Bundle, PolicyError>) {
        let directory = tempfile::tempdir().unwrap();
        for (name, text) in files {
            std::fs::write(directory.path().join(name), text).unwrap();
        }
        let first = directory.path().join(files[0].0);
        let gathered = Bundle::gather(&[], &[first]);
        (directory, gathered)
    }

    fn sent(bundle: &Bundle) -> Bundle {
        serde_json::from_slice(&serde_json::to_vec(bundle).unwrap()).unwrap()
    }

    fn scene(directory: &Path) -> Scene {
        let places = PolicyPlaces {
            home: b"/home/ada".to_vec(),
            workspace: crate::places::bytes(directory),
            tmp: b"/tmp".to_vec(),
        };
        Scene::of(places, None, Root::own().unwrap()).unwrap()
    }

    const MODE: &str = "version = 1\n[mode]\nsecurity = \"full\"\n";

    #[test]
    fn a_bundle_loads_where_its_files_are_not() {
        let (directory, bundle) = bundle(&[
            ("p.toml", "version = 1\ninclude = [\"q.toml\"]\n"),
            (
                "q.toml",
                &format!("{MODE}[[deny]]\nid = \"w\"\nprogram = \"${{workspace}}/\"\n"),
            ),
        ]);
        let bundle = sent(&bundle.unwrap());
        let at = scene(directory.path());
        drop(directory);
        let policy = bundle.load(&at).unwrap();
        let rules = policy.rules.rules();
        let own = rules.filter(|rule| !execward_policy::is_builtin(rule.source()));
        let ids: Vec<_> = own.map(|rule| rule.id()).collect();
        assert_eq!(ids, ["w"]);
        let names: Vec<_> = policy
            .notes
            .iter()
            .map(|note| note.name.rsplit('/').next())
            .collect();
        assert_eq!(names, [Some("p.toml"), Some("q.toml")]);
    }

    #[test]
    fn what_is_not_there_is_a_fault_in_its_place() {
        let (directory, bundle) = bundle(&[("p.toml", "version = 1\ninclude = [\"q.toml\"]\n")]);
        let error = sent(&bundle.unwrap())
            .load(&scene(directory.path()))
            .unwrap_err();
        let said = error.to_string();
        assert!(
            said.contains("p.toml:2:12") && said.contains("cannot include `q.toml`"),
            "{said}"
        );
        let gone = Bundle::gather(&[], &[directory.path().join("r.toml")]).unwrap_err();
        assert!(matches!(gone, PolicyError::Read { .. }));
        let none = Bundle::gather(&["dve".into()], &[])
            .unwrap()
            .load(&scene("/w".as_ref()));
        assert!(matches!(none, Err(PolicyError::Preset(name)) if name == "dve"));
    }
}
