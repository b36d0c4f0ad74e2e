//! With whose rights CMD runs.

use std::fmt;
use std::io;
use std::str::FromStr;

use nix::unistd::{Gid, Uid, setgroups, setresgid, setresuid};

use crate::{capabilities, keyring};

/// With whose rights CMD runs, in the shim's arguments: `keep`, `drop`, or `user=UID:GID:GROUP,…`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rights {
    /// Those of whoever starts it.
    Keep,
    /// The same, but for the capabilities by which it could undo the gate.
    Drop,
    /// Those of another user, without any capability.
    User(Ids),
}

/// A user's numbers: credentials(7).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ids {
    /// Real, effective and saved user.
    pub uid: u32,
    /// Real, effective and saved group.
    pub gid: u32,
    /// Supplementary groups.
    pub groups: Vec<u32>,
}

/// A word that names no rights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoRights;

impl fmt::Display for Rights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Keep => f.write_str("keep"),
            Self::Drop => f.write_str("drop"),
            Self::User(Ids { uid, gid, groups }) => {
                let groups: Vec<_> = groups.iter().map(u32::to_string).collect();
                write!(f, "user={uid}:{gid}:{}", groups.join(","))
            }
        }
    }
}

impl FromStr for Rights {
    type Err = NoRights;

    fn from_str(word: &str) -> Result<Self, NoRights> {
        let number = |digits: &str| digits.parse().map_err(|_| NoRights);
        match word {
            "keep" => return Ok(Self::Keep),
            "drop" => return Ok(Self::Drop),
            _ => {}
        }
        let ids = word.strip_prefix("user=").ok_or(NoRights)?;
        let fields: Vec<_> = ids.split(':').collect();
        let [uid, gid, groups] = fields[..] else {
            return Err(NoRights);
        };
        let groups = groups.split_terminator(',').map(number);
        Ok(Self::User(Ids {
            uid: number(uid)?,
            gid: number(gid)?,
            groups: groups.collect::<Result<_, _>>()?,
        }))
    }
}

impl Rights {
    /// Takes them on, for the only thread of the process and for good.
    ///
    /// # Errors
    /// What the kernel answers. The process then has neither these rights nor all of its former ones.
    pub(crate) fn take_on(&self) -> io::Result<()> {
        match self {
            Self::Keep => Ok(()),
            Self::Drop => Ok(capabilities::drop_for_good()?),
            Self::User(ids) => {
                keyring::leave()?;
                capabilities::drop_for_good()?;
                ids.take_on()?;
                // They are gone with user 0, unless a securebit of the caller's keeps them.
                Ok(capabilities::drop_all()?)
            }
        }
    }
}

impl Ids {
    /// Groups first: who is no longer user 0 may change none. setresuid(2)
    fn take_on(&self) -> nix::Result<()> {
        let groups: Vec<_> = self.groups.iter().copied().map(Gid::from_raw).collect();
        let (uid, gid) = (Uid::from_raw(self.uid), Gid::from_raw(self.gid));
        setgroups(&groups)?;
        setresgid(gid, gid, gid)?;
        setresuid(uid, uid, uid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let ids = |groups: &[u32]| Ids {
            uid: 1000,
            gid: 0,
            groups: groups.to_vec(),
        };
        for (rights, word) in [
            (Rights::Keep, "keep"),
            (Rights::Drop, "drop"),
            (Rights::User(ids(&[])), "user=1000:0:"),
            (Rights::User(ids(&[4, 27])), "user=1000:0:4,27"),
        ] {
            assert_eq!(rights.to_string(), word);
            assert_eq!(word.parse(), Ok(rights));
        }
        for word in [
            "",
            "user",
            "user=",
            "user=1:2",
            "user=1:2:3:4",
            "user=1:2:x",
            "user=-1:0:",
        ] {
            assert_eq!(word.parse::<Rights>(), Err(NoRights), "{word}");
        }
    }
}
