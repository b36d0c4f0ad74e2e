//! Codex's `.rules` files, and which of its files a text is.

use execward_policy::Action;
use serde_json::Value;

use super::command::{self, End};
use super::draft::{Draft, Entry, Keys, Translated};
use super::starlark::{self, Call};
use super::words::Word;
use super::{ImportError, Imported, codex_config};

/// Most commands that the alternatives of one pattern come to.
const ALTERNATIVES_MAX: usize = 64;
/// Most words of a pattern. The language takes half of that.
const WORDS_MAX: usize = 64;

/// The policy that a file comes to: rules, or a configuration if it is called so.
///
/// # Errors
/// If it is neither.
pub(super) fn import(name: &str, text: &str) -> Result<Imported, ImportError> {
    if name.ends_with(".toml") {
        return codex_config::import(text);
    }
    match starlark::calls(text) {
        Ok(calls) => rules(&calls),
        Err(error) if name.ends_with(".rules") => Err(error),
        Err(error) => codex_config::import(text).map_err(|_| error),
    }
}

fn rules(calls: &[Call]) -> Result<Imported, ImportError> {
    let mut draft = Draft::new("codex");
    let is_rule = |call: &&Call| call.name == "prefix_rule";
    for (number, call) in calls.iter().filter(is_rule).enumerate() {
        prefix_rule(&mut draft, number + 1, call);
    }
    for call in calls.iter().filter(|call| !is_rule(call)) {
        other(&mut draft, call);
    }
    draft.note(
        "an allow here does not lift a confinement, as Codex's does; it does not cover the shell that the \
         command is typed into either",
    );
    draft.finish("Codex's rules")
}

/// A call that is no rule of a command.
fn other(draft: &mut Draft, call: &Call) {
    let text = |name| call.argument(name).and_then(Value::as_str);
    let what = match text("name").or(text("host")) {
        Some(subject) => format!("{}({subject}) (line {})", call.name, call.line),
        None => format!("{} (line {})", call.name, call.line),
    };
    let (is_wider, why) = match call.name.as_str() {
        "host_executable" => (
            false,
            "which file a bare name means is for `trusted_dirs`, or `program` beside `command`",
        ),
        "network_rule" => (
            text("decision") != Some("allow"),
            "execward sees the programs that speak to hosts, not the network",
        ),
        _ => (true, "the rule is not known"),
    };
    draft.leave_out_setting(&what, is_wider, why);
}

fn prefix_rule(draft: &mut Draft, number: usize, call: &Call) {
    let decision = call.argument("decision");
    let action = match decision.map_or(Some("allow"), Value::as_str) {
        Some("allow") => Some(Action::Allow),
        Some("prompt") => Some(Action::Ask),
        Some("forbidden") => Some(Action::Deny),
        _ => None,
    };
    let pattern = call.argument("pattern");
    let mut entry = Entry {
        // What is not known may be a deny.
        action: action.unwrap_or(Action::Deny),
        id: format!("rule-{number}"),
        what: pattern.map_or_else(|| "prefix_rule".to_owned(), Value::to_string),
        place: format!("line {}", call.line),
    };
    if action.is_none() {
        return draft.take(&entry, Err("its decision is not known".to_owned()));
    }
    let commands = match pattern
        .ok_or("it has no pattern".to_owned())
        .and_then(commands)
    {
        Ok(commands) => commands,
        Err(why) => return draft.take(&entry, Err(why)),
    };
    let known = ["pattern", "decision", "justification", "match", "not_match"];
    let unknown = call
        .arguments
        .iter()
        .find(|(name, _)| !known.contains(&name.as_str()));
    if let Some((name, _)) = unknown {
        return draft.take(&entry, Err(format!("what `{name}` means is not known")));
    }
    let is_single = commands.len() == 1;
    for (number, words) in commands.iter().enumerate() {
        if !is_single {
            entry.id = format!("rule-{}-{}", entry_number(&entry.id), number + 1);
            entry.what = serde_json::Value::from(words.clone()).to_string();
        }
        let translated = translate(words, entry.action, call);
        let trial = translated
            .as_ref()
            .ok()
            .and_then(|it| with_examples(it, call, is_single));
        match trial {
            Some(keys) if draft.would_take(&entry, &keys) => {
                draft.take(&entry, translated.map(|it| Translated { keys, ..it }));
            }
            Some(_) => {
                draft.take(&entry, translated);
                draft.narrow(
                    &entry,
                    "its examples are left out, for not all of them are so here",
                );
            }
            None => draft.take(&entry, translated),
        }
    }
}

/// The number in `rule-3` or `rule-3-1`.
fn entry_number(id: &str) -> &str {
    id.split('-').nth(1).unwrap_or_default()
}

fn translate(words: &[String], action: Action, call: &Call) -> Result<Translated, String> {
    let words: Vec<Word> = words.iter().map(|word| Word::of(word)).collect();
    let translated = command::translate(&words, End::Open, action)?;
    let justification = call.argument("justification").and_then(Value::as_str);
    Ok(Translated {
        keys: translated.keys.with_some("reason", justification),
        ..translated
    })
}

/// The commands of a pattern: one of each place's alternatives.
fn commands(pattern: &Value) -> Result<Vec<Vec<String>>, String> {
    let is_some = |places: &&Vec<Value>| (1..=WORDS_MAX).contains(&places.len());
    let places = pattern.as_array().filter(is_some);
    let mut commands = vec![Vec::new()];
    for place in places.ok_or("its pattern is no list of words, or too long")? {
        let list = place.as_array().map(Vec::as_slice);
        let alternatives = list.unwrap_or(std::slice::from_ref(place));
        let alternatives: Option<Vec<&str>> = alternatives.iter().map(Value::as_str).collect();
        let alternatives = alternatives.ok_or("its pattern is no list of words")?;
        if alternatives.is_empty() || commands.len() * alternatives.len() > ALTERNATIVES_MAX {
            return Err(format!(
                "it means no command, or more than {ALTERNATIVES_MAX}"
            ));
        }
        let longer = commands.iter().flat_map(|command: &Vec<String>| {
            alternatives.iter().map(|word| {
                let mut command = command.clone();
                command.push((*word).to_owned());
                command
            })
        });
        commands = longer.collect();
    }
    Ok(commands)
}

/// The keys with the rule's examples, if it has any and means one command.
fn with_examples(translated: &Translated, call: &Call, is_single: bool) -> Option<Keys> {
    let mut keys = translated.keys.clone();
    let mut has_some = false;
    for name in ["match", "not_match"] {
        let examples = call.argument(name).and_then(Value::as_array);
        let Some(examples) = examples.filter(|examples| is_single && !examples.is_empty()) else {
            continue;
        };
        has_some = true;
        keys = keys.with(name, examples.iter().filter_map(line).collect());
    }
    has_some.then_some(keys)
}

/// An example as a command line.
fn line(example: &Value) -> Option<String> {
    let words = example.as_array().map(|words| {
        let words = words.iter().filter_map(Value::as_str);
        words.map(in_quotes).collect::<Vec<_>>().join(" ")
    });
    words.or_else(|| example.as_str().map(str::to_owned))
}

/// A word in the quotes of a shell.
fn in_quotes(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}
