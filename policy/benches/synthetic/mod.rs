//! Policies of any size, with rules as people write them.

use execward_policy::{ExecRequest, Layer, NoIncludes, Places, ProgramFile, Ruleset, Source};

/// The text of a policy of `count` rules: mostly by name, some by path, a few denies and asks; and
/// of one rule more, which allows a few commands of git.
pub(crate) fn text(count: usize) -> String {
    let mut text = String::from("version = 1\nmode.security = 'allowlist'\n");
    for number in 0..count {
        text += &match number % 10 {
            0 => format!("[[deny]]\nid = 'r{number}'\ncommand = 'tool{number} push'\n"),
            1 => format!("[[ask]]\nid = 'r{number}'\nprogram = '/opt/{number}/bin/*'\n"),
            2 => format!("[[allow]]\nid = 'r{number}'\nprogram = '${{workspace}}/t{number}/**'\n"),
            _ => format!("[[allow]]\nid = 'r{number}'\ncommand = 'tool{number} status'\n"),
        };
    }
    text + "[[allow]]\nid = 'last'\ncommand = ['git status', 'git log', 'git diff']\n"
}

pub(crate) fn load(text: &str) -> Ruleset {
    let source = Source {
        name: "bench.toml",
        text: text.as_bytes(),
        layer: Layer::User,
    };
    let places = Places {
        home: b"/home/u".to_vec(),
        workspace: b"/home/u/work".to_vec(),
        tmp: b"/tmp".to_vec(),
    };
    Ruleset::load(&[source], &places, &NoIncludes).expect("a policy without a fault")
}

/// A call of a file in `/usr/bin` by its name.
pub(crate) fn call(line: &str) -> ExecRequest {
    let words = line.split(' ');
    let name = words.clone().next().unwrap_or_default();
    let path = format!("/usr/bin/{name}");
    ExecRequest::new(ProgramFile::at(path), words.map(Into::into).collect())
}

/// What the last rule allows.
pub(crate) const HIT: &str = "git log --oneline -n 20";

/// What no rule speaks of.
pub(crate) const MISS: &str = "git gc --auto";
