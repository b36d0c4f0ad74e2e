//! `execward policy lint`: what is no fault of a policy and hardly meant.

use std::io::{self, Write};

use execward_policy::{Machine, Places as PolicyPlaces, Warning};
use rustix::fs::{FileType, stat};
use serde::Serialize;

use super::{LoadedPolicy, PolicyError};
use crate::audit::escaped;
use crate::changeable;
use crate::cli::LintArgs;
use crate::clock;
use crate::exit::ExitStatus;
use crate::places::Places;

/// Says what is hardly meant of the policy.
///
/// # Errors
/// If it has faults, or cannot be read.
pub(super) fn lint(args: &LintArgs, out: &mut impl Write) -> Result<ExitStatus, PolicyError> {
    let policy = LoadedPolicy::load(&args.policy, &Places::find()?)?;
    let warnings = warnings(&policy);
    for warning in &warnings {
        if args.json {
            let line = serde_json::to_string(&Shown::of(warning)).map_err(io::Error::other)?;
            writeln!(out, "{line}")?;
        } else {
            writeln!(out, "{}", escaped(&warning.to_string()))?;
        }
    }
    if !args.json {
        writeln!(out, "{} in {}", in_words(warnings.len()), policy.names())?;
    }
    Ok(if warnings.is_empty() {
        ExitStatus::Success
    } else {
        ExitStatus::Finding
    })
}

/// What is hardly meant of the policy on this machine, for sessions of this user.
pub(super) fn warnings(policy: &LoadedPolicy) -> Vec<Warning> {
    let here = Here {
        uid: rustix::process::geteuid().as_raw(),
        places: &policy.scene.places,
    };
    policy.rules.lint(&here, clock::now())
}

fn in_words(count: usize) -> String {
    match count {
        0 => "nothing to say".to_owned(),
        1 => "1 warning".to_owned(),
        _ => format!("{count} warnings"),
    }
}

/// A warning as JSON has it.
#[derive(Serialize)]
struct Shown<'a> {
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    message: &'a str,
    help: &'static str,
}

impl<'a> Shown<'a> {
    fn of(warning: &'a Warning) -> Self {
        let rule = warning.rule.as_ref();
        Self {
            kind: warning.kind,
            rule: rule.map(|(id, _, _)| id.as_str()),
            source: rule.map(|(_, source, _)| source.as_str()),
            line: rule.map(|(_, _, line)| *line),
            message: &warning.message,
            help: warning.help,
        }
    }
}

/// This machine, for sessions of this user.
struct Here<'a> {
    uid: u32,
    places: &'a PolicyPlaces,
}

impl Machine for Here<'_> {
    fn is_writable(&self, path: &[u8]) -> bool {
        let places = [&self.places.home, &self.places.workspace, &self.places.tmp].into_iter();
        let is_below = |place: &Vec<u8>| {
            let rest = path.strip_prefix(place.as_slice());
            !place.is_empty() && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
        };
        if places.clone().any(is_below) {
            return true;
        }
        changeable::on_the_way(path, self.uid).is_some()
    }

    fn is_directory(&self, path: &[u8]) -> bool {
        stat(path).is_ok_and(|seen| FileType::from_raw_mode(seen.st_mode) == FileType::Directory)
    }

    fn is_there(&self, path: &[u8]) -> bool {
        stat(path).is_ok()
    }
}
