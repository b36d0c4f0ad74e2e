//! What readers have found, brought to what waits for it.

use std::collections::HashMap;
use std::time::Instant;

use crate::audit::Reason;
use crate::exec::{Destinations, Image};
use crate::gate::Gate;
use crate::judge::Judgement;
use crate::pipeline::Subject;
use crate::readers::{Finding, Found, JobId};
use crate::seccomp::Notification;
use crate::tool_check::ToolQuestion;

/// What waits for readers.
#[derive(Debug, Default)]
pub(crate) struct Awaiting {
    pub(crate) execs: HashMap<JobId, (Notification, Subject)>,
    pub(crate) tool_calls: HashMap<JobId, ToolQuestion>,
}

impl Awaiting {
    pub(crate) fn is_empty(&self) -> bool {
        self.execs.is_empty() && self.tool_calls.is_empty()
    }
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

    fn found_by_reader(&mut self, job: JobId, found: Found<Image>) {
        match found {
            Found::Exec(found) => {
                let Some((notification, mut subject)) = self.awaiting.execs.remove(&job) else {
                    return;
                };
                if self.attached.is_busy(subject.caller.pid) {
                    return self.queue(notification, subject.asked);
                }
                let found = found.map(|(image, destinations)| {
                    subject.destinations = destinations;
                    image
                });
                self.found(notification, subject, found);
            }
            Found::Paths(found) => {
                if let Some(question) = self.awaiting.tool_calls.remove(&job) {
                    // Of what cannot be followed nobody can tell where it leads.
                    self.judge_tool(question, found.unwrap_or_default());
                }
            }
        }
    }

    fn late(&mut self, job: JobId) {
        if let Some((notification, subject)) = self.awaiting.execs.remove(&job) {
            let detail = "looking the file up took longer than a second".to_owned();
            let judgement = Judgement::refusal(Reason::ReadDeadline, detail);
            self.refuse_exec(notification, subject, &judgement);
        } else if let Some(question) = self.awaiting.tool_calls.remove(&job) {
            self.judge_tool(question, Destinations::default());
        }
    }
}
