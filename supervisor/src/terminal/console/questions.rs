//! Between the command's output and a question.

use std::path::Path;

use nix::sys::signal::Signal;

use super::{Console, Shown};
use crate::control::{ClientError, Session};
use crate::terminal::asking::{Asking, Pressed, Told};
use crate::terminal::screen::drawn;
use crate::tracee::Tid;

impl Console {
    /// Asks here from now on what the gate, process `gate`, asks at `socket`.
    ///
    /// # Errors
    /// If it does not tell.
    pub(crate) fn ask_for(&mut self, socket: &Path, gate: Tid) -> Result<(), ClientError> {
        self.asking = Some(Asking::of(Session::with_gate(socket, gate)?.subscribe()?));
        Ok(())
    }

    pub(super) fn hear(&mut self) {
        if let Some(error) = self.deaf.take() {
            return self.stop_asking(&error);
        }
        let told = self.asking.as_mut().map(Asking::hear);
        match told {
            None => {}
            Some(Ok(Told { notes, has_changed })) => {
                for note in notes {
                    self.say(&note);
                }
                if has_changed
                    && self.is_asking()
                    && self.asking.as_ref().is_some_and(|it| !it.is_idle())
                {
                    self.shown = Shown::Coming;
                    self.draw();
                }
            }
            Some(Err(error)) => self.deaf = Some(error),
        }
    }

    fn stop_asking(&mut self, error: &ClientError) {
        self.asking = None;
        self.go_over();
        self.say(&format!(
            "questions are shown here no more: {error}; `execward allow ID` in another terminal answers them"
        ));
    }

    /// From the command's output to a question, and back.
    pub(super) fn go_over(&mut self) {
        let is_open = self.asking.as_ref().is_some_and(|asking| !asking.is_idle());
        if is_open && !self.own.is_raw() {
            if self.shown == Shown::Output {
                self.say("a question waits for an answer: bring this job to the foreground (`fg`)");
                self.shown = Shown::Call;
            }
        } else if is_open && !self.is_asking() {
            self.shown = Shown::Coming;
            if let Some(asking) = &mut self.asking {
                asking.restart(None);
            }
            self.own.forget_typed();
            self.to_user.add(self.screen.enter().as_bytes());
            self.draw();
        } else if !is_open {
            self.leave_question();
        }
    }

    pub(super) fn leave_question(&mut self) {
        let was_asking = self.is_asking();
        self.shown = Shown::Output;
        if !was_asking {
            return;
        }
        self.to_user.add(self.screen.leave().as_bytes());
        if let Some(pty) = self.pty.as_ref().filter(|_| self.screen.is_commands) {
            // It draws itself anew.
            pty.signal_foreground(Signal::SIGWINCH);
        }
        self.own.forget_typed();
    }

    pub(super) fn draw(&mut self) {
        let size = self.own.size();
        if let Some(asking) = &self.asking {
            let rows = asking.page(size.ws_col, size.ws_row);
            self.to_user.add(drawn(&rows).as_bytes());
            self.pass_on_to_user();
        }
    }

    /// What was typed before a question is on the screen is for nobody; behind that no key is lost, however
    /// late the terminal shows what the one before it did.
    pub(super) fn press(&mut self, keys: &[u8]) {
        if self.shown == Shown::Coming {
            return;
        }
        let size = self.own.size();
        let mut has_changed = false;
        for key in keys {
            let Some(asking) = self.asking.as_mut() else {
                return;
            };
            match asking.press(*key, size.ws_col, size.ws_row) {
                Ok(Pressed::Nothing) => {}
                Ok(Pressed::Changed) => has_changed = true,
                Ok(Pressed::Interrupted) => {
                    has_changed = true;
                    self.signal_foreground(Signal::SIGINT);
                }
                Err(error) => return self.stop_asking(&error),
            }
        }
        if has_changed {
            self.draw();
        }
    }
}
