//! What a client asks of a session, and what it is told.

use std::io;
use std::time::Duration;

use super::{ClientError, Session, strange};
use crate::audit::ascii_json;
use crate::control::status::Status;
use crate::control::wire::{
    BUNDLE_MAX_BYTES, FromClient, FromGate, PART_MAX_BYTES, PolicyLoaded, Required, Response,
    Settled, ShownGrant,
};
use crate::policy::Bundle;

/// How long a session may take to end that is told to.
pub(super) const STOP_PATIENCE: Duration = Duration::from_secs(10);

impl Session {
    /// The open questions, oldest first.
    ///
    /// # Errors
    /// If the session does not tell.
    pub(crate) fn list(&mut self) -> Result<Vec<Required>, ClientError> {
        self.send(&FromClient::List)?;
        let mut open = Vec::new();
        loop {
            match self.receive()? {
                FromGate::ApprovalRequired(required) => open.push(*required),
                FromGate::Listed => return Ok(open),
                FromGate::Error { error } => return Err(ClientError::Refused(error)),
                other => return Err(strange(&other)),
            }
        }
    }

    /// Answers a question; how it ended.
    ///
    /// # Errors
    /// [`ClientError::Refused`] if it is not open any more, or takes no such answer.
    pub(crate) fn answer(&mut self, response: Response) -> Result<Settled, ClientError> {
        self.send(&FromClient::ApprovalResponse(response))?;
        match self.receive()? {
            // Of the same card: the one that has waited for longest, or the first of several.
            FromGate::ApprovalSettled(settled) => Ok(settled),
            FromGate::Error { error } => Err(ClientError::Refused(error)),
            other => Err(strange(&other)),
        }
    }

    /// Puts a policy in force.
    ///
    /// # Errors
    /// [`ClientError::PolicyRejected`] if it has faults, or cannot be recorded.
    pub(crate) fn load_policy(&mut self, bundle: &Bundle) -> Result<PolicyLoaded, ClientError> {
        let json = ascii_json(bundle).map_err(io::Error::from)?;
        if json.len() > BUNDLE_MAX_BYTES {
            return Err(ClientError::TooLong);
        }
        for part in json.chunks(PART_MAX_BYTES) {
            let part = str::from_utf8(part).map_err(io::Error::other)?;
            let part = part.to_owned();
            self.send(&FromClient::PolicyPart { part })?;
        }
        self.send(&FromClient::PolicyLoad)?;
        match self.receive()? {
            FromGate::PolicyLoaded(loaded) => Ok(loaded),
            FromGate::PolicyRejected { error } => Err(ClientError::PolicyRejected(error)),
            FromGate::Error { error } => Err(ClientError::Refused(error)),
            other => Err(strange(&other)),
        }
    }

    /// The grants that count.
    ///
    /// # Errors
    /// If the session does not tell.
    pub(crate) fn grants(&mut self) -> Result<Vec<ShownGrant>, ClientError> {
        self.send(&FromClient::Grants)?;
        let mut grants = Vec::new();
        loop {
            match self.receive()? {
                FromGate::Grant(grant) => grants.push(*grant),
                FromGate::GrantsListed => return Ok(grants),
                FromGate::Error { error } => return Err(ClientError::Refused(error)),
                other => return Err(strange(&other)),
            }
        }
    }

    /// Has a grant count.
    ///
    /// # Errors
    /// [`ClientError::Refused`] if it does not.
    pub(crate) fn grant(&mut self, grant: ShownGrant) -> Result<(), ClientError> {
        let id = grant.id.clone();
        self.send(&FromClient::Grant(Box::new(grant)))?;
        match self.receive()? {
            FromGate::Granted { id: granted } if granted == id => Ok(()),
            FromGate::Error { error } => Err(ClientError::Refused(error)),
            other => Err(strange(&other)),
        }
    }

    /// Takes a grant back.
    ///
    /// # Errors
    /// [`ClientError::Refused`] if there is none, or it cannot be taken back.
    pub(crate) fn revoke(&mut self, id: &str) -> Result<(), ClientError> {
        self.send(&FromClient::Revoke { id: id.to_owned() })?;
        match self.receive()? {
            FromGate::Revoked { id: revoked } if revoked == id => Ok(()),
            FromGate::Error { error } => Err(ClientError::Refused(error)),
            other => Err(strange(&other)),
        }
    }

    /// How the session is.
    ///
    /// # Errors
    /// If it does not tell.
    pub(crate) fn status(&mut self) -> Result<Status, ClientError> {
        self.send(&FromClient::Status)?;
        match self.receive()? {
            FromGate::Status(status) => Ok(*status),
            FromGate::Error { error } => Err(ClientError::Refused(error)),
            other => Err(strange(&other)),
        }
    }

    /// Ends the session, and waits until nobody is left of it.
    ///
    /// # Errors
    /// [`ClientError::GoesOn`] if somebody still is after a while.
    pub(crate) fn stop(&mut self, kills: bool) -> Result<(), ClientError> {
        self.send(&FromClient::Stop { kills })?;
        match self.receive()? {
            FromGate::Stopping => {}
            FromGate::Error { error } => return Err(ClientError::Refused(error)),
            other => return Err(strange(&other)),
        }
        let stream = self.reader.get_ref();
        stream.set_read_timeout(Some(STOP_PATIENCE))?;
        match self.receive() {
            Err(ClientError::Closed) => Ok(()),
            Err(ClientError::Silent) => Err(ClientError::GoesOn {
                name: self.name.clone(),
            }),
            Err(error) => Err(error),
            Ok(other) => Err(strange(&other)),
        }
    }
}
