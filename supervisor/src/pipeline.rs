//! One execve, from the kernel's question to the image that runs.
//!
//! ```text
//! Notification → ExecAttempt → ExecArgs → Image → ExecRequest → Verdict → Answered
//!                                                    ExecStop → LoadedImage → verified | changed | killed
//! ```
//!
//! Invariants, each with a test: a notification is answered once; its decision record is written
//! before; what is expected is stored before CONTINUE; an exec-stop that nothing expected is
//! killed; every error refuses or kills; no task is traced but from CONTINUE to its exec-stop.

use std::time::Instant;

use execward_policy::{Decision, ExecRequest};
use nix::errno::Errno;

use crate::admission::Loads;
use crate::answer::Unread;
use crate::audit::{Caller, Program, Reason};
use crate::exec::{
    AttemptError, CaptureError, Destinations, ExecArgs, ExecAttempt, Expectation, Image,
    LookupError, Patience, Target, View,
};
use crate::gate::Gate;
use crate::jobs::{ExecJob, Job};
use crate::judge::Judgement;
use crate::parking::Asked;
use crate::remedy::Remedy;
use crate::seccomp::Notification;
use crate::shell::{self, Given};
use crate::subject::Subject;
use crate::watch::Activity;

/// Why the text of such a shell is not analysed.
const UNLIKE: &str = "its shell reads texts in a way of its own";

/// Why an exec cannot be looked at now.
enum Hindrance {
    /// Its task is gone: there is nothing to answer.
    Gone,
    /// Another exec of its thread group is in flight.
    Busy,
    /// Its process group has too many others, or they hold too much.
    Overload(Caller),
    /// The kernel would refuse its flags or strings, with this.
    Kernel(Option<Caller>, Errno),
    /// It cannot be read whole.
    Unreadable(Option<Caller>, String),
    /// Its memory did not answer in time, and it was killed.
    Stalled(Caller),
}

impl Hindrance {
    fn of(error: &CaptureError, caller: &Caller) -> Self {
        match error {
            CaptureError::Gone => Self::Gone,
            CaptureError::Kernel(errno) => Self::Kernel(Some(caller.clone()), *errno),
            CaptureError::Unreadable { .. } => {
                Self::Unreadable(Some(caller.clone()), error.to_string())
            }
        }
    }
}

impl Gate {
    /// Takes a notification: every path from here answers it once, or parks it where it will be.
    pub(crate) fn consider(&mut self, notification: Notification) {
        self.examine(notification, None);
    }

    /// The same for an exec that was asked about, and is read again.
    pub(crate) fn examine(&mut self, notification: Notification, asked: Option<Box<Asked>>) {
        let received = asked
            .as_ref()
            .map_or_else(Instant::now, |asked| asked.received);
        self.conclude_earlier(notification.tid());
        match self.capture(&notification, received, asked.as_deref()) {
            Ok(mut subject) => {
                subject.asked = asked;
                let found = self.look_up(&subject);
                self.found(notification, subject, found);
            }
            Err(hindrance) => self.hinder(notification, received, hindrance, asked),
        }
    }

    fn hinder(
        &mut self,
        notification: Notification,
        received: Instant,
        hindrance: Hindrance,
        asked: Option<Box<Asked>>,
    ) {
        let ground = Reason::Unreadable;
        let (caller, ground, detail, errno) = match hindrance {
            Hindrance::Gone => return self.lose(notification, asked),
            Hindrance::Busy => return self.queue(notification, asked),
            Hindrance::Overload(caller) => {
                let detail = "its process group has too many execs that wait".to_owned();
                (Some(caller), Reason::Overload, detail, Errno::EAGAIN)
            }
            Hindrance::Kernel(caller, errno) => {
                let detail = format!("the kernel takes no such flags or strings: {errno}");
                (caller, ground, detail, errno)
            }
            Hindrance::Unreadable(caller, detail) => (caller, ground, detail, Errno::EPERM),
            Hindrance::Stalled(caller) => {
                let detail = "its memory did not answer, and it was killed".to_owned();
                (Some(caller), Reason::ReadDeadline, detail, Errno::EPERM)
            }
        };
        let unread = Unread {
            received,
            caller,
            ground,
            detail,
            errno,
            asked,
        };
        self.refuse(notification, unread);
    }

    /// Who asks, and for which path.
    fn capture(
        &mut self,
        notification: &Notification,
        received: Instant,
        asked: Option<&Asked>,
    ) -> Result<Subject, Hindrance> {
        let tid = notification.tid();
        let unreadable = |detail: String| Hindrance::Unreadable(None, detail);
        let attempt = ExecAttempt::decode(notification.data()).map_err(|error| match error {
            AttemptError::Flags(_) => Hindrance::Kernel(None, Errno::EINVAL),
            AttemptError::Architecture(_) | AttemptError::NotExec(_) => {
                unreadable(error.to_string())
            }
        })?;
        let gone_or = |detail: String| {
            if notification.is_pending() {
                unreadable(detail)
            } else {
                Hindrance::Gone
            }
        };
        let task = self.kernel.proc.task(tid);
        let task =
            task.map_err(|errno| gone_or(format!("cannot look into thread {tid}: {errno}")))?;
        let status = task.status().map_err(|error| gone_or(error.to_string()))?;
        let caller = Caller {
            pid: status.tgid,
            tid,
        };
        if !notification.is_pending() {
            return Err(Hindrance::Gone);
        }
        if self.attached.is_busy(status.tgid) {
            return Err(Hindrance::Busy);
        }
        // What was asked about has its place since then.
        let share = asked.map(|asked| asked.share.clone());
        let share = share.or_else(|| self.room.share(status.group));
        let share = share.ok_or_else(|| Hindrance::Overload(caller.clone()))?;
        let activity = Activity::Reading(tid);
        let args = self
            .watch
            .during(activity, || ExecArgs::name(&attempt, tid));
        let args = self.read(args, &caller)?;
        let mut program = Program::of(&caller);
        program.set_ids(&status);
        program.set_path(&args.path);
        let view = View::of(task, status, &self.kernel.session);
        let view =
            view.map_err(|errno| gone_or(format!("cannot see the root of {tid}: {errno}")))?;
        Ok(Subject {
            received,
            caller,
            program,
            attempt,
            args,
            view,
            share,
            cwd: Vec::new(),
            is_digested: false,
            scripts: Vec::new(),
            named: None,
            destinations: Destinations::new(),
            text: None,
            asked: None,
        })
    }

    /// With which arguments, environment and working directory.
    fn complete(&mut self, subject: &mut Subject) -> Result<(), Hindrance> {
        let (attempt, tid) = (subject.attempt, subject.caller.tid);
        let args = &mut subject.args;
        let completed = self
            .watch
            .during(Activity::Reading(tid), || args.complete(&attempt, tid));
        self.read(completed, &subject.caller)?;
        if !subject.share.hold(subject.args.weight_bytes()) {
            return Err(Hindrance::Overload(subject.caller.clone()));
        }
        subject.cwd = subject.view.task().link_text("cwd").unwrap_or_default();
        subject.keep_strings(&self.rules);
        Ok(())
    }

    /// What was read of the caller's memory. Of a task that was killed meanwhile the kernel shows zeros.
    fn read<T>(&self, read: Result<T, CaptureError>, caller: &Caller) -> Result<T, Hindrance> {
        if self.watch.has_killed(caller.tid) {
            return Err(Hindrance::Stalled(caller.clone()));
        }
        read.map_err(|error| Hindrance::of(&error, caller))
    }

    /// Which file that is, by what the kernel has cached.
    fn look_up(&mut self, subject: &Subject) -> Result<Image, LookupError> {
        let target = Target::of(&subject.attempt, &subject.args.path);
        self.kernel.find(&subject.view, target, Patience::Cached)
    }

    /// Goes on with what a look-up found, here or in a reader.
    pub(crate) fn found(
        &mut self,
        notification: Notification,
        subject: Subject,
        found: Result<Image, LookupError>,
    ) {
        if !notification.is_pending() {
            return self.lose(notification, subject.asked);
        }
        match found {
            Ok(image) => self.settle(notification, subject, image),
            Err(LookupError::Kernel(errno)) if is_kernels_answer(errno) => {
                let errno = Errno::from_raw(errno.raw_os_error());
                self.miss(notification, subject, errno);
            }
            Err(LookupError::NotExecutable) => self.miss(notification, subject, Errno::EACCES),
            Err(LookupError::WouldWait) => self.hand_to_reader(notification, subject),
            Err(error @ (LookupError::Kernel(_) | LookupError::Leased | LookupError::Unplaced)) => {
                let detail = format!("cannot look the file up: {error}");
                let judgement = Judgement::refusal(Reason::Unreadable, detail);
                self.refuse_exec(notification, subject, &judgement);
            }
        }
    }

    /// Lets a reader find the file, its digest if a rule wants it, and where the paths lead that
    /// the call names: any of it may take long.
    pub(crate) fn hand_to_reader(&mut self, notification: Notification, subject: Subject) {
        let job = ExecJob {
            tid: notification.tid(),
            attempt: subject.attempt,
            path: subject.args.path.clone(),
            takes_digests: subject.is_digested,
            named: subject.named.clone().unwrap_or_default(),
            scripts: subject.scripts.clone(),
        };
        let id = self.readers.look_up(Job::Exec(job.into()));
        self.awaiting.execs.insert(id, (notification, subject));
    }

    /// Lets the parser read the text that a shell is given.
    fn hand_to_parser(
        &mut self,
        notification: Notification,
        subject: Subject,
        image: Image,
        text: Vec<u8>,
    ) {
        let ticket = self.texts.analyse(text);
        self.awaiting
            .shells
            .insert(ticket, (notification, subject, image));
    }

    /// Asks the policy, and does as it says.
    fn settle(&mut self, notification: Notification, mut subject: Subject, image: Image) {
        subject.keep_file(&image, &self.rules);
        if let Err(hindrance) = self.complete(&mut subject) {
            return self.hinder(notification, subject.received, hindrance, subject.asked);
        }
        let (lineage, history) = self.lineage_of(subject.view.status());
        let (argv, cwd) = (&subject.args.argv, &subject.cwd);
        let task = &subject.view.status().credentials;
        let mut request = self.describer.describe(&image, task, argv, cwd, lineage);
        self.add_surroundings(&mut request, subject.view.task(), subject.args.envp.clone());
        if subject.named.is_none() {
            let named = self.rules.named_paths(&request);
            let found = self
                .kernel
                .destinations(&subject.view, &named, Patience::Cached);
            subject.named = Some(named);
            match found {
                Ok(destinations) => subject.destinations = destinations,
                Err(_) => return self.hand_to_reader(notification, subject),
            }
        }
        request.destinations.clone_from(&subject.destinations);
        if !subject.is_digested && self.wants_digests(&request, &subject) {
            return self.take_digests(notification, subject, &request);
        }
        let judgement = self.judge(&request, &subject);
        if judgement.decision != Decision::Deny && subject.text.is_none() {
            match shell::given_text(&request) {
                Some(Given::Text(text)) => {
                    let text = text.to_vec();
                    return self.hand_to_parser(notification, subject, image, text);
                }
                Some(Given::Unlike) => subject.text = Some(Err(UNLIKE.to_owned())),
                None => {}
            }
        }
        let judgement = self.look_ahead(judgement, &mut request, &mut subject);
        subject.keep_inputs(&request, &self.rules, history);
        let mut judgement = self.weigh(judgement, &subject, &image);
        if !subject.is_digested && self.asks_about_content(&judgement, &request, &image) {
            return self.take_digests(notification, subject, &request);
        }
        if judgement.decision == Decision::Deny && judgement.ground == Reason::NoApprover {
            judgement.remedy = Some(Remedy::of(&self.rules, &request));
        }
        let is_new = subject.asked.is_none();
        self.dispose(notification, subject, image, judgement, &request);
        if is_new {
            self.recent.note(request);
        }
    }

    /// Does as the policy says.
    fn dispose(
        &mut self,
        notification: Notification,
        subject: Subject,
        image: Image,
        judgement: Judgement,
        request: &ExecRequest,
    ) {
        match judgement.decision {
            Decision::Allow | Decision::Ask
                if image.has_unreadable() && !self.kernel.is_privileged() =>
            {
                let detail = "the file may be executed and not read, so what is loaded cannot be \
                              checked; make it readable for the session's user"
                    .to_owned();
                let judgement = judgement.or_refusal(Reason::Unverifiable, detail);
                self.refuse_exec(notification, subject, &judgement);
            }
            Decision::Allow => {
                let loads = Loads {
                    expectation: subject.expectation(&image),
                    history: self.history(&judgement, request, subject.view.status()),
                    image: Some(image),
                };
                self.admit(notification, subject, loads, &judgement);
            }
            Decision::Ask => self.ask(notification, subject, image, judgement, request),
            Decision::Deny => self.refuse_exec(notification, subject, &judgement),
        }
    }

    /// There is no such file for the task. Where the gate's look-up must end as the kernel's would,
    /// it is answered here; else the kernel looks, and may find nothing.
    fn miss(&mut self, notification: Notification, subject: Subject, errno: Errno) {
        if subject
            .view
            .status()
            .credentials
            .look_up_like(&self.kernel.own)
        {
            return self.answer_missing(notification, subject, errno);
        }
        let nothing = Loads {
            expectation: Expectation::new(None, &[], &[], Vec::new(), false),
            history: None,
            image: None,
        };
        self.admit(notification, subject, nothing, &Judgement::missing());
    }
}

/// Errnos of execve(2) by which a path leads to no file; others are the gate's own trouble.
fn is_kernels_answer(errno: rustix::io::Errno) -> bool {
    use rustix::io::Errno;
    matches!(
        errno,
        Errno::NOENT
            | Errno::NOTDIR
            | Errno::LOOP
            | Errno::ACCESS
            | Errno::NAMETOOLONG
            | Errno::BADF
    )
}
