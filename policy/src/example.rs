//! Calls that a rule's author says it must or must not hold for: `match`, `not_match`.

use jiff::Timestamp;

use crate::diagnostic::{Fault, Place};
use crate::image::Image;
use crate::kind::Complaint;
use crate::operand;
use crate::places::Places;
use crate::request::{Destination, ExecRequest, ProgramFile};
use crate::rule::Rule;
use crate::selector::Selectors;
use crate::trust::Trust;

/// Where a program without a slash is taken to be.
const BARE_DIRECTORY: &str = "/usr/bin/";

/// One call.
#[derive(Debug)]
pub(crate) struct Example {
    /// The program and its arguments.
    pub(crate) words: Vec<String>,
    /// Whether the rule must hold.
    pub(crate) holds: bool,
    /// Where the call is written.
    pub(crate) place: Place,
}

impl Example {
    /// Takes a command line apart as sh(1) would that expands nothing.
    pub(crate) fn split(line: &str) -> Result<Vec<String>, Complaint> {
        let complaint = |message: &str| {
            let help = "write a program and its arguments, as for a shell".to_owned();
            (message.to_owned(), Some(help))
        };
        match shlex::split(line) {
            Some(words) if words.is_empty() => Err(complaint("the command line is empty")),
            Some(words) => Ok(words),
            None => Err(complaint(
                "a quote or a last backslash of the command line is left open",
            )),
        }
    }

    /// What is wrong if the rule does not do as the example says.
    pub(crate) fn check(&self, rule: &Rule, places: &Places, trust: &Trust) -> Option<Fault> {
        let mut request = self.request(places);
        // Nothing is there to be followed: a path leads where it says.
        let paths = operand::paths(&Image::of_program(&request, trust), |_| true);
        let destinations = paths
            .into_iter()
            .map(|path| (path.clone(), Destination::as_written(&path)));
        request.destinations = destinations.collect();
        // What only a live session knows is taken as holding.
        let rule = Rule {
            expires: None,
            is_grant: false,
            is_of_subtree: false,
            selectors: Selectors {
                env: None,
                via: None,
                sha256: None,
                ..rule.selectors.clone()
            },
            ..rule.clone()
        };
        let failing = rule.failing(&Image::of_program(&request, trust), Timestamp::UNIX_EPOCH);
        let message = match (self.holds, failing) {
            (true, None) | (false, Some(_)) => return None,
            (true, Some(key)) => {
                format!(
                    "the rule `{}` does not hold for this call: `{key}` fails",
                    rule.id()
                )
            }
            (false, None) => format!("the rule `{}` holds for this call", rule.id()),
        };
        Some(Fault::new(self.place.clone(), message))
    }

    fn request(&self, places: &Places) -> ExecRequest {
        let mut words = self.words.iter().map(|word| expand(word, places));
        let program = words.next().unwrap_or_default();
        let path = if !program.contains(&b'/') {
            [BARE_DIRECTORY.as_bytes(), &program].concat()
        } else if program.starts_with(b"/") {
            program.clone()
        } else {
            [&places.workspace, b"/".as_slice(), &program].concat()
        };
        ExecRequest {
            cwd: Some(places.workspace.clone()),
            ..ExecRequest::new(
                ProgramFile::at(path),
                std::iter::once(program).chain(words).collect(),
            )
        }
    }
}

/// Puts in the place that a word begins with.
fn expand(word: &str, places: &Places) -> Vec<u8> {
    let (name, rest) = if let Some(rest) = word.strip_prefix('~') {
        ("home", rest)
    } else if let Some((name, rest)) = word
        .strip_prefix("${")
        .and_then(|word| word.split_once('}'))
    {
        (name, rest)
    } else {
        return word.into();
    };
    let is_at_boundary = rest.is_empty() || rest.starts_with('/');
    match places.get(name) {
        Some(value) if is_at_boundary => [value, rest.as_bytes()].concat(),
        _ => word.into(),
    }
}
