//! An allow and the environment: what changed since the session began must be named.

use super::*;

/// Decides `ls` in a session that began with `start`, now with `env`.
fn decide_in(ruleset: &Ruleset, start: &[&str], env: &[&str]) -> Decision {
    let request = ls(start, env);
    ruleset.decide(&request, Timestamp::UNIX_EPOCH).decision()
}

fn ls(start: &[&str], env: &[&str]) -> ExecRequest {
    let variables = |list: &[&str]| list.iter().map(|it| (*it).into()).collect();
    ExecRequest {
        env: Some(variables(env)),
        start_env: Some(variables(start)),
        ..call(ProgramFile::at("/usr/bin/ls"), &["ls"])
    }
}

#[test]
fn an_allow_fails_where_a_watched_variable_is_not_as_it_was() {
    let ruleset = policy("[[allow]]\nid = 'a'\nprogram = 'ls'");
    for (start, env, decision) in [
        (&[][..], &[][..], Decision::Allow),
        (&[], &["PWD=/x", "NO_COLOR=1"], Decision::Allow),
        (&["LD_PRELOAD=x"], &["LD_PRELOAD=x"], Decision::Allow),
        (&["LD_PRELOAD=x"], &[], Decision::Allow),
        (&["LD_PRELOAD=x"], &["LD_PRELOAD=y"], Decision::Ask),
        (&[], &["LD_PRELOAD=x"], Decision::Ask),
        (&["HTTPS_PROXY=x"], &[], Decision::Ask),
        (
            &["LD_PRELOAD=x"],
            &["LD_PRELOAD=x", "LD_PRELOAD=y"],
            Decision::Ask,
        ),
        (
            &[],
            &["NODE_OPTIONS=--max-old-space-size=512"],
            Decision::Allow,
        ),
        (&[], &["NODE_OPTIONS=--require=x"], Decision::Ask),
    ] {
        assert_eq!(
            decide_in(&ruleset, start, env),
            decision,
            "{start:?} {env:?}"
        );
    }
}

#[test]
fn an_allow_names_the_variables_that_may_change() {
    let ruleset = policy(
        "[[allow]]\nid = 'a'\nprogram = 'ls'\nenv = ['LD_LIBRARY_PATH=/opt/*', 'CARGO_*', '!CARGO_HOME']",
    );
    for (env, decision) in [
        (&["LD_LIBRARY_PATH=/opt/x"][..], Decision::Allow),
        (&["LD_LIBRARY_PATH=/tmp"], Decision::Ask),
        (&["CARGO_ENCODED_RUSTFLAGS=x"], Decision::Allow),
        (&["CARGO_HOME=x"], Decision::Ask),
        (
            &["CARGO_ENCODED_RUSTFLAGS=x", "LD_PRELOAD=x"],
            Decision::Ask,
        ),
    ] {
        assert_eq!(decide_in(&ruleset, &[], env), decision, "{env:?}");
    }
    assert_eq!(
        decide_in(&ruleset, &["LD_LIBRARY_PATH=/opt/x"], &[]),
        Decision::Allow
    );
    assert_eq!(decide_in(&ruleset, &["CARGO_HOME=/x"], &[]), Decision::Ask);
}

#[test]
fn a_policy_adds_to_the_watched_variables_and_takes_out() {
    let ruleset =
        policy("env.untrusted = ['DEPLOY_*', '!EDITOR']\n[[allow]]\nid = 'a'\nprogram = 'ls'");
    assert_eq!(decide_in(&ruleset, &[], &["DEPLOY_TO=x"]), Decision::Ask);
    assert_eq!(
        decide_in(&ruleset, &[], &["EDITOR=/tmp/x"]),
        Decision::Allow
    );
    assert_eq!(decide_in(&ruleset, &[], &["LD_PRELOAD=x"]), Decision::Ask);
}

#[test]
fn what_holds_an_allow_back_is_named() {
    let ruleset = policy(
        "[[allow]]\nid = 'a'\nprogram = 'ls'\nenv = 'CC'\n[[allow]]\nid = 'b'\nprogram = 'cat'",
    );
    let objection = |env: &[&str]| {
        let objection = ruleset.objection(&ls(&["LD_AUDIT=x"], env), Timestamp::UNIX_EPOCH);
        objection.map(|objection| objection.to_string())
    };
    let since = "since the session began, and rule a does not name it";
    assert_eq!(
        objection(&["CC=x", "LD_AUDIT=y"]),
        Some(format!("LD_AUDIT (loader) is changed {since}"))
    );
    assert_eq!(
        objection(&["CC=x", "LD_PRELOAD=y"]),
        Some(format!("LD_PRELOAD (loader) is new {since}"))
    );
    assert_eq!(objection(&["CC=x"]), None);
}
