//! A case, as a line of visible.jsonl has it.

use std::path::{Path, PathBuf};

use serde_json::Value;

/// Where the programs of a system are: one that is not there is not installed.
const SYSTEM: [&str; 4] = ["/usr/bin/", "/bin/", "/usr/sbin/", "/sbin/"];

/// The verdict that an exec should get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expect {
    Allow,
    Ask,
    Deny,
}

/// How the words of `execs` are written.
#[derive(Clone, Copy, Debug)]
enum Spelling {
    Plain,
    /// `{x*N}` stands for N times x.
    Short,
    /// `\xHH` stands for a byte.
    Raw,
}

/// A report, rebuilt. `$T` in it is the workspace.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) id: String,
    /// The policy in words.
    pub(crate) policy: String,
    /// The verdict for the first exec; of a harmless case for all.
    pub(crate) expect: Expect,
    /// Whether refusing it would be the mistake.
    is_harmless: bool,
    /// Whether a stub in the workspace stands for the program of its name.
    pub(crate) has_stand_in: bool,
    /// The decisive exec, then further ones: the path, then argv.
    pub(crate) execs: Vec<Vec<String>>,
    /// Variables of the decisive exec.
    pub(crate) env: Vec<(String, String)>,
    /// Lays out the workspace.
    pub(crate) setup: Option<String>,
    /// What is run, if that is known to make these execs.
    pub(crate) command: Option<String>,
    /// A file that is only there if the payload ran.
    pub(crate) marker: Option<String>,
    cwd: String,
    spelling: Spelling,
}

/// The directory of the cases, which `EXECWARD_CASES_DIR` moves.
pub(crate) fn directory() -> PathBuf {
    std::env::var_os("EXECWARD_CASES_DIR").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("cases"),
        PathBuf::from,
    )
}

impl Case {
    /// Every case.
    pub(crate) fn all() -> Vec<Self> {
        let lines = std::fs::read_to_string(directory().join("visible.jsonl")).expect("the cases");
        let parse = |line| Self::of(&serde_json::from_str(line).expect("a case"));
        lines.lines().map(parse).collect()
    }

    fn of(value: &Value) -> Self {
        let text = |name: &str| value[name].as_str().map(str::to_owned);
        let is_set = |name: &str| value[name] == true;
        let list = |value: &Value| -> Vec<String> {
            let words = value.as_array().expect("a list").iter();
            words
                .map(|word| word.as_str().expect("text").to_owned())
                .collect()
        };
        let variables = value["env"].as_object().into_iter().flatten();
        let command = text("cmd").or_else(|| text("shell"));
        Self {
            id: text("id").expect("an id"),
            policy: text("policy").expect("a policy"),
            expect: match value["expect"].as_str() {
                Some("allow") => Expect::Allow,
                Some("ask") => Expect::Ask,
                Some("deny") => Expect::Deny,
                other => panic!("{other:?}"),
            },
            is_harmless: value["kind"] == "false-positive",
            has_stand_in: text("why").is_some_and(|why| why.to_lowercase().contains("stub")),
            execs: value["execs"]
                .as_array()
                .expect("execs")
                .iter()
                .map(list)
                .collect(),
            env: variables
                .map(|(name, value)| (name.clone(), value.as_str().expect("text").to_owned()))
                .collect(),
            setup: text("setup"),
            command: command.filter(|_| is_set("ran")),
            marker: text("marker"),
            cwd: text("cwd").unwrap_or_default(),
            spelling: match (is_set("expand"), is_set("bytes")) {
                (true, _) => Spelling::Short,
                (false, true) => Spelling::Raw,
                (false, false) => Spelling::Plain,
            },
        }
    }

    /// The execs that should get the verdict.
    pub(crate) fn judged(&self) -> &[Vec<String>] {
        let count = if self.is_harmless {
            self.execs.len()
        } else {
            1
        };
        self.execs.get(..count).expect("an exec")
    }

    /// What this machine lacks or has elsewhere, so that the case says nothing about it here.
    pub(crate) fn unlike_here(&self) -> Option<String> {
        let programs = self.execs.iter().filter_map(|exec| exec.first());
        let mut programs = programs.filter(|path| is_of_system(path) && !path.contains('{'));
        programs.find_map(|path| self.unlike(Path::new(path)))
    }

    fn unlike(&self, path: &Path) -> Option<String> {
        let was_run = self.command.is_some();
        let name = path.display();
        match path.symlink_metadata() {
            Err(_) => was_run.then(|| format!("no {name} here")),
            // An allow may depend on what is behind the link, which the case does not say.
            Ok(file) => (file.is_symlink() && !was_run && self.expect == Expect::Allow)
                .then(|| format!("{name} is a link here")),
        }
    }

    /// Whether the file of `exec` is there only if the case puts it there, so that the kernel's
    /// answer is a part of it.
    pub(crate) fn is_own(exec: &[String]) -> bool {
        exec.first().is_some_and(|path| !is_of_system(path))
    }

    /// Where the command is run, in a workspace.
    pub(crate) fn directory_in(&self, workspace: &Path) -> PathBuf {
        workspace.join(&self.cwd)
    }

    /// A word of `execs` as the call has it.
    pub(crate) fn bytes_of(&self, word: &str, workspace: &Path) -> Vec<u8> {
        let word = word.replace("$T", workspace.to_str().expect("text"));
        match self.spelling {
            Spelling::Plain => word.into_bytes(),
            Spelling::Short => at_length(&word).into_bytes(),
            Spelling::Raw => raw(&word),
        }
    }

    /// A variable's value as the call has it; `...` is what it was before.
    pub(crate) fn value_of(&self, value: &str, workspace: &Path) -> String {
        let before = crate::scene::PATH;
        value
            .replace("$T", workspace.to_str().expect("text"))
            .replace("...", before)
    }
}

fn is_of_system(path: &str) -> bool {
    SYSTEM.iter().any(|directory| path.starts_with(directory))
}

/// `word` with its `{x*N}` written out.
fn at_length(word: &str) -> String {
    let parts = || {
        let (head, rest) = word.split_once('{')?;
        let (inner, tail) = rest.split_once('}')?;
        let (text, times) = inner.rsplit_once('*')?;
        Some([head, &text.repeat(times.parse().ok()?), tail].concat())
    };
    parts().unwrap_or_else(|| word.to_owned())
}

/// `word` with its `\xHH` as bytes.
fn raw(word: &str) -> Vec<u8> {
    let mut parts = word.split("\\x");
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let (digits, rest) = part.split_at(2);
        bytes.push(u8::from_str_radix(digits, 16).expect("two digits"));
        bytes.extend(rest.as_bytes());
    }
    bytes
}

#[test]
fn short_and_raw_words_are_written_out() {
    assert_eq!(at_length("a{./*3}b"), "a./././b");
    assert_eq!(at_length("{}"), "{}");
    assert_eq!(raw("c\\xfe!"), b"c\xfe!");
}
