//! Profiles that a policy brings: `[safe_bins.profile.NAME]`.

use std::collections::HashMap;

use thiserror::Error;

use super::profile::{self, BUILTIN};
use super::{Bin, Unsafe};
use crate::class;
use crate::grammar::{self, Grammar, Takes, ValueKind};

/// The class whose members may have a profile: their flags say whom they speak to. Of those of
/// the others, no list of flags says what they do with their input.
const NETWORK: &str = "network";

/// What a flag of a profile takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FlagForm {
    /// `"none"`.
    Nothing,
    /// `"value"`: attached, after `=`, or the next argument.
    Value,
    /// `"=value"`: attached or after `=`, or none.
    Attached,
    /// `"two"`: the two next arguments.
    Two,
}

impl FlagForm {
    /// Reads the form as a policy has it.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "none" => Self::Nothing,
            "value" => Self::Value,
            "=value" => Self::Attached,
            "two" => Self::Two,
            _ => return None,
        })
    }

    fn of(takes: Takes) -> Self {
        match takes {
            Takes::Nothing => Self::Nothing,
            Takes::One(_) => Self::Value,
            Takes::Attached(_) => Self::Attached,
            Takes::Two(..) => Self::Two,
        }
    }
}

/// A flag of a profile, its dashes included.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Flag<'t> {
    pub(crate) name: &'t str,
    pub(crate) form: FlagForm,
}

/// Why a bin cannot be a safe one.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum Refusal {
    #[error("there is no profile for it: write `[safe_bins.profile.NAME]`")]
    NoProfile,
    #[error("a safe bin is called by its file name")]
    Name,
    #[error("it is of the class `@{0}`: no list of flags says what it does with its input")]
    Class(&'static str),
    #[error("a flag is a dash and a letter, or dashes and a name without `=`")]
    Flag,
    #[error("the table of the command has no such flag")]
    UnknownFlag,
    #[error("the table of the command says that the flag takes another number of values")]
    Form,
    #[error("the flag names a file, a host or code, or does more than filter")]
    Dangerous,
}

/// Why the bin called `name` can be none, whatever its profile.
pub(super) fn refusal_of_name(name: &str) -> Option<Refusal> {
    if name.is_empty() || name.contains(['/', '\0']) {
        return Some(Refusal::Name);
    }
    if BUILTIN.contains_key(name.as_bytes()) {
        return None;
    }
    let mut classes = class::of_file_name(name.as_bytes());
    let class = classes.find(|class| class.name != NETWORK)?;
    Some(Refusal::Class(class.name))
}

/// The bin called `name`, by a policy's profile.
pub(super) fn bin(
    name: &[u8],
    operands: usize,
    flags: &[Flag<'_>],
) -> Result<Bin, (Option<usize>, Refusal)> {
    let text = str::from_utf8(name).map_err(|_| (None, Refusal::Name))?;
    if let Some(refusal) = refusal_of_name(text) {
        return Err((None, refusal));
    }
    let Some(grammar) = grammar::of(name) else {
        return untabled(operands, flags).map_err(|(at, refusal)| (Some(at), refusal));
    };
    let builtin = BUILTIN.get(name).cloned().unwrap_or_default();
    let mut own = profile::Profile {
        is_default: false,
        // What the first operand is stays what it is, whoever counts them.
        operands: builtin.operands.at_most(operands),
        flags: HashMap::new(),
    };
    for (at, flag) in flags.iter().enumerate() {
        let known = tabled(grammar, &builtin, *flag).map_err(|refusal| (Some(at), refusal))?;
        own.flags.extend(known);
    }
    Ok(Bin::Tabled(grammar, own))
}

/// The names of a flag, as the table of its command has it, and what its value is.
fn tabled(
    grammar: &'static Grammar,
    builtin: &profile::Profile,
    flag: Flag<'_>,
) -> Result<Vec<(&'static str, Option<profile::Text>)>, Refusal> {
    let option = grammar.option(flag.name.as_bytes());
    let option = option.ok_or(Refusal::UnknownFlag)?;
    if FlagForm::of(option.takes) != flag.form {
        return Err(Refusal::Form);
    }
    let mut names = option.names.iter();
    let text = names.find_map(|name| builtin.flags.get(name));
    let is_harmless_kind = match option.takes {
        Takes::Nothing => true,
        Takes::One(kind) | Takes::Attached(kind) => is_text(kind),
        Takes::Two(one, other) => is_text(one) && is_text(other),
    };
    let is_safe = is_harmless_kind && !option.is_dangerous && !option.walks;
    match text {
        None if !is_safe => Err(Refusal::Dangerous),
        text => {
            let text = text.copied().flatten();
            Ok(option.names.iter().map(|name| (*name, text)).collect())
        }
    }
}

fn is_text(kind: ValueKind) -> bool {
    matches!(
        kind,
        ValueKind::Number | ValueKind::Text | ValueKind::Pattern
    )
}

/// What is safe of a bin that there is no table of, and how its flags are read.
#[derive(Debug, Clone)]
pub(super) struct Profile {
    operands: usize,
    flags: HashMap<Vec<u8>, FlagForm>,
}

fn untabled(operands: usize, flags: &[Flag<'_>]) -> Result<Bin, (usize, Refusal)> {
    let mut own = HashMap::new();
    for (at, flag) in flags.iter().enumerate() {
        let name = flag.name.trim_start_matches('-');
        let is_flag = flag.name.starts_with('-') && !name.is_empty();
        if !is_flag || name.contains(['=', ' ', '\0']) {
            return Err((at, Refusal::Flag));
        }
        own.insert(flag.name.as_bytes().to_vec(), flag.form);
    }
    Ok(Bin::Untabled(Profile {
        operands,
        flags: own,
    }))
}

impl Profile {
    /// Reads a call by the forms of its flags: whole names, with `=` or without, and letters in
    /// clusters.
    pub(super) fn judge<'a>(
        &self,
        mut arguments: impl Iterator<Item = &'a [u8]>,
    ) -> Result<(), Unsafe<'a>> {
        let (mut operands, mut has_ended) = (0, false);
        while let Some(argument) = arguments.next() {
            if has_ended || argument == b"-" || !argument.starts_with(b"-") {
                operands += 1;
                if operands > self.operands {
                    return Err(Unsafe::Operand(argument));
                }
                continue;
            }
            if argument == b"--" {
                has_ended = true;
                continue;
            }
            let values = self.values(argument).ok_or(Unsafe::Flag(argument))?;
            for _ in 0..values {
                arguments.next();
            }
        }
        Ok(())
    }

    /// How many further arguments are values of the flags in `argument`. None if one of them is
    /// not on the profile.
    fn values(&self, argument: &[u8]) -> Option<usize> {
        if let Some(form) = self.flags.get(argument) {
            return Some(match form {
                FlagForm::Nothing | FlagForm::Attached => 0,
                FlagForm::Value => 1,
                FlagForm::Two => 2,
            });
        }
        let mut parts = argument.splitn(2, |byte| *byte == b'=');
        let (name, value) = (parts.next()?, parts.next());
        if let (Some(form), Some(_)) = (self.flags.get(name), value) {
            return match form {
                FlagForm::Nothing | FlagForm::Two => None,
                FlagForm::Value | FlagForm::Attached => Some(0),
            };
        }
        let letters = argument.strip_prefix(b"-")?;
        if letters.starts_with(b"-") {
            return None;
        }
        for (at, letter) in letters.iter().enumerate() {
            let is_last = at + 1 == letters.len();
            match self.flags.get([b'-', *letter].as_slice())? {
                FlagForm::Nothing => {}
                FlagForm::Attached => return Some(0),
                FlagForm::Value => return Some(usize::from(is_last)),
                FlagForm::Two => return is_last.then_some(2),
            }
        }
        Some(0)
    }
}
