//! A rule: what it does, when it holds, and where it was written.

use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;

use crate::approval::Category;
use crate::command::Command;
use crate::flag::Flag;
use crate::image::{Image, Reading};
use crate::inline;
use crate::operand::FileOperand;
use crate::program::Program;
use crate::request::RuleKey;
use crate::selector::{List, Selectors};
use crate::source::Layer;
use crate::tool_call::Seen;
use crate::variable::Variable;
use crate::watch::Change;
use crate::written::Written;

/// What a rule does with the calls that it holds for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// `[[allow]]`.
    Allow,
    /// `[[ask]]`.
    Ask,
    /// `[[deny]]`.
    Deny,
}

impl Action {
    /// The word of the language, also the name of the table that holds such rules.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }

    /// How a rule of this action reads what is in doubt.
    fn reading(self) -> Reading {
        match self {
            Self::Allow => Reading::Strict,
            Self::Ask | Self::Deny => Reading::Doubtful,
        }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One rule of a loaded policy.
#[derive(Debug, Clone)]
pub struct Rule {
    pub(crate) id: String,
    pub(crate) action: Action,
    pub(crate) layer: Layer,
    pub(crate) source: Arc<str>,
    pub(crate) line: usize,
    pub(crate) selectors: Selectors,
    /// Of what a charter approves: what every other one does, of each of which something must hold
    /// too.
    pub(crate) charters: Vec<Arc<[Selectors]>>,
    pub(crate) children: Option<List<Program>>,
    pub(crate) expires: Option<Timestamp>,
    pub(crate) reason: Option<String>,
    pub(crate) instead: Option<String>,
    pub(crate) escalates: bool,
    /// Whether it is what somebody said of calls, and of no policy.
    pub(crate) is_grant: bool,
    /// Whether it holds for no call, but for what runs below a process that was allowed with it.
    pub(crate) is_of_subtree: bool,
    /// As it is written.
    pub(crate) written: Written,
}

impl Rule {
    /// The name of the rule, unique in its layer.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// What the rule is called across reloads.
    #[must_use]
    pub fn key(&self) -> RuleKey {
        RuleKey {
            layer: self.layer,
            id: self.id.clone(),
        }
    }

    /// What the rule does.
    #[must_use]
    pub fn action(&self) -> Action {
        self.action
    }

    /// On whose behalf the rule was written.
    #[must_use]
    pub fn layer(&self) -> Layer {
        self.layer
    }

    /// The name of the source that holds the rule, as the caller gave it.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Whether the rule is a grant: see [`Ruleset::with_grants`](crate::Ruleset::with_grants).
    #[must_use]
    pub fn is_grant(&self) -> bool {
        self.is_grant
    }

    /// The line on which the rule begins, from 1.
    #[must_use]
    pub fn line(&self) -> usize {
        self.line
    }

    /// Why the rule exists, in its author's words.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        self.reason.as_deref()
    }

    /// What to do instead of the denied call. Only a deny has it.
    #[must_use]
    pub fn instead(&self) -> Option<&str> {
        self.instead.as_deref()
    }

    /// Whether the rule's questions are put to a higher supervisor. Only an ask's are.
    #[must_use]
    pub fn escalates(&self) -> bool {
        self.escalates
    }

    /// What the question is about, if this is an ask.
    pub(crate) fn category(&self) -> Category {
        let mut programs = self.selectors.program.iter().flat_map(|list| &list.wanted);
        let mut named = programs.clone();
        if named.next().is_some() && programs.all(Program::is_of_rights) {
            Category::Sandbox
        } else {
            Category::Rules
        }
    }

    /// Whether programs that the rule does not list run unasked below what it allows.
    #[must_use]
    pub fn has_children(&self) -> bool {
        self.children.is_some()
    }

    /// Puts beside each path what its directories really are.
    pub(crate) fn resolve_heads(&mut self, resolve: &dyn Fn(&[u8]) -> Option<Vec<u8>>) {
        self.selectors.resolve_heads(resolve);
        let children = self.children.iter_mut().flat_map(List::entries_mut);
        children.for_each(|program| program.resolve_head(resolve));
    }

    /// Whether the rule has ended at `now`.
    pub(crate) fn has_expired(&self, now: Timestamp) -> bool {
        self.expires.is_some_and(|end| end <= now)
    }

    /// The first key that keeps the rule from holding for an image at `now`.
    pub(crate) fn failing(&self, image: &Image<'_>, now: Timestamp) -> Option<&'static str> {
        if self.is_of_subtree {
            return Some("subtree");
        }
        if self.has_expired(now) {
            return Some("expires");
        }
        let reading = self.action.reading();
        let fails = |selectors: &Selectors| selectors.failing(image, reading);
        fails(&self.selectors).or_else(|| self.failing_charter(fails))
    }

    /// `charter` if another one has no entry that holds.
    fn failing_charter(
        &self,
        fails: impl Fn(&Selectors) -> Option<&'static str>,
    ) -> Option<&'static str> {
        let holds = |list: &Arc<[Selectors]>| list.iter().any(|entry| fails(entry).is_none());
        (!self.charters.iter().all(holds)).then_some("charter")
    }

    /// The key that fails, if the rule is about the image's file all the same.
    pub(crate) fn near_miss(&self, image: &Image<'_>, now: Timestamp) -> Option<&'static str> {
        let key = self.failing(image, now)?;
        (!self.is_of_subtree && self.selectors.is_about(image)).then_some(key)
    }

    /// Whether the rule holds for one image of a call at `now`.
    pub(crate) fn holds(&self, image: &Image<'_>, now: Timestamp) -> bool {
        self.failing(image, now).is_none()
    }

    /// Whether an image may run because it is among the rule's `children`.
    pub(crate) fn covers_child(&self, image: &Image<'_>) -> bool {
        let selects = |program: &Program, reading| program.selects(image, reading);
        let children = self.children.as_ref();
        let is_listed = children.is_some_and(|children| children.holds(Reading::Strict, selects));
        // Who allows all that a command starts has not seen what is fed to it as text.
        is_listed && !(self.is_of_subtree && inline::runs_unseen(image))
    }

    /// Whether this allow says at least as much of the call as the ask does, so that its
    /// author had the ask in view. Both hold for `image`.
    pub(crate) fn outweighs(&self, ask: &Self, image: &Image<'_>) -> bool {
        if !self.is_above(ask) {
            return false;
        }
        if self.selectors.argv.is_some() {
            return true;
        }
        let mut asked = ask.selectors.commands_of(image, Reading::Doubtful);
        let names = |flag: &Flag| {
            let mut commands = self.selectors.commands_of(image, Reading::Strict);
            commands.any(|own| own.names(flag))
        };
        self.has_selectors_of(ask)
            && self.words_named(image) >= ask.words_named(image)
            && asked.all(|asked| asked.flags.iter().all(names))
    }

    /// The same where both hold for a call of a tool, which has no words.
    pub(crate) fn overrides(&self, ask: &Self) -> bool {
        self.is_above(ask) && self.has_selectors_of(ask)
    }

    /// Whether the rule may answer questions of `ask`'s layer.
    fn is_above(&self, ask: &Self) -> bool {
        self.layer > ask.layer && ask.layer != Layer::Floor
    }

    /// Whether it has every selector that the ask has, words aside.
    fn has_selectors_of(&self, ask: &Self) -> bool {
        let has = |key: &str| self.selectors.keys().any(|own| own == key);
        let mut others = ask.selectors.keys().filter(|key| !WORDS.contains(key));
        others.all(has)
    }

    /// The first key that keeps the rule from holding for a call of a tool at `now`.
    pub(crate) fn failing_tool_call(
        &self,
        seen: &Seen<'_>,
        now: Timestamp,
    ) -> Option<&'static str> {
        if self.is_of_subtree {
            return Some("subtree");
        }
        if self.has_expired(now) {
            return Some("expires");
        }
        let reading = self.action.reading();
        let fails = |selectors: &Selectors| selectors.failing_tool_call(seen, reading);
        fails(&self.selectors).or_else(|| self.failing_charter(fails))
    }

    /// Whether the rule is written for calls of the tool, so that it is told why it does not hold.
    pub(crate) fn is_about_tool(&self, name: &str) -> bool {
        let reading = self.action.reading();
        self.selectors.is_for_tools() && self.selectors.is_about_tool(name, reading)
    }

    /// Whether the rule names the tool.
    pub(crate) fn names_tool(&self, name: &str) -> bool {
        self.selectors.names_tool(name)
    }

    /// How many words of the call the rule names.
    fn words_named(&self, image: &Image<'_>) -> usize {
        let reading = self.action.reading();
        let commands = self.selectors.commands_of(image, reading);
        let of_commands = commands.map(Command::word_count).max().unwrap_or(0);
        let programs = self.selectors.program.iter().flat_map(|list| &list.wanted);
        let mut programs = programs.filter(|program| program.covers(image, reading));
        of_commands.max(programs.any(Program::is_literal).into())
    }

    /// The files that the rule names in full.
    pub(crate) fn named_files(&self) -> impl Iterator<Item = Vec<u8>> {
        self.selectors.named_files()
    }

    /// The entries of which one means every image that the rule can hold for; none if any image
    /// will do.
    pub(crate) fn programs(&self) -> impl Iterator<Item = &Program> {
        self.selectors.programs()
    }

    /// Whether the rule selects files alone, whatever their arguments.
    pub(crate) fn is_of_program(&self) -> bool {
        self.selectors
            .keys()
            .all(|key| key == "program" || key == "sha256")
    }

    /// Whether the rule selects commands alone, whatever follows their words.
    pub(crate) fn is_of_command(&self) -> bool {
        self.selectors.keys().eq(["command"])
    }

    /// Whether the rule names what it is about by `program` or `command`.
    #[must_use]
    pub fn is_of_words(&self) -> bool {
        self.selectors.keys().any(|key| WORDS.contains(&key))
    }

    /// Whether the rule looks at history, or is looked for in it.
    pub(crate) fn is_of_lineage(&self) -> bool {
        self.selectors.via.is_some() || self.children.is_some()
    }

    /// Whether the rule looks at the environment.
    pub(crate) fn is_of_env(&self) -> bool {
        self.selectors.env.is_some()
    }

    /// Whether it looks at variables that nobody watches.
    pub(crate) fn names_any_variable(&self) -> bool {
        self.is_of_env() && self.action != Action::Allow
    }

    /// The entries of `env`.
    pub(crate) fn variables(&self) -> impl Iterator<Item = &Variable> {
        self.selectors.env.iter().flat_map(List::entries)
    }

    /// Whether the rule looks at where the files lead that a call names.
    pub(crate) fn is_of_paths(&self) -> bool {
        self.selectors.path.is_some() || self.selectors.script.is_some()
    }

    /// Whether the rule looks at where a call works.
    pub(crate) fn is_of_places(&self) -> bool {
        self.selectors.cwd.is_some()
    }

    /// Whether the rule looks at the files that a call names, or at what they are for.
    pub(crate) fn is_of_files(&self) -> bool {
        self.is_of_paths() || self.selectors.tool.is_some()
    }

    /// Whether this allow lets anybody do to `file` what its access says.
    pub(crate) fn lets_file(&self, file: &FileOperand, now: Timestamp) -> bool {
        let mut keys = self.selectors.keys();
        let is_of_files = keys.all(|key| matches!(key, "tool" | "path"));
        self.action == Action::Allow
            && is_of_files
            && !self.has_expired(now)
            && self.selectors.let_file(file)
    }

    /// Whether this allow names the variable that changed.
    pub(crate) fn passes_over(&self, change: &Change<'_>) -> bool {
        self.selectors.passes_over(change)
    }

    /// Whether the rule needs a digest.
    pub(crate) fn is_of_digest(&self) -> bool {
        self.selectors.sha256.is_some()
    }

    /// Whether the rule needs that of a script.
    pub(crate) fn is_of_script_digest(&self) -> bool {
        self.is_of_digest() && self.selectors.script.is_some()
    }

    /// Whether the rule needs a digest that nobody has taken.
    pub(crate) fn lacks_digest(&self, image: &Image<'_>) -> bool {
        self.is_of_digest() && self.selectors.lacks_digest(image)
    }
}

/// The keys that count as words, and not as selectors of their own, when an allow is held
/// against an ask.
const WORDS: [&str; 2] = ["program", "command"];
