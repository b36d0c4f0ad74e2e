//! What Claude Code's entries for commands cover, looked at as the text that it compares, and what comes
//! of them.

use execward_policy::Decision::{Allow, Deny};
use proptest::prelude::*;

use super::*;

/// Whether the entry means the command line, each word of which is plain.
fn covers(entry: &str, line: &str) -> bool {
    if let Some(prefix) = entry.strip_suffix(":*") {
        return line == prefix || line.starts_with(&format!("{prefix} "));
    }
    if let Some(prefix) = entry.strip_suffix(" *")
        && !prefix.contains('*')
        && line == prefix
    {
        return true;
    }
    matches(entry.as_bytes(), line.as_bytes())
}

fn matches(pattern: &[u8], text: &[u8]) -> bool {
    match (pattern.split_first(), text.split_first()) {
        (None, rest) => rest.is_none(),
        (Some((b'*', rest)), None) => matches(rest, text),
        (Some((b'*', rest)), Some((_, tail))) => matches(rest, text) || matches(pattern, tail),
        (Some((own, rest)), Some((other, tail))) => own == other && matches(rest, tail),
        (Some(_), None) => false,
    }
}

fn imported_entry(list: &str, entry: &str) -> Imported {
    let text = serde_json::json!({"permissions": {list: [format!("Bash({entry})")]}}).to_string();
    import_of(ImportFrom::Claude, "s", &text).unwrap()
}

fn words(of: &'static [&'static str], at_most: usize) -> impl Strategy<Value = String> {
    let words = prop::collection::vec(prop::sample::select(of.to_vec()), 0..at_most);
    words.prop_map(|words| words.concat())
}

/// What stands in the place of a `*`.
const ENDS: [&str; 8] = [
    "push",
    "x",
    "run y",
    "-f",
    "--force",
    "--y=1",
    "-p push",
    "push origin -f",
];

proptest! {
    #[test]
    fn what_an_imported_allow_covers_the_entry_covers(
        entry in words(&[" a", " ab", " *", "*", " b*", " -x", " --y=1", "b"], 5),
        end in prop::sample::select(vec!["", ":*"]),
        line in words(&[" a", " ab", " b", " abb", " -x", " --y=1", " --z"], 5),
    ) {
        let (entry, line) = (format!("foo{entry}{end}"), format!("foo{line}"));
        let rules = loaded(&imported_entry("allow", &entry).policy);
        if verdict(&rules, &line) == Allow {
            prop_assert!(covers(&entry, &line), "{entry} does not cover {line}");
        }
    }

    #[test]
    fn what_an_entry_denies_is_denied_or_listed(
        program in prop::sample::select(vec!["foo", "git", "rm", "npm", "docker", "kubectl"]),
        entry in words(&[" push", " run", " *", "*", " r*", " -f", " --force", " --y=1", " x"], 4),
        end in prop::sample::select(vec!["", ":*"]),
        seed in prop::collection::vec(prop::sample::select(ENDS.to_vec()), 6),
    ) {
        // A line that the entry covers: something in the place of each `*`, and behind an open end.
        let mut ends = seed.into_iter();
        let entry = format!("{program}{entry}{end}");
        let text = entry.strip_suffix(":*").map_or(entry.clone(), |text| format!("{text} *"));
        let parts: Vec<&str> = text.split('*').collect();
        let mut line = parts[0].to_owned();
        for part in &parts[1..] {
            line += ends.next().unwrap_or("x");
            line += part;
        }
        let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
        let imported = imported_entry("deny", &entry);
        let is_listed = imported.left_out.iter().any(|left| left.is_wider);
        if covers(&entry, &line) && !is_listed {
            let rules = loaded(&imported.policy);
            prop_assert_eq!(verdict(&rules, &line), Deny, "{} against {}\n{}", entry, line, imported.policy);
        }
    }
}
