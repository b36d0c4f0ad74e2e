//! A moment of the past, as people write it.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Span, SpanRelativeTo, Timestamp};

use crate::clock;

/// The moment that `text` means: a time, a date (its beginning, UTC), or how long ago.
///
/// # Errors
/// What could be written instead.
pub(crate) fn moment(text: &str) -> Result<Timestamp, String> {
    moment_at(text, clock::now()).ok_or_else(|| {
        "write a time such as 2027-01-31T18:00:00Z, a date such as 2027-01-31 (its beginning, UTC), or how \
         long ago, such as `90s` or `2h`"
            .to_owned()
    })
}

fn moment_at(text: &str, now: Timestamp) -> Option<Timestamp> {
    if let Ok(time) = text.parse() {
        return Some(time);
    }
    // A time without its zone would be read as its date.
    let is_date = text.len() == "2027-01-31".len();
    if let Some(date) = text.parse::<Date>().ok().filter(|_| is_date) {
        return Some(date.to_zoned(TimeZone::UTC).ok()?.timestamp());
    }
    let ago = text.parse::<Span>().ok()?;
    let ago = ago.to_duration(SpanRelativeTo::days_are_24_hours()).ok()?;
    let is_past = !ago.is_negative();
    is_past.then(|| now.checked_sub(ago).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_a_time_a_date_or_how_long_ago() {
        let now: Timestamp = "2027-02-01T12:00:00Z".parse().unwrap();
        for (text, expected) in [
            ("2027-01-31T18:00:00Z", "2027-01-31T18:00:00Z"),
            ("2027-01-31", "2027-01-31T00:00:00Z"),
            ("90s", "2027-02-01T11:58:30Z"),
            ("2h", "2027-02-01T10:00:00Z"),
            ("1d", "2027-01-31T12:00:00Z"),
        ] {
            let found = moment_at(text, now).unwrap().to_string();
            assert_eq!(found, expected, "{text}");
        }
        for wrong in ["", "2", "h", "-2h", "2027-01-31T18:00:00", "soon", "2h 3"] {
            assert_eq!(moment_at(wrong, now), None, "{wrong}");
        }
    }
}
