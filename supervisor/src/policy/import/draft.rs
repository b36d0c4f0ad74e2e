//! The rules as they are collected, each loaded before it is kept, and the policy that comes of them.

use execward_policy::{Action, Layer, NoIncludes, Places, Ruleset, SOURCE_MAX_BYTES, Source};

use super::remark::{LeftOut, Narrowed};
use super::toml_text::{comment, quoted};
use super::{ImportError, Imported};

/// Most entries of one configuration. Each is loaded by itself, and nobody writes that many.
pub(super) const ENTRIES_MAX: usize = 4096;

/// What every policy begins with.
const HEAD: &str = "version = 1\n";
/// What a rule is loaded behind.
const TRIAL: &str = "version = 1\nmode.security = \"allowlist\"\n\n";

/// Keys that take a list and no single string.
const LISTS: [&str; 3] = ["argv", EXAMPLES[0], EXAMPLES[1]];
/// Keys that hold calls.
const EXAMPLES: [&str; 2] = ["match", "not_match"];

/// Said where an allow names what a tool does.
const OF_TOOLS: &str = "an allow by `tool` covers plain commands that do this and nothing else, such as \
                        `cat`, `tee` or `curl`";

/// One entry of the other agent's configuration.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) action: Action,
    /// The id of its rule, behind the agent's name.
    pub(super) id: String,
    /// The entry as it is written.
    pub(super) what: String,
    /// Where: a key and a number, or a line.
    pub(super) place: String,
}

/// The keys of a rule, but for its id.
#[derive(Debug, Clone, Default)]
pub(super) struct Keys(Vec<(&'static str, Vec<String>)>);

/// What an entry comes to.
#[derive(Debug, Default)]
pub(super) struct Translated {
    pub(super) keys: Keys,
    /// A call that the rule must hold for.
    pub(super) example: Option<Vec<String>>,
    /// What the rule does more narrowly than the entry: an allow covers less, another more.
    pub(super) narrower: Option<String>,
    /// What a deny or an ask leaves out.
    pub(super) wider: Option<String>,
}

/// A policy in the making.
#[derive(Debug)]
pub(super) struct Draft {
    /// What ids begin with.
    agent: &'static str,
    rules: Vec<String>,
    entry_count: usize,
    left_out: Vec<LeftOut>,
    narrowed: Vec<Narrowed>,
    notes: Vec<String>,
    /// Whether what no rule allows is refused unasked.
    pub(super) is_silent: bool,
    /// Whether an allow is about writing, which tools are asked about else.
    writes: bool,
    /// Whether an allow is about what tools do, and plain commands too.
    is_of_tools: bool,
}

impl Keys {
    /// With a key of one string or a list of them.
    pub(super) fn with(mut self, key: &'static str, values: Vec<String>) -> Self {
        self.0.push((key, values));
        self
    }

    /// With a key of one string, if there is any.
    pub(super) fn with_some(self, key: &'static str, value: Option<&str>) -> Self {
        match value {
            Some(value) => self.with(key, vec![value.to_owned()]),
            None => self,
        }
    }

    fn without_examples(&self) -> Self {
        let keys = self.0.iter();
        Self(
            keys.filter(|(key, _)| !EXAMPLES.contains(key))
                .cloned()
                .collect(),
        )
    }

    fn has(&self, key: &str, value: &str) -> bool {
        let mut those = self.0.iter().filter(|(own, _)| *own == key);
        those.any(|(_, values)| values.iter().any(|own| own == value))
    }

    fn text(&self) -> String {
        let lines = self.0.iter().map(|(key, values)| {
            let values: Vec<String> = values.iter().map(|value| quoted(value)).collect();
            match (values.as_slice(), *key) {
                ([value], key) if !LISTS.contains(&key) => format!("{key} = {value}\n"),
                (values, key) => format!("{key} = [{}]\n", values.join(", ")),
            }
        });
        lines.collect()
    }
}

impl From<Keys> for Translated {
    fn from(keys: Keys) -> Self {
        Self {
            keys,
            ..Self::default()
        }
    }
}

impl Draft {
    pub(super) fn new(agent: &'static str) -> Self {
        Self {
            agent,
            rules: Vec::new(),
            entry_count: 0,
            left_out: Vec::new(),
            narrowed: Vec::new(),
            notes: Vec::new(),
            is_silent: false,
            writes: false,
            is_of_tools: false,
        }
    }

    /// Takes what an entry comes to, or why it comes to nothing. A rule that does not load, or not hold
    /// for the call that the entry spells out, is none.
    pub(super) fn take(&mut self, entry: &Entry, translated: Result<Translated, String>) {
        self.entry_count += 1;
        if self.entry_count > ENTRIES_MAX {
            return;
        }
        let checked = translated.and_then(|translated| {
            let rule = self.rule(entry, &translated.keys);
            check(&format!("{TRIAL}{rule}"))?;
            if let Some(words) = &translated.example {
                let plain = self.rule(entry, &translated.keys.without_examples());
                let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
                let trial = format!("{TRIAL}{plain}match = [[{}]]\n", words.join(", "));
                check(&trial)
                    .map_err(|_| "the rule that comes of it does not hold for it".to_owned())?;
            }
            Ok((rule, translated))
        });
        let (rule, translated) = match checked {
            Ok(checked) => checked,
            Err(why) => return self.leave_out(entry, why),
        };
        let is_allow = entry.action == Action::Allow;
        let is_about =
            |tools: &[&str]| is_allow && tools.iter().any(|tool| translated.keys.has("tool", tool));
        self.writes |= is_about(&["file_write"]);
        self.is_of_tools |= is_about(&["file_read", "file_write", "file_list", "web_fetch"]);
        self.rules
            .push(format!("# {}\n{rule}", comment(&entry.what)));
        if let Some(why) = translated.narrower {
            self.narrow(entry, why);
        }
        if let Some(why) = translated.wider {
            self.leave_out(entry, why);
        }
    }

    /// Whether a rule of the entry with these keys loads.
    pub(super) fn would_take(&self, entry: &Entry, keys: &Keys) -> bool {
        let rule = self.rule(entry, keys);
        self.entry_count < ENTRIES_MAX && check(&format!("{TRIAL}{rule}")).is_ok()
    }

    /// Lists an entry that no rule says. Without a deny or an ask, the policy is wider.
    pub(super) fn leave_out(&mut self, entry: &Entry, why: impl Into<String>) {
        self.left_out.push(LeftOut {
            what: entry.what.clone(),
            place: entry.place.clone(),
            why: why.into(),
            is_wider: entry.action != Action::Allow,
        });
    }

    /// Lists a setting that is no entry and is not imported, and whether the policy is wider by that.
    pub(super) fn leave_out_setting(&mut self, what: &str, is_wider: bool, why: impl Into<String>) {
        self.entry_count += 1;
        if self.entry_count > ENTRIES_MAX {
            return;
        }
        self.left_out.push(LeftOut {
            what: what.to_owned(),
            place: String::new(),
            why: why.into(),
            is_wider,
        });
    }

    /// Lists what is narrower than in the configuration.
    pub(super) fn narrow(&mut self, entry: &Entry, why: impl Into<String>) {
        self.narrowed.push(Narrowed {
            what: entry.what.clone(),
            place: entry.place.clone(),
            why: why.into(),
        });
    }

    /// The same of a setting.
    pub(super) fn narrow_setting(&mut self, what: &str, why: impl Into<String>) {
        self.narrowed.push(Narrowed {
            what: what.to_owned(),
            place: String::new(),
            why: why.into(),
        });
    }

    /// Says something that is neither.
    pub(super) fn note(&mut self, text: impl Into<String>) {
        self.notes.push(text.into());
    }

    fn rule(&self, entry: &Entry, keys: &Keys) -> String {
        let id = format!("{}.{}", self.agent, entry.id);
        let (action, keys) = (entry.action, keys.text());
        format!("[[{action}]]\nid = {}\n{keys}", quoted(&id))
    }

    /// The policy, of a configuration that is called `what`.
    ///
    /// # Errors
    /// If there is more than a policy holds.
    pub(super) fn finish(self, what: &str) -> Result<Imported, ImportError> {
        if self.entry_count > ENTRIES_MAX {
            return Err(ImportError::TooMany(ENTRIES_MAX));
        }
        let mut policy = format!("# {what}, as `execward policy import` reads it.\n");
        let mut say = |line: String| policy += &format!("# {line}\n");
        let is_wider = |left: &&LeftOut| left.is_wider;
        let wider = self.left_out.iter().filter(is_wider);
        let others = self.left_out.iter().filter(|left| !left.is_wider);
        wider.chain(others).for_each(|left| say(left.line()));
        self.narrowed.iter().for_each(|one| say(one.line()));
        let of_tools = self.is_of_tools.then(|| OF_TOOLS.to_owned());
        let notes = self.notes.iter().cloned().chain(of_tools);
        notes.for_each(|note| say(format!("note: {note}")));
        policy += HEAD;
        policy += &self.mode();
        for rule in &self.rules {
            policy += &format!("\n{rule}");
        }
        let is_too_long = u64::try_from(policy.len()).is_ok_and(|len| len > SOURCE_MAX_BYTES);
        if is_too_long {
            return Err(ImportError::TooLong);
        }
        check(&policy).map_err(ImportError::Faulty)?;
        Ok(Imported {
            policy,
            left_out: self.left_out,
            narrowed: self.narrowed,
        })
    }

    /// The tables that say what a call gets.
    fn mode(&self) -> String {
        let ask = if self.is_silent { "off" } else { "on-miss" };
        let mut mode = format!("\n[mode]\nsecurity = \"allowlist\"\nask = \"{ask}\"\n");
        if self.is_silent {
            // Without it any directory may be listed unasked.
            mode += "\n[tools.file_list]\nsecurity = \"allowlist\"\nask = \"on-miss\"\n";
        }
        if self.writes {
            mode +=
                "\n[tools.file_write]\nask = \"on-miss\" # what a rule allows needs no question\n";
        }
        mode
    }
}

/// Loads a policy as a session would.
///
/// # Errors
/// The first fault, in words.
fn check(text: &str) -> Result<(), String> {
    let places = Places {
        home: b"/home/user".to_vec(),
        workspace: b"/home/user/project".to_vec(),
        tmp: b"/tmp".to_vec(),
    };
    let source = Source {
        name: "import",
        text: text.as_bytes(),
        layer: Layer::User,
    };
    match Ruleset::load(&[source], &places, &NoIncludes) {
        Ok(_) => Ok(()),
        Err(faults) => Err(faults.faults().first().map_or_else(String::new, |fault| {
            let help = fault.help_text().map(|help| format!("; {help}"));
            fault.message().to_owned() + &help.unwrap_or_default()
        })),
    }
}
