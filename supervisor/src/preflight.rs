//! What the text that a shell is given will come to, before any of it runs.
//!
//! Each exec of the text is judged when it comes, so nothing is allowed here. But where a deny is sure
//! to meet a part of the text, none of it runs; and what the text does without an exec, such as writing
//! a file by a redirection, is seen here or not at all.

use execward_policy::{
    Action, Destination, ExecRequest, FileKind, Redaction, Ruleset, ShellCommand, ToolCall, Verdict,
};

use crate::audit::{ShellNote, quoted};
use crate::clock;
use crate::exec::{Destinations, Patience, View};
use crate::gate::Gate;
use crate::judge::Judgement;
use crate::kernel::Kernel;
use crate::shell::{Analysis, Place, Redirect, Segment, Step, is_harmless_builtin};
use crate::subject::Subject;

/// Most paths of a text that are followed.
const FOLLOWED_MAX: usize = 64;

/// A part of a text that can be judged.
enum Part<'a> {
    Command(&'a Segment, ShellCommand),
    File(&'a Redirect, ToolCall),
}

impl Gate {
    /// The verdict on a shell's exec, once its text is looked at: `judgement`, or a refusal. Where the
    /// paths of the text lead is put to the others of `request`.
    pub(crate) fn look_ahead(
        &mut self,
        judgement: Judgement,
        request: &mut ExecRequest,
        subject: &mut Subject,
    ) -> Judgement {
        let Some(text) = subject.text.take() else {
            return judgement;
        };
        subject
            .program
            .set_shell(note(&text, self.rules.redaction()));
        let denied = match &text {
            Ok(analysis) => {
                let (rules, kernel) = (&self.rules, &mut self.kernel);
                let mut follow = following(kernel, &subject.view);
                let mut followed = Followed::by(&mut follow);
                let denied = denied(analysis, request, rules, &mut followed);
                request.destinations.extend(followed.known);
                denied.map(|(verdict, part)| Judgement::of(verdict).within(part))
            }
            Err(_) => None,
        };
        subject.text = Some(text);
        denied.unwrap_or(judgement)
    }
}

/// How a path leads where the task of `view` would get; `None` where that would be waited for.
pub(crate) fn following<'k>(
    kernel: &'k mut Kernel,
    view: &'k View,
) -> impl FnMut(&Vec<u8>) -> Option<Destination> + 'k {
    |path| {
        let one = std::slice::from_ref(path);
        let found = kernel.destinations(view, one, Patience::Cached);
        found.ok().and_then(|mut found| found.remove(path))
    }
}

/// The denial of the first part of a text that is denied, and that part in words. The text is given to
/// the shell of `request`.
pub(crate) fn denied<'r>(
    analysis: &Analysis,
    request: &ExecRequest,
    rules: &'r Ruleset,
    followed: &mut Followed<'_>,
) -> Option<(Verdict<'r>, String)> {
    let mut shell = ExecRequest {
        destinations: Destinations::new(),
        ..request.clone()
    };
    let now = clock::now();
    let parts = parts(analysis, request.cwd.as_deref()).into_iter();
    let mut denied = parts.filter_map(|part| match part {
        Part::Command(segment, mut command) => {
            command.cwd = command.cwd.filter(|cwd| is_entered(cwd, request, followed));
            let unseen = command.request(&shell)?;
            let mut named = rules.named_paths(&unseen);
            named.push(unseen.program.given);
            shell.destinations = followed.of(named);
            let verdict = rules.denied_in_text(&command, &shell, now)?;
            Some((verdict, quoted(&rules.redaction().shown(&segment.raw))))
        }
        Part::File(redirect, mut call) => {
            call.cwd = call.cwd.filter(|cwd| is_entered(cwd, request, followed));
            if call.cwd.is_none() && !redirect.path.starts_with('/') {
                return None;
            }
            call.destinations = followed.of(call.named_paths());
            let verdict = rules.decide_tool(&call, now);
            is_denial(&verdict).then(|| (verdict, redirect.in_words()))
        }
    });
    denied.next()
}

/// Whether a shell gets there: what is no directory, it stays out of.
fn is_entered(cwd: &[u8], shell: &ExecRequest, followed: &mut Followed<'_>) -> bool {
    shell.cwd.as_deref() == Some(cwd) || followed.is_directory(cwd)
}

/// Where the paths of a text lead. Of a file system that would be waited for, of what is not there
/// yet, and of all but the first paths, the text counts.
pub(crate) struct Followed<'f> {
    follow: &'f mut dyn FnMut(&Vec<u8>) -> Option<Destination>,
    known: Destinations,
    /// How many more are followed.
    left: usize,
}

impl<'f> Followed<'f> {
    /// None yet; each is followed by `follow`.
    pub(crate) fn by(follow: &'f mut dyn FnMut(&Vec<u8>) -> Option<Destination>) -> Self {
        Self {
            follow,
            known: Destinations::new(),
            left: FOLLOWED_MAX,
        }
    }

    /// Where each of `paths` leads that is absolute.
    fn of(&mut self, paths: Vec<Vec<u8>>) -> Destinations {
        let paths = paths.into_iter().filter(|path| path.starts_with(b"/"));
        let leads = paths.map(|path| {
            let destination = match self.known.get(&path) {
                Some(destination) => destination.clone(),
                None => self.follow(&path),
            };
            self.known.insert(path.clone(), destination.clone());
            (path, destination)
        });
        leads.collect()
    }

    fn is_directory(&mut self, path: &[u8]) -> bool {
        let destinations = self.of(vec![path.to_vec()]);
        let kinds = destinations.values().map(|destination| destination.kind);
        kinds.eq([FileKind::Directory])
    }

    fn follow(&mut self, path: &Vec<u8>) -> Destination {
        let written = || Destination::as_written(path);
        if self.left == 0 {
            return written();
        }
        self.left -= 1;
        (self.follow)(path).unwrap_or_else(written)
    }
}

/// Whether a deny is met, and no question that nobody is asked.
fn is_denial(verdict: &Verdict<'_>) -> bool {
    let rule = verdict.rule();
    rule.is_some_and(|rule| rule.action() == Action::Deny)
}

/// For the record: what is known of a text, or why nothing is.
pub(crate) fn note(text: &Result<Analysis, String>, redaction: &Redaction) -> ShellNote {
    let analysis = match text {
        Ok(analysis) => analysis,
        Err(why) => return ShellNote::not_analysed(why),
    };
    let commands = analysis.segments.iter();
    let untold = analysis.refused.iter();
    ShellNote::of(
        commands.map(|segment| redaction.shown(&segment.raw)),
        untold.map(|refused| redaction.shown(&refused.in_words()).into_owned()),
    )
}

/// The parts of a text that can be judged, of a shell that works in `cwd`, in their order.
fn parts<'a>(analysis: &'a Analysis, cwd: Option<&[u8]>) -> Vec<Part<'a>> {
    let place = |place: &Place| place.below(cwd?);
    let parts = analysis.steps().filter_map(|step| match step {
        Step::Command(Segment { is_doubtful, .. })
        | Step::Redirect(Redirect { is_doubtful, .. })
            if *is_doubtful =>
        {
            None
        }
        Step::Command(segment) => command(segment, place(&segment.place)),
        Step::Redirect(redirect) if redirect.is_stream() => None,
        Step::Redirect(redirect) => file(redirect, place(&redirect.place)),
    });
    parts.collect()
}

fn command(segment: &Segment, cwd: Option<Vec<u8>>) -> Option<Part<'_>> {
    let bytes = |words: &[String]| words.iter().map(|word| word.clone().into_bytes()).collect();
    let argv = segment.argv.as_ref()?;
    if argv.first().is_some_and(|name| is_harmless_builtin(name)) {
        return None;
    }
    let command = ShellCommand {
        argv: bytes(argv),
        env: bytes(&segment.env),
        cwd,
        is_builtin: segment.is_builtin,
    };
    Some(Part::Command(segment, command))
}

/// `None` if nobody can tell which file it is.
fn file(redirect: &Redirect, cwd: Option<Vec<u8>>) -> Option<Part<'_>> {
    let mut call = ToolCall::new(redirect.tool());
    // Absolute, it is a path and nothing else: of a relative one a tool may think `~` a home.
    call.paths.push(match redirect.path.starts_with('/') {
        true => redirect.path.clone().into_bytes(),
        false => [cwd.as_deref()?, b"/", redirect.path.as_bytes()].concat(),
    });
    call.cwd = cwd;
    Some(Part::File(redirect, call))
}
