//! Answers that are meant for longer than once: from a person's word to a rule that counts, and back.
//!
//! A change is recorded before it counts. What is allowed of a file that the session could change, or of
//! a script, is bound to its content as it was when it was asked about.

use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use execward_policy::{Content, Digest, Layer, RuleKey};
use rustix::process::{PidfdFlags, pidfd_open};

use crate::audit::{Approver, GrantNote, LogError};
use crate::consent::Said;
use crate::control::{ClientId, Notice, ShownGrant};
use crate::exec::Image;
use crate::gate::Gate;
use crate::grants::{Grant, Moved, NotGranted, OfSession, Span};
use crate::offered::Word;
use crate::parking::Asked;
use crate::subject::Subject;

/// Why an answer is not kept: what it was about is refused.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotKept {
    #[error("what it holds could not be read in time, so nothing can be bound to it; answer once")]
    NoContent,
    #[error("its process is gone")]
    Gone,
    #[error("{0}")]
    NotGranted(#[from] NotGranted),
    #[error("it cannot be logged: {0}")]
    Log(#[from] LogError),
}

impl Gate {
    /// Keeps the answer to the question about an exec that is about to go on, if it is to last. Returns
    /// the rule by which more may run below.
    ///
    /// # Errors
    /// If it cannot be kept.
    pub(crate) fn keep_allow(
        &mut self,
        asked: &Asked,
        subject: &Subject,
        image: &Image,
    ) -> Result<Option<RuleKey>, NotKept> {
        let digest = match content(Some(asked)) {
            None | Some(Content::Any) => None,
            Some(Content::Program) => image.target().and_then(|it| it.facts().sha256),
            Some(Content::Script(path)) => {
                let mut seen = subject.destinations.values();
                seen.find(|it| it.path == *path).and_then(|it| it.sha256)
            }
        };
        let is_bound = content(Some(asked)).is_some_and(|it| *it != Content::Any);
        if is_bound && digest.is_none() {
            return Err(NotKept::NoContent);
        }
        let answer = asked.answer.as_ref();
        let is_of_subtree = answer.is_some_and(|answer| answer.span == Span::Subtree);
        let root = is_of_subtree.then(|| root_of(subject)).transpose()?;
        self.keep(asked, digest, root)?;
        let lasting = answer.and_then(|answer| answer.lasting.as_ref());
        Ok(lasting.filter(|_| is_of_subtree).map(|lasting| RuleKey {
            layer: Layer::User,
            id: lasting.id().to_owned(),
        }))
    }

    /// Keeps a refusal, if it is to last.
    ///
    /// # Errors
    /// If it cannot be kept.
    pub(crate) fn keep_deny(&mut self, asked: &Asked) -> Result<(), NotKept> {
        self.keep(asked, None, None)
    }

    fn keep(
        &mut self,
        asked: &Asked,
        digest: Option<Digest>,
        root: Option<OwnedFd>,
    ) -> Result<(), NotKept> {
        let Some(answer) = &asked.answer else {
            return Ok(());
        };
        let word = Word {
            said: answer.said,
            span: answer.span,
            reason: answer.reason.as_deref(),
            by: answer.approver,
            session: &self.parking.session.name,
            exec: asked.exec_id,
        };
        let lasting = answer.lasting.as_ref();
        let Some(grant) = lasting.and_then(|it| it.grant(word, digest)) else {
            return Ok(());
        };
        let of_session = OfSession {
            asked_by: asked.asked_by.clone(),
            root: root.map(Arc::new),
        };
        let (span, sender) = (answer.span, answer.approver);
        self.count_from_now(grant, span, sender, of_session)
    }

    /// Has a grant count from here on, which is recorded before.
    ///
    /// # Errors
    /// If it cannot be kept.
    pub(crate) fn count_from_now(
        &mut self,
        grant: Grant,
        span: Span,
        sender: Approver,
        of_session: OfSession,
    ) -> Result<(), NotKept> {
        self.granted.try_out(&grant)?;
        self.ledger
            .grant_added(GrantNote::of(&grant, span), sender, &self.watch)?;
        let kept = self.granted.keep(grant.clone(), span, of_session);
        if let Err(error) = kept {
            let note = GrantNote::of(&grant, span);
            self.ledger
                .grant_removed(note, None, Some(error.to_string()), &self.watch);
            return Err(error.into());
        }
        self.rules = Rc::new(self.granted.rules()?);
        self.parking.is_to_reconsider = true;
        Ok(())
    }

    /// Shows a client the grants that count.
    pub(crate) fn show_grants(&self, client: ClientId) {
        let shown = self.granted.all().map(|(grant, span)| ShownGrant {
            duration: span,
            ..grant.into()
        });
        self.parking.tell(Notice::Grants(client, shown.collect()));
    }

    /// Takes a grant back.
    pub(crate) fn hear_revoke(&mut self, id: String, sender: Approver, client: ClientId) {
        let heard = match self.revoke(&id, sender) {
            Ok(true) => Ok(id),
            Ok(false) => Err(format!("no grant `{}` counts here", id.escape_debug())),
            Err(error) => Err(error.to_string()),
        };
        self.parking.tell(Notice::RevokeHeard(client, heard));
    }

    fn revoke(&mut self, id: &str, sender: Approver) -> Result<bool, NotGranted> {
        let Some((grant, span)) = self.granted.all().find(|(grant, _)| grant.id == id) else {
            return Ok(false);
        };
        // It counts no more whatever comes of its file and its record.
        let revoked = self.granted.revoke(id);
        self.rules = Rc::new(self.granted.rules()?);
        let error = revoked.as_ref().err().map(ToString::to_string);
        let note = GrantNote::of(&grant, span);
        self.ledger
            .grant_removed(note, Some(sender), error, &self.watch);
        revoked.map(|()| true)
    }

    /// Writes down what came of stored grants, if it is time, and goes on with what other sessions have
    /// written beside them.
    pub(crate) fn count_grants(&mut self, now: Instant) {
        if !self.granted.flush_if_due(now) {
            return;
        }
        match self.granted.rules() {
            Ok(rules) => {
                self.rules = Rc::new(rules);
                self.parking.is_to_reconsider = true;
            }
            Err(error) => tracing::error!(%error, "the rules stay as they were"),
        }
    }

    /// Drops what was said of processes that have ended, with all below them.
    pub(crate) fn end_subtrees(&mut self) {
        let ended = self.granted.end_subtrees();
        if ended.is_empty() {
            return;
        }
        match self.granted.rules() {
            Ok(rules) => self.rules = Rc::new(rules),
            // Nobody is below them any more: their rules hold for nothing.
            Err(error) => tracing::error!(%error, "the rules of ended grants stay"),
        }
        for grant in ended {
            let note = GrantNote::of(&grant, Span::Subtree);
            let why = "its process has ended".to_owned();
            self.ledger
                .grant_removed(note, None, Some(why), &self.watch);
        }
    }

    /// Goes over to another policy with all that was said.
    pub(crate) fn go_over(&mut self, moved: Moved) {
        let (rules, gone) = self.granted.go_over(moved);
        self.rules = Rc::new(rules);
        self.parking.is_to_reconsider = true;
        for grant in gone {
            let why = "the rule that asked is gone from the policy".to_owned();
            let note = GrantNote::of(&grant, Span::Session);
            self.ledger
                .grant_removed(note, None, Some(why), &self.watch);
        }
    }
}

/// A pidfd of the process that is to be allowed with all that it starts.
fn root_of(subject: &Subject) -> Result<OwnedFd, NotKept> {
    let pidfd = subject
        .caller
        .pid
        .as_rustix()
        .ok_or(rustix::io::Errno::SRCH);
    let pidfd = pidfd.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()));
    let pidfd = pidfd.map_err(|_| NotKept::Gone)?;
    // Its number was its own until here.
    subject.view.task().status().map_err(|_| NotKept::Gone)?;
    Ok(pidfd)
}

/// What an answer that lasts is to be bound to.
fn content(asked: Option<&Asked>) -> Option<&Content> {
    let answer = asked?.answer.as_ref()?;
    let is_allow = answer.said == Said::Allow;
    let lasting = answer.lasting.as_ref().filter(|_| is_allow)?;
    Some(lasting.content())
}
