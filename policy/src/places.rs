//! The directories that a policy may name without spelling them out.

/// What `~`, `${home}`, `${workspace}` and `${tmp}` stand for in one session.
///
/// The caller looks them up once, when the session starts; this crate reads no
/// environment. Values are absolute paths in bytes. They enter patterns as literal text:
/// a `*` in the name of a home directory is a `*`. A pattern that uses a place whose
/// value is not an absolute path is a load fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// Home directory of the session's user: `~` and `${home}`.
    pub home: Vec<u8>,
    /// Directory that the session works in: `${workspace}`.
    pub workspace: Vec<u8>,
    /// Directory for temporary files: `${tmp}`.
    pub tmp: Vec<u8>,
}

impl Places {
    /// The names that may stand in `${…}`.
    pub(crate) const NAMES: [&'static str; 3] = ["home", "workspace", "tmp"];

    /// The value of `${name}`, without a trailing slash.
    pub(crate) fn get(&self, name: &str) -> Option<&[u8]> {
        let value = match name {
            "home" => &self.home,
            "workspace" => &self.workspace,
            "tmp" => &self.tmp,
            _ => return None,
        };
        Some(value.strip_suffix(b"/").unwrap_or(value))
    }
}

#[cfg(test)]
impl Places {
    /// Those of the unit tests.
    pub(crate) fn of_tests() -> Self {
        Self {
            home: "/home/u".into(),
            workspace: "/w".into(),
            tmp: "/tmp".into(),
        }
    }
}
