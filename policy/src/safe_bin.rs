//! Safe bins: filters that may run without a rule, as far as their arguments allow.
//!
//! What a profile lists is safe, and nothing else: an option nobody thought of is none. Only the
//! arguments are looked at. What the standard streams are, and whether the file is the bin that
//! its name says, is for the caller to find out.

mod awk;
mod charset;
mod custom;
mod jq;
mod profile;
mod regex;
mod sed;

use std::fmt;

use crate::grammar::{Grammar, Known, Piece};
use crate::name_map::NameMap;
pub(crate) use custom::{Flag, FlagForm, Refusal};
use profile::{BUILTIN, Profile};

/// The safe bins of a policy.
#[derive(Debug, Clone)]
pub(crate) struct SafeBins {
    bins: NameMap<Vec<u8>, Bin>,
}

/// A bin by its profile.
#[derive(Debug, Clone)]
enum Bin {
    /// One whose arguments are read by its table.
    Tabled(&'static Grammar, Profile),
    /// One whose arguments are read by what its profile says of its flags.
    Untabled(custom::Profile),
}

/// Why a call is not that of a safe bin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unsafe<'a> {
    /// There is no such safe bin.
    Name,
    /// The flag is not on the profile.
    Flag(&'a [u8]),
    /// The flag is, but its value may be read as one that is not.
    Value(&'a [u8]),
    /// There may be no such operand.
    Operand(&'a [u8]),
    /// A text among the arguments, such as a script, does more than filter or is not
    /// understood: what it has.
    Text(&'static str),
}

impl fmt::Display for Unsafe<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name => f.write_str("it is no safe bin"),
            Self::Flag(flag) => {
                write!(f, "`{}` is not on its profile", flag.escape_ascii())
            }
            Self::Value(flag) => {
                write!(f, "the value of `{}` is not safe", flag.escape_ascii())
            }
            Self::Operand(operand) => {
                write!(f, "`{}` is an operand too many", operand.escape_ascii())
            }
            Self::Text(what) => write!(f, "it has {what}"),
        }
    }
}

impl Default for SafeBins {
    /// Those that a policy has without saying so.
    fn default() -> Self {
        let defaults = BUILTIN.iter().filter(|(_, profile)| profile.is_default);
        let bins = defaults.filter_map(|(name, _)| Some((name.to_vec(), Bin::builtin(name)?)));
        Self {
            bins: bins.collect(),
        }
    }
}

impl SafeBins {
    /// None at all.
    pub(crate) fn none() -> Self {
        Self {
            bins: NameMap::default(),
        }
    }

    /// Adds the bin called `name` by its builtin profile.
    ///
    /// # Errors
    /// It has none.
    pub(crate) fn add(&mut self, name: &str) -> Result<(), Refusal> {
        let bin = Bin::builtin(name.as_bytes());
        let bin = bin.ok_or_else(|| custom::refusal_of_name(name).unwrap_or(Refusal::NoProfile))?;
        self.bins.insert(name.as_bytes().to_vec(), bin);
        Ok(())
    }

    /// Adds the bin called `name` by a profile of the policy's own: at most so many `operands`,
    /// none of them a file, and these flags.
    ///
    /// # Errors
    /// It is a shell or the like, or a flag is not what the table of the command says. The
    /// position is that of the flag.
    pub(crate) fn add_own(
        &mut self,
        name: &str,
        operands: usize,
        flags: &[Flag<'_>],
    ) -> Result<(), (Option<usize>, Refusal)> {
        let bin = custom::bin(name.as_bytes(), operands, flags)?;
        self.bins.insert(name.as_bytes().to_vec(), bin);
        Ok(())
    }

    /// Whether there is one called `name`.
    pub(crate) fn has(&self, name: &[u8]) -> bool {
        self.bins.contains_key(name)
    }

    /// Whether a call of the bin called `name` with these arguments, those after the first, only
    /// filters.
    ///
    /// # Errors
    /// The first reason why it may do more.
    pub(crate) fn judge<'a, I>(&self, name: &[u8], arguments: I) -> Result<(), Unsafe<'a>>
    where
        I: Iterator<Item = &'a [u8]> + Clone,
    {
        match self.bins.get(name).ok_or(Unsafe::Name)? {
            Bin::Tabled(grammar, profile) => judge_tabled(grammar, profile, arguments),
            Bin::Untabled(profile) => profile.judge(arguments),
        }
    }
}

/// Whether a program in the language of the command called `name` does nothing but filter.
pub(crate) fn only_filters(name: &str, program: &[u8]) -> bool {
    let judged = match name {
        "sed" => sed::judge(program),
        "awk" | "mawk" | "gawk" => awk::judge(program),
        "jq" => jq::judge(program),
        _ => return false,
    };
    judged.is_ok()
}

impl Bin {
    fn builtin(name: &[u8]) -> Option<Self> {
        let profile = BUILTIN.get(name)?.clone();
        Some(Self::Tabled(crate::grammar::of(name)?, profile))
    }
}

fn judge_tabled<'a, I>(
    grammar: &'static Grammar,
    profile: &Profile,
    arguments: I,
) -> Result<(), Unsafe<'a>>
where
    I: Iterator<Item = &'a [u8]> + Clone,
{
    let mut is_first_replaced = false;
    for piece in grammar.read(arguments.clone()) {
        match piece {
            Piece::Flag(known) => {
                judge_flag(profile, &known)?;
                is_first_replaced |= known.option.replaces_first;
            }
            Piece::Unknown(unknown) => return Err(Unsafe::Flag(unknown.flag)),
            Piece::Operand(_) => {}
        }
    }
    let operands = grammar.read(arguments).filter_map(|piece| match piece {
        Piece::Operand(operand) => Some(operand),
        Piece::Flag(_) | Piece::Unknown(_) => None,
    });
    profile.operands.judge(operands, is_first_replaced)
}

fn judge_flag<'a>(profile: &Profile, known: &Known<'a>) -> Result<(), Unsafe<'a>> {
    let names = known.option.names.iter();
    let name = names
        .clone()
        .next()
        .map_or(&b""[..], |name| name.as_bytes());
    let text = names.clone().find_map(|name| profile.flags.get(*name));
    let text = text.ok_or(Unsafe::Flag(name))?;
    if known.hides_dangerous {
        return Err(Unsafe::Value(name));
    }
    match (text, known.values) {
        (Some(text), [Some(value), _]) => text.judge(value).map_err(Unsafe::Text),
        (Some(_), [None, _]) | (None, _) => Ok(()),
    }
}

#[cfg(test)]
mod tests;
