//! Calls of tools that a host asks about over the control channel, before it makes them.
//!
//! Paths are followed as the host itself would get there. Where that takes too long, nobody can tell
//! where they lead, and the rules read that as they read any doubt.

use execward_policy::{Decision, ExecRequest, ProgramFile, ToolCall};

use crate::audit::{Approver, Reason, ToolNote};
use crate::clock;
use crate::control::{ClientId, Notice, ToolCheck, ToolVerdict};
use crate::exec::{Destinations, LookupError, Patience};
use crate::gate::Gate;
use crate::jobs::Job;
use crate::judge::Judgement;
use crate::preflight::{self, Followed};
use crate::shell::Analysis;
use crate::texts::Analysed;
use crate::tracee::Tid;

/// A call that waits for its paths to be followed.
#[derive(Debug)]
pub(crate) struct ToolQuestion {
    call: ToolCall,
    request_id: String,
    sender: Approver,
    client: ClientId,
    /// What is known of the text that it gives to a shell, once that was asked.
    text: Option<Result<Analysis, String>>,
}

impl Gate {
    /// Takes what a host asks.
    pub(crate) fn hear_tool_check(&mut self, check: ToolCheck, sender: Approver, client: ClientId) {
        let (request_id, call) = check.into_call();
        let text = call.shell_text().map(<[u8]>::to_vec);
        let question = ToolQuestion {
            call,
            request_id,
            sender,
            client,
            text: None,
        };
        match text {
            Some(text) => {
                let ticket = self.texts.analyse(text);
                self.awaiting.shell_calls.insert(ticket, question);
            }
            None => self.follow(question),
        }
    }

    /// Goes on with what is known of the text of a question.
    pub(crate) fn tool_text_is_read(&mut self, mut question: ToolQuestion, analysed: Analysed) {
        question.text = Some(analysed.map_err(|error| error.to_string()));
        self.follow(question);
    }

    /// Judges a question once its paths are followed.
    fn follow(&mut self, question: ToolQuestion) {
        let named = question.call.named_paths();
        let sender = question.sender;
        match self.follow_of(sender, &named) {
            Ok(destinations) => self.judge_tool(question, destinations),
            Err(of) => {
                let id = self.readers.look_up(Job::Paths { of, named });
                self.awaiting.tool_calls.insert(id, question);
            }
        }
    }

    /// The refusal of a part of the text that a call gives to a shell, as if the sender's own `sh` were
    /// given it.
    fn denied_in_text_of(
        &mut self,
        call: &ToolCall,
        analysis: &Analysis,
        sender: Approver,
    ) -> Option<Judgement> {
        let view = self.kernel.view(Tid::new(sender.pid)).ok()?;
        let text = call.shell_text().unwrap_or_default().to_vec();
        let argv = vec![b"sh".to_vec(), b"-c".to_vec(), text];
        let shell = ExecRequest {
            cwd: call.cwd.clone(),
            ..ExecRequest::new(ProgramFile::at("/bin/sh"), argv)
        };
        let mut follow = preflight::following(&mut self.kernel, &view);
        let mut followed = Followed::by(&mut follow);
        let denied = preflight::denied(analysis, &shell, &self.rules, &mut followed);
        denied.map(|(verdict, part)| Judgement::of(verdict).within(part))
    }

    /// Where the paths lead for the sender; none of them if that cannot be told.
    ///
    /// # Errors
    /// Who to follow them as, if that may take long.
    fn follow_of(&mut self, sender: Approver, paths: &[Vec<u8>]) -> Result<Destinations, Tid> {
        let tid = Tid::new(sender.pid);
        let Ok(view) = self.kernel.view(tid) else {
            return Ok(Destinations::default());
        };
        match self.kernel.destinations(&view, paths, Patience::Cached) {
            Ok(destinations) => Ok(destinations),
            Err(LookupError::WouldWait) => Err(tid),
            Err(_) => Ok(Destinations::default()),
        }
    }

    /// Says what the policy says of the call; the record precedes it.
    pub(crate) fn judge_tool(&mut self, question: ToolQuestion, destinations: Destinations) {
        let ToolQuestion {
            mut call,
            request_id,
            sender,
            client,
            text,
        } = question;
        call.destinations = destinations;
        let judgement = Judgement::of(self.rules.decide_tool(&call, clock::now()));
        let judgement = match &text {
            Some(Ok(analysis)) if judgement.decision != Decision::Deny => {
                let denied = self.denied_in_text_of(&call, analysis, sender);
                denied.unwrap_or(judgement)
            }
            Some(_) | None => judgement,
        };
        let redaction = self.rules.redaction();
        let shell = text.as_ref().map(|text| preflight::note(text, redaction));
        let note = ToolNote::of(&call, shell, redaction);
        let written = self
            .ledger
            .tool_decided(note, judgement.decided(), sender, &self.watch);
        let judgement = match written {
            // Logged or not, it is only observed.
            Ok(()) | Err(_) if self.is_observed => judgement.unheeded(),
            Ok(()) => judgement,
            Err(error) => {
                Judgement::refusal(Reason::SupError, format!("it cannot be logged: {error}"))
            }
        };
        let verdict = ToolVerdict::new(request_id, &judgement);
        self.parking
            .tell(Notice::ToolJudged(client, Box::new(verdict)));
    }
}
