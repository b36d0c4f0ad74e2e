//! Whole configurations, and what their policies answer.

mod breadth;
mod claude;
mod codex;
mod gemini;
mod hostile;
mod verb;

use execward_policy::{
    Decision, ExecRequest, Layer, NoIncludes, Places, ProgramFile, Ruleset, Source, ToolCall,
};
use jiff::Timestamp;

use super::{ImportError, ImportFrom, Imported, Scope, imported};

/// What a text comes to, in a file that is called `name`.
fn import_of(agent: ImportFrom, name: &str, text: &str) -> Result<Imported, ImportError> {
    imported(agent, name.as_ref(), text, Scope::Project)
}

fn loaded(policy: &str) -> Ruleset {
    let places = Places {
        home: b"/home/u".to_vec(),
        workspace: b"/w".to_vec(),
        tmp: b"/tmp".to_vec(),
    };
    let source = Source {
        name: "policy.toml",
        text: policy.as_bytes(),
        layer: Layer::User,
    };
    match Ruleset::load(&[source], &places, &NoIncludes) {
        Ok(rules) => rules,
        Err(faults) => panic!("{faults}\n{policy}"),
    }
}

/// What the rules say of a command line; programs without a slash are in `/usr/bin`.
fn verdict(rules: &Ruleset, line: &str) -> Decision {
    if let Some(call) = line.strip_prefix("tool ") {
        return rules
            .decide_tool(&tool_call(call), Timestamp::UNIX_EPOCH)
            .decision();
    }
    let words = shlex::split(line).unwrap();
    let path = match words[0].contains('/') {
        true => words[0].clone(),
        false => format!("/usr/bin/{}", words[0]),
    };
    let argv = words.iter().map(|word| word.as_bytes().to_vec()).collect();
    let mut request = ExecRequest {
        cwd: Some(b"/w".to_vec()),
        ..ExecRequest::new(ProgramFile::at(path), argv)
    };
    let named = rules.named_paths(&request);
    request.destinations = named
        .into_iter()
        .map(|path| {
            (
                path.clone(),
                execward_policy::Destination::as_written(&path),
            )
        })
        .collect();
    rules.decide(&request, Timestamp::UNIX_EPOCH).decision()
}

/// `NAME`, `NAME path=P`, `NAME url=U`.
fn tool_call(text: &str) -> ToolCall {
    let mut words = text.split(' ');
    let mut call = ToolCall::new(words.next().unwrap());
    call.cwd = Some(b"/w".to_vec());
    for word in words {
        match word.split_once('=').unwrap() {
            ("path", path) => call.paths.push(path.into()),
            ("url", url) => call.urls.push(url.into()),
            _ => call.arguments.push(word.into()),
        }
    }
    let named = call.named_paths();
    call.destinations = named
        .into_iter()
        .map(|path| {
            (
                path.clone(),
                execward_policy::Destination::as_written(&path),
            )
        })
        .collect();
    call
}

fn check(rules: &Ruleset, calls: &[(&str, Decision)]) {
    for (line, decision) in calls {
        assert_eq!(verdict(rules, line), *decision, "{line}");
    }
}
