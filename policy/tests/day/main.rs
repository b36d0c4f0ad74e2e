//! A day of work: what programs an agent and its tools start, as the gate recorded it, and which of
//! it is asked about.
//!
//! `calls.jsonl` has a call a line, each once, in the order of the day: the file (`program` as it
//! was given, the `links` that stood for it, `file` as the path led to it), `argv`, `cwd`, the
//! `interpreters` of a script, what a standard descriptor has been opened on (`streams`), the line
//! of the call that led to it (`parent`, from zero), and of `env` those variables that a watch list
//! could mean and that the session did not begin with. Of a linker's many objects there are a few.
//!
//! Beside each policy is what it does not allow, below the reason why that should be so, or what
//! is wrong with it.

mod call;

use std::collections::BTreeSet;
use std::path::Path;

use execward_policy::{
    Basis, Decision, Destination, ExecRequest, Layer, NoIncludes, ProgramFile, Ruleset, Source,
    builtin, preset,
};
use jiff::Timestamp;

use call::{Call, calls, places, seen_by};

fn file(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/day");
    std::fs::read_to_string(path.join(name)).expect("of the form above")
}

fn load(name: &str, text: &str, layer: Layer) -> Ruleset {
    let text = text.as_bytes();
    let source = Source { name, text, layer };
    let sources: Vec<_> = builtin(&places()).chain([source]).collect();
    Ruleset::load(&sources, &places(), &NoIncludes).expect("a policy without a fault")
}

fn load_preset(name: &str) -> Ruleset {
    let text = preset(name).expect("a preset");
    load(&format!("preset:{name}"), text, Layer::Builtin)
}

fn decide(rules: &Ruleset, call: &Call) -> Decision {
    let now = Timestamp::UNIX_EPOCH;
    rules.decide(&call.request, now).decision()
}

/// Compares what `rules` do not allow with what a file lists: `VERDICT RULE: COMMAND LINE` below
/// the `# reason` for it. A call that is listed stands for each that looks like it.
fn answers_as_listed(rules: &Ruleset, name: &str) {
    let text = file(name);
    let mut listed = BTreeSet::new();
    let mut has_reason = false;
    for line in text.lines().filter(|line| !line.is_empty()) {
        match line.starts_with("# ") {
            true => has_reason = true,
            false => {
                assert!(has_reason, "{name}: no reason stands above `{line}`");
                assert!(listed.insert(line.to_owned()), "{name}: twice: `{line}`");
            }
        }
    }
    let now = Timestamp::UNIX_EPOCH;
    let mut found = BTreeSet::new();
    for call in seen_by(rules) {
        let verdict = rules.decide(&call.request, now);
        let rule = match verdict.basis() {
            Basis::Rule(rule) => rule.id(),
            Basis::Children(_)
            | Basis::SafeBin
            | Basis::Wrapper
            | Basis::UnknownTool
            | Basis::Default { .. } => "no rule",
        };
        if verdict.decision() != Decision::Allow {
            found.insert(format!("{} {rule}: {}", verdict.decision(), call.line()));
        }
    }
    let missing: Vec<_> = found.difference(&listed).collect();
    let gone: Vec<_> = listed.difference(&found).collect();
    assert!(missing.is_empty(), "{name} does not list {missing:#?}");
    assert!(gone.is_empty(), "{name} lists what is allowed: {gone:#?}");
}

#[test]
fn the_day_is_a_long_one() {
    let calls = calls();
    let vectors: BTreeSet<_> = calls.iter().map(|call| &call.request.argv).collect();
    assert!(vectors.len() >= 1000, "{}", vectors.len());
}

#[test]
fn dev_asks_about_what_leaves_the_session_and_what_a_build_fetches() {
    answers_as_listed(&load_preset("dev"), "dev.txt");
}

#[test]
fn a_careful_policy_asks_as_listed() {
    let rules = load("careful", &file("careful.toml"), Layer::User);
    answers_as_listed(&rules, "careful.txt");
}

#[test]
fn strict_and_ci_allow_safe_bins_and_wrappers_alone() {
    for (name, otherwise) in [("strict", Decision::Ask), ("ci", Decision::Deny)] {
        let (rules, dev) = (load_preset(name), load_preset("dev"));
        let mut allowed = 0;
        for call in seen_by(&rules) {
            let verdict = rules.decide(&call.request, Timestamp::UNIX_EPOCH);
            match verdict.basis() {
                Basis::SafeBin | Basis::Wrapper => allowed += 1,
                Basis::Rule(_)
                | Basis::Children(_)
                | Basis::UnknownTool
                | Basis::Default { .. } => {
                    let stricter = otherwise.max(decide(&dev, &call));
                    assert_eq!(verdict.decision(), stricter, "{name}: {}", call.line());
                }
            }
        }
        assert!(allowed > 30, "{name}: {allowed}");
    }
}

#[test]
fn a_build_may_speak_to_the_machine_itself() {
    let dev = load_preset("dev");
    let decide = |words: &[&str]| {
        let program = ProgramFile::at(format!("/usr/bin/{}", words.first().expect("a program")));
        let argv = words.iter().map(|word| (*word).into()).collect();
        let mut request = ExecRequest::new(program, argv);
        request.env = Some([b"MAKELEVEL=1".to_vec()].into());
        request.cwd = Some(places().workspace);
        let paths = dev.named_paths(&request).into_iter();
        let destinations = paths.map(|path| (path.clone(), Destination::as_written(&path)));
        request.destinations = destinations.collect();
        dev.decide(&request, Timestamp::UNIX_EPOCH).decision()
    };
    for words in [
        &["curl", "http://localhost:8080/health"][..],
        &["curl", "-fsS", "http://127.0.0.1:1/", "http://[::1]:2/"],
        &["wget", "-qO-", "http://localhost/"],
    ] {
        assert_eq!(decide(words), Decision::Allow, "{words:?}");
    }
    for words in [
        &["curl", "https://files.example/x"][..],
        &["curl", "http://localhost/", "https://files.example/x"],
        &["curl", "http://localhost@files.example/x"],
        &["curl", "http://localhost.files.example/x"],
        &["curl", "-x", "http://files.example", "http://localhost/"],
        &["curl", "http://{localhost,files.example}/x"],
        // Names no host, so none can be told.
        &["curl", "--version"],
        &["curl", "-K", "list"],
        &["wget", "-i", "list"],
    ] {
        assert_eq!(decide(words), Decision::Ask, "{words:?}");
    }
}
