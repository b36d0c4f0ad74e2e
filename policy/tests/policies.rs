//! Policies of different needs, in `policies`: each loads as it stands, what its rules must
//! and must not hold for included, and answers what its `#?` lines say.
//!
//! `#? VERDICT [cwd=DIR] [env=K=V] [via=PROGRAM] [within=RULE] [argv0=NAME] … : COMMAND LINE`; the
//! working directory is the workspace unless another is said, a program without a slash is in
//! `/usr/bin`, and `within` is below a process that the rule allowed. Without a command line, of a
//! call of a tool: `#? VERDICT tool=NAME [tpath=PATH] [url=URL] [arg=K=V] …  : `.

use std::path::Path;
use std::sync::Arc;

use execward_policy::{
    Ancestor, Decision, Destination, Diagnostics, ExecRequest, Included, Includes, Layer, Places,
    ProgramFile, RuleKey, Ruleset, Source, ToolCall,
};
use jiff::Timestamp;

struct PolicyIncludes;

impl Includes for PolicyIncludes {
    fn read(&self, _includer: &str, path: &str) -> Result<Included, String> {
        let text = std::fs::read(directory().join(path)).map_err(|error| error.to_string())?;
        let name = path.to_owned();
        Ok(Included { name, text })
    }
}

fn directory() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/policies")
}

fn places() -> Places {
    Places {
        home: "/home/ada".into(),
        workspace: "/home/ada/engine".into(),
        tmp: "/tmp".into(),
    }
}

/// Loads a policy; those of 13 belong together.
fn load(name: &str, text: &str) -> Result<Ruleset, Diagnostics> {
    const TOGETHER: [&str; 3] = ["13a-organisation-floor", "13b-project-agent", "13c-user"];
    let others = TOGETHER
        .into_iter()
        .filter(|other| TOGETHER.contains(&name) && *other != name);
    let beside = |other| {
        std::fs::read(directory().join(format!("{other}.toml"))).expect("of the form above")
    };
    let others: Vec<_> = others.map(|other| (other, beside(other))).collect();
    let others = others.iter().map(|(name, text)| (*name, text.as_slice()));
    let texts = std::iter::once((name, text.as_bytes())).chain(others);
    let sources = texts.map(|(name, text)| Source {
        name,
        text,
        layer: Layer::User,
    });
    Ruleset::load(&sources.collect::<Vec<_>>(), &places(), &PolicyIncludes)
}

/// Every policy by its name.
fn policies() -> Vec<(String, String)> {
    let files = std::fs::read_dir(directory()).expect("of the form above");
    let mut found: Vec<_> = files
        .map(|file| {
            let path = file.expect("of the form above").path();
            let name = path
                .file_stem()
                .and_then(|stem| stem.to_str())
                .expect("a name")
                .to_owned();
            (
                name,
                std::fs::read_to_string(&path).expect("of the form above"),
            )
        })
        .collect();
    found.sort();
    assert_eq!(found.len(), 19);
    found
}

fn expanded(word: &str) -> String {
    let word = match word.strip_prefix('~') {
        Some(rest) => format!("/home/ada{rest}"),
        None => word.to_owned(),
    };
    word.replace("${workspace}", "/home/ada/engine")
}

fn program(word: &str) -> ProgramFile {
    let word = expanded(word);
    match word.contains('/') {
        true => ProgramFile::at(word),
        false => ProgramFile::at(format!("/usr/bin/{word}")),
    }
}

/// Words as a shell splits them, quotes taken off.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quote = None;
    for c in line.chars() {
        let last = words.last_mut().expect("of the form above");
        match (c, quote) {
            (c, Some(open)) if c == open => quote = None,
            ('\'' | '"', None) => quote = Some(c),
            (' ', None) => words.push(String::new()),
            (c, _) => last.push(c),
        }
    }
    words
}

fn expected(word: &str) -> Decision {
    match word {
        "allow" => Decision::Allow,
        "ask" => Decision::Ask,
        "deny" => Decision::Deny,
        other => panic!("{other}"),
    }
}

/// The same of a call of a tool.
fn check_tool(line: &str) -> (Decision, ToolCall) {
    let mut conditions = line.split_whitespace();
    let decision = expected(conditions.next().expect("of the form above"));
    let mut call = ToolCall::new("");
    call.cwd = Some(places().workspace);
    for condition in conditions.filter(|condition| *condition != ":") {
        let (key, value) = condition.split_once('=').expect("of the form above");
        let value = expanded(value);
        match key {
            "tool" => call.tool = value,
            "tpath" => call.paths.push(value.into_bytes()),
            "url" => call.urls.push(value.into_bytes()),
            "arg" => call.arguments.push(value.into_bytes()),
            other => panic!("{other}"),
        }
    }
    let paths = call.named_paths().into_iter();
    let destinations = paths.map(|path| (path.clone(), Destination::as_written(&path)));
    call.destinations = destinations.collect();
    (decision, call)
}

/// The call of a `#?` line, and what is to become of it.
fn check(line: &str) -> (Decision, ExecRequest) {
    let (conditions, call) = line.split_once(" : ").expect("of the form above");
    let mut conditions = conditions.split(' ');
    let decision = expected(conditions.next().expect("of the form above"));
    let words = words(call);
    let argv: Vec<Vec<u8>> = words
        .iter()
        .map(|word| expanded(word).into_bytes())
        .collect();
    let mut request = ExecRequest::new(program(words.first().expect("a program")), argv);
    request.cwd = Some(places().workspace);
    let mut env = Vec::new();
    let mut ancestors = Vec::new();
    for condition in conditions {
        let (key, value) = condition.split_once('=').expect("of the form above");
        match key {
            "cwd" => request.cwd = Some(expanded(value).into_bytes()),
            "env" => env.push(value.as_bytes().to_vec()),
            "argv0" => drop(request.argv.splice(..1, [value.into()])),
            "via" => ancestors.push((vec![program(value)], None)),
            "within" => {
                let (layer, id) = (Layer::User, value.to_owned());
                ancestors.push((Vec::new(), Some(RuleKey { layer, id })));
            }
            other => panic!("{other}"),
        }
    }
    request.env = Some(env.into());
    let ancestors = ancestors.into_iter();
    let ancestors = ancestors.map(|(files, allowed_by)| Arc::new(Ancestor { files, allowed_by }));
    request.lineage.ancestors = ancestors.collect();
    (decision, request)
}

#[test]
fn every_policy_answers_as_its_author_says() {
    let mut checks = 0;
    for (name, text) in policies() {
        let ruleset = load(&name, &text).unwrap_or_else(|faults| panic!("{name}: {faults:#?}"));
        let lines = text.lines().filter_map(|line| line.strip_prefix("#? "));
        for line in lines {
            if line.ends_with(" : ") {
                let (expected, call) = check_tool(line);
                let decision = ruleset.decide_tool(&call, Timestamp::UNIX_EPOCH).decision();
                checks += 1;
                assert_eq!(decision, expected, "{name}: {line}");
                continue;
            }
            let (expected, mut request) = check(line);
            let paths = ruleset.named_paths(&request).into_iter();
            let destinations = paths.map(|path| (path.clone(), Destination::as_written(&path)));
            request.destinations = destinations.collect();
            let decision = ruleset.decide(&request, Timestamp::UNIX_EPOCH).decision();
            checks += 1;
            assert_eq!(decision, expected, "{name}: {line}");
        }
    }
    assert!(checks >= 40, "{checks}");
}
