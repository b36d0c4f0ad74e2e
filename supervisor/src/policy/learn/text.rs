//! What is learned as the text of a policy. All of a log's text is escaped in it: nothing that a program
//! was called with ends a comment.

use execward_policy::{Lesson, Mode};

use super::Learned;
use super::evidence::{Part, Seen};
use crate::audit::{ExecId, escaped};
use crate::policy::LoadedPolicy;

/// Longest comment, in bytes.
const LINE_MAX_BYTES: usize = 160;

/// Most calls that a rule's comment names of those that it is made of.
const CALLS_MAX: usize = 3;

/// Most other calls that one rule's comment names.
const OTHERS_MAX: usize = 5;

impl Learned {
    /// The rules, each with what it rests on, and why there are no others.
    pub(super) fn text(&self, policy: &LoadedPolicy) -> String {
        let approved: u64 = self.approved().iter().map(|seen| seen.count).sum();
        let names = policy.names();
        let or_else = match (self.witness.takes_asked, self.witness.takes_observed) {
            (false, false) => "",
            (true, false) => ", and execs that nobody answered for",
            (false, true) => ", and execs that were only observed",
            (true, true) => ", and execs that nobody answered for, or that were only observed",
        };
        let heads = [
            format!("Learned from {approved} approved execs{or_else}."),
            format!("To be named beside {names}."),
            "Read each rule before it is used: it lets run what it says, whoever asks.".to_owned(),
        ];
        let Mode { security, ask, .. } = policy.rules.mode();
        let mode = format!("\n[mode]\nsecurity = \"{security}\"\nask = \"{ask}\"\n");
        let mut text: String = heads.iter().map(|line| comment(line)).collect();
        text += "version = 1\n";
        text += &mode;
        text.extend(self.lessons.iter().map(|lesson| self.lesson(lesson)));
        text + &self.untaught()
    }

    fn approved(&self) -> &[Seen] {
        self.witness.of_part(Part::Approved)
    }

    fn lesson(&self, lesson: &Lesson) -> String {
        let calls = || {
            lesson
                .calls
                .iter()
                .filter_map(|at| self.approved().get(*at))
        };
        let count: u64 = calls().map(|seen| seen.count).sum();
        let ids = calls().flat_map(|seen| &seen.ids).take(CALLS_MAX).copied();
        let ids = ids_in_words(ids, count);
        let mut lines = vec![
            format!("{}.", lesson.amendment.covers),
            format!("Approved {}: {ids}", times(count)),
        ];
        let mut shown: Vec<String> = calls()
            .map(|seen| format!("  {}", seen.in_words()))
            .collect();
        shown.dedup();
        shown.truncate(CALLS_MAX);
        lines.extend(shown);
        if lesson.is_narrowed {
            lines.push("No wider: a person refused other calls of the command.".to_owned());
        }
        lines.extend(self.others(lesson));
        let comments: String = lines.iter().map(|line| comment(line)).collect();
        format!("\n{comments}{}", lesson.amendment.rule)
    }

    /// What else of the logs the rule lets run.
    fn others(&self, lesson: &Lesson) -> Vec<String> {
        let all = self.witness.of_part(Part::Other);
        let others = || lesson.others.iter().filter_map(|at| all.get(*at));
        let count: u64 = others().map(|seen| seen.count).sum();
        if count == 0 {
            return vec!["It would have allowed nothing else of the log.".to_owned()];
        }
        let mut lines = vec![format!(
            "It would also have allowed {count} other execs of the log:"
        )];
        let shown = others().take(OTHERS_MAX);
        lines.extend(shown.map(|seen| {
            let ids = ids_in_words(seen.ids.iter().copied(), seen.count);
            format!("  {}, {}: {ids}", seen.in_words(), times(seen.count))
        }));
        if others().count() > OTHERS_MAX {
            lines.push("  and others".to_owned());
        }
        lines
    }

    fn untaught(&self) -> String {
        if self.untaught.is_empty() && self.witness.untold.is_empty() {
            return String::new();
        }
        let mut lines = vec!["Approved, and there is no rule for it:".to_owned()];
        let calls = self.untaught.iter().filter_map(|(at, why)| {
            let seen = self.approved().get(*at)?;
            let ids = ids_in_words(seen.ids.iter().copied(), seen.count);
            Some([
                format!("  {}", seen.in_words()),
                format!("    {ids}: {why}"),
            ])
        });
        lines.extend(calls.flatten());
        let untold = self.witness.untold.iter();
        lines.extend(untold.map(|(program, id, why)| format!("  {program} {id}: {why}")));
        let comments: String = lines.iter().map(|line| comment(line)).collect();
        format!("\n{comments}")
    }
}

fn times(count: u64) -> String {
    match count {
        1 => "once".to_owned(),
        _ => format!("{count} times"),
    }
}

fn ids_in_words(ids: impl Iterator<Item = ExecId>, count: u64) -> String {
    let ids: Vec<String> = ids.map(|id| id.to_string()).collect();
    let is_short = u64::try_from(ids.len()).is_ok_and(|shown| shown < count);
    format!("[{}{}]", ids.join(" "), if is_short { " ..." } else { "" })
}

/// One line of printable ASCII behind a `#`.
fn comment(line: &str) -> String {
    let indented = line.len() - line.trim_start_matches(' ').len();
    let (indent, words) = line.split_at(indented);
    let mut words: String = words
        .chars()
        .map(|c| match c {
            ' '..='~' => String::from(c),
            other => escaped(&other.to_string()),
        })
        .collect();
    if words.len() > LINE_MAX_BYTES {
        words.truncate(LINE_MAX_BYTES);
        words += " ...";
    }
    format!("# {indent}{words}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_is_one_line_of_printable_ascii() {
        for text in [
            "a\n[[allow]]\nprogram = \"*\"",
            "\r\u{85}\u{2028}\u{202e}\u{7f}\u{1b}[2J",
            "  indented\u{0}",
        ] {
            let comment = comment(text);
            let line = comment.strip_suffix('\n').unwrap();
            assert!(line.starts_with("# "), "{comment}");
            assert!(
                line.bytes().all(|byte| (b' '..=b'~').contains(&byte)),
                "{comment}"
            );
        }
        assert_eq!(comment("  a \"b\\x\""), "#   a \"b\\x\"\n");
        assert!(comment(&"x".repeat(9999)).len() < 200);
    }
}
