//! What a collector's answer means: <https://opentelemetry.io/docs/specs/otlp/#otlphttp-response>

use std::time::Duration;

use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimeParser;
use serde_json::Value;

use crate::said::{cut, escaped, printable};

/// Longest text of a collector's that is said, in bytes.
const SAID_MAX: usize = 200;

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// It has them.
    Taken,
    /// It has them but for so many, which it never takes, and why.
    Partly(u64, String),
    /// It never takes this request, and why.
    Bad(String),
    /// It does not take it now, why, and when it wants to be asked again. A status that is not in the specification is
    /// such: who answers may not be a collector, and what it would never get should not be lost by that.
    NotNow(String, Option<Duration>),
}

impl Answer {
    /// Of an answer with that status and body, and what its `Retry-After` says.
    pub(super) fn of(status: u16, body: &[u8], after: Option<Duration>) -> Self {
        let why = || {
            let mut said = printable(body.trim_ascii());
            cut(&mut said, SAID_MAX);
            format!("answers with {status}: {said}")
        };
        match status {
            200..=299 => Self::success(body),
            400 | 413 => Self::Bad(why()),
            _ => Self::NotNow(why(), after),
        }
    }

    fn success(body: &[u8]) -> Self {
        let said: Value = serde_json::from_slice(body).unwrap_or_default();
        let partial = said.get("partialSuccess");
        let number = partial.and_then(|partial| partial.get("rejectedLogRecords"));
        // Numbers of 64 bits are texts in protobuf's JSON; some write numbers.
        let number = number.and_then(|number| match number.as_str() {
            Some(text) => text.parse().ok(),
            None => number.as_u64(),
        });
        let message = partial.and_then(|partial| partial.get("errorMessage"));
        let mut message = escaped(message.and_then(Value::as_str).unwrap_or_default());
        cut(&mut message, SAID_MAX);
        match number {
            None | Some(0) => Self::Taken,
            Some(number) => Self::Partly(number, message),
        }
    }
}

/// `Retry-After` (RFC 9110, 10.2.3): seconds, or a date.
pub(super) fn retry_after(text: &str, now: Timestamp) -> Option<Duration> {
    if let Ok(seconds) = text.trim().parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = DateTimeParser::new().parse_timestamp(text.trim()).ok()?;
    Some(Duration::try_from(date.duration_since(now)).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_means_what_the_specification_says() {
        let partly =
            br#"{"partialSuccess":{"rejectedLogRecords":"3","errorMessage":"too\u000aold"}}"#;
        assert_eq!(
            Answer::of(200, partly, None),
            Answer::Partly(3, "too\\nold".into())
        );
        let warned = br#"{"partialSuccess":{"rejectedLogRecords":"0","errorMessage":"hm"}}"#;
        for body in [b"{}".as_slice(), b"", b"\xff", warned] {
            assert_eq!(Answer::of(200, body, None), Answer::Taken);
        }
        let bad = Answer::of(400, b"what\x1b?", None);
        assert_eq!(bad, Answer::Bad("answers with 400: what\\x1b?".into()));
        let after = Some(Duration::from_secs(7));
        for status in [429, 502, 503, 504, 401, 404, 500, 302] {
            let answer = Answer::of(status, b"", after);
            assert!(matches!(answer, Answer::NotNow(_, seen) if seen == after));
        }
    }

    #[test]
    fn when_to_come_again_is_seconds_or_a_date() {
        let now: Timestamp = "2026-11-30T00:22:51Z".parse().unwrap();
        let after = |text| retry_after(text, now);
        assert_eq!(after("12"), Some(Duration::from_secs(12)));
        let date = "Mon, 30 Nov 2026 00:23:01 GMT";
        assert_eq!(after(date), Some(Duration::from_secs(10)));
        assert_eq!(after("Mon, 30 Nov 2026 00:00:00 GMT"), Some(Duration::ZERO));
        assert_eq!(after("soon"), None);
    }
}
