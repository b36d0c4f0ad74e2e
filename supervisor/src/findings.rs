//! What readers and the parser have found, brought to what waits for it.

use std::collections::HashMap;
use std::time::Instant;

use crate::audit::Reason;
use crate::exec::{Destinations, Image};
use crate::gate::Gate;
use crate::jobs::Found;
use crate::judge::Judgement;
use crate::readers::{Finding, JobId};
use crate::seccomp::Notification;
use crate::stop::Met;
use crate::subject::Subject;
use crate::texts::{Analysed, Ticket};
use crate::tool_check::ToolQuestion;
use crate::tracee::Tid;

/// What waits for readers, and for the parser.
#[derive(Debug, Default)]
pub(crate) struct Awaiting {
    pub(crate) execs: HashMap<JobId, (Notification, Subject)>,
    pub(crate) tool_calls: HashMap<JobId, ToolQuestion>,
    /// Images at their stops, whose files are read once more.
    pub(crate) stops: HashMap<JobId, Met>,
    pub(crate) shells: HashMap<Ticket, (Notification, Subject, Image)>,
    pub(crate) shell_calls: HashMap<Ticket, ToolQuestion>,
}

impl Awaiting {
    /// Whether readers are to be listened to.
    pub(crate) fn readers(&self) -> bool {
        !self.execs.is_empty() || !self.tool_calls.is_empty() || !self.stops.is_empty()
    }

    /// The image that process `tgid` has loaded, if its files are being read.
    pub(crate) fn take_stop(&mut self, tgid: Tid) -> Option<Met> {
        let mut stops = self.stops.extract_if(|_, image| image.tgid() == tgid);
        stops.next().map(|(_, image)| image)
    }

    /// Every image whose files are being read.
    pub(crate) fn take_stops(&mut self) -> Vec<Met> {
        self.stops.drain().map(|(_, image)| image).collect()
    }
}

impl Gate {
    /// Takes what has come in from the readers and the parser, and what is late.
    pub(crate) fn take_findings(&mut self) {
        for (ticket, analysed) in self.texts.findings(Instant::now()) {
            self.text_is_read(ticket, analysed);
        }
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
            Found::Contents(are_the_same) => {
                if let Some(image) = self.awaiting.stops.remove(&job) {
                    self.were_read_again(image, are_the_same);
                }
            }
            Found::Paths(found) => {
                if let Some(question) = self.awaiting.tool_calls.remove(&job) {
                    // Of what cannot be followed nobody can tell where it leads.
                    self.judge_tool(question, found.unwrap_or_default());
                }
            }
        }
    }

    fn text_is_read(&mut self, ticket: Ticket, analysed: Analysed) {
        if let Some(question) = self.awaiting.shell_calls.remove(&ticket) {
            return self.tool_text_is_read(question, analysed);
        }
        let Some((notification, mut subject, image)) = self.awaiting.shells.remove(&ticket) else {
            return;
        };
        if self.attached.is_busy(subject.caller.pid) {
            return self.queue(notification, subject.asked);
        }
        subject.text = Some(analysed.map_err(|error| error.to_string()));
        self.found(notification, subject, Ok(image));
    }

    fn late(&mut self, job: JobId) {
        if let Some((notification, subject)) = self.awaiting.execs.remove(&job) {
            let detail = "looking the file up took longer than a second".to_owned();
            let judgement = Judgement::refusal(Reason::ReadDeadline, detail);
            self.refuse_exec(notification, subject, &judgement);
        } else if let Some(image) = self.awaiting.stops.remove(&job) {
            self.were_read_again(image, false);
        } else if let Some(question) = self.awaiting.tool_calls.remove(&job) {
            self.judge_tool(question, Destinations::default());
        }
    }
}
