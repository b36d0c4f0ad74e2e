//! How long an answer holds.

use std::fmt;
use std::str::FromStr;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SpanRelativeTo, Timestamp};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// From now until when.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Span {
    /// For the process that waits, and nothing else.
    #[default]
    Once,
    /// For it and what runs below it, until it ends.
    Subtree,
    /// For every exec that its scope covers, until the session ends.
    Session,
    /// For every one of every session, until somebody takes it back.
    Always,
    /// Or until this time.
    Until(Timestamp),
}

impl Span {
    /// Whether it outlives the session.
    pub(crate) fn is_stored(self) -> bool {
        matches!(self, Self::Always | Self::Until(_))
    }

    /// When it ends, if that is a time.
    pub(crate) fn end(self) -> Option<Timestamp> {
        match self {
            Self::Until(end) => Some(end),
            Self::Once | Self::Subtree | Self::Session | Self::Always => None,
        }
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Once => f.write_str("once"),
            Self::Subtree => f.write_str("subtree"),
            Self::Session => f.write_str("session"),
            Self::Always => f.write_str("always"),
            Self::Until(end) => end.fmt(f),
        }
    }
}

/// Why a text is no span.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SpanError {
    #[error(
        "write `once`, `subtree`, `session`, `always`, a time from now such as `2h` or `3d`, a date such as \
         2027-01-31 (to its end, UTC) or a time such as 2027-01-31T18:00:00Z"
    )]
    Unknown,
    #[error("it would have ended before it began")]
    Past,
}

impl FromStr for Span {
    type Err = SpanError;

    fn from_str(text: &str) -> Result<Self, SpanError> {
        let now = Timestamp::now();
        let end = match text {
            "once" => return Ok(Self::Once),
            "subtree" => return Ok(Self::Subtree),
            "session" => return Ok(Self::Session),
            "always" => return Ok(Self::Always),
            _ => end_of(text, now).ok_or(SpanError::Unknown)?,
        };
        // To the second: rules are read by people.
        let end = Timestamp::from_second(end.as_second()).map_err(|_| SpanError::Unknown)?;
        if end <= now {
            return Err(SpanError::Past);
        }
        Ok(Self::Until(end))
    }
}

fn end_of(text: &str, now: Timestamp) -> Option<Timestamp> {
    if let Ok(end) = text.parse() {
        return Some(end);
    }
    if let Ok(date) = text.parse::<Date>() {
        let next = date.tomorrow().ok()?;
        return Some(next.to_zoned(TimeZone::UTC).ok()?.timestamp());
    }
    let span = text.parse::<jiff::Span>().ok()?;
    let span = span.to_duration(SpanRelativeTo::days_are_24_hours()).ok()?;
    now.checked_add(span).ok()
}

impl Serialize for Span {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_words_times_from_now_and_dates() {
        let parse = |text: &str| text.parse::<Span>();
        for word in [
            "once",
            "subtree",
            "session",
            "always",
            "2999-01-31T18:00:00Z",
        ] {
            assert_eq!(parse(word).unwrap().to_string(), word);
        }
        let end = |text: &str| parse(text).unwrap().end().unwrap();
        assert_eq!(end("2999-01-31").to_string(), "2999-02-01T00:00:00Z");
        let in_hours = |text: &str| (end(text).as_second() - Timestamp::now().as_second()) / 3600;
        assert!((1..=2).contains(&in_hours("2h")) && (71..=72).contains(&in_hours("3d")));
        for wrong in [
            "",
            "2",
            "h",
            "0h",
            "-2h",
            "1999-01-31",
            "never",
            "99999999h",
            "2h 3",
        ] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
