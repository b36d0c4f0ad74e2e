//! `[mode]` as one source writes it, and the modes that several sources come to.

use std::time::Duration;

use crate::approval::Approval;
use crate::mode::{Ask, Mode, Security};
use crate::source::Layer;

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
    pub(crate) base: Mode,
    /// What agents' files and floors say beside it, each with the rest of the base.
    pub(crate) beside: Vec<Mode>,
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
            .map(|settings| base.overlaid(settings))
            .collect();
        let timeouts = beside
            .iter()
            .chain([&base])
            .filter_map(|settings| settings.ask_timeout);
        Self {
            base: base.mode(),
            ask_timeout: timeouts.min().unwrap_or(ASK_TIMEOUT),
            beside: beside.into_iter().map(Settings::mode).collect(),
        }
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = Mode> {
        std::iter::once(self.base).chain(self.beside.iter().copied())
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
            (modes.base.security, modes.base.ask),
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
        assert_eq!(modes.base.security, Security::Full);
        let modes = Modes::of(&[(Layer::Floor, security(Security::Full))]);
        assert_eq!(modes.base.security, Security::Deny);
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
            (modes.base.security, modes.base.ask),
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
