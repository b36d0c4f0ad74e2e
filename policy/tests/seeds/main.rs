//! What the two seeds ask for, a test a number; the table is `SEEDS.md`.
//!
//! A number is an R (a requirement) or an O (an oddity of theirs, and what is right instead). Its
//! test shows the engine's verdict, or the words on the wire where it is about those.

mod s0_asks;
mod s0_lists;
mod s0_modes;
mod s0_oddities;
mod s0_types;
mod s0_vectors;
mod s1_charters;
mod s1_files;
mod s1_lists;
mod s1_modes;
mod s1_safe_bins;
mod s1_tools;
mod table;

use execward_policy::seed::{
    AskForApproval, ExecPolicyDecision, PrefixPolicy, ToolAskRule, Translation,
};
use execward_policy::{
    Decision, Destination, ExecRequest, Layer, NoIncludes, Places, ProgramFile, Ruleset, Source,
};
use jiff::Timestamp;

const NOW: Timestamp = Timestamp::UNIX_EPOCH;

/// Every way of approving that loads.
const APPROVALS: [AskForApproval; 5] = [
    AskForApproval::UnlessTrusted,
    AskForApproval::OnRequest,
    AskForApproval::Never,
    REJECT_RULES,
    REJECT_NOTHING,
];

const REJECT_RULES: AskForApproval = AskForApproval::Reject {
    sandbox_approval: false,
    rules: true,
    mcp_elicitations: false,
};

const REJECT_NOTHING: AskForApproval = AskForApproval::Reject {
    sandbox_approval: false,
    rules: false,
    mcp_elicitations: false,
};

fn places() -> Places {
    Places {
        home: "/home/u".into(),
        workspace: "/workspace".into(),
        tmp: "/tmp".into(),
    }
}

fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

/// Flat lists.
fn lists(trusted: &[&str], denied: &[&str]) -> PrefixPolicy {
    PrefixPolicy::new(strings(trusted), strings(denied))
}

/// The user's asks, and prefixes of the user's.
fn asks(trusted: &[&str], denied: &[&str], asks: Vec<ToolAskRule>) -> PrefixPolicy {
    let user = execward_policy::seed::Ruleset::user(strings(trusted), strings(denied));
    PrefixPolicy::with_rulesets(vec![user.with_ask_rules(asks)])
}

/// A call in the workspace: words between blanks, a program without a slash in `/usr/bin`.
fn call(line: &str) -> ExecRequest {
    argv(&line.split_whitespace().collect::<Vec<_>>())
}

fn argv(words: &[&str]) -> ExecRequest {
    let name = words.first().expect("a program");
    let program = match name.contains('/') {
        true => ProgramFile::at(*name),
        false => ProgramFile::at(format!("/usr/bin/{name}")),
    };
    let argv = words.iter().map(|word| (*word).into()).collect();
    ExecRequest {
        cwd: Some("/workspace".into()),
        env: Some(Vec::new().into()),
        ..ExecRequest::new(program, argv)
    }
}

/// The request as the supervisor describes it where there are no links.
fn described(ruleset: &Ruleset, request: &ExecRequest) -> ExecRequest {
    let paths = ruleset.named_paths(request).into_iter();
    let destinations = paths.map(|path| {
        let destination = Destination::as_written(&path);
        (path, destination)
    });
    ExecRequest {
        destinations: destinations.collect(),
        ..request.clone()
    }
}

fn decision(ruleset: &Ruleset, request: &ExecRequest) -> Decision {
    let request = described(ruleset, request);
    ruleset.decide(&request, NOW).decision()
}

#[track_caller]
fn load_translation(translation: &Translation) -> Ruleset {
    let ruleset = translation.load(&places());
    ruleset.unwrap_or_else(|faults| panic!("{faults}"))
}

/// What the seed would hear of a call.
#[track_caller]
fn check(policy: &PrefixPolicy, approval: &AskForApproval, line: &str) -> ExecPolicyDecision {
    let translation = policy.translate(approval);
    let ruleset = load_translation(&translation);
    let request = described(&ruleset, &call(line));
    ExecPolicyDecision::of(&ruleset, &translation, &request, NOW)
}

/// The outcome as the seed's word.
#[track_caller]
fn phase(policy: &PrefixPolicy, approval: &AskForApproval, line: &str) -> &'static str {
    check(policy, approval, line).requirement.phase()
}

#[track_caller]
fn assert_phases(policy: &PrefixPolicy, approval: &AskForApproval, cases: &[(&str, &str)]) {
    for (line, expected) in cases {
        assert_eq!(phase(policy, approval, line), *expected, "{line}");
    }
}

/// The faults of a policy that does not load.
#[track_caller]
fn faults(translation: &Translation) -> String {
    let faults = translation.load(&places()).expect_err("a fault");
    faults.to_string()
}

/// A user's policy in the language itself.
#[track_caller]
fn policy(text: &str) -> Ruleset {
    let text = format!("version = 1\n{text}");
    let source = Source {
        name: "p.toml",
        text: text.as_bytes(),
        layer: Layer::User,
    };
    Ruleset::load(&[source], &places(), &NoIncludes)
        .unwrap_or_else(|faults| panic!("{faults}\n{text}"))
}

fn decide(ruleset: &Ruleset, line: &str) -> Decision {
    decision(ruleset, &call(line))
}

#[track_caller]
fn assert_decisions(ruleset: &Ruleset, cases: &[(&str, Decision)]) {
    for (line, expected) in cases {
        assert_eq!(decide(ruleset, line), *expected, "{line}");
    }
}
