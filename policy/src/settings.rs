//! `[mode]` as one source writes it, and the modes that several sources come to.

use std::time::Duration;

use crate::approval::{Approval, Category};
use crate::mode::{Ask, Mode, Security, State};
use crate::source::Layer;
use crate::tool_mode::ToolMode;
use crate::verdict::{Basis, Decision, Verdict};

/// How long a question waits where no policy says so.
const ASK_TIMEOUT: Duration = Duration::from_secs(5 * 60);

/// The keys of `[mode]` that one source has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Settings {
    pub(crate) security: Option<Security>,
    pub(crate) ask: Option<Ask>,
    pub(crate) ask_fallback: Option<Security>,
    pub(crate) ask_timeout: Option<Duration>,
    pub(crate) approval: Option<Approval>,
}

impl Settings {
    /// These settings, with `over` in place of what it has.
    fn overlaid(self, over: Self) -> Self {
        Self {
            security: over.security.or(self.security),
            ask: over.ask.or(self.ask),
            ask_fallback: over.ask_fallback.or(self.ask_fallback),
            ask_timeout: over.ask_timeout.or(self.ask_timeout),
            approval: over.approval.or(self.approval),
        }
    }

    fn mode(self) -> Mode {
        Mode {
            security: self.security.unwrap_or(Security::Deny),
            ask: self.ask.unwrap_or(Ask::OnMiss),
            ask_fallback: self.ask_fallback.unwrap_or(Security::Deny),
            approval: self.approval,
        }
    }
}

/// The modes in force. A call gets the strictest of what they say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Modes {
    /// The user's, or what execward brings.
    base: Settings,
    /// What agents' files and floors say beside it; each holds with the rest of the base.
    beside: Vec<Settings>,
    /// How long a question waits: the shortest that anybody says.
    pub(crate) ask_timeout: Duration,
}

impl Modes {
    /// Joins the settings of the sources, given in the order in which they were named.
    pub(crate) fn of(sources: &[(Layer, Settings)]) -> Self {
        let of = |layer| {
            let of_layer = sources.iter().filter(move |(own, _)| *own == layer);
            of_layer.map(|(_, settings)| *settings)
        };
        let fold = |layer, under| of(layer).fold(under, Settings::overlaid);
        let own = fold(Layer::User, fold(Layer::Builtin, Settings::default()));
        let base = match own.security {
            Some(_) => own,
            // Where nobody else says what runs, an agent's file does. What else the user says
            // is not the agent's to change.
            None => fold(Layer::Agent, Settings::default()).overlaid(own),
        };
        let beside: Vec<Settings> = of(Layer::Agent)
            .chain(of(Layer::Floor))
            .filter(|settings| *settings != Settings::default())
            .collect();
        let all = beside.iter().chain([&base]);
        let timeouts = all.filter_map(|settings| settings.ask_timeout);
        Self {
            ask_timeout: timeouts.min().unwrap_or(ASK_TIMEOUT),
            base,
            beside,
        }
    }

    /// Those for calls of a tool: what `mode` has stands in place of the base's, but no question is
    /// asked where the base asks none.
    pub(crate) fn of_tool(&self, mode: ToolMode) -> Self {
        let ask = match self.base.ask {
            Some(Ask::Off) => Some(Ask::Off),
            own => mode.ask.or(own),
        };
        let base = Settings {
            security: mode.security.or(self.base.security),
            ask,
            ..self.base
        };
        Self {
            base,
            ..self.clone()
        }
    }

    /// The user's mode, or the one that execward brings.
    pub(crate) fn base(&self) -> Mode {
        self.base.mode()
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = Mode> {
        let beside = self.beside.iter();
        let beside = beside.map(|settings| self.base.overlaid(*settings).mode());
        std::iter::once(self.base()).chain(beside)
    }

    /// Puts what the rules say through the modes.
    pub(crate) fn judge<'r>(
        &self,
        state: State,
        category: Category,
        basis: Option<Basis<'r>>,
    ) -> Verdict<'r> {
        let strictest = |decide: fn(Mode, State, Category) -> Decision| {
            self.all()
                .map(|mode| (decide(mode, state, category), mode))
                .reduce(|strictest, other| {
                    if other.0 > strictest.0 {
                        other
                    } else {
                        strictest
                    }
                })
        };
        let (decision, mode) = strictest(Mode::decide).unwrap_or((Decision::Deny, self.base()));
        // Where one never asks, what another would ask is a refusal.
        let mut silent = self.all().filter(|mode| mode.never_asks());
        let (decision, mode) = match (decision, silent.next()) {
            (Decision::Ask, Some(silent)) => (Decision::Deny, silent),
            _ => (decision, mode),
        };
        let unanswered = match decision {
            Decision::Ask => strictest(Mode::unanswered).map_or(Decision::Deny, |(of, _)| of),
            Decision::Allow | Decision::Deny => decision,
        };
        let is_led_to = match state {
            State::Asked => mode.security != Security::Deny,
            State::Allowed => decision == Decision::Allow,
            State::Unmatched => false,
        };
        let (security, ask) = (mode.security, mode.ask);
        let default = Basis::Default { security, ask };
        Verdict::new(
            decision,
            basis.filter(|_| is_led_to).unwrap_or(default),
            unanswered,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn security(security: Security) -> Settings {
        let security = Some(security);
        Settings {
            security,
            ..Settings::default()
        }
    }

    fn ask(ask: Ask) -> Settings {
        let ask = Some(ask);
        Settings {
            ask,
            ..Settings::default()
        }
    }

    #[test]
    fn each_key_is_the_users_else_the_builtin_one_and_the_last_wins() {
        let modes = Modes::of(&[
            (Layer::User, security(Security::Allowlist)),
            (Layer::Builtin, security(Security::Deny)),
            (Layer::Builtin, ask(Ask::Off)),
            (Layer::User, security(Security::Full)),
        ]);
        assert_eq!(
            (modes.base().security, modes.base().ask),
            (Security::Full, Ask::Off)
        );
        assert!(modes.beside.is_empty());
    }

    #[test]
    fn an_agents_mode_and_a_floors_stand_beside() {
        let modes = Modes::of(&[
            (Layer::User, security(Security::Full)),
            (Layer::Agent, ask(Ask::Always)),
            (Layer::Floor, security(Security::Allowlist)),
            (Layer::Floor, Settings::default()),
        ]);
        let seen: Vec<_> = modes.all().map(|mode| (mode.security, mode.ask)).collect();
        assert_eq!(
            seen,
            [
                (Security::Full, Ask::OnMiss),
                (Security::Full, Ask::Always),
                (Security::Allowlist, Ask::OnMiss)
            ]
        );
    }

    #[test]
    fn alone_an_agents_mode_is_the_mode_and_a_floors_is_not() {
        let modes = Modes::of(&[(Layer::Agent, security(Security::Full))]);
        assert_eq!(modes.base().security, Security::Full);
        let modes = Modes::of(&[(Layer::Floor, security(Security::Full))]);
        assert_eq!(modes.base().security, Security::Deny);
    }

    #[test]
    fn an_agent_that_says_what_runs_changes_nothing_else_that_the_user_says() {
        let modes = Modes::of(&[
            (Layer::User, ask(Ask::Off)),
            (
                Layer::Agent,
                Settings {
                    ask: Some(Ask::OnMiss),
                    ..security(Security::Full)
                },
            ),
        ]);
        assert_eq!(
            (modes.base().security, modes.base().ask),
            (Security::Full, Ask::Off)
        );
    }

    #[test]
    fn the_shortest_wait_counts() {
        let wait = |seconds| Settings {
            ask_timeout: Some(Duration::from_secs(seconds)),
            ..security(Security::Full)
        };
        let modes = Modes::of(&[(Layer::User, wait(600)), (Layer::Floor, wait(60))]);
        assert_eq!(modes.ask_timeout, Duration::from_secs(60));
        assert_eq!(Modes::of(&[]).ask_timeout, ASK_TIMEOUT);
    }
}
