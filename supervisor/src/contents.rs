//! What the files of an exec hold, where a decision or an answer hangs on that. It takes a reader: few do.

use execward_policy::{Decision, ExecRequest};

use crate::clock;
use crate::exec::Image;
use crate::gate::Gate;
use crate::judge::Judgement;
use crate::seccomp::Notification;
use crate::subject::Subject;

/// Largest file of which what it holds is asked about. More is asked about by size and times: a second, the
/// time that a reader has, may be too short for it.
const ASKED_MAX_BYTES: u64 = 128 << 20;

impl Gate {
    /// Whether the digests are to be taken before it is judged: a rule looks at them, or they were taken when
    /// somebody was asked.
    pub(crate) fn wants_digests(&self, request: &ExecRequest, subject: &Subject) -> bool {
        let were_taken = subject.asked.as_ref().is_some_and(|it| it.is_digested);
        were_taken || self.rules.wants_digests(request, clock::now())
    }

    /// Whether they are to be taken before somebody is asked: an answer is about what is there then. Who writes
    /// to a file through a mapping, to a page that was written to before, changes neither size nor times.
    pub(crate) fn asks_about_content(
        &self,
        judgement: &Judgement,
        request: &ExecRequest,
        image: &Image,
    ) -> bool {
        let mut sizes = image.files().iter().map(|file| file.facts().size);
        judgement.decision == Decision::Ask
            && self.rules.hangs_on_content(request)
            && sizes.all(|size| size <= ASKED_MAX_BYTES)
    }

    /// Has a reader take them, of the scripts too.
    pub(crate) fn take_digests(
        &mut self,
        notification: Notification,
        mut subject: Subject,
        request: &ExecRequest,
    ) {
        subject.is_digested = true;
        subject.scripts = self.rules.scripts(request);
        self.hand_to_reader(notification, subject);
    }
}
