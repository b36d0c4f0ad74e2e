//! A policy before it is text, so that a property can change one thing of it.

use execward_policy::{Action, ExecRequest, Layer, NoIncludes, Places, RuleKey, Ruleset, Source};
use execward_policy::{Decision, Verdict};
use jiff::Timestamp;

/// Everything that a load is given.
#[derive(Debug, Clone)]
pub(crate) struct DraftPolicy {
    pub(crate) files: Vec<DraftFile>,
}

#[derive(Debug, Clone)]
pub(crate) struct DraftFile {
    pub(crate) layer: Layer,
    pub(crate) includes: Option<&'static str>,
    pub(crate) trusted_dirs: Option<&'static str>,
    pub(crate) mode: DraftMode,
    pub(crate) rules: Vec<DraftRule>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct DraftMode {
    pub(crate) security: Option<&'static str>,
    pub(crate) ask: Option<&'static str>,
    pub(crate) ask_fallback: Option<&'static str>,
    /// As TOML has it: a quoted word or a table.
    pub(crate) approval: Option<&'static str>,
}

#[derive(Debug, Clone)]
pub(crate) struct DraftRule {
    pub(crate) action: Action,
    pub(crate) id: String,
    /// Names and entries of the keys that take lists.
    pub(crate) lists: Vec<(&'static str, Vec<String>)>,
    pub(crate) expires: Option<&'static str>,
    pub(crate) ignores_case: bool,
}

impl DraftPolicy {
    /// One user's file in mode `security`, `ask`, with these rules.
    pub(crate) fn of_user(security: &'static str, ask: &'static str, rules: &[DraftRule]) -> Self {
        let mode = DraftMode {
            security: Some(security),
            ask: Some(ask),
            ..DraftMode::default()
        };
        let file = DraftFile {
            mode,
            rules: rules.to_vec(),
            ..DraftFile::of(Layer::User)
        };
        Self { files: vec![file] }
    }

    /// Adds a rule in a file of its own.
    pub(crate) fn with_rule(&self, layer: Layer, rule: DraftRule) -> Self {
        self.with_file(DraftFile {
            rules: vec![rule],
            ..DraftFile::of(layer)
        })
    }

    pub(crate) fn with_file(&self, file: DraftFile) -> Self {
        let mut changed = self.clone();
        changed.files.push(file);
        changed
    }

    /// Adds a user's file that says this of the mode. Named last, it overrides.
    pub(crate) fn with_mode(&self, mode: DraftMode) -> Self {
        self.with_file(DraftFile {
            mode,
            ..DraftFile::of(Layer::User)
        })
    }

    pub(crate) fn rules(&self) -> impl Iterator<Item = (Layer, &DraftRule)> {
        self.files
            .iter()
            .flat_map(|file| file.rules.iter().map(|rule| (file.layer, rule)))
    }

    pub(crate) fn rules_mut(&mut self) -> impl Iterator<Item = (Layer, &mut DraftRule)> {
        self.files.iter_mut().flat_map(|file| {
            let layer = file.layer;
            file.rules.iter_mut().map(move |rule| (layer, rule))
        })
    }

    /// Whether the user, or what execward brings, says its `security`.
    pub(crate) fn has_security(&self) -> bool {
        let mut own = self.files.iter().filter(|file| file.is_base());
        own.any(|file| file.mode.security.is_some() || file.includes.is_some())
    }

    pub(crate) fn load(&self) -> Ruleset {
        let texts: Vec<String> = self.files.iter().map(DraftFile::text).collect();
        let sources: Vec<Source<'_>> = self
            .files
            .iter()
            .zip(&texts)
            .map(|(file, text)| file.source(text.as_bytes()))
            .collect();
        Ruleset::load(&sources, &places(), &NoIncludes)
            .unwrap_or_else(|faults| panic!("{faults}\n{}", texts.join("\n--\n")))
    }

    pub(crate) fn decide(&self, calls: &[Call]) -> Vec<Seen> {
        let ruleset = self.load();
        calls.iter().map(|call| call.decide(&ruleset)).collect()
    }
}

impl DraftFile {
    /// An empty file.
    pub(crate) fn of(layer: Layer) -> Self {
        Self {
            layer,
            includes: None,
            trusted_dirs: None,
            mode: DraftMode::default(),
            rules: Vec::new(),
        }
    }

    /// Whether what the file says of the mode is no second opinion.
    pub(crate) fn is_base(&self) -> bool {
        matches!(self.layer, Layer::User | Layer::Builtin)
    }

    pub(crate) fn source<'a>(&self, text: &'a [u8]) -> Source<'a> {
        let is_named = self.layer == Layer::Builtin;
        Source {
            name: "p.toml",
            text,
            layer: if is_named { self.layer } else { Layer::User },
        }
    }

    pub(crate) fn text(&self) -> String {
        let mut text = "version = 1\n".to_owned();
        if self.layer != Layer::Builtin {
            text += &format!("layer = \"{}\"\n", self.layer);
        }
        let keys = [
            ("include", self.includes),
            ("trusted_dirs", self.trusted_dirs),
        ];
        for (key, value) in keys {
            text += &value.map_or_else(String::new, |value| format!("{key} = ['{value}']\n"));
        }
        text += &self.mode.text();
        text.extend(self.rules.iter().map(DraftRule::text));
        text
    }
}

impl DraftMode {
    pub(crate) fn text(&self) -> String {
        let words = [
            ("security", self.security),
            ("ask", self.ask),
            ("ask_fallback", self.ask_fallback),
        ];
        let words = words.map(|(key, word)| (key, word.map(|word| format!("'{word}'"))));
        let approval = ("approval", self.approval.map(str::to_owned));
        let keys: String = words
            .into_iter()
            .chain([approval])
            .filter_map(|(key, value)| Some(format!("{key} = {}\n", value?)))
            .collect();
        if keys.is_empty() {
            return keys;
        }
        format!("[mode]\n{keys}")
    }
}

impl DraftRule {
    pub(crate) fn text(&self) -> String {
        let mut text = format!("[[{}]]\nid = '{}'\n", self.action, self.id);
        for (key, entries) in &self.lists {
            text += &format!("{key} = ['{}']\n", entries.join("', '"));
        }
        if let Some(end) = self.expires {
            text += &format!("expires = {end}\n");
        }
        if self.ignores_case {
            text += "ignore_case = true\n";
        }
        text
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        match key {
            "expires" => self.expires.is_some(),
            _ => self.lists.iter().any(|(own, _)| *own == key),
        }
    }

    /// The same rule without some of its keys.
    pub(crate) fn without(mut self, keys: &[&str]) -> Self {
        self.lists.retain(|(key, _)| !keys.contains(key));
        if keys.contains(&"expires") {
            self.expires = None;
        }
        self
    }

    pub(crate) fn acting(self, action: Action) -> Self {
        Self { action, ..self }.without(if action == Action::Allow {
            &[]
        } else {
            &["children"]
        })
    }
}

/// One exec, and when it is tried.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) request: ExecRequest,
    pub(crate) now: Timestamp,
}

impl Call {
    pub(crate) fn decide(&self, ruleset: &Ruleset) -> Seen {
        Seen::of(ruleset.decide(&self.request, self.now))
    }
}

/// What of a verdict may not hang on how the policy is written down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) decision: Decision,
    pub(crate) unanswered: Decision,
    pub(crate) rule: Option<RuleKey>,
}

impl Seen {
    fn of(verdict: Verdict<'_>) -> Self {
        Self {
            decision: verdict.decision(),
            unanswered: verdict.unanswered(),
            rule: verdict.rule().map(execward_policy::Rule::key),
        }
    }

    /// Whether this is at least as strict as `other`, answered or not.
    pub(crate) fn is_no_looser_than(&self, other: &Self) -> bool {
        self.decision >= other.decision && self.unanswered >= other.unanswered
    }
}

pub(crate) fn places() -> Places {
    Places {
        home: "/h".into(),
        workspace: "/w".into(),
        tmp: "/tmp".into(),
    }
}
