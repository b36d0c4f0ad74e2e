//! What the policy said of an exec then, from what became of it.

use execward_policy::Decision;

use super::{Decided, Record};

/// What the policy said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Said {
    /// This, whatever a person answered to it.
    Policy(Decision),
    /// Nothing, or it was not written down: the gate refused on its own account, or there was no file.
    Nothing,
}

/// What the policy said of the exec of a decision.
///
/// A question shows by its answer: a person's word, now, earlier or to a process above, or why there is
/// none. An exec that was held was a question whatever came then.
pub(crate) fn said(record: &Record<'_>) -> Said {
    let Some(decided) = &record.decision else {
        return Said::Nothing;
    };
    if record.is_of_question() {
        return Said::Policy(Decision::Ask);
    }
    if is_below_subtree(decided) {
        return Said::Policy(Decision::Ask);
    }
    let is_looked_at = record.proc.as_ref().is_some_and(|proc| proc.argv.is_some());
    match (decided.reason.as_ref(), decided.verdict.as_ref()) {
        (
            "user" | "grant" | "store_invalid" | "no_approver" | "timeout" | "changed_since_prompt",
            _,
        ) => Said::Policy(Decision::Ask),
        // Before its strings were read, nothing was judged.
        ("signalled" | "withdrawn" | "overload", _) if is_looked_at => Said::Policy(Decision::Ask),
        (
            "rule" | "default" | "unknown_tool" | "children" | "safe_bin" | "wrapper" | "operator",
            verdict,
        ) => match verdict {
            "allow" => Said::Policy(Decision::Allow),
            "ask" => Said::Policy(Decision::Ask),
            "deny" => Said::Policy(Decision::Deny),
            _ => Said::Nothing,
        },
        _ => Said::Nothing,
    }
}

/// Whether it ran since a person had allowed a process with all that it starts.
fn is_below_subtree(decided: &Decided<'_>) -> bool {
    let rule = decided.rule.as_ref();
    decided.reason == "children" && rule.is_some_and(|rule| rule.id.ends_with("-subtree"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_one_whatever_was_answered() {
        let said_of = |reason: &str, verdict: &str, rest: &str| {
            let line = format!(
                r#"{{"type":"exec.decision","decision":{{"verdict":"{verdict}","reason":"{reason}"}},
                "proc":{{"pid":1,"argv":["a"]}}{rest}}}"#
            );
            said(&Record::parse(line.as_bytes()).unwrap())
        };
        for (reason, verdict, decision) in [
            ("rule", "allow", Decision::Allow),
            ("operator", "allow", Decision::Allow),
            ("safe_bin", "allow", Decision::Allow),
            ("default", "deny", Decision::Deny),
            ("user", "allow", Decision::Ask),
            ("user", "deny", Decision::Ask),
            ("grant", "allow", Decision::Ask),
            ("timeout", "allow", Decision::Ask),
            ("no_approver", "deny", Decision::Ask),
            ("overload", "deny", Decision::Ask),
        ] {
            let said = said_of(reason, verdict, "");
            assert_eq!(said, Said::Policy(decision), "{reason} {verdict}");
        }
        let held = r#","approval":{"wait_ms":1}"#;
        assert_eq!(
            said_of("unreadable", "deny", held),
            Said::Policy(Decision::Ask)
        );
        let children = |id: &str| {
            let line = format!(
                r#"{{"type":"exec.decision","decision":{{"verdict":"allow","reason":"children",
                "rule":{{"id":"{id}","src":"a:1"}}}},"proc":{{"pid":1,"argv":["a"]}}}}"#
            );
            said(&Record::parse(line.as_bytes()).unwrap())
        };
        assert_eq!(children("a1-subtree"), Said::Policy(Decision::Ask));
        assert_eq!(children("make"), Said::Policy(Decision::Allow));
        for reason in ["unreadable", "target_missing", "sup_error", "unverifiable"] {
            assert_eq!(said_of(reason, "deny", ""), Said::Nothing, "{reason}");
        }
    }
}
