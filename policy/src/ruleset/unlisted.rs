//! What no rule names: safe bins, and what a wrapper or a shell will start.

use jiff::Timestamp;

use super::Ruleset;
use crate::image::{Image, Images, Reading};
use crate::operand::{Access, FileOperand, STREAM_ACCESSES};
use crate::path::file_name;
use crate::request::{ExecRequest, Stream};
use crate::rule::{Action, Rule};
use crate::safe_bin::Unsafe;
use crate::shell_command::ShellCommand;
use crate::verdict::{Decision, Verdict};
use crate::watch::Change;
use crate::wrapper;

/// Why a call of a safe bin is not safe.
#[derive(Debug)]
pub(crate) enum NotSafe<'r> {
    Arguments(Unsafe<'r>),
    /// No rule lets it use the file on that descriptor.
    Stream(usize),
    Change(Change<'r>),
}

impl Ruleset {
    /// Whether the call is that of a safe bin: its file, its arguments, its environment, and what
    /// it reads and writes.
    pub(super) fn is_safe_bin(&self, image: &Image<'_>, now: Timestamp) -> bool {
        self.safe_name(image).is_some() && self.unsafe_bin(image, now).is_none()
    }

    /// The name by which the image is one of the safe bins, if its file is the one that the name
    /// says.
    pub(crate) fn safe_name<'i>(&self, image: &'i Image<'_>) -> Option<&'i [u8]> {
        let mut names = image.names(Reading::Strict);
        let name = names.find_map(|path| {
            let name = file_name(path);
            (self.safe_bins.has(name) && image.is_vouched_for(path)).then_some(name)
        });
        name.filter(|_| !image.is_script() && !image.is_disguised())
    }

    /// Why a call of a safe bin is not safe.
    pub(crate) fn unsafe_bin<'r>(&self, image: &Image<'r>, now: Timestamp) -> Option<NotSafe<'r>> {
        let name = self.safe_name(image).unwrap_or_default();
        if let Err(why) = self.safe_bins.judge(name, image.arguments()) {
            return Some(NotSafe::Arguments(why));
        }
        let mut streams = image.request.streams.iter().zip(STREAM_ACCESSES);
        let is_refused = |(stream, accesses): (&Stream, &'static [Access])| match stream {
            Stream::Plain => false,
            Stream::Unknown => true,
            Stream::File(path) => {
                !self.allows_file(image, &FileOperand::of_stream(path, accesses), now)
            }
        };
        if let Some(number) = streams.position(is_refused) {
            return Some(NotSafe::Stream(number));
        }
        image.changes().into_iter().next().map(NotSafe::Change)
    }

    /// Whether a rule allows whoever does nothing else to do this to that file.
    fn allows_file(&self, image: &Image<'_>, file: &FileOperand, now: Timestamp) -> bool {
        let lets = |rule: &Rule, _: &Image<'_>| rule.lets_file(file, now);
        self.table.first_of(Action::Allow, [image], lets).is_some()
    }

    /// The rule that denies what a wrapper will start, or that in turn.
    pub(super) fn denied_payload(&self, program: &Image<'_>, now: Timestamp) -> Option<&Rule> {
        wrapper::payloads(program)
            .find_map(|payload| self.denied_unseen(&payload, |rule, image| rule.holds(image, now)))
    }

    /// The denial of `command` in the text of `shell`, or of what that starts in turn. Its exec is
    /// judged when it comes; this says beforehand what surely will be denied then, and may miss some
    /// of it.
    #[must_use]
    pub fn denied_in_text(
        &self,
        command: &ShellCommand,
        shell: &ExecRequest,
        now: Timestamp,
    ) -> Option<Verdict<'_>> {
        let request = command.request(shell)?;
        let is_meant = |rule: &Rule| {
            let has_place = command.cwd.is_some() || !(rule.is_of_paths() || rule.is_of_places());
            has_place && (!command.is_builtin || rule.is_of_words())
        };
        let denies = |rule: &Rule, image: &Image<'_>| is_meant(rule) && rule.holds(image, now);
        let payloads = wrapper::payloads(&Image::of_program(&request, &self.trust));
        let mut calls = [request.clone()].into_iter().chain(payloads);
        let rule = calls.find_map(|call| self.denied_unseen(&call, denies));
        rule.map(|rule| Verdict::of_rule(Decision::Deny, rule))
    }

    /// The rule that denies a call whose file nobody has looked up.
    fn denied_unseen(
        &self,
        call: &ExecRequest,
        holds: impl Fn(&Rule, &Image<'_>) -> bool,
    ) -> Option<&Rule> {
        // A digest is taken when the call is made, which is denied then.
        let denies =
            |rule: &Rule, image: &Image<'_>| !rule.lacks_digest(image) && holds(rule, image);
        let images = Images::of(call, &self.trust);
        self.table.first_of(Action::Deny, images.all(), denies)
    }
}
