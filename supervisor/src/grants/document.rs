//! Grants as the text of their file. What a person wrote there beside them, comments above all, stays.

use execward_policy::Action;
use jiff::Timestamp;
use toml_edit::{ArrayOfTables, Datetime, DocumentMut, Item, Table, TomlError, value};

use super::{Grant, Note, Usage};

/// How a file of grants begins.
const HEAD: &str = "# What people said of calls. `execward grants list` shows it, `execward grants revoke` takes it \
    back.\nversion = 1\n";

/// The actions of grants.
const ACTIONS: [Action; 2] = [Action::Allow, Action::Deny];

/// A file of grants, to be read and changed.
#[derive(Clone, Debug)]
pub(super) struct Document(DocumentMut);

impl Document {
    /// Reads a text that the policy's reader has found no fault in; an empty one is a file that is to be
    /// made.
    ///
    /// # Errors
    /// If it is no TOML.
    pub(super) fn read(text: &str) -> Result<Self, TomlError> {
        let text = if text.is_empty() { HEAD } else { text };
        text.parse().map(Self)
    }

    /// Its grants.
    ///
    /// # Errors
    /// In words, where a rule has no note, or a note no rule.
    pub(super) fn grants(&self) -> Result<Vec<Grant>, String> {
        let mut grants = Vec::new();
        for action in ACTIONS {
            let rules = self
                .0
                .get(action.as_str())
                .and_then(Item::as_array_of_tables);
            for rule in rules.into_iter().flatten() {
                let text = |key: &str| rule.get(key).and_then(Item::as_str);
                let id = text("id").unwrap_or_default().to_owned();
                let note = self.note(&id);
                grants.push(Grant {
                    action,
                    rule: format!("[[{action}]]\n{}", rule.to_string().trim_start()),
                    expires: rule.get("expires").and_then(time),
                    note: note
                        .ok_or_else(|| format!("the rule `{id}` has no note `[grants.{id}]`"))?,
                    id,
                });
            }
        }
        let notes = self.0.get("grants").and_then(Item::as_table_like);
        let mut names = notes.into_iter().flat_map(|notes| notes.iter());
        let is_known = |id: &str| grants.iter().any(|grant| grant.id == id);
        match names.find(|(id, _)| !is_known(id)) {
            Some((id, _)) => Err(format!("the note `[grants.{id}]` is of no rule")),
            None => Ok(grants),
        }
    }

    fn note(&self, id: &str) -> Option<Note> {
        let note = self.0.get("grants")?.get(id)?.as_table_like()?;
        let text = |key: &str| note.get(key).and_then(Item::as_str).map(str::to_owned);
        let uses = note.get("uses").and_then(Item::as_integer).unwrap_or(0);
        Some(Note {
            scope: text("scope")?,
            covers: text("covers")?,
            by: text("by")?,
            session: text("session")?,
            exec: text("exec")?,
            at: note.get("at").and_then(time)?,
            reason: text("reason"),
            usage: Usage {
                uses: u64::try_from(uses).unwrap_or(0),
                last_used: note.get("last_used").and_then(time),
                last_command: text("last_command"),
                last_path: text("last_path"),
            },
        })
    }

    /// Puts a grant behind the others.
    ///
    /// # Errors
    /// If its rule is none.
    pub(super) fn add(&mut self, grant: &Grant) -> Result<(), TomlError> {
        let mut rule: DocumentMut = grant.rule.parse()?;
        let name = grant.action.as_str();
        let rules = rule
            .remove(name)
            .and_then(|it| it.into_array_of_tables().ok());
        let own = self
            .0
            .entry(name)
            .or_insert(Item::ArrayOfTables(ArrayOfTables::new()));
        if let Some(own) = own.as_array_of_tables_mut() {
            own.extend(rules.into_iter().flatten());
        }
        let mut implicit = Table::new();
        implicit.set_implicit(true);
        let notes = self.0.entry("grants").or_insert(Item::Table(implicit));
        if let Some(notes) = notes.as_table_like_mut() {
            notes.insert(&grant.id, Item::Table(table(&grant.note)));
        }
        Ok(())
    }

    /// Takes a grant out; whether it was there.
    pub(super) fn remove(&mut self, id: &str) -> bool {
        for action in ACTIONS {
            let rules = self.0.get_mut(action.as_str());
            if let Some(rules) = rules.and_then(Item::as_array_of_tables_mut) {
                rules.retain(|rule| rule.get("id").and_then(Item::as_str) != Some(id));
            }
        }
        let notes = self.0.get_mut("grants").and_then(Item::as_table_like_mut);
        notes.is_some_and(|notes| notes.remove(id).is_some())
    }

    /// Counts what came of a grant since its note was written; of one that is gone nothing is kept.
    pub(super) fn count(&mut self, id: &str, more: &Usage) {
        let Some(mut note) = self.note(id) else {
            return;
        };
        note.usage.add(more);
        let notes = self.0.get_mut("grants").and_then(Item::as_table_like_mut);
        if let Some(own) = notes.and_then(|notes| notes.get_mut(id)?.as_table_like_mut()) {
            for (key, item) in table(&note) {
                own.insert(&key, item);
            }
        }
    }
}

/// What a file of this grant alone would have.
///
/// # Errors
/// In words, if its rule is none, or more than one.
pub(super) fn alone(grant: &Grant) -> Result<Grant, String> {
    let mut document = Document::read("").map_err(|error| error.to_string())?;
    document.add(grant).map_err(|error| error.to_string())?;
    let read = <[Grant; 1]>::try_from(document.grants()?);
    read.map(|[grant]| grant)
        .map_err(|read| format!("it has {} rules", read.len()))
}

impl std::fmt::Display for Document {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

fn table(note: &Note) -> Table {
    let mut table = Table::new();
    let texts = [
        ("scope", Some(&note.scope)),
        ("covers", Some(&note.covers)),
        ("by", Some(&note.by)),
        ("session", Some(&note.session)),
        ("exec", Some(&note.exec)),
        ("reason", note.reason.as_ref()),
        ("last_command", note.usage.last_command.as_ref()),
        ("last_path", note.usage.last_path.as_ref()),
    ];
    for (key, text) in texts {
        if let Some(text) = text {
            table.insert(key, value(text.as_str()));
        }
    }
    for (key, at) in [("at", Some(note.at)), ("last_used", note.usage.last_used)] {
        if let Some(at) = at.and_then(datetime) {
            table.insert(key, value(at));
        }
    }
    let uses = i64::try_from(note.usage.uses).unwrap_or(i64::MAX);
    table.insert("uses", value(uses));
    table
}

/// To the millisecond, as records have it.
fn datetime(at: Timestamp) -> Option<Datetime> {
    format!("{at:.3}").parse().ok()
}

fn time(item: &Item) -> Option<Timestamp> {
    item.as_datetime()?.to_string().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grant(id: &str, action: Action) -> Grant {
        Grant {
            id: id.to_owned(),
            action,
            rule: format!("[[{action}]]\nid = \"{id}\"\ncommand = \"git push\"\n"),
            expires: None,
            note: Note {
                scope: "prefix".into(),
                covers: "`git push`".into(),
                by: "uid 0 (process 7)".into(),
                session: "s\"\n\u{202e}".into(),
                exec: "3f9c".into(),
                at: "2026-11-29T10:00:00.123Z".parse().unwrap(),
                reason: None,
                usage: Usage::default(),
            },
        }
    }

    #[test]
    fn what_is_written_is_read_again_and_comments_stay() {
        let mut document = Document::read("# mine\nversion = 1 # so\n").unwrap();
        let grants = [grant("g1", Action::Allow), grant("g2", Action::Deny)];
        for grant in &grants {
            document.add(grant).unwrap();
        }
        let text = document.to_string();
        assert!(text.starts_with("# mine\nversion = 1 # so\n"), "{text}");
        let mut document = Document::read(&text).unwrap();
        assert_eq!(document.grants().unwrap(), grants);
        assert!(document.remove("g1") && !document.remove("g1"));
        let [_, other] = grants;
        assert_eq!(document.grants().unwrap(), [other]);
    }

    #[test]
    fn usage_is_counted_and_the_latest_stays() {
        let mut document = Document::read("").unwrap();
        document.add(&grant("g1", Action::Allow)).unwrap();
        let used = |second, command: &str| Usage {
            uses: 2,
            last_used: Timestamp::from_second(second).ok(),
            last_command: Some(command.into()),
            last_path: Some("/usr/bin/git".into()),
        };
        document.count("g1", &used(9, "git push b"));
        document.count("g1", &used(5, "git push a"));
        document.count("gone", &used(5, "git push a"));
        let grants = document.grants().unwrap();
        let [grant] = &*grants else {
            panic!("{grants:?}")
        };
        assert_eq!(
            grant.note.usage,
            Usage {
                uses: 4,
                ..used(9, "git push b")
            }
        );
    }

    #[test]
    fn a_rule_without_its_note_is_a_fault_and_so_is_a_note_without_its_rule() {
        let rule = "version = 1\n[[allow]]\nid = \"g1\"\ncommand = \"git push\"\n";
        let why = Document::read(rule).unwrap().grants().unwrap_err();
        assert!(why.contains("has no note"), "{why}");
        let mut document = Document::read("").unwrap();
        document.add(&grant("g1", Action::Allow)).unwrap();
        let text = document.to_string().replace("id = \"g1\"", "id = \"g2\"");
        assert!(Document::read(&text).unwrap().grants().is_err());
    }
}
