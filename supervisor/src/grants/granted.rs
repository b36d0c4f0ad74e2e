//! The grants that count in one session.

use std::collections::BTreeMap;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use execward_policy::{Action, Diagnostics, Layer, NoIncludes, Ruleset, Source, Style};

use super::document::Document;
use super::store::no_places;
use super::{Grant, Patience, Span, Store, StoreError, Stored, Usage};
use crate::clock;
use crate::past::Past;
use crate::tracee::is_alive;

/// Most grants that count at once: no person says more, and all of them are told to a client at once.
const GRANTS_MAX: usize = 512;

/// How often what came of stored grants is written down.
const FLUSH_EVERY: Duration = Duration::from_secs(60);

/// What rules of the session alone are called in records.
const OF_SESSION: &str = "grants of the session";

/// The grants of a session, and the policy that they are beside.
#[derive(Debug)]
pub(crate) struct Granted {
    policy: Ruleset,
    store: Store,
    past: Past,
    stored: Stored,
    /// In memory alone.
    of_session: Vec<(Grant, OfSession)>,
    /// What came of stored ones, and is not in their file.
    used: BTreeMap<String, Usage>,
    next_flush: Option<Instant>,
}

/// On what a grant of the session depends.
#[derive(Clone, Debug, Default)]
pub(crate) struct OfSession {
    /// The rule that asked, if one did.
    pub(crate) asked_by: Option<String>,
    /// The process, if it is about one and what is below it.
    pub(crate) root: Option<Arc<OwnedFd>>,
}

/// Why a grant does not count.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotGranted {
    #[error("{GRANTS_MAX} grants count already, and no more; answer once, or revoke some")]
    TooMany,
    #[error("it is not one rule of its ID and its time: {0}")]
    NotOne(String),
    #[error("it holds for one process alone; that is for whoever answers while it waits")]
    NoProcess,
    #[error("its rule has faults: {}", .0.render(Style::Plain))]
    Faults(Diagnostics),
    #[error("{0}")]
    Store(#[from] StoreError),
}

impl Granted {
    /// Those in `stored`, beside `policy`.
    pub(crate) fn new(policy: Ruleset, store: Store, stored: Stored, past: Past) -> Self {
        Self {
            policy,
            store,
            past,
            stored,
            of_session: Vec::new(),
            used: BTreeMap::new(),
            next_flush: None,
        }
    }

    /// Goes on with their file where it is now, whatever comes to lie over its path.
    ///
    /// # Errors
    /// If its directory cannot be made or opened.
    pub(crate) fn hold(&mut self) -> Result<(), StoreError> {
        self.store.hold()?;
        Ok(self.past.hold()?)
    }

    /// The policy with all of them.
    ///
    /// # Errors
    /// If they have faults together: a rule of a new policy has the name of one.
    pub(crate) fn rules(&self) -> Result<Ruleset, NotGranted> {
        self.rules_with(None)
    }

    fn rules_with(&self, another: Option<&Grant>) -> Result<Ruleset, NotGranted> {
        let of_session = self
            .of_session
            .iter()
            .map(|(grant, _)| grant)
            .chain(another);
        let text = text_of(of_session);
        self.stored
            .beside(&self.policy, &self.store, Some(&text))
            .map_err(NotGranted::Faults)
    }

    /// Makes sure that an answer for `span` could be kept.
    ///
    /// # Errors
    /// If not.
    pub(crate) fn check(&self, span: Span) -> Result<(), NotGranted> {
        if self.of_session.len() + self.stored.grants.len() >= GRANTS_MAX {
            return Err(NotGranted::TooMany);
        }
        if span.is_stored() {
            self.store.check(&self.past, Patience::Gate)?;
        }
        Ok(())
    }

    /// What is wrong with their file. That there is no place for one, or that somebody is at it, is nothing.
    pub(crate) fn problem(&self) -> Option<StoreError> {
        let problem = self.store.check(&self.past, Patience::None).err();
        problem.filter(|error| !matches!(error, StoreError::Locked | StoreError::System { .. }))
    }

    /// Makes sure that `grant` is one beside the policy.
    ///
    /// # Errors
    /// If its rule has a fault.
    pub(crate) fn try_out(&self, grant: &Grant) -> Result<(), NotGranted> {
        self.rules_with(Some(grant)).map(drop)
    }

    /// Keeps a grant for `span`; `of_session` is what one of the session depends on.
    ///
    /// # Errors
    /// If it cannot be kept: nothing has changed then.
    pub(crate) fn keep(
        &mut self,
        grant: Grant,
        span: Span,
        of_session: OfSession,
    ) -> Result<(), NotGranted> {
        if span.is_stored() {
            self.store.add(&grant, &self.past)?;
            self.stored = self.store.read()?;
        } else {
            self.of_session.push((grant, of_session));
        }
        Ok(())
    }

    /// All of them, each with how long it counts.
    pub(crate) fn all(&self) -> impl Iterator<Item = (Grant, Span)> {
        let of_session = self.of_session.iter();
        let of_session = of_session.map(|(grant, it)| {
            let span = it.root.as_ref().map_or(Span::Session, |_| Span::Subtree);
            (grant.clone(), span)
        });
        let stored = self.stored.grants.iter().map(|grant| {
            let mut grant = grant.clone();
            if let Some(more) = self.used.get(&grant.id) {
                grant.note.usage.add(more);
            }
            let span = grant.expires.map_or(Span::Always, Span::Until);
            (grant, span)
        });
        of_session.chain(stored)
    }

    /// The processes that grants are about; readable once they have ended.
    pub(crate) fn roots(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let roots = self
            .of_session
            .iter()
            .filter_map(|(_, it)| it.root.as_ref());
        roots.map(|root| root.as_fd())
    }

    /// Takes out those whose process has ended.
    pub(crate) fn end_subtrees(&mut self) -> Vec<Grant> {
        let has_ended = |(_, it): &mut (Grant, OfSession)| {
            it.root.as_ref().is_some_and(|it| !is_alive(it.as_fd()))
        };
        let ended = self.of_session.extract_if(.., has_ended);
        ended.map(|(grant, _)| grant).collect()
    }

    /// Takes the grant `id` back. It counts no more here, whatever comes of its file.
    ///
    /// # Errors
    /// If it stays in the file.
    pub(crate) fn revoke(&mut self, id: &str) -> Result<(), NotGranted> {
        self.of_session.retain(|(grant, _)| grant.id != id);
        if self.stored.grants.iter().any(|grant| grant.id == id) {
            self.used.remove(id);
            let removed = self.store.remove(id, &self.past);
            self.stored = match removed.and_then(|_| self.store.read()) {
                Ok(stored) => stored,
                Err(error) => {
                    self.stored.forget(id);
                    return Err(error.into());
                }
            };
        }
        Ok(())
    }

    /// Counts a call that the grant `id` decided.
    pub(crate) fn used(&mut self, id: &str, command: String, path: Option<String>) {
        let usage = Usage {
            uses: 1,
            last_used: Some(clock::now()),
            last_command: Some(command),
            last_path: path,
        };
        let mut of_session = self.of_session.iter_mut().map(|(grant, _)| grant);
        if let Some(grant) = of_session.find(|grant| grant.id == id) {
            grant.note.usage.add(&usage);
            return;
        }
        self.used.entry(id.to_owned()).or_default().add(&usage);
        self.next_flush.get_or_insert(Instant::now() + FLUSH_EVERY);
    }

    /// When what came of stored grants is to be written down.
    pub(crate) fn next_flush(&self) -> Option<Instant> {
        self.next_flush
    }

    /// Writes it down, if it is time; whether the file was read again, where other sessions write, too.
    pub(crate) fn flush_if_due(&mut self, now: Instant) -> bool {
        self.next_flush.is_some_and(|at| at <= now) && self.flush(Patience::Gate)
    }

    /// Writes down what came of stored grants; whether the file was read again.
    pub(crate) fn flush(&mut self, patience: Patience) -> bool {
        self.next_flush = None;
        if self.used.is_empty() {
            return false;
        }
        let used = self.used.iter().map(|(id, usage)| (id.as_str(), usage));
        if let Err(error) = self.store.count(used, &self.past, patience) {
            tracing::error!(%error, "what came of grants is not written down; the log has it");
            self.next_flush = Some(Instant::now() + FLUSH_EVERY);
            return false;
        }
        self.used.clear();
        match self.store.read() {
            Ok(stored) => {
                self.stored = stored;
                true
            }
            Err(error) => {
                tracing::error!(%error, "the grants cannot be read again");
                false
            }
        }
    }

    /// The same beside another policy. What was allowed for the session where a rule asked that is gone
    /// is gone with it; a deny stays.
    ///
    /// # Errors
    /// If they have faults together.
    pub(crate) fn beside(&self, policy: Ruleset) -> Result<Moved, NotGranted> {
        let is_asked = |(grant, it): &&(Grant, OfSession)| {
            let asks = |id: &String| policy.rules().any(|rule| rule.id() == id);
            grant.action != Action::Allow || it.asked_by.as_ref().is_none_or(asks)
        };
        let (of_session, gone): (Vec<_>, Vec<_>) = self.of_session.iter().partition(is_asked);
        let of_session: Vec<_> = of_session.into_iter().cloned().collect();
        let text = text_of(of_session.iter().map(|(grant, _)| grant));
        let rules = self.stored.beside(&policy, &self.store, Some(&text));
        Ok(Moved {
            rules: rules.map_err(NotGranted::Faults)?,
            gone: gone.into_iter().map(|(grant, _)| grant.clone()).collect(),
            policy,
            of_session,
        })
    }

    /// Goes over to another policy: the policy with them, and those that are gone.
    pub(crate) fn go_over(&mut self, moved: Moved) -> (Ruleset, Vec<Grant>) {
        (self.policy, self.of_session) = (moved.policy, moved.of_session);
        (moved.rules, moved.gone)
    }
}

/// What [`Granted::beside`] another policy would be.
#[derive(Debug)]
pub(crate) struct Moved {
    policy: Ruleset,
    rules: Ruleset,
    of_session: Vec<(Grant, OfSession)>,
    gone: Vec<Grant>,
}

fn text_of<'g>(grants: impl Iterator<Item = &'g Grant>) -> String {
    let rules: Vec<_> = grants.map(|grant| grant.rule.as_str()).collect();
    format!("version = 1\n{}", rules.join("\n"))
}

impl Stored {
    /// Goes on without the grant `id`, though its file still has it.
    fn forget(&mut self, id: &str) {
        self.grants.retain(|grant| grant.id != id);
        let document = str::from_utf8(&self.file.text).ok().map(Document::read);
        if let Some(Ok(mut document)) = document {
            document.remove(id);
            self.file.text = document.to_string().into_bytes();
        }
    }

    /// `policy` with what is stored, and with the rules of a session in `of_session`.
    ///
    /// # Errors
    /// If they have faults together.
    pub(crate) fn beside(
        &self,
        policy: &Ruleset,
        store: &Store,
        of_session: Option<&str>,
    ) -> Result<Ruleset, Diagnostics> {
        let name = store.path().display().to_string();
        let source = |name, text| Source {
            name,
            text,
            layer: Layer::User,
        };
        let is_there = self.file.is_there();
        let of_file = is_there.then(|| source(name.as_str(), &*self.file.text));
        let of_session = of_session.map(|text| source(OF_SESSION, text.as_bytes()));
        let sources: Vec<_> = of_file.into_iter().chain(of_session).collect();
        // What they name was followed before it was said: no path leads anywhere else.
        policy.with_grants(&sources, &no_places(), &NoIncludes)
    }
}
