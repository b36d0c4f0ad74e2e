//! Calls of tools that a host asks about over the control channel, before it makes them.
//!
//! Paths are followed as the host itself would get there. Where that takes too long, nobody can tell
//! where they lead, and the rules read that as they read any doubt.

use execward_policy::ToolCall;
use jiff::Timestamp;

use crate::audit::{Approver, Reason, ToolNote};
use crate::control::{ClientId, Notice, ToolCheck, ToolVerdict};
use crate::exec::{Destinations, LookupError, Patience};
use crate::gate::Gate;
use crate::judge::Judgement;
use crate::readers::Job;
use crate::tracee::Tid;

/// A call that waits for its paths to be followed.
#[derive(Debug)]
pub(crate) struct ToolQuestion {
    call: ToolCall,
    request_id: String,
    sender: Approver,
    client: ClientId,
}

impl Gate {
    /// Takes what a host asks.
    pub(crate) fn hear_tool_check(&mut self, check: ToolCheck, sender: Approver, client: ClientId) {
        let (request_id, call) = check.into_call();
        let named = call.named_paths();
        let question = ToolQuestion {
            call,
            request_id,
            sender,
            client,
        };
        match self.follow_of(sender, &named) {
            Ok(destinations) => self.judge_tool(question, destinations),
            Err(of) => {
                let id = self.readers.look_up(Job::Paths { of, named });
                self.awaiting.tool_calls.insert(id, question);
            }
        }
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
        } = question;
        call.destinations = destinations;
        let judgement = Judgement::of(self.rules.decide_tool(&call, Timestamp::now()));
        let note = ToolNote::of(&call);
        let written = self
            .ledger
            .tool_decided(note, judgement.decided(), sender, &self.watch);
        let judgement = match written {
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
