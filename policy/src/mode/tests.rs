use super::*;

/// The whole function, as the language's decision model has it: a row for each `security` and
/// `ask`, a cell for each `approval`, in a cell the letters of asked, allowed and unmatched.
#[rustfmt::skip]
const TABLE: [(Security, Ask, [&str; 6]); 9] = [
    //                                 unset  unless_trusted on_request reject, rules  not    never
    (Security::Deny,      Ask::Off,    ["DDD", "DDD",        "DDD",     "DDD",         "DDD", "DDD"]),
    (Security::Deny,      Ask::OnMiss, ["DDD", "DDD",        "DDD",     "DDD",         "DDD", "DDD"]),
    (Security::Deny,      Ask::Always, ["DDD", "DDD",        "DDD",     "DDD",         "DDD", "DDD"]),
    (Security::Allowlist, Ask::Off,    ["DAD", "DAD",        "DDD",     "DAD",         "DAD", "DAD"]),
    (Security::Allowlist, Ask::OnMiss, ["PAP", "PAP",        "PPP",     "DAD",         "PAP", "DAD"]),
    (Security::Allowlist, Ask::Always, ["PPP", "PPP",        "PPP",     "DPD",         "PPP", "DDD"]),
    (Security::Full,      Ask::Off,    ["DAA", "DAD",        "DDD",     "DAD",         "DAD", "DAA"]),
    (Security::Full,      Ask::OnMiss, ["PAA", "PAP",        "PPP",     "DAD",         "PAP", "DAA"]),
    (Security::Full,      Ask::Always, ["PPP", "PPP",        "PPP",     "DPD",         "PPP", "DDD"]),
];

const APPROVALS: [Option<Approval>; 6] = [
    None,
    Some(Approval::UnlessTrusted),
    Some(Approval::OnRequest),
    Some(rejecting(true, false)),
    Some(rejecting(false, false)),
    Some(Approval::Never),
];

const fn rejecting(rules: bool, sandbox_approval: bool) -> Approval {
    Approval::Reject {
        rules,
        sandbox_approval,
        mcp_elicitations: false,
    }
}

/// What a question comes to that nobody answers: a row for each `ask_fallback`, a cell for each
/// `security`, for asked, allowed and unmatched.
#[rustfmt::skip]
const UNANSWERED: [(Security, [&str; 3]); 3] = [
    (Security::Deny,      ["DDD", "DDD", "DDD"]),
    (Security::Allowlist, ["DDD", "DAD", "DAD"]),
    (Security::Full,      ["DDD", "DAD", "DAA"]),
];

const STATES: [State; 3] = [State::Asked, State::Allowed, State::Unmatched];

fn modes() -> impl Iterator<Item = Mode> {
    Security::ALL.into_iter().flat_map(|security| {
        Ask::ALL.into_iter().flat_map(move |ask| {
            APPROVALS.into_iter().flat_map(move |approval| {
                Security::ALL.into_iter().map(move |ask_fallback| Mode {
                    security,
                    ask,
                    ask_fallback,
                    approval,
                })
            })
        })
    })
}

fn decide(mode: Mode, state: State) -> Decision {
    mode.decide(state, Category::Rules)
}

fn unanswered(mode: Mode, state: State) -> Decision {
    mode.unanswered(state, Category::Rules)
}

fn letters(decide: impl Fn(State) -> Decision) -> String {
    let letter = |state| match decide(state) {
        Decision::Allow => 'A',
        Decision::Ask => 'P',
        Decision::Deny => 'D',
    };
    STATES.into_iter().map(letter).collect()
}

#[test]
fn every_cell_is_as_the_language_has_it() {
    for (security, ask, row) in TABLE {
        for (approval, cell) in APPROVALS.into_iter().zip(row) {
            let ask_fallback = Security::Deny;
            let mode = Mode {
                security,
                ask,
                ask_fallback,
                approval,
            };
            assert_eq!(letters(|state| decide(mode, state)), cell, "{mode:?}");
        }
    }
}

#[test]
fn the_table_has_every_mode_once() {
    let modes: std::collections::HashSet<_> = TABLE
        .iter()
        .map(|(security, ask, _)| (security, ask))
        .collect();
    assert_eq!(modes.len(), Security::ALL.len() * Ask::ALL.len());
}

#[test]
fn an_unanswered_question_is_as_the_language_has_it() {
    for (ask_fallback, row) in UNANSWERED {
        for (security, cell) in Security::ALL.into_iter().zip(row) {
            let mode = Mode {
                security,
                ask: Ask::Always,
                ask_fallback,
                approval: None,
            };
            assert_eq!(letters(|state| unanswered(mode, state)), cell, "{mode:?}");
        }
    }
}

#[test]
fn a_fallback_is_for_questions_alone_and_never_another_question() {
    for mode in modes() {
        for state in STATES {
            let (decision, unanswered) = (decide(mode, state), unanswered(mode, state));
            assert_ne!(unanswered, Decision::Ask, "{mode:?} {state:?}");
            assert!(
                decision == Decision::Ask || unanswered == decision,
                "{mode:?} {state:?}"
            );
        }
    }
}

#[test]
fn more_questions_never_add_a_silent_permission() {
    for mode in modes() {
        for state in STATES {
            let silent = Ask::ALL.map(|ask| decide(Mode { ask, ..mode }, state) == Decision::Allow);
            assert!(
                silent.is_sorted_by(|fewer, more| fewer >= more),
                "{mode:?} {state:?}"
            );
        }
    }
}

#[test]
fn lowering_security_never_loosens() {
    for mode in modes() {
        for state in STATES {
            let decisions = Security::ALL.map(|security| decide(Mode { security, ..mode }, state));
            assert!(
                decisions.is_sorted_by(|lower, higher| lower >= higher),
                "{mode:?} {state:?}"
            );
        }
    }
}

#[test]
fn off_and_never_ask_nothing() {
    for mode in modes() {
        for state in STATES {
            let is_silent = mode.ask == Ask::Off || mode.approval == Some(Approval::Never);
            assert!(
                !is_silent || decide(mode, state) != Decision::Ask,
                "{mode:?} {state:?}"
            );
        }
    }
}

#[test]
fn each_refusal_is_for_its_own_questions() {
    for (rules, sandbox_approval) in [(false, false), (false, true), (true, false), (true, true)] {
        let mode = Mode {
            security: Security::Allowlist,
            ask: Ask::OnMiss,
            ask_fallback: Security::Deny,
            approval: Some(rejecting(rules, sandbox_approval)),
        };
        for (category, is_refused) in [
            (Category::Rules, rules),
            (Category::Sandbox, sandbox_approval),
        ] {
            let asked = match is_refused {
                true => Decision::Deny,
                false => Decision::Ask,
            };
            assert_eq!(mode.decide(State::Asked, category), asked, "{mode:?}");
            assert_eq!(mode.decide(State::Allowed, category), Decision::Allow);
        }
    }
}
