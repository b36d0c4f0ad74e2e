//! What a check has found.

use serde::Serialize;

/// How it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum State {
    /// As it should be.
    Ok,
    /// For information: nothing that execward promises rests on it.
    Note,
    /// What is promised holds, and somebody has it easier than he should.
    Weak,
    /// Something that is promised is not enforced, or not possible.
    Fails,
}

impl State {
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Note => "note",
            Self::Weak => "weak",
            Self::Fails => "FAILS",
        }
    }
}

/// One check. Its fields are those of `doctor --json`.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Finding {
    /// A word by which the check is known.
    pub(super) check: &'static str,
    pub(super) state: State,
    /// What was seen, in words.
    pub(super) seen: String,
    /// What to do about it, of what is weak or fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) next: Option<String>,
    /// What execward promises and the check is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) promise: Option<&'static str>,
}

impl Finding {
    pub(super) fn ok(check: &'static str, seen: impl Into<String>) -> Self {
        Self::of(check, State::Ok, seen.into(), None)
    }

    pub(super) fn note(check: &'static str, seen: impl Into<String>) -> Self {
        Self::of(check, State::Note, seen.into(), None)
    }

    pub(super) fn weak(
        check: &'static str,
        seen: impl Into<String>,
        next: impl Into<String>,
    ) -> Self {
        Self::of(check, State::Weak, seen.into(), Some(next.into()))
    }

    pub(super) fn fails(
        check: &'static str,
        seen: impl Into<String>,
        next: impl Into<String>,
    ) -> Self {
        Self::of(check, State::Fails, seen.into(), Some(next.into()))
    }

    /// What `run` itself said, with the next step that ends its message.
    pub(super) fn said(check: &'static str, message: &str) -> Self {
        let message = crate::system::without_doctor(message);
        match message.rsplit_once("; ") {
            Some((seen, next)) => Self::fails(check, seen, next),
            None => Self::fails(
                check,
                message,
                "see below what else is found; a container's profile, a security module or a limit may refuse it",
            ),
        }
    }

    /// The same, about something that is promised.
    pub(super) fn promising(self, promise: &'static str) -> Self {
        Self {
            promise: Some(promise),
            ..self
        }
    }

    fn of(check: &'static str, state: State, seen: String, next: Option<String>) -> Self {
        Self {
            check,
            state,
            seen,
            next,
            promise: None,
        }
    }
}
