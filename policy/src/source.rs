//! What a policy is loaded from: texts, each on somebody's behalf.

use std::fmt;

/// One policy file, already read.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// What diagnostics and rules call the file: its name as the user gave it.
    pub name: &'a str,
    /// The content: TOML in UTF-8, at most 8 MiB.
    pub text: &'a [u8],
    /// On whose behalf its rules speak.
    pub layer: Layer,
}

/// On whose behalf a rule speaks. Ordered from the lowest.
///
/// This version loads sources of [`Layer::Builtin`] and [`Layer::User`]. A source of
/// another layer is a fault, since what those layers may not do is not checked yet.
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

    /// Whether this version loads sources of the layer.
    pub(crate) fn is_supported(self) -> bool {
        match self {
            Self::Builtin | Self::User => true,
            Self::Agent | Self::Floor => false,
        }
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
