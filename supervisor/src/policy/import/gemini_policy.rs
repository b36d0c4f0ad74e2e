//! Rules of Gemini CLI's policy engine: `[[rule]]`. There, of the rules that match a call the one of the
//! highest priority counts; here, the strictest.

use execward_policy::Action;
use serde_json::{Map, Value};

use super::draft::{Draft, ENTRIES_MAX, Entry, Translated};
use super::{ImportError, Imported, gemini_tools, toml_value};

/// Conditions that no key here says. An allow without them would be wider.
const CONDITIONS: [&str; 4] = ["modes", "interactive", "subagent", "toolAnnotations"];

/// Keys of a rule that are read, or say nothing of what it matches.
const KNOWN: [&str; 10] = [
    "toolName",
    "mcpName",
    "commandPrefix",
    "commandRegex",
    "argsPattern",
    "decision",
    "priority",
    "denyMessage",
    "allowRedirection",
    "allow_redirection",
];

/// A rule as it is written.
struct Rule<'v> {
    line: usize,
    number: usize,
    keys: &'v Map<String, Value>,
    action: Option<Action>,
    priority: Option<i64>,
    /// Patterns of the tools' full names.
    tools: Vec<String>,
    /// What the command begins with; one that is empty if any does.
    prefixes: Vec<String>,
}

/// The policy that the rules come to.
///
/// # Errors
/// If the text is no such file.
pub(super) fn import(text: &str) -> Result<Imported, ImportError> {
    let tables = toml_value::tables(text, "rule")?;
    if tables.is_empty() {
        return Err(ImportError::Shape("there is no `[[rule]]`".to_owned()));
    }
    let mut draft = Draft::new("gemini");
    let rules: Vec<Rule<'_>> = tables
        .iter()
        .enumerate()
        .map(|(number, (line, keys))| Rule::of(*line, number + 1, keys))
        .collect();
    let counts = rules
        .iter()
        .map(|rule| rule.tools.len() * rule.prefixes.len());
    if rules.len().max(counts.sum()) > ENTRIES_MAX {
        return Err(ImportError::TooMany(ENTRIES_MAX));
    }
    for rule in &rules {
        rule.take(&mut draft, &rules);
    }
    for key in toml_value::table(text)?.keys().filter(|key| *key != "rule") {
        draft.leave_out_setting(key, true, "the key is not known");
    }
    draft.note(
        "of several rules the strictest counts here, whatever their priority; an allow of a command does \
         not cover the shell that it is typed into",
    );
    draft.finish("Gemini CLI's policy")
}

impl<'v> Rule<'v> {
    fn of(line: usize, number: usize, keys: &'v Map<String, Value>) -> Self {
        let text = |key: &str| keys.get(key).and_then(Value::as_str);
        let action = match text("decision") {
            Some("allow") => Some(Action::Allow),
            Some("ask_user") => Some(Action::Ask),
            Some("deny") => Some(Action::Deny),
            _ => None,
        };
        let mut tools = texts(keys.get("toolName"));
        if let Some(server) = text("mcpName") {
            if tools.is_empty() {
                tools.push("*".to_owned());
            }
            tools = tools.iter().map(|tool| of_server(server, tool)).collect();
        } else if tools.is_empty() && keys.contains_key("commandPrefix") {
            tools.push("run_shell_command".to_owned());
        }
        let mut prefixes = texts(keys.get("commandPrefix"));
        if prefixes.is_empty() {
            prefixes.push(String::new());
        }
        Self {
            line,
            number,
            keys,
            action,
            priority: keys.get("priority").and_then(Value::as_i64),
            tools,
            prefixes,
        }
    }

    /// Whether the rule is about every call of every tool.
    fn is_of_all(&self) -> bool {
        let is_open = self.prefixes.iter().all(String::is_empty);
        let conditions = CONDITIONS.iter().chain(&["argsPattern", "commandRegex"]);
        is_open
            && self.tools.iter().any(|tool| tool == "*")
            && conditions.copied().all(|key| !self.keys.contains_key(key))
    }

    fn entry(&self, part: Option<usize>, what: String) -> Entry {
        let number = self.number;
        Entry {
            // What is not known may be a deny.
            action: self.action.unwrap_or(Action::Deny),
            id: part.map_or(format!("rule-{number}"), |part| {
                format!("rule-{number}-{part}")
            }),
            what,
            place: format!("line {}", self.line),
        }
    }

    fn take(&self, draft: &mut Draft, rules: &[Rule<'_>]) {
        let whole = self.entry(None, self.in_words());
        if let Err(why) = self.check(rules) {
            return draft.take(&whole, Err(why));
        }
        if self.is_of_all() && self.action != Some(Action::Allow) {
            return self.take_as_mode(draft, &whole);
        }
        let pairs = self.tools.iter().flat_map(|tool| {
            let prefixes = self.prefixes.iter();
            prefixes.map(move |prefix| (tool, prefix))
        });
        let pairs: Vec<_> = pairs.collect();
        for (number, (tool, prefix)) in pairs.iter().enumerate() {
            let part = (pairs.len() > 1).then_some(number + 1);
            let what = match prefix.as_str() {
                "" => (*tool).clone(),
                prefix => format!("{tool}({prefix})"),
            };
            let entry = self.entry(part, what);
            draft.take(&entry, self.translate(tool, prefix, entry.action));
        }
        self.remark(draft, &whole, rules);
    }

    /// What all other calls get.
    fn take_as_mode(&self, draft: &mut Draft, whole: &Entry) {
        if self.action == Some(Action::Deny) {
            draft.is_silent = true;
            draft.narrow(
                whole,
                "it is `[mode] ask = \"off\"` here, by which a question is a refusal too",
            );
        }
    }

    /// Whether the rule can be said at all.
    fn check(&self, rules: &[Rule<'_>]) -> Result<(), String> {
        let is_allow = self.action == Some(Action::Allow);
        if self.action.is_none() {
            return Err("its decision is not known".to_owned());
        }
        let is_known =
            |key: &&String| KNOWN.contains(&key.as_str()) || CONDITIONS.contains(&key.as_str());
        if let Some(key) = self.keys.keys().find(|key| !is_known(key)) {
            return Err(format!("what `{key}` means is not known"));
        }
        for key in ["argsPattern", "commandRegex"] {
            if self.keys.contains_key(key) {
                return Err(format!("`{key}` is a regular expression, which no key is"));
            }
        }
        if self.tools.is_empty() {
            return Err("it names no tool".to_owned());
        }
        for key in ["toolName", "commandPrefix"] {
            let count = match self.keys.get(key) {
                Some(Value::Array(list)) => list.len(),
                other => usize::from(other.is_some()),
            };
            if texts(self.keys.get(key)).len() != count {
                return Err(format!("its `{key}` is no text"));
            }
        }
        if !is_allow {
            return Ok(());
        }
        if let Some(condition) = CONDITIONS.iter().find(|key| self.keys.contains_key(**key)) {
            return Err(format!(
                "it holds under a condition alone, `{condition}`, which no key says"
            ));
        }
        let Some(priority) = self.priority else {
            return Err("it has no priority".to_owned());
        };
        let is_above = |other: &&Rule<'_>| {
            other.is_of_all()
                && other.action != Some(Action::Allow)
                && other.priority.is_some_and(|own| own >= priority)
        };
        match rules.iter().find(is_above) {
            Some(above) => Err(format!(
                "the rule about every tool at line {} stands above it",
                above.line
            )),
            None => Ok(()),
        }
    }

    fn translate(&self, tool: &str, prefix: &str, action: Action) -> Result<Translated, String> {
        let translated = match (prefix, gemini_tools::is_shell(tool)) {
            ("", _) => gemini_tools::tool(tool, action)?,
            (prefix, true) => gemini_tools::commands(prefix, action)?,
            (_, false) => return Err("a command is for `run_shell_command`".to_owned()),
        };
        let reason = self.keys.get("denyMessage").and_then(Value::as_str);
        Ok(Translated {
            keys: translated.keys.with_some("reason", reason),
            ..translated
        })
    }

    /// Lists where the rule is narrower than there.
    fn remark(&self, draft: &mut Draft, whole: &Entry, rules: &[Rule<'_>]) {
        if let Some(condition) = CONDITIONS.iter().find(|key| self.keys.contains_key(**key)) {
            draft.narrow(whole, format!("it holds whatever `{condition}` says"));
        }
        let stricter: &[Action] = match self.action {
            Some(Action::Allow) => &[Action::Ask, Action::Deny],
            Some(Action::Ask) => &[Action::Deny],
            Some(Action::Deny) | None => &[],
        };
        let is_lifted = |other: &&Rule<'_>| {
            let is_stricter = other
                .action
                .is_some_and(|action| stricter.contains(&action));
            is_stricter
                && !other.is_of_all()
                && other.priority < self.priority
                && self.overlaps(other)
        };
        if let Some(other) = rules.iter().find(is_lifted) {
            let why = format!(
                "stricter rules count, whatever their priority: the first is at line {}",
                other.line
            );
            draft.narrow(whole, why);
        }
    }

    /// Whether some call may be meant by both.
    fn overlaps(&self, other: &Rule<'_>) -> bool {
        let meet = |own: &String, other: &String| {
            let head = |name: &str| name.split('*').next().unwrap_or_default().len();
            let shared = head(own).min(head(other));
            let is_wild = own.contains('*') || other.contains('*');
            own == other || is_wild && own.get(..shared) == other.get(..shared)
        };
        let begins =
            |own: &String, other: &String| own.starts_with(other) || other.starts_with(own);
        let some = |own: &[String], others: &[String], holds: &dyn Fn(&String, &String) -> bool| {
            own.iter()
                .any(|own| others.iter().any(|other| holds(own, other)))
        };
        some(&self.tools, &other.tools, &meet) && some(&self.prefixes, &other.prefixes, &begins)
    }

    /// What the rule matches, as it is written.
    fn in_words(&self) -> String {
        let keys = [
            "toolName",
            "mcpName",
            "commandPrefix",
            "commandRegex",
            "argsPattern",
        ]
        .into_iter();
        let written =
            keys.filter_map(|key| self.keys.get(key).map(|value| format!("{key} = {value}")));
        let decision = self
            .keys
            .get("decision")
            .map(|value| format!("decision = {value}"));
        written.chain(decision).collect::<Vec<_>>().join(", ")
    }
}

/// The full name of a server's tool.
fn of_server(server: &str, tool: &str) -> String {
    match (server, tool) {
        ("*", "*") => "mcp_*".to_owned(),
        (server, tool) => format!("mcp_{server}_{tool}"),
    }
}

/// A string, or the strings of a list.
fn texts(value: Option<&Value>) -> Vec<String> {
    let texts = match value {
        Some(Value::Array(list)) => list.as_slice(),
        Some(single) => std::slice::from_ref(single),
        None => &[],
    };
    texts
        .iter()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect()
}
