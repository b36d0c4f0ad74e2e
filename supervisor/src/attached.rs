//! The tasks that are traced: from just before CONTINUE until their exec is known to have loaded
//! or failed. At most one exec of a thread group is among them.
//!
//! ```text
//! seize ──► in flight ──► exec-stop: verified, changed, killed
//!               │
//!               ├──► another stop, or a new exec of the same thread: failed
//!               ├──► its end, or its process's: vanished
//!               └──► releasing (the answer found nobody): let go at its next stop
//! ```

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use execward_policy::Ancestor;

use crate::audit::ExecId;
use crate::exec::{Destinations, ExecArgs, ExecAttempt, Expectation, Image};
use crate::room::Share;
use crate::tracee::{TaskDir, Tid};

/// How long an exec may stay unknown before its task is asked to stop: one that failed makes no
/// stop of its own. Long enough for a load from a slow disk to be over most of the time.
const INTERRUPT_AFTER: Duration = Duration::from_millis(10);

/// An exec that the kernel goes on with.
#[derive(Debug)]
pub(crate) struct InFlight {
    pub(crate) exec_id: ExecId,
    pub(crate) tgid: Tid,
    /// The caller's directory of proc: a leader's is its process's, before and after.
    pub(crate) task: Option<TaskDir>,
    pub(crate) attempt: ExecAttempt,
    pub(crate) args: ExecArgs,
    pub(crate) expectation: Expectation,
    /// What the process will be to its descendants, and its parent, if that is asked for.
    pub(crate) history: Option<(Arc<Ancestor>, Tid)>,
    /// Where the paths led that the call names, when it was judged.
    pub(crate) destinations: Destinations,
    /// Held so that no other file gets its inode numbers; none for a missing target.
    pub(crate) image: Option<Image>,
    /// Its place among all that are held, until this is dropped.
    pub(crate) _share: Share,
}

/// A traced task.
#[derive(Debug)]
pub(crate) enum Attachment {
    /// Its exec goes on.
    InFlight(Box<InFlight>),
    /// Nothing is expected of it any more.
    Releasing {
        /// Its process.
        tgid: Tid,
    },
}

/// All traced tasks, by thread.
#[derive(Debug, Default)]
pub(crate) struct Attached {
    by_tid: HashMap<Tid, Attachment>,
    interrupts: HashMap<Tid, Instant>,
}

impl Attached {
    /// Whether an exec of process `tgid` is in flight: no other thread of it may be seized, or
    /// looked into, until its outcome is known.
    pub(crate) fn is_busy(&self, tgid: Tid) -> bool {
        self.by_tid.values().any(|attachment| match attachment {
            Attachment::InFlight(exec) => exec.tgid == tgid,
            Attachment::Releasing { .. } => false,
        })
    }

    /// Whether `tid` is ours already.
    pub(crate) fn has(&self, tid: Tid) -> bool {
        self.by_tid.contains_key(&tid)
    }

    /// Whether an exec of the thread itself is in flight.
    pub(crate) fn is_in_flight(&self, tid: Tid) -> bool {
        matches!(self.by_tid.get(&tid), Some(Attachment::InFlight(_)))
    }

    /// How many execs are.
    pub(crate) fn in_flight(&self) -> usize {
        let in_flight = |it: &&Attachment| matches!(it, Attachment::InFlight(_));
        self.by_tid.values().filter(in_flight).count()
    }

    /// The process of a traced thread.
    pub(crate) fn tgid_of(&self, tid: Tid) -> Option<Tid> {
        self.by_tid.get(&tid).map(Attachment::tgid)
    }

    /// Stores what is expected of `tid`, before the kernel is told to go on.
    pub(crate) fn expect(&mut self, tid: Tid, exec: InFlight, now: Instant) {
        self.by_tid
            .insert(tid, Attachment::InFlight(Box::new(exec)));
        self.interrupts.insert(tid, now + INTERRUPT_AFTER);
    }

    /// From now on nothing is expected of `tid`; what was, is returned.
    pub(crate) fn release(&mut self, tid: Tid, tgid: Tid) -> Option<InFlight> {
        self.interrupts.remove(&tid);
        match self.by_tid.insert(tid, Attachment::Releasing { tgid })? {
            Attachment::InFlight(exec) => Some(*exec),
            Attachment::Releasing { .. } => None,
        }
    }

    /// Forgets `tid`, which is let go or gone.
    pub(crate) fn take(&mut self, tid: Tid) -> Option<Attachment> {
        self.interrupts.remove(&tid);
        self.by_tid.remove(&tid)
    }

    /// Forgets `tid`, which is gone, and with a process its threads: one that was killed in its exec-stop
    /// ends under the number of its process (ptrace(2), "execve(2) under ptrace"). Returns the execs
    /// that were in flight, each with its thread.
    pub(crate) fn take_ended(&mut self, tid: Tid) -> Vec<(Tid, InFlight)> {
        let ended = |thread: &Tid, it: &mut Attachment| *thread == tid || it.tgid() == tid;
        let gone: Vec<_> = self.by_tid.extract_if(ended).collect();
        for (thread, _) in &gone {
            self.interrupts.remove(thread);
        }
        in_flight(gone)
    }

    /// Forgets everybody. Returns the execs that were in flight, each with its thread.
    pub(crate) fn take_all(&mut self) -> Vec<(Tid, InFlight)> {
        self.interrupts.clear();
        in_flight(self.by_tid.drain())
    }

    /// The exec behind an exec-stop of `tgid` by its thread `former`. The other threads of the
    /// process are gone with their entries.
    pub(crate) fn take_loaded(&mut self, former: Tid, tgid: Tid) -> Option<InFlight> {
        let found = self.take(former);
        self.by_tid
            .retain(|_, attachment| attachment.tgid() != tgid);
        let known = &self.by_tid;
        self.interrupts.retain(|tid, _| known.contains_key(tid));
        match found? {
            Attachment::InFlight(exec) if exec.tgid == tgid => Some(*exec),
            Attachment::InFlight(_) | Attachment::Releasing { .. } => None,
        }
    }

    /// When the next task is to be asked to stop.
    pub(crate) fn next_interrupt(&self) -> Option<Instant> {
        self.interrupts.values().min().copied()
    }

    /// The tasks that are to be asked to stop at `now`, once each.
    pub(crate) fn overdue(&mut self, now: Instant) -> Vec<Tid> {
        let due = self.interrupts.extract_if(|_, at| *at <= now);
        due.map(|(tid, _)| tid).collect()
    }
}

impl Attachment {
    fn tgid(&self) -> Tid {
        match self {
            Self::InFlight(exec) => exec.tgid,
            Self::Releasing { tgid } => *tgid,
        }
    }
}

/// Those of `gone` that were in an exec, each with its thread.
fn in_flight(gone: impl IntoIterator<Item = (Tid, Attachment)>) -> Vec<(Tid, InFlight)> {
    let execs = gone.into_iter().filter_map(|(thread, it)| match it {
        Attachment::InFlight(exec) => Some((thread, *exec)),
        Attachment::Releasing { .. } => None,
    });
    execs.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const GROUP: Tid = Tid::new(10);

    fn exec(tgid: Tid) -> InFlight {
        InFlight {
            exec_id: ExecId(1),
            tgid,
            task: None,
            attempt: ExecAttempt {
                pointer_bytes: 8,
                path: 0,
                argv: 0,
                envp: 0,
                dirfd: 0,
                flags: Default::default(),
            },
            args: ExecArgs {
                path: vec![],
                argv: vec![],
                envp: Arc::default(),
            },
            expectation: Expectation::new(None, &[], &[], vec![], false),
            history: None,
            destinations: Destinations::new(),
            image: None,
            _share: Share::for_tests(),
        }
    }

    #[test]
    fn a_group_is_busy_until_its_exec_is_known() {
        let mut attached = Attached::default();
        attached.expect(Tid::new(11), exec(GROUP), Instant::now());
        assert!(attached.is_busy(GROUP) && !attached.is_busy(Tid::new(11)));
        assert!(attached.take_loaded(Tid::new(11), GROUP).is_some());
        assert!(!attached.is_busy(GROUP) && attached.next_interrupt().is_none());
    }

    #[test]
    fn a_loaded_image_takes_the_other_threads_of_its_process_along() {
        let mut attached = Attached::default();
        attached.release(Tid::new(12), GROUP);
        attached.release(Tid::new(21), Tid::new(20));
        attached.expect(Tid::new(11), exec(GROUP), Instant::now());
        assert!(attached.take_loaded(Tid::new(11), GROUP).is_some());
        assert!(!attached.has(Tid::new(12)) && attached.has(Tid::new(21)));
    }

    #[test]
    fn a_stop_that_nothing_was_expected_of_has_no_exec() {
        let mut attached = Attached::default();
        assert!(attached.take_loaded(Tid::new(11), GROUP).is_none());
        attached.release(Tid::new(11), GROUP);
        assert!(attached.take_loaded(Tid::new(11), GROUP).is_none());
        attached.expect(Tid::new(11), exec(Tid::new(99)), Instant::now());
        assert!(attached.take_loaded(Tid::new(11), GROUP).is_none());
    }

    #[test]
    fn a_process_that_ends_takes_the_execs_of_its_threads_along() {
        let mut attached = Attached::default();
        attached.release(Tid::new(12), GROUP);
        attached.expect(Tid::new(11), exec(GROUP), Instant::now());
        attached.expect(Tid::new(21), exec(Tid::new(20)), Instant::now());
        let ended = attached.take_ended(GROUP);
        assert!(matches!(&*ended, [(tid, _)] if *tid == Tid::new(11)));
        assert!(!attached.has(Tid::new(12)) && attached.has(Tid::new(21)));
        assert_eq!(attached.take_ended(Tid::new(21)).len(), 1);
        assert!(attached.next_interrupt().is_none());
    }

    #[test]
    fn each_task_is_asked_to_stop_once() {
        let mut attached = Attached::default();
        let now = Instant::now();
        attached.expect(Tid::new(11), exec(GROUP), now);
        assert!(attached.overdue(now).is_empty());
        assert_eq!(attached.overdue(now + INTERRUPT_AFTER), [Tid::new(11)]);
        assert!(attached.overdue(now + INTERRUPT_AFTER).is_empty());
        assert!(attached.is_busy(GROUP));
    }
}
