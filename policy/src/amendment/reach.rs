//! How far an amendment reaches: of calls that were seen, how many it covers.

use jiff::Timestamp;

use super::{Amendment, rule_of};
use crate::image::Images;
use crate::request::ExecRequest;
use crate::rule::Rule;
use crate::ruleset::Ruleset;

impl Ruleset {
    /// How many of the calls `seen` each of `amendments` covers at `now`, whether or not they would have
    /// been asked about. What their files held does not count.
    #[must_use]
    pub fn reaches<'r>(
        &self,
        amendments: &[Amendment],
        seen: impl IntoIterator<Item = &'r ExecRequest>,
        now: Timestamp,
    ) -> Vec<usize> {
        let rules = amendments.iter().map(|it| rule_of(&it.rule));
        let rules: Vec<_> = rules.collect();
        let mut reaches = vec![0; rules.len()];
        for request in seen {
            let images = Images::of(request, &self.trust);
            for (reach, rule) in reaches.iter_mut().zip(&rules) {
                let holds = |rule: &Rule| rule.holds(&images.program, now);
                *reach += usize::from(rule.as_ref().is_some_and(holds));
            }
        }
        reaches
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{call, policy};
    use super::*;

    #[test]
    fn a_wider_amendment_reaches_further_and_none_reaches_other_commands() {
        let now = Timestamp::UNIX_EPOCH;
        let rules = policy("version = 1\nmode.security = \"allowlist\"\n");
        let asked = call("mkdir -p a");
        let amendments = rules.amendments(&asked, "a", now);
        let scopes: Vec<_> = amendments.iter().map(|it| it.scope.as_str()).collect();
        assert_eq!(scopes, ["exact", "flags", "prefix", "program"]);
        let seen = ["mkdir -p a", "mkdir -p b", "mkdir -m 777 c", "ls -p a"].map(call);
        let reaches = rules.reaches(&amendments, &seen, now);
        assert_eq!(reaches.first(), Some(&1));
        assert!(
            reaches.is_sorted() && reaches.last() == Some(&3),
            "{reaches:?}"
        );
        assert_eq!(rules.reaches(&amendments, [], now), [0; 4]);
    }
}
