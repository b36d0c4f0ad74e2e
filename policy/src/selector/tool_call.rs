//! What the keys of a rule say of a call of a tool.

use super::named::{covers, hosts_hold};
use super::{List, Selectors};
use crate::image::Reading;
use crate::operand::{FileOperand, Part};
use crate::pattern::PathPattern;
use crate::tool;
use crate::tool_call::Seen;
use crate::word::Word;

/// The keys by which alone a deny or an ask is about calls of every tool.
const OF_EVERY_TOOL: [&str; 2] = ["path", "host"];

/// The keys about things that a call of a tool has none of: no rule with them holds for one.
const OF_EXECS: [&str; 5] = ["program", "command", "argv", "script", "sha256"];

/// The keys about things of which a call has as many as it likes, and one of a tool has none: all of
/// them are on any list, and none is.
const OF_NOTHING: [&str; 2] = ["flags", "env"];

impl Selectors {
    /// Whether the rule can be about calls of the tool at all.
    pub(crate) fn is_about_tool(&self, name: &str, reading: Reading) -> bool {
        match &self.tool {
            Some(list) => covers_tool(list, name),
            None => {
                let mut keys = self.keys();
                reading == Reading::Doubtful && keys.all(|key| OF_EVERY_TOOL.contains(&key))
            }
        }
    }

    /// Whether the rule has `tool` and no key that is about execs alone.
    pub(crate) fn is_for_tools(&self) -> bool {
        self.tool.is_some() && !self.keys().any(|key| OF_EXECS.contains(&key))
    }

    /// Whether an entry of the rule names the tool.
    pub(crate) fn names_tool(&self, name: &str) -> bool {
        let mut wanted = self.tool.iter().flat_map(|list| &list.wanted);
        wanted.any(|word| is_called(word, name))
    }

    /// The first key that does not hold for the call; `None` if all hold.
    pub(crate) fn failing_tool_call(
        &self,
        seen: &Seen<'_>,
        reading: Reading,
    ) -> Option<&'static str> {
        if !self.is_about_tool(&seen.call.tool, reading) {
            return Some("tool");
        }
        if let Some(key) = self.keys().find(|key| OF_EXECS.contains(key)) {
            return Some(key);
        }
        if reading == Reading::Doubtful
            && let Some(key) = self.keys().find(|key| OF_NOTHING.contains(key))
        {
            return Some(key);
        }
        // Nor is there a history, which may be any.
        if self.via.is_some() && reading == Reading::Strict {
            return Some("via");
        }
        let mut arguments = seen.call.arguments.iter();
        let is_arg = |argument: &Vec<u8>| self.is_arg(argument, reading);
        if self.args.is_some() && !some_or_every(reading, &mut arguments, is_arg) {
            return Some("args");
        }
        if let Some(list) = &self.path
            && !files_hold(list, seen, reading)
        {
            return Some("path");
        }
        if let Some(list) = &self.host
            && !hosts_hold(list, &seen.hosts, reading)
        {
            return Some("host");
        }
        let cwd = seen.call.cwd.as_deref();
        (!self.is_in_directory(cwd, reading)).then_some("cwd")
    }
}

fn files_hold(list: &List<PathPattern>, seen: &Seen<'_>, reading: Reading) -> bool {
    let is_on = |file: &FileOperand| {
        // In doubt, what may be no file at all is not elsewhere either.
        let is_meant =
            reading == Reading::Strict || file.part != Part::Guess || !list.wanted.is_empty();
        is_meant && list.holds(reading, |pattern, reading| covers(pattern, file, reading))
    };
    some_or_every(reading, &mut seen.files.iter(), is_on)
}

/// Whether every one of `items` is such, or in doubt some.
fn some_or_every<T>(
    reading: Reading,
    items: &mut impl Iterator<Item = T>,
    is_such: impl Fn(T) -> bool,
) -> bool {
    match reading {
        Reading::Strict => items.all(is_such),
        Reading::Doubtful => items.any(is_such),
    }
}

fn covers_tool(list: &List<Word>, name: &str) -> bool {
    list.holds(Reading::Strict, |word, _| is_called(word, name))
}

/// Whether `word` means the tool, by either of its names.
fn is_called(word: &Word, name: &str) -> bool {
    let names = match tool::EXEC.contains(&name) {
        true => tool::EXEC.as_slice(),
        false => &[name],
    };
    names.iter().any(|name| word.matches(name.as_bytes()))
}
