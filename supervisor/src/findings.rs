//! What readers have found, brought to what waits for it.

use std::time::Instant;

use crate::audit::Reason;
use crate::exec::{Destinations, Image, LookupError};
use crate::gate::Gate;
use crate::judge::Judgement;
use crate::pipeline::Subject;
use crate::readers::{Finding, JobId};
use crate::seccomp::Notification;
use crate::tool_check::ToolQuestion;

/// What waits for a reader.
#[derive(Debug)]
pub(crate) enum Awaiting {
    Exec(Box<(Notification, Subject)>),
    ToolCall(ToolQuestion),
}

impl Gate {
    /// Takes what has come in from the readers, and what is late.
    pub(crate) fn take_findings(&mut self) {
        for finding in self.readers.findings(Instant::now()) {
            match finding {
                Finding::Done(job, found) => self.found_by_reader(job, found),
                Finding::Late(job) => self.late(job),
                Finding::AllStuck => {
                    tracing::error!("every reader waits for a file system: ending the session");
                    self.end_session();
                }
            }
        }
    }

    fn found_by_reader(
        &mut self,
        job: JobId,
        found: Result<(Option<Image>, Destinations), LookupError>,
    ) {
        match self.awaiting.remove(&job) {
            Some(Awaiting::Exec(exec)) => {
                let (notification, subject) = *exec;
                if self.attached.is_busy(subject.caller.pid) {
                    self.queue(notification, subject.asked);
                } else {
                    self.brought(notification, subject, found);
                }
            }
            Some(Awaiting::ToolCall(question)) => {
                let destinations = found.map(|(_, destinations)| destinations);
                self.judge_tool(question, destinations.unwrap_or_default());
            }
            None => {}
        }
    }

    fn late(&mut self, job: JobId) {
        match self.awaiting.remove(&job) {
            Some(Awaiting::Exec(exec)) => {
                let (notification, subject) = *exec;
                let detail = "looking the file up took longer than a second".to_owned();
                let judgement = Judgement::refusal(Reason::ReadDeadline, detail);
                self.refuse_exec(notification, subject, &judgement);
            }
            Some(Awaiting::ToolCall(question)) => {
                self.judge_tool(question, Destinations::default());
            }
            None => {}
        }
    }
}
