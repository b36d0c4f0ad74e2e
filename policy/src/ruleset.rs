//! A loaded policy, and the function that this crate is for.

mod decide;
mod tool_call;
mod unlisted;
mod variables;

use std::time::Duration;

use jiff::Timestamp;

use crate::diagnostic::Diagnostics;
use crate::dispatch;
use crate::image::{Image, Images};
use crate::load::{Loaded, load};
use crate::mode::Mode;
use crate::operand::{self, Part};
use crate::outlets::{Notify, Outlets};
use crate::path::absolute;
use crate::places::Places;
use crate::redaction::Redaction;
use crate::request::ExecRequest;
use crate::rule::{Action, Rule};
use crate::safe_bin::SafeBins;
use crate::settings::Modes;
use crate::source::{Includes, Source};
use crate::table::RuleTable;
use crate::tool_mode::ToolModes;
use crate::trust::Trust;
use crate::wrapper;
pub(crate) use unlisted::NotSafe;
pub use variables::Variables;

/// The rules and the modes of a policy without a fault. It never changes.
#[derive(Debug, Clone)]
pub struct Ruleset {
    pub(crate) table: RuleTable,
    pub(crate) trust: Trust,
    pub(crate) modes: Modes,
    tools: ToolModes,
    pub(crate) safe_bins: SafeBins,
    wants: Wants,
    redaction: Redaction,
    trusts_operator: bool,
    outlets: Outlets,
}

/// What some rule looks at that is dear to have.
#[expect(clippy::struct_excessive_bools, reason = "each is dear by itself")]
#[derive(Debug, Clone, Copy)]
struct Wants {
    digests: bool,
    lineage: bool,
    variables: bool,
    paths: bool,
    places: bool,
    streams: bool,
}

impl Wants {
    fn of(rules: &[Rule]) -> Self {
        Self {
            digests: rules.iter().any(Rule::is_of_digest),
            lineage: rules.iter().any(Rule::is_of_lineage),
            variables: rules.iter().any(Rule::is_of_env),
            paths: rules.iter().any(Rule::is_of_paths),
            places: rules.iter().any(Rule::is_of_places),
            streams: rules.iter().any(Rule::is_of_files),
        }
    }
}

impl Ruleset {
    /// What of a call is not written down.
    #[must_use]
    pub fn redaction(&self) -> &Redaction {
        &self.redaction
    }

    /// Reads `sources`, and what they include, as one policy.
    ///
    /// Rules of all sources count together. A key of `[mode]` is the user's, else the one that
    /// execward brings; in a layer the source named last counts. What an agent's file or a
    /// floor says of the mode is held beside it, and the stricter counts; where one of them never
    /// asks, a question of another is a refusal.
    ///
    /// # Errors
    ///
    /// Every fault of every source, if there is one at all: of the encoding, the TOML, the
    /// keys and their values; an include that cannot be read; an id that one layer has twice;
    /// rules of the user without a `security` that says what they are rules in; an example
    /// that its rule does not bear out.
    pub fn load(
        sources: &[Source<'_>],
        places: &Places,
        includes: &dyn Includes,
    ) -> Result<Self, Diagnostics> {
        let Loaded {
            rules,
            modes,
            outlets,
            tools,
            trust,
            safe_bins,
            redaction,
            trusts_operator,
        } = load(sources, places, includes)?;
        Ok(Self {
            wants: Wants::of(&rules),
            table: RuleTable::new(rules),
            trust,
            modes,
            tools,
            safe_bins,
            redaction,
            trusts_operator,
            outlets,
        })
    }

    /// The same with these rules instead of its own.
    pub(crate) fn with_rules(&self, rules: Vec<Rule>) -> Self {
        Self {
            wants: Wants::of(&rules),
            table: RuleTable::new(rules),
            ..self.clone()
        }
    }

    /// Whether [`Ruleset::decide`] could say something else of `request` if the digests of its
    /// files were there, and those of [`Ruleset::scripts`]. Taking them is dear, and few
    /// policies ask for any.
    #[must_use]
    pub fn wants_digests(&self, request: &ExecRequest, now: Timestamp) -> bool {
        let waits = |rule: &Rule, image: &Image<'_>| {
            rule.lacks_digest(image) && matches!(rule.failing(image, now), None | Some("sha256"))
        };
        if !self.wants.digests {
            return false;
        }
        let images = Images::of(request, &self.trust);
        self.table.first(images.all(), waits).is_some()
    }

    /// Those of [`Ruleset::named_paths`] that are scripts, which the program runs as its own text.
    #[must_use]
    pub fn scripts(&self, request: &ExecRequest) -> Vec<Vec<u8>> {
        let images = Images::of(request, &self.trust);
        let scripts = |image| operand::paths(image, |part| part == Part::Script);
        let mut paths: Vec<_> = images.all().flat_map(scripts).collect();
        paths.retain(|path| path.starts_with(b"/"));
        paths.sort_unstable();
        paths.dedup();
        paths
    }

    /// Whether what the call does hangs on what a file holds that the session could change: its program, an
    /// interpreter of its `#!` lines, or a script. An amendment of such a call is bound to that.
    #[must_use]
    pub fn hangs_on_content(&self, request: &ExecRequest) -> bool {
        let images = Images::of(request, &self.trust);
        let mut images = images.all();
        images.any(|image| !image.is_settled() || !image.is_trusted())
            || !self.scripts(request).is_empty()
    }

    /// Whether the command that the operator typed may run once where no rule says so. Not
    /// under the presets `strict` and `ci`.
    #[must_use]
    pub fn trusts_operator(&self) -> bool {
        self.trusts_operator
    }

    /// Whether any rule looks at the history of a call.
    #[must_use]
    pub fn wants_lineage(&self) -> bool {
        self.wants.lineage
    }

    /// Whether anything of the policy looks at the standard descriptors of a call.
    #[must_use]
    pub fn wants_streams(&self, request: &ExecRequest) -> bool {
        let program = || Image::of_program(request, &self.trust);
        self.wants.streams || self.safe_name(&program()).is_some()
    }

    /// The absolute paths of the files that a call names, as it has them, where a rule looks at
    /// where they lead; see [`ExecRequest::destinations`].
    #[must_use]
    pub fn named_paths(&self, request: &ExecRequest) -> Vec<Vec<u8>> {
        let mut paths = Vec::new();
        let images = Images::of(request, &self.trust);
        images
            .all()
            .for_each(|image| self.add_paths(image, &mut paths));
        for payload in wrapper::payloads(&images.program) {
            self.add_paths(&Image::of_program(&payload, &self.trust), &mut paths);
            paths.push(payload.program.given);
        }
        paths.retain(|path| path.starts_with(b"/"));
        paths.sort_unstable();
        paths.dedup();
        paths
    }

    /// The paths, without wildcards, of files that are denied or asked about. A bare name has
    /// one in each directory of every system.
    ///
    /// Such a file keeps its device and inode under another name; see
    /// [`ProgramFile::aliases`](crate::ProgramFile::aliases).
    pub fn named_files(&self) -> impl Iterator<Item = Vec<u8>> {
        let rules = [Action::Deny, Action::Ask].into_iter();
        rules
            .flat_map(|action| self.table.of(action))
            .flat_map(Rule::named_files)
    }

    /// The rules: denies, asks with `escalate`, other asks, allows; of each, the highest layer
    /// first, then by id.
    pub fn rules(&self) -> impl Iterator<Item = &Rule> {
        self.table.rules().iter()
    }

    /// The mode in force, without what stands beside it.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.modes.base()
    }

    /// The modes of calls of the tools that the language or a `[tools]` table names, without what
    /// stands beside them; by name.
    pub fn tool_modes(&self) -> impl Iterator<Item = (&str, Mode)> {
        let names = self.tools.names().into_iter();
        names.map(|name| (name, self.modes.of_tool(self.tools.of(name)).base()))
    }

    /// Whether no call is ever asked about: some mode in force forbids it, and then what an
    /// ask holds for is refused.
    #[must_use]
    pub fn never_asks(&self) -> bool {
        self.modes.all().any(Mode::never_asks)
    }

    /// How long a question waits for its answer.
    #[must_use]
    pub fn ask_timeout(&self) -> Duration {
        self.modes.ask_timeout
    }

    /// The control socket of the supervisor to whose people the questions of asks with `escalate` are put;
    /// where there is none, they are refusals.
    #[must_use]
    pub fn escalate_to(&self) -> Option<&str> {
        self.outlets.escalate_to.as_deref()
    }

    /// What is told of each question.
    #[must_use]
    pub fn notify(&self) -> Option<&Notify> {
        self.outlets.notify.as_ref()
    }

    fn add_paths(&self, image: &Image<'_>, paths: &mut Vec<Vec<u8>>) {
        if self.wants.paths || self.wants.places {
            let is_meant = |part| self.wants.paths || part == Part::Place;
            paths.extend(operand::paths(image, is_meant));
        }
        // What a dynamic linker starts is the program, and a script is the command of its name.
        let operands = [
            dispatch::loaded_operand(image),
            dispatch::script_operand(image),
        ];
        let cwd = image.request.cwd.as_deref();
        let operands = operands.into_iter().flatten();
        paths.extend(operands.filter_map(|(program, _)| absolute(program, cwd)));
    }
}

#[cfg(test)]
mod tests;
