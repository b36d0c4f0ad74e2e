//! The second seed's words, and its modes.

use execward_policy::seed::{
    AllowlistEntry, AllowlistPolicy, CommandResolution, ExecApprovalDecision, ExecAsk, ExecPolicy,
    ExecSecurity, SeedError,
};
use execward_policy::{Ask, Origin, Security};

use crate::s0_types::{assert_round_trip, error_of};
use crate::*;

pub(crate) fn entry(id: &str, pattern: &str) -> AllowlistEntry {
    AllowlistEntry {
        id: id.to_owned(),
        pattern: pattern.to_owned(),
        last_used_at: None,
        last_used_command: None,
        last_resolved_path: None,
    }
}

/// An allowlist in a mode, loaded.
#[track_caller]
pub(crate) fn allowlist(security: ExecSecurity, ask: ExecAsk, patterns: &[&str]) -> Ruleset {
    let entries = patterns.iter().enumerate();
    let policy = AllowlistPolicy {
        policy: ExecPolicy {
            security,
            ask,
            ..ExecPolicy::default()
        },
        allowlist: entries
            .map(|(number, pattern)| entry(&format!("entry-{number}"), pattern))
            .collect(),
        ..AllowlistPolicy::default()
    };
    load_translation(&policy.translate(None).expect("patterns of their own"))
}

const ALL_ASKS: [ExecAsk; 3] = [ExecAsk::Off, ExecAsk::OnMiss, ExecAsk::Always];

#[test]
fn r78_deny_blocks_what_is_allowed_too() {
    for ask in ALL_ASKS {
        let ruleset = allowlist(ExecSecurity::Deny, ask, &["/usr/bin/ls"]);
        assert_decisions(&ruleset, &[("ls", Decision::Deny), ("cat", Decision::Deny)]);
    }
}

#[test]
fn r79_allowlist_runs_hits_and_no_miss_silently() {
    for (ask, miss) in [
        (ExecAsk::Off, Decision::Deny),
        (ExecAsk::OnMiss, Decision::Ask),
    ] {
        let ruleset = allowlist(ExecSecurity::Allowlist, ask, &["/usr/bin/ls"]);
        assert_decisions(&ruleset, &[("ls", Decision::Allow), ("cat", miss)]);
    }
}

#[test]
fn r80_full_runs_misses_too() {
    for ask in [ExecAsk::Off, ExecAsk::OnMiss] {
        let ruleset = allowlist(ExecSecurity::Full, ask, &["/usr/bin/ls"]);
        assert_decisions(
            &ruleset,
            &[("ls", Decision::Allow), ("cat", Decision::Allow)],
        );
    }
}

#[test]
fn r81_off_asks_nothing() {
    for security in [
        ExecSecurity::Deny,
        ExecSecurity::Allowlist,
        ExecSecurity::Full,
    ] {
        let ruleset = allowlist(security, ExecAsk::Off, &["/usr/bin/ls"]);
        assert!(ruleset.never_asks());
        for line in ["ls", "cat", "/opt/x"] {
            assert_ne!(decide(&ruleset, line), Decision::Ask, "{security:?} {line}");
        }
    }
}

#[test]
fn r82_on_miss_asks_about_misses_alone() {
    let ruleset = allowlist(ExecSecurity::Allowlist, ExecAsk::OnMiss, &["/usr/bin/ls"]);
    assert_decisions(&ruleset, &[("ls", Decision::Allow), ("cat", Decision::Ask)]);
}

#[test]
fn r83_always_asks_about_hits_too() {
    for security in [ExecSecurity::Allowlist, ExecSecurity::Full] {
        let ruleset = allowlist(security, ExecAsk::Always, &["/usr/bin/ls"]);
        assert_decisions(&ruleset, &[("ls", Decision::Ask), ("cat", Decision::Ask)]);
    }
}

#[test]
fn r121_the_words_are_the_seeds() {
    for word in ["\"deny\"", "\"allowlist\"", "\"full\""] {
        assert_round_trip::<ExecSecurity>(word);
    }
    for word in ["\"off\"", "\"on-miss\"", "\"always\""] {
        assert_round_trip::<ExecAsk>(word);
    }
    for word in ["\"allow-once\"", "\"allow-always\"", "\"deny\""] {
        assert_round_trip::<ExecApprovalDecision>(word);
    }
    let error = error_of::<ExecAsk>("\"on_miss\"");
    assert!(
        error.contains("unknown variant `on_miss`, expected one of `off`"),
        "{error}"
    );
}

#[test]
fn r122_a_policy_is_three_words() {
    let json = r#"{"security":"allowlist","ask":"always","askFallback":"full"}"#;
    let policy: ExecPolicy = assert_round_trip(json);
    let error = error_of::<ExecPolicy>(r#"{"security":"full","ask":"off","ask_fallback":"deny"}"#);
    assert!(error.contains("unknown field `ask_fallback`"), "{error}");
    let policy = AllowlistPolicy {
        policy,
        allowlist: vec![entry("ls", "/usr/bin/ls")],
        ..AllowlistPolicy::default()
    };
    let ruleset = load_translation(&policy.translate(None).unwrap());
    let unanswered = |line: &str| ruleset.decide(&call(line), NOW).unanswered();
    // The fallback is no looser than what runs.
    assert_eq!(decide(&ruleset, "ls"), Decision::Ask);
    assert_eq!(unanswered("ls"), Decision::Allow);
    assert_eq!(unanswered("cat"), Decision::Deny);
}

#[test]
fn r123_an_entry_has_an_id_of_its_own_and_a_pattern_of_its_own() {
    assert_round_trip::<AllowlistEntry>(r#"{"id":"a","pattern":"/usr/bin/*"}"#);
    let used = r#"{"id":"a","pattern":"ls","lastUsedAt":1770000000000,"lastUsedCommand":"ls -l","lastResolvedPath":"/usr/bin/ls"}"#;
    assert_round_trip::<AllowlistEntry>(used);
    let of = |entries: &[(&str, &str)]| AllowlistPolicy {
        allowlist: entries
            .iter()
            .map(|(id, pattern)| entry(id, pattern))
            .collect(),
        ..AllowlistPolicy::default()
    };
    let same_id = of(&[("a", "ls"), ("a", "cat")]).translate(None).unwrap();
    assert!(faults(&same_id).contains("the id `a` is used twice"));
    let same_pattern = of(&[("a", "ls"), ("b", "ls")]).translate(None).unwrap_err();
    let SeedError::RepeatedPattern { first, second, .. } = &same_pattern;
    assert_eq!((first.as_str(), second.as_str()), ("a", "b"));
    assert!(
        same_pattern.to_string().contains("the same pattern `ls`"),
        "{same_pattern}"
    );
}

#[test]
fn r125_a_program_is_kept_as_given_and_as_it_is() {
    let mut file = ProgramFile::at("/usr/bin/x");
    file.given = "/home/u/bin/../tool".into();
    let resolution = CommandResolution::from(&file);
    let json = r#"{"rawExecutable":"/home/u/bin/../tool","resolvedPath":"/usr/bin/x","executableName":"x"}"#;
    assert_eq!(assert_round_trip::<CommandResolution>(json), resolution);
    file.resolved = None;
    file.given = b"/tmp/\xff".to_vec();
    file.origin = Origin::Anonymous;
    let resolution = CommandResolution::from(&file);
    assert_eq!(resolution.resolved_path, None);
    assert_eq!(resolution.executable_name, "\\xff");
    // A deny holds by either name, an allow by that of the file.
    let ruleset = policy(
        "mode.security = 'allowlist'\n[[allow]]\nid = 'a'\nprogram = ['/usr/bin/ls', '/opt/ls']\n[[deny]]\nid = 'd'\nprogram = '/opt/rm'",
    );
    let linked = |given: &str, resolved: &str| {
        let mut request = call("x");
        request.program = ProgramFile::at(resolved);
        request.program.given = given.into();
        decision(&ruleset, &request)
    };
    assert_eq!(linked("/opt/rm", "/usr/bin/ls"), Decision::Deny);
    assert_eq!(linked("/usr/bin/ls", "/opt/rm"), Decision::Deny);
    assert_eq!(linked("/elsewhere/ls", "/usr/bin/ls"), Decision::Allow);
}

#[test]
fn r136_what_is_not_known_is_denied() {
    let ruleset = policy("");
    assert_decisions(
        &ruleset,
        &[("ls", Decision::Deny), ("/opt/x", Decision::Deny)],
    );
    let ruleset = load_translation(&AllowlistPolicy::default().translate(None).unwrap());
    assert_decisions(
        &ruleset,
        &[("ls", Decision::Deny), ("/opt/x", Decision::Deny)],
    );
}

#[test]
fn r155_the_defaults_are_deny_on_miss_deny() {
    let default = ExecPolicy::default();
    assert_eq!(
        serde_json::to_string(&default).unwrap(),
        r#"{"security":"deny","ask":"on-miss","askFallback":"deny"}"#
    );
    let of_seed = load_translation(&AllowlistPolicy::default().translate(None).unwrap());
    assert_eq!(policy("").mode(), of_seed.mode());
    let mode = policy("").mode();
    assert_eq!(
        (mode.security, mode.ask, mode.ask_fallback),
        (Security::Deny, Ask::OnMiss, Security::Deny)
    );
}
