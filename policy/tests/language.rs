//! The examples of `LANGUAGE.md` are policies that load, and its table of calls is true.

use execward_policy::{
    Decision, ExecRequest, Layer, NoIncludes, Places, ProgramFile, Ruleset, Source,
};
use jiff::Timestamp;

const LANGUAGE: &str = include_str!("../LANGUAGE.md");

fn load(text: &str) -> Ruleset {
    let places = Places {
        home: "/home/u".into(),
        workspace: "/w".into(),
        tmp: "/tmp".into(),
    };
    let source = Source {
        name: "LANGUAGE.md",
        text: text.as_bytes(),
        layer: Layer::User,
    };
    // Grants stand in a file of their own, beside any policy.
    let loaded = if text.contains("\n[grants.") {
        Ruleset::load(&[], &places, &NoIncludes)
            .and_then(|policy| policy.with_grants(&[source], &places, &NoIncludes))
    } else {
        Ruleset::load(&[source], &places, &NoIncludes)
    };
    loaded.unwrap_or_else(|faults| panic!("{faults}\n{text}"))
}

fn examples() -> impl Iterator<Item = &'static str> {
    LANGUAGE.split("```toml\n").skip(1).map(|rest| {
        let (example, _) = rest.split_once("```").expect("the example has an end");
        example
    })
}

fn decide(ruleset: &Ruleset, line: &str) -> Decision {
    let argv = line.split(' ').map(Into::into).collect();
    let request = ExecRequest::new(ProgramFile::at("/usr/bin/git"), argv);
    ruleset.decide(&request, Timestamp::UNIX_EPOCH).decision()
}

#[test]
fn every_example_loads() {
    assert!(examples().map(load).count() >= 6);
}

#[test]
fn the_table_of_calls_is_true() {
    let ruleset =
        load("version = 1\nmode.security = \"full\"\n[[deny]]\nid = \"d\"\ncommand = \"git push\"");
    let (_, section) = LANGUAGE
        .split_once("`git push` in a deny:")
        .expect("the table is there");
    let rows = section
        .lines()
        .skip_while(|line| !line.starts_with("| `"))
        .take_while(|line| line.starts_with('|'));
    let mut calls = 0;
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let expected = if cells[1].starts_with("holds") {
            Decision::Deny
        } else {
            Decision::Allow
        };
        for call in cells[0].split("`, `").map(|call| call.trim_matches('`')) {
            assert_eq!(decide(&ruleset, call), expected, "{call}");
            calls += 1;
        }
    }
    assert_eq!(calls, 8);
}

#[test]
fn the_table_of_verdicts_is_true() {
    let rows = LANGUAGE
        .lines()
        .filter(|line| line.starts_with("| allowlist |") || line.starts_with("| full |"));
    let mut count = 0;
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let ruleset = load(&format!(
            "version = 1\n[mode]\nsecurity = \"{}\"\nask = \"{}\"\n\
             [[ask]]\nid = \"q\"\ncommand = \"git asked\"\n\
             [[allow]]\nid = \"a\"\ncommand = \"git allowed\"",
            cells[0], cells[1]
        ));
        for (line, decision) in ["git asked", "git allowed", "git other"]
            .iter()
            .zip(&cells[2..])
        {
            assert_eq!(
                decide(&ruleset, line).to_string(),
                *decision,
                "{row} {line}"
            );
        }
        count += 1;
    }
    assert_eq!(count, 6);
}
