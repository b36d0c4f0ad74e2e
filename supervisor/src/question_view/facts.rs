//! From a question's message to what is shown of it.

use jiff::Timestamp;
use serde_json::Value;

use super::rows::{Item, QuestionView, Section, Tone};
use super::visible::{in_ascii, word};
use crate::approval::{Reach, ShownAmendment, in_words};
use crate::audit::{RawBytes, called, decoded};
use crate::control::{Request, Required};

/// Longest argument that a person can judge by eye, in bytes.
const ARGUMENT_MAX_BYTES: usize = 4 << 10;

/// Where the gate cuts other texts, in bytes: one of this length may be longer.
const TEXT_MAX_BYTES: usize = 4 << 10;

/// How deep the tree of processes is drawn.
const INDENT_MAX: usize = 8;

impl QuestionView {
    /// What there is to see of `required` at `now`.
    pub(crate) fn of(required: &Required, now: Timestamp) -> Self {
        let request = &required.request;
        let raw = decoded(&request.bytes);
        let mut facts = Facts {
            gaps: Vec::new(),
            request,
            raw: raw.clone().unwrap_or_default(),
        };
        if raw.is_none() {
            facts.lack("the exact bytes of a value cannot be read".into());
        }
        let sections = vec![
            facts.program(),
            facts.arguments(),
            facts.directory(),
            facts.shell(),
            facts.script(),
            facts.processes(),
            facts.variables(),
            facts.ground(),
            section("time", [Item::prose(time_left(request, now))]),
            facts.scopes(),
        ];
        Self {
            gaps: facts.gaps,
            sections: sections.into_iter().flatten().collect(),
        }
    }
}

/// `denied in 4m58s`.
pub(crate) fn time_left(request: &Request, now: Timestamp) -> String {
    let left = request.expires_at.duration_since(now);
    let left = in_words(left.try_into().unwrap_or_default());
    format!("{} in {left}", request.unanswered.in_words())
}

struct Facts<'a> {
    gaps: Vec<String>,
    request: &'a Request,
    raw: RawBytes,
}

impl Facts<'_> {
    fn lack(&mut self, gap: String) {
        self.gaps.push(gap);
    }

    /// The bytes of the text under `pointer` of the request.
    fn bytes(&self, pointer: &str, text: &str) -> Vec<u8> {
        let exact = self.raw.get(pointer);
        exact.map_or_else(|| text.as_bytes().to_vec(), Clone::clone)
    }

    /// Those of `proc`, which the gate may have cut.
    fn of_proc(&mut self, key: &str) -> Option<Vec<u8>> {
        let text = self.request.proc.pointer(key)?.as_str()?;
        let raw = self.bytes(&format!("/proc{key}"), text);
        if raw.len() >= TEXT_MAX_BYTES {
            self.lack(format!("{key} may be longer than is shown"));
        }
        Some(raw)
    }

    fn number(&self, key: &str) -> Option<u64> {
        self.request.proc.pointer(key)?.as_u64()
    }

    fn program(&mut self) -> Option<Section> {
        let (own, given) = (self.of_proc("/path"), self.of_proc("/req_path"));
        let mut items = Vec::new();
        match &own {
            Some(path) => items.push(Item::word(word(path))),
            None => items.push(strange("a file without a name: memory, or deleted".into())),
        }
        if let Some(given) = given.filter(|given| Some(given) != own.as_ref()) {
            items.push(Item::word(word(&given)).marked("given as ".into()));
        }
        if let Some(name) = called(&self.request.proc) {
            items.push(strange(in_ascii(&name)));
        }
        let origin = self.request.proc.pointer("/file/origin");
        if let Some(origin) = origin.and_then(Value::as_str).filter(|it| *it != "session") {
            items.push(strange(format!(
                "its path proves nothing: it lies on what is {}",
                in_ascii(origin)
            )));
        }
        if let (Some(real), Some(effective)) = (self.number("/uid_r"), self.number("/uid_e"))
            && real != effective
        {
            items.push(strange(format!("uid {real} acts as uid {effective}")));
        }
        section("program", items)
    }

    fn arguments(&mut self) -> Option<Section> {
        let request = self.request;
        let argv = request.proc.pointer("/argv").and_then(Value::as_array);
        let Some(argv) = argv else {
            self.lack("its arguments are not known".into());
            return None;
        };
        let mut items = Vec::new();
        for (at, argument) in argv.iter().enumerate() {
            let text = argument.as_str().unwrap_or_default();
            let raw = self.bytes(&format!("/proc/argv/{at}"), text);
            let mark = format!("{at:>2} ");
            let kept = raw.get(..ARGUMENT_MAX_BYTES);
            if kept.is_some() {
                self.lack(format!("argument {at} has {} bytes", raw.len()));
            }
            items.push(Item::word(word(kept.unwrap_or(&raw))).marked(mark));
            if kept.is_some() {
                let text = format!("... {} bytes in all", raw.len());
                items.push(Item::prose(text).toned(Tone::Gap).marked("   ".into()));
            }
        }
        let redacted = request.proc.pointer("/redacted").and_then(Value::as_array);
        if let Some(redacted) = redacted.filter(|it| !it.is_empty()) {
            let numbers: Vec<_> = redacted.iter().map(Value::to_string).collect();
            items.push(strange(format!(
                "hidden behind *** in {}: what looks like a secret. `run --reveal` shows it",
                in_ascii(&numbers.join(", "))
            )));
        }
        let count = self.number("/argc").unwrap_or(argv.len() as u64);
        if request.proc.pointer("/argv_cut").is_some() || count != argv.len() as u64 {
            let gap = format!("{} of {count} arguments are shown", argv.len());
            items.push(Item::prose(gap.clone()).toned(Tone::Gap));
            self.lack(gap);
        }
        section("arguments", items)
    }

    fn directory(&mut self) -> Option<Section> {
        let cwd = self.of_proc("/cwd").unwrap_or_default();
        section("directory", [Item::word(word(&cwd))])
    }

    /// What the text says that a shell is given; the text itself is among the arguments.
    fn shell(&self) -> Option<Section> {
        let note = self.request.proc.pointer("/shell")?;
        let texts = |key| {
            let texts = note.pointer(key).and_then(Value::as_array);
            texts.into_iter().flatten().filter_map(Value::as_str)
        };
        let commands = texts("/commands").map(|it| Item::word(word(it.as_bytes())));
        let mut items: Vec<_> = commands.map(|it| it.marked("- ".into())).collect();
        items.extend(texts("/untold").map(|it| strange(in_ascii(it))));
        let unknown = note.pointer("/not_analysed").and_then(Value::as_str);
        items.extend(unknown.map(|why| strange(format!("not analysed: {}", in_ascii(why)))));
        if note.pointer("/cut").is_some() {
            items.push(strange("and more: read the arguments".into()));
        }
        section("shell", items)
    }

    /// How the script begins, line by line.
    fn script(&self) -> Option<Section> {
        let script = self.request.script.as_ref()?;
        let head = self.bytes("/script/head", &script.head);
        let digest = script.sha256.as_deref();
        let digest = digest.map(|it| Item::word(format!("sha256 {}", in_ascii(it))));
        let mut lines: Vec<_> = head.split(|byte| *byte == b'\n').collect();
        if lines.last().is_some_and(|line| line.is_empty()) {
            lines.pop();
        }
        let lines = lines.into_iter().map(word);
        let lines = lines.map(|line| Item::word(line).marked("| ".into()));
        let size = self.number("/file/size").unwrap_or_default();
        let more = format!("... {} of {size} bytes, as seen", head.len());
        let more = script.is_cut.then(|| strange(more));
        section("script", digest.into_iter().chain(lines).chain(more))
    }

    /// The one that asks, then those above, nearest first.
    fn processes(&self) -> Option<Section> {
        let own = self.number("/pid").unwrap_or_default();
        let own = Item::word(format!("{own} asks"));
        let above = self.request.ancestry.iter().enumerate();
        let above = above.map(|(depth, process)| {
            let text = format!("{} {}", process.pid, in_ascii(&process.path));
            Item::word(text).marked(format!("{}^ ", " ".repeat(depth.min(INDENT_MAX))))
        });
        section("process", [own].into_iter().chain(above))
    }

    fn variables(&mut self) -> Option<Section> {
        let environment = &self.request.environment;
        let names = |key: &str, mark: &str, names: &[String]| {
            let names = names.iter().enumerate().map(|(at, name)| {
                let raw = self.bytes(&format!("/environment/{key}/{at}"), name);
                strange(word(&raw)).marked(mark.to_owned())
            });
            names.collect::<Vec<_>>()
        };
        let mut items = names("changed", "changed ", &environment.changed);
        items.extend(names("gone", "gone    ", &environment.gone));
        let others = environment.others;
        if others > 0 {
            self.lack(format!("{others} changed variables are not shown"));
        }
        section("variables", items)
    }

    fn ground(&self) -> Option<Section> {
        let rule = match &self.request.rule {
            Some(rule) => format!("{} ({})", in_ascii(&rule.id), in_ascii(&rule.src)),
            None => "not in the policy".to_owned(),
        };
        let reason = self.request.reason.as_deref().map(in_ascii);
        let items = [Some(rule), reason].into_iter().flatten();
        section("rule", items.map(Item::prose))
    }

    fn scopes(&self) -> Option<Section> {
        let scopes = self.request.amendments.iter().map(|amendment| {
            let mark = format!("{:8}", in_ascii(&amendment.scope));
            Item::prose(amendment_in_words(amendment)).marked(mark)
        });
        section("can last", scopes)
    }
}

/// What could be saved: what it covers, and how far it would have reached.
pub(crate) fn amendment_in_words(amendment: &ShownAmendment) -> String {
    let covers = in_ascii(&amendment.covers);
    match amendment.reach {
        Some(Reach { covered, of }) => format!("{covers}; {covered} of the last {of} execs"),
        None => covers,
    }
}

fn strange(text: String) -> Item {
    Item::prose(text).toned(Tone::Strange)
}

/// A section, unless it has nothing to say.
fn section(heading: &'static str, items: impl IntoIterator<Item = Item>) -> Option<Section> {
    let items: Vec<_> = items.into_iter().collect();
    (!items.is_empty()).then_some(Section { heading, items })
}
