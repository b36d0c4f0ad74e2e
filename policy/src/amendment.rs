//! What a person who is asked about a call could save, so that calls like it are not asked about again.
//!
//! Each amendment is the rule that it would be, in the language, and says what it would cover. None is
//! offered for what its arguments make of it (wrappers, runners, shells and interpreters but for a
//! script's content), for files that bring rights or have no path, and none that would leave the call to
//! be asked about all the same.

mod command_name;
mod lesson;
mod named;
mod reach;
mod script;
mod text;
mod use_of;

use std::fmt;

use jiff::Timestamp;

use crate::approval::Category;
use crate::digest::Digest;
use crate::host::Host;
use crate::image::{Image, Images};
use crate::mode::State;
use crate::path::file_name;
use crate::places::Places;
use crate::redaction::Masked;
use crate::request::{ExecRequest, Origin};
use crate::rule::{Action, Rule};
use crate::ruleset::Ruleset;
use crate::source::{Layer, NoIncludes, Source};
use crate::verdict::{Basis, Decision};

pub(crate) use command_name::{CommandName, said};
pub use lesson::{Evidence, Lesson, Lessons};
use named::Named;
pub use text::exact_rule;
use use_of::UseOf;

/// Longest rule that is offered: nobody reads more.
const RULE_MAX_BYTES: usize = 4 << 10;

/// How much of what is like a call an amendment covers, from the least.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// This call alone.
    Exact,
    /// Its command with the same flags or fewer.
    Flags,
    /// Its command in its ordinary use.
    Prefix,
    /// Its program with any arguments.
    Program,
}

impl Scope {
    /// Every scope, from the least.
    pub const ALL: [Self; 4] = [Self::Exact, Self::Flags, Self::Prefix, Self::Program];

    /// The word for it, in commands and messages.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Flags => "flags",
            Self::Prefix => "prefix",
            Self::Program => "program",
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A rule that could be saved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Amendment {
    /// How much it covers.
    pub scope: Scope,
    /// The rule, as it would stand in a file of the user.
    pub rule: String,
    /// What it covers, in words.
    pub covers: String,
    /// What is to stay as it is: the rule is saved with the `sha256` of that.
    pub content: Content,
}

/// The file whose content a rule is bound to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Content {
    /// None: whatever a person trusts or refuses by its path.
    Any,
    /// That of the program, which a session could change.
    Program,
    /// That of the script at this path, which the program is given.
    Script(Vec<u8>),
}

impl Content {
    /// What a rule about a file by its path is bound to.
    fn of(action: Action, image: &Image<'_>) -> Self {
        match action {
            Action::Allow if !image.is_trusted() => Self::Program,
            Action::Allow | Action::Ask | Action::Deny => Self::Any,
        }
    }

    /// The digest of that, in a call; none of what is bound to nothing.
    ///
    /// # Errors
    /// [`NoRule::NoDigest`] if the call has none.
    pub fn digest(&self, request: &ExecRequest) -> Result<Option<Digest>, NoRule> {
        let digest = match self {
            Self::Any => return Ok(None),
            Self::Program => request.program.sha256,
            Self::Script(path) => {
                let mut seen = request.destinations.values();
                seen.find(|it| it.path == *path).and_then(|it| it.sha256)
            }
        };
        digest.map(Some).ok_or(NoRule::NoDigest)
    }

    /// To be put behind what is covered.
    fn in_words(&self) -> &'static str {
        match self {
            Self::Any => "",
            Self::Program => ", as the file is now",
            Self::Script(_) => ", as the script is now",
        }
    }
}

impl Amendment {
    pub(crate) fn is_short(&self) -> bool {
        self.rule.len() <= RULE_MAX_BYTES
    }

    /// The rule, if it is one that is offered.
    fn offered_rule(&self) -> Option<Rule> {
        self.is_short().then(|| rule_of(&self.rule)).flatten()
    }

    /// The same for a file that holds what `digest` is of.
    fn bound_to(mut self, digest: Option<Digest>) -> Self {
        if let Some(digest) = digest {
            self.rule += &format!("sha256 = \"{digest}\"\n");
        }
        self
    }
}

/// Why no rule is made of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum NoRule {
    /// The policy allows or denies it.
    NotAsked(Decision),
    /// Its file has no name that a rule could mean.
    NoName,
    /// Its file brings rights.
    Rights,
    /// Its arguments make of it what it is.
    Arguments,
    /// Its rule would be bound to what a file holds, and nobody took the digest of that.
    NoDigest,
    /// What holds it back no rule of the user's lifts, or the rule would be longer than anybody reads.
    NoHelp,
    /// Its arguments hold what looks like a secret, and its rule would, too.
    Secret,
    /// A person refused a call that the narrowest rule would let run too.
    Refused,
}

impl fmt::Display for NoRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotAsked(Decision::Deny) => "the policy denies it, and no allow lifts that",
            Self::NotAsked(Decision::Allow | Decision::Ask) => "the policy lets it run as it is",
            Self::NoName => "its file has no name in the session that a rule could mean",
            Self::Rights => "its file brings rights",
            Self::Arguments => {
                "its arguments make of it what it is: a shell, an interpreter, a wrapper, a runner"
            }
            Self::NoDigest => {
                "its rule would be bound to what a file holds, and no digest of that is known"
            }
            Self::NoHelp => "it would be asked about all the same",
            Self::Secret => "its arguments hold what looks like a secret, and its rule would too",
            Self::Refused => "a person refused the same call",
        })
    }
}

impl Ruleset {
    /// What could be saved of a call that is asked about at `now`, as rules called `id`; from the least
    /// that is covered. Nothing if the call is not asked about.
    #[must_use]
    pub fn amendments(&self, request: &ExecRequest, id: &str, now: Timestamp) -> Vec<Amendment> {
        let images = Images::of(request, &self.trust);
        let Ok(named) = self.named(request, &images, now) else {
            return Vec::new();
        };
        let mut amendments = named.amendments(request, id, &images.program);
        amendments.retain(|it| !self.tells_secret(it, request));
        amendments.retain(|it| {
            let rule = it.offered_rule();
            rule.is_some_and(|rule| self.would_let(&rule, &images, now))
        });
        amendments
    }

    /// Whether a rule of this call, or what is said of it, would hold what looks like a secret. One of exactly this call
    /// always would.
    pub(crate) fn tells_secret(&self, amendment: &Amendment, request: &ExecRequest) -> bool {
        let masked = self.redaction().argv(&request.argv);
        let tells = |secret: &[u8]| {
            let texts = [&amendment.rule, &amendment.covers];
            let has = |text: &&String| text.as_bytes().windows(secret.len()).any(|it| it == secret);
            amendment.scope == Scope::Exact || texts.iter().any(has)
        };
        masked.iter().flat_map(Masked::secrets).any(tells)
    }

    /// What a call that is asked about is called, if a rule may be made of that.
    fn named<'r>(
        &self,
        request: &'r ExecRequest,
        images: &Images<'r>,
        now: Timestamp,
    ) -> Result<Named<'r>, NoRule> {
        match self.decide(request, now).decision() {
            Decision::Ask => {}
            decision @ (Decision::Allow | Decision::Deny) => {
                return Err(NoRule::NotAsked(decision));
            }
        }
        if request.program.origin != Origin::Session {
            return Err(NoRule::NoName);
        }
        if request.program.brings_rights || request.program.gains_rights {
            return Err(NoRule::Rights);
        }
        Named::of(request, &images.program).ok_or(NoRule::Arguments)
    }

    /// Whether the call would run unasked if the rule were one of the user's.
    fn would_let(&self, rule: &Rule, images: &Images<'_>, now: Timestamp) -> bool {
        let is_answered = |ask: &Rule| {
            images.all().all(|image| {
                !ask.holds(image, now)
                    || self.is_lifted(ask, image, now)
                    || rule.holds(image, now) && rule.outweighs(ask, image)
            })
        };
        let verdict = self
            .modes
            .judge(State::Allowed, Category::Rules, Some(Basis::Rule(rule)));
        rule.holds(&images.program, now)
            && self.table.of(Action::Ask).iter().all(is_answered)
            && self.allows_interpreters(images, now)
            && verdict.decision() == Decision::Allow
    }
}

/// This call of the file at `path` alone.
pub(crate) fn exact(
    action: Action,
    path: &[u8],
    request: &ExecRequest,
    id: &str,
    content: Content,
) -> Amendment {
    let cwd = request.cwd.as_deref();
    let place = cwd.map_or(String::new(), |cwd| format!(" in {}", cwd.escape_ascii()));
    Amendment {
        scope: Scope::Exact,
        rule: text::exact(text::head(action, id, Scope::Exact), path, request),
        covers: format!(
            "`{}`{place}, and no other call{}",
            in_words(path, request),
            content.in_words()
        ),
        content,
    }
}

/// The call, cut where it is long: whoever comes to the rule later sees nothing else of it.
fn in_words(path: &[u8], request: &ExecRequest) -> String {
    const LONGEST_BYTES: usize = 80;
    let rest = request.argv.iter().skip(1).map(Vec::as_slice);
    let words = std::iter::once(file_name(path)).chain(rest);
    // Blanks within a word are to be told from those between two.
    let quoted = |word: &[u8]| format!("\"{}\"", word.escape_ascii());
    let words = words.map(|word| said(word).map_or_else(|| quoted(word), str::to_owned));
    let words: Vec<String> = words.collect();
    let mut line = words.join(" ");
    if line.len() > LONGEST_BYTES {
        line.truncate(LONGEST_BYTES);
        line += " ...";
    }
    line
}

/// The rule that the text of an amendment is.
pub(crate) fn rule_of(text: &str) -> Option<Rule> {
    let text = format!("version = 1\nmode.security = \"allowlist\"\n{text}");
    let source = Source {
        name: "amendment",
        text: text.as_bytes(),
        layer: Layer::User,
    };
    let nowhere = Places {
        home: Vec::new(),
        workspace: Vec::new(),
        tmp: Vec::new(),
    };
    let ruleset = Ruleset::load(&[source], &nowhere, &NoIncludes).ok()?;
    let mut rules = ruleset.rules().filter(|rule| rule.layer() == Layer::User);
    rules.next().cloned()
}

/// The hosts of a call in that form, if every one can be told and has it.
pub(crate) fn told_hosts(image: &Image<'_>, form: impl Fn(&Host) -> Option<String>) -> Vec<String> {
    let hosts = image.hosts().iter();
    let told = hosts.map(|host| host.as_ref().and_then(&form));
    let hosts: Option<Vec<String>> = told.collect();
    let mut hosts = hosts.unwrap_or_default();
    hosts.sort_unstable();
    hosts.dedup();
    hosts
}

#[cfg(test)]
mod tests;
