//! When a session was alive, as the name of an empty file says it: a name is written whole or not at
//! all, and has no content to be damaged.

use jiff::Timestamp;

/// Stands for the end of a session that has not ended.
const LIVE: &str = "live";

/// One session, or several that were made one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) began: Timestamp,
    /// None while it is alive.
    pub(super) ended: Option<Timestamp>,
    /// The gate's process.
    pub(super) gate: u32,
    /// Seccomp filters that the gate was under as it began.
    pub(super) filters: u32,
    pub(super) id: String,
    pub(super) name: String,
}

impl Span {
    /// `BEGAN.ENDED.GATE.FILTERS.ID.NAME`, times in nanoseconds since 1970.
    pub(super) fn file_name(&self) -> String {
        let began = self.began.as_nanosecond();
        let ended = match self.ended {
            Some(ended) => ended.as_nanosecond().to_string(),
            None => LIVE.to_owned(),
        };
        let Self {
            gate,
            filters,
            id,
            name,
            ..
        } = self;
        format!("{began}.{ended}.{gate}.{filters}.{id}.{name}")
    }

    /// The span that a file's name says.
    pub(super) fn parse(name: &str) -> Option<Self> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        let mut parts = name.splitn(6, '.');
        let mut next = || parts.next().filter(|part| !part.is_empty());
        let time = |text: &str| Timestamp::from_nanosecond(text.parse().ok()?).ok();
        let began = time(next()?)?;
        let ended = match next()? {
            LIVE => None,
            text => Some(time(text)?),
        };
        let (gate, filters) = (next()?.parse().ok()?, next()?.parse().ok()?);
        let (id, session) = (next()?.to_owned(), next()?.to_owned());
        name.bytes().all(is_plain).then_some(Self {
            began,
            ended,
            gate,
            filters,
            id,
            name: session,
        })
    }

    /// Whether it was alive at some time from `from` to `to`, bounds included.
    ///
    /// A clock that was set back meanwhile makes its end the earlier one.
    pub(super) fn meets(&self, from: Timestamp, to: Timestamp) -> bool {
        let ended = self.ended.unwrap_or(Timestamp::MAX);
        self.began.min(ended) <= to && from <= self.began.max(ended)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(nanoseconds: i128) -> Timestamp {
        Timestamp::from_nanosecond(nanoseconds).unwrap()
    }

    fn span(ended: Option<i128>) -> Span {
        Span {
            began: at(100),
            ended: ended.map(at),
            gate: 7,
            filters: 1,
            id: "0197-ab".into(),
            name: "build-7.x_y".into(),
        }
    }

    #[test]
    fn a_name_says_the_span_and_garbage_says_none() {
        for span in [span(None), span(Some(300))] {
            assert_eq!(Span::parse(&span.file_name()), Some(span));
        }
        for bad in [
            "",
            "x",
            "1.live.7.1.id",
            "1.live.7.1.id.",
            "1.never.7.1.id.name",
            "1.live.-7.1.id.name",
            "1.live.7.1.id.na\u{1b}me",
            "99999999999999999999999999999999.live.7.1.id.name",
        ] {
            assert_eq!(Span::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn its_bounds_belong_to_a_span() {
        let (ended, live, set_back) = (span(Some(300)), span(None), span(Some(50)));
        for (time, in_ended, in_live, in_set_back) in [
            (49, false, false, false),
            (50, false, false, true),
            (100, true, true, true),
            (101, true, true, false),
            (300, true, true, false),
            (301, false, true, false),
        ] {
            assert_eq!(ended.meets(at(time), at(time)), in_ended, "{time}");
            assert_eq!(live.meets(at(time), at(time)), in_live, "{time}");
            assert_eq!(set_back.meets(at(time), at(time)), in_set_back, "{time}");
        }
        assert!(ended.meets(at(0), Timestamp::MAX) && !ended.meets(at(301), Timestamp::MAX));
    }
}
