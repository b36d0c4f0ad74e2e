//! What can be said to a card, and how it is sent.

use clap::ValueEnum;

use super::card::Card;
use crate::consent::Said;
use crate::control::{Decision, Required, Response, Scope};
use crate::grants::Span;
use crate::question_view::{amendment_in_words, in_ascii};

/// What an answer is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// The process that has waited for longest; of a deny all that wait alike.
    Once,
    /// All that wait alike, which must be so many.
    These(usize),
    /// The process and what it starts.
    Subtree,
    /// Calls that a scope covers, in words.
    Covered(Scope, String),
}

/// An answer before it is said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Choice {
    pub(super) said: Said,
    pub(super) extent: Extent,
    pub(super) span: Span,
    pub(super) reason: Option<String>,
}

impl Extent {
    /// Those that `card` has for `said`.
    pub(super) fn offered(said: Said, card: &Card) -> Vec<Self> {
        let mut offered = vec![Self::Once];
        let Some(required) = card.oldest() else {
            return offered;
        };
        if said == Said::Deny {
            let covers = "this call, by every process".to_owned();
            offered.push(Self::Covered(Scope::Exact, covers));
            return offered;
        }
        if card.count() > 1 {
            offered.push(Self::These(card.count()));
        }
        offered.push(Self::Subtree);
        let amendments = required.request.amendments.iter().filter_map(|amendment| {
            let scope = Scope::from_str(&amendment.scope, false).ok()?;
            Some(Self::Covered(scope, amendment_in_words(amendment)))
        });
        offered.extend(amendments);
        offered
    }

    pub(super) fn in_words(&self, said: Said) -> String {
        match self {
            Self::Once if said == Said::Deny => "once: all that wait alike".to_owned(),
            Self::Once => "once: the oldest process, and no other".to_owned(),
            Self::These(count) => format!("once: all {count} that wait alike"),
            Self::Subtree => "this process and what it starts, until it ends".to_owned(),
            Self::Covered(scope, covers) => {
                let scope = scope.to_possible_value();
                let scope = scope.as_ref().map_or("", |scope| scope.get_name());
                format!("{scope}: {covers}")
            }
        }
    }

    /// How long it holds, where nobody is to say that.
    pub(super) fn span(&self) -> Option<Span> {
        match self {
            Self::Once | Self::These(_) => Some(Span::Once),
            Self::Subtree => Some(Span::Subtree),
            Self::Covered(..) => None,
        }
    }
}

impl Choice {
    /// `ALLOW exact: …, always`.
    pub(super) fn in_words(&self) -> String {
        let what = self.extent.in_words(self.said);
        let said = match self.said {
            Said::Allow => "ALLOW",
            Said::Deny => "DENY",
        };
        let span = match self.span {
            Span::Once | Span::Subtree => String::new(),
            Span::Session => ", until the session ends".to_owned(),
            Span::Always => ", always".to_owned(),
            Span::Until(end) => format!(", until {end}"),
        };
        let reason = self.reason.as_deref();
        let reason = reason.map_or(String::new(), |it| format!(" ({})", in_ascii(it)));
        format!("{said} {what}{span}{reason}")
    }

    /// The answer to `required`.
    pub(super) fn response(&self, required: &Required) -> Response {
        let decision = match (self.said, self.span) {
            (Said::Deny, _) => Decision::Deny,
            (Said::Allow, Span::Once) => Decision::AllowOnce,
            (Said::Allow, _) => Decision::AllowAlways,
        };
        let (scope, these) = match &self.extent {
            Extent::Covered(scope, _) => (*scope, None),
            Extent::These(count) => (Scope::Exact, Some(*count)),
            Extent::Once | Extent::Subtree => (Scope::Exact, None),
        };
        Response {
            session_id: required.session_id.clone(),
            request_id: required.request_id,
            digest: required.digest.clone(),
            decision,
            scope,
            these,
            duration: Some(self.span),
            reason: self.reason.clone(),
        }
    }
}
