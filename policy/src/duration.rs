//! Spans of time as a policy writes them: `90s`, `5m`, `2h`.

use std::time::Duration;

use crate::kind::Complaint;

/// Longest span: a question that waits for more than a week waits for nobody.
const MAX: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Reads a whole number of seconds, minutes or hours.
pub(crate) fn parse(text: &str) -> Result<Duration, Complaint> {
    let complaint = || {
        let message = format!("`{}` is no span of time", text.escape_debug());
        (
            message,
            Some("write `90s`, `5m` or `2h`, at most a week".to_owned()),
        )
    };
    let unit = match text.chars().next_back() {
        Some('s') => 1,
        Some('m') => 60,
        Some('h') => 60 * 60,
        _ => return Err(complaint()),
    };
    let digits = text.get(..text.len() - 1).unwrap_or_default();
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let seconds = digits.parse::<u64>().ok().filter(|_| is_number);
    let span = seconds
        .and_then(|number| number.checked_mul(unit))
        .map(Duration::from_secs);
    span.filter(|span| !span.is_zero() && *span <= MAX)
        .ok_or_else(complaint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_whole_numbers_of_one_unit() {
        assert_eq!(parse("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(parse("5m"), Ok(Duration::from_secs(300)));
        assert_eq!(parse("2h"), Ok(Duration::from_secs(7200)));
        for text in [
            "",
            "5",
            "m",
            "0s",
            "-1s",
            "+1s",
            "1.5h",
            "5 m",
            "169h",
            "5d",
            "9999999999999999999h",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
