//! Somebody ends the session from outside.

use rustix::process::Signal;

use crate::audit::Approver;
use crate::control::{ClientId, Notice};
use crate::gate::Gate;

impl Gate {
    /// Ends the session for `sender`: every process is killed, or told to end, which it may take its time
    /// for. Who stands still is woken for that.
    pub(crate) fn hear_stop(&mut self, kills: bool, sender: Approver, client: ClientId) {
        tracing::warn!(?sender, kills, "the session is ended from outside");
        self.ledger.stopped(sender, kills, &self.watch);
        self.parking.tell(Notice::Stopping(client));
        if kills {
            self.end_session();
        } else {
            self.signal_members(&[Signal::TERM, Signal::CONT]);
        }
    }
}
