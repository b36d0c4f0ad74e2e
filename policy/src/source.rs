//! What a policy is loaded from: texts, each on somebody's behalf.

use std::fmt;

/// Largest source, in bytes: the bound of the language.
pub const SOURCE_MAX_BYTES: u64 = 8 * 1024 * 1024;

/// One policy file, already read.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// What diagnostics and rules call the file: its name as the user gave it.
    pub name: &'a str,
    /// The content: TOML in UTF-8, at most 8 MiB.
    pub text: &'a [u8],
    /// On whose behalf its rules speak, unless the file has a `layer` of its own. Only a
    /// source of [`Layer::User`] may have one.
    pub layer: Layer,
}

/// Looks into the file system for a policy: its includes, and where its paths lead. This crate opens
/// nothing itself.
pub trait Includes {
    /// Reads the file that `includer`, by the name of its source, calls `path`.
    ///
    /// # Errors
    ///
    /// Why it cannot be read, in words for the author of the policy.
    fn read(&self, includer: &str, path: &str) -> Result<Included, String>;

    /// What the absolute path of a directory comes to once every link is followed, if it is one.
    /// A path pattern means what its literal directories say and what they are.
    fn resolve(&self, _directory: &[u8]) -> Option<Vec<u8>> {
        None
    }
}

/// A file that a policy includes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Included {
    /// What diagnostics and rules call the file. Two files of one name are one file.
    pub name: String,
    /// Its content.
    pub text: Vec<u8>,
}

/// No file can be included: for policies that are whole in themselves.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoIncludes;

impl Includes for NoIncludes {
    fn read(&self, _includer: &str, _path: &str) -> Result<Included, String> {
        Err("no file can be included here".to_owned())
    }
}

/// On whose behalf a rule speaks. Ordered from the lowest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layer {
    /// What execward brings: its presets.
    Builtin,
    /// A repository or an agent.
    Agent,
    /// The user.
    User,
    /// The machine's owner.
    Floor,
}

impl Layer {
    /// The word of the language.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Builtin => "builtin",
            Self::Agent => "agent",
            Self::User => "user",
            Self::Floor => "floor",
        }
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
