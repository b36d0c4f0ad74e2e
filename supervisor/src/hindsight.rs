//! An answer for next time, to an exec that is over: a grant without a question.

use crate::audit::Approver;
use crate::clock;
use crate::control::{ClientId, Notice, ShownGrant};
use crate::gate::Gate;
use crate::granting::NotKept;
use crate::grants::{Grant, OfSession, Usage};

impl Gate {
    /// Lets the grant count that a client makes, if it is one.
    pub(crate) fn hear_grant(&mut self, shown: ShownGrant, sender: Approver, client: ClientId) {
        let id = shown.id.clone();
        let heard = self.take_grant(shown, sender);
        let heard = heard.map(|()| id).map_err(|error| error.to_string());
        self.parking.tell(Notice::GrantHeard(client, heard));
    }

    fn take_grant(&mut self, shown: ShownGrant, sender: Approver) -> Result<(), NotKept> {
        let span = shown.duration;
        let mut grant = Grant::try_from(shown)?;
        // Who says it and when is not the client's to say.
        let Approver { uid, pid } = sender;
        grant.note.by = format!("uid {uid} (process {pid})");
        (grant.note.at, grant.note.usage) = (clock::now(), Usage::default());
        self.granted.check(span)?;
        self.count_from_now(grant, span, sender, OfSession::default())
    }
}
