//! The second seed's safe programs.

use execward_policy::seed::{AllowlistPolicy, ExecAsk, ExecPolicy, ExecSecurity};

use crate::s1_modes::entry;
use crate::*;

/// What safe programs let run where nothing is asked, beside one entry.
#[track_caller]
fn safe(names: Option<&[&str]>) -> Ruleset {
    let policy = AllowlistPolicy {
        policy: ExecPolicy {
            security: ExecSecurity::Allowlist,
            ask: ExecAsk::Off,
            ..ExecPolicy::default()
        },
        allowlist: vec![entry("ls", "/usr/bin/ls")],
        safe_bins: names.map(strings),
        ..AllowlistPolicy::default()
    };
    load_translation(&policy.translate(None).expect("patterns of their own"))
}

#[test]
fn r61_what_the_seed_kept_acts_together() {
    // The allowlist with its globs, and safe programs; the others have tests of their own.
    let ruleset = safe(None);
    assert_decisions(
        &ruleset,
        &[
            ("ls /", Decision::Allow),
            ("wc -l", Decision::Allow),
            ("cat a", Decision::Deny),
        ],
    );
}

#[test]
fn r75_safe_programs_run_without_an_entry() {
    assert_decisions(
        &safe(None),
        &[
            ("head -n 3", Decision::Allow),
            ("wc", Decision::Allow),
            ("sed p", Decision::Deny),
        ],
    );
}

#[test]
fn r89_the_set_of_safe_programs_is_the_authors() {
    assert_decisions(
        &safe(Some(&["sort"])),
        &[("sort", Decision::Allow), ("head", Decision::Deny)],
    );
    assert_decisions(
        &safe(Some(&[])),
        &[
            ("sort", Decision::Deny),
            ("head", Decision::Deny),
            ("ls", Decision::Allow),
        ],
    );
}

#[test]
fn r90_a_safe_program_is_named_in_full() {
    assert_decisions(
        &safe(None),
        &[("cut -f 1", Decision::Allow), ("cutx -f 1", Decision::Deny)],
    );
}

#[test]
fn r91_a_safe_program_is_a_file_of_the_system() {
    let ruleset = safe(None);
    assert_decisions(
        &ruleset,
        &[
            ("/usr/bin/wc", Decision::Allow),
            ("/workspace/wc", Decision::Deny),
            ("/opt/bin/wc", Decision::Deny),
        ],
    );
    let mut missing = call("wc");
    missing.program.resolved = None;
    missing.program.origin = execward_policy::Origin::Anonymous;
    assert_eq!(decision(&ruleset, &missing), Decision::Deny);
}

#[test]
fn r92_a_safe_program_names_no_file() {
    let ruleset = safe(Some(&["grep", "sort", "head"]));
    assert_decisions(
        &ruleset,
        &[
            ("grep root", Decision::Allow),
            ("grep root /etc/shadow", Decision::Deny),
            ("grep --file=/x", Decision::Deny),
            ("grep -f /x", Decision::Deny),
            ("grep -f/x", Decision::Deny),
            ("sort --files0-from=/x", Decision::Deny),
            ("head -n 3", Decision::Allow),
            ("head -n 3 a", Decision::Deny),
        ],
    );
}

#[test]
fn r139_a_safe_program_reads_no_secret() {
    let ruleset = safe(Some(&["grep"]));
    assert_decisions(
        &ruleset,
        &[
            ("grep x", Decision::Allow),
            ("grep x /etc/shadow", Decision::Deny),
        ],
    );
}

#[test]
fn r144_entries_and_safe_programs_let_run_what_the_other_does_not() {
    let ruleset = safe(Some(&["wc"]));
    assert_decisions(
        &ruleset,
        &[
            ("ls /", Decision::Allow),
            ("wc -c", Decision::Allow),
            ("wc /etc/shadow", Decision::Deny),
            ("/workspace/ls", Decision::Deny),
        ],
    );
}

#[test]
fn o33_a_safe_program_is_no_name_alone() {
    let ruleset = safe(None);
    assert_decisions(&ruleset, &[("wc", Decision::Allow)]);
    let mut planted = call("wc");
    planted.program.is_settled = false;
    assert_eq!(decision(&ruleset, &planted), Decision::Deny);
    assert_decisions(&ruleset, &[("/home/u/bin/wc", Decision::Deny)]);
}

#[test]
fn o34_what_runs_programs_or_writes_is_not_safe() {
    for name in ["env", "bash", "python3"] {
        let policy = AllowlistPolicy {
            safe_bins: Some(strings(&[name])),
            ..AllowlistPolicy::default()
        };
        assert!(
            policy.translate(None).unwrap().load(&places()).is_err(),
            "{name}"
        );
    }
    let ruleset = safe(Some(&["find", "grep", "sort"]));
    assert_decisions(
        &ruleset,
        &[
            ("find . -delete", Decision::Deny),
            ("find . -exec sh ;", Decision::Deny),
            ("grep -r root", Decision::Deny),
            ("sort -o out", Decision::Deny),
            ("sort --compress-program=sh", Decision::Deny),
        ],
    );
    // And by itself the set has stdin filters only.
    for line in ["cat a", "find .", "grep -r root", "jq .", "python3"] {
        assert_eq!(decide(&safe(None), line), Decision::Deny, "{line}");
    }
    // `env` is none of it: it starts what it names, and that is judged by itself.
    let ruleset = safe(None);
    let request = call("env python3");
    let verdict = ruleset.decide(&request, NOW);
    assert!(matches!(verdict.basis(), execward_policy::Basis::Wrapper));
}

#[test]
fn o35_what_an_operand_is_does_not_depend_on_what_exists() {
    let ruleset = safe(Some(&["grep", "head"]));
    for line in [
        "head no-such-file",
        "head /etc/passwd",
        "grep x no-such-file",
    ] {
        assert_eq!(decide(&ruleset, line), Decision::Deny, "{line}");
    }
}
