//! Claude Code's `settings.json`.

use execward_policy::Action;
use serde_json::{Map, Value};

use super::command::{self, End};
use super::draft::{Draft, Entry, Keys, Translated};
use super::words::{Stars, Unit, split};
use super::{ImportError, Imported, Scope, claude_path, json};

/// The lists of `permissions`, and what they were called before.
const LISTS: [(&str, Action, &str); 3] = [
    ("deny", Action::Deny, "disallowedTools"),
    ("ask", Action::Ask, "askTools"),
    ("allow", Action::Allow, "allowedTools"),
];

/// Keys of `permissions` that say less than a session without them may do, or nothing here.
const HARMLESS: [&str; 4] = [
    "defaultMode",
    "additionalDirectories",
    "disableBypassPermissionsMode",
    "disableAutoMode",
];

/// The policy that the settings come to.
///
/// # Errors
/// If they are no settings.
pub(super) fn import(text: &str, scope: Scope) -> Result<Imported, ImportError> {
    let settings = json::object(text)?;
    let empty = Map::new();
    let permissions = match settings.get("permissions") {
        None => &empty,
        Some(Value::Object(permissions)) => permissions,
        Some(_) => return Err(ImportError::Shape("`permissions` is no object".to_owned())),
    };
    let mut draft = Draft::new("claude");
    for (name, action, old) in LISTS {
        let lists = [
            ("permissions.", name, name, permissions.get(name)),
            ("", name, "top", settings.get(name)),
            ("", old, "old", settings.get(old)),
        ];
        for (parent, key, id, list) in lists {
            let id = match id {
                "top" => format!("top-{name}"),
                "old" => format!("old-{name}"),
                _ => name.to_owned(),
            };
            let key = format!("{parent}{key}");
            for (number, value) in json::list(&key, list)?.iter().enumerate() {
                take(&mut draft, action, (&id, &key, number), value, scope);
            }
        }
    }
    mode(&mut draft, permissions);
    others(&mut draft, permissions, &settings);
    draft.note(
        "an allow of a command does not cover the shell that it is typed into: `program = \"bash\"` in an \
         allow of its own does",
    );
    draft.finish("Claude Code's settings.json")
}

fn take(
    draft: &mut Draft,
    action: Action,
    (id, key, number): (&str, &str, usize),
    value: &Value,
    scope: Scope,
) {
    let what = value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned);
    let entry = Entry {
        action,
        id: format!("{id}-{}", number + 1),
        what,
        place: format!("{key}[{number}]"),
    };
    let translated = match value.as_str() {
        Some(text) => translate(text, action, scope),
        None => Err("it is no string".to_owned()),
    };
    draft.take(&entry, translated);
}

/// What `Tool` or `Tool(content)` comes to.
fn translate(text: &str, action: Action, scope: Scope) -> Result<Translated, String> {
    let (tool, content) = match text.split_once('(') {
        Some((tool, rest)) => {
            let content = rest.strip_suffix(')').ok_or("its bracket is left open")?;
            (tool, Some(content))
        }
        None => (text, None),
    };
    if tool.trim() != tool || tool.is_empty() {
        return Err("it names no tool".to_owned());
    }
    // Of Bash it is said that this means any command; of others it is no allow in doubt.
    let is_any = |content: &str| content.is_empty() || content == "*";
    let means_any = tool == "Bash" || action != Action::Allow;
    let content = content.filter(|content| !(means_any && is_any(content)));
    match (tool, content) {
        (_, Some("")) => Err("there is nothing in its brackets".to_owned()),
        ("Bash", content) => bash(content.unwrap_or_default(), action),
        ("Read" | "Edit", Some(path)) => file(tool, path, action, scope),
        ("Write" | "MultiEdit" | "NotebookEdit", Some(path)) if action != Action::Allow => {
            file("Edit", path, action, scope)
        }
        ("Grep" | "Glob" | "LS" | "NotebookRead", Some(path)) if action != Action::Allow => {
            file("Read", path, action, scope)
        }
        (
            "Write" | "MultiEdit" | "NotebookEdit" | "Grep" | "Glob" | "LS" | "NotebookRead",
            Some(_),
        ) => Err("of files, Claude Code looks at rules of Edit and Read alone".to_owned()),
        ("WebFetch", Some("domain:*")) => whole_tool(tool, action),
        ("WebFetch", Some(content)) => fetch(content),
        (_, Some(_)) => Err(format!("what `{tool}` takes there is not known")),
        (tool, None) => whole_tool(tool, action),
    }
}

fn bash(content: &str, action: Action) -> Result<Translated, String> {
    let prefix = content.strip_suffix(":*");
    let mut words = split(prefix.unwrap_or(content), Stars::Wild)?;
    let mut end = End::Here;
    if prefix.is_some() {
        end = End::Open;
    } else if let Some(last) = words.last_mut() {
        if last.0 == [Unit::Star] {
            words.pop();
            end = End::Open;
        } else if last.0.last() == Some(&Unit::Star) {
            last.0.pop();
            end = End::Glued;
        }
    }
    command::translate(&words, end, action)
}

fn file(tool: &str, path: &str, action: Action, scope: Scope) -> Result<Translated, String> {
    let patterns = claude_path::patterns(path, action, scope)?;
    let tools: &[&str] = match (tool, action) {
        // Whoever may change a file may see it, there as here.
        ("Edit", Action::Allow) => &["file_write", "file_read"],
        ("Edit", Action::Ask | Action::Deny) => &["file_write", "file_delete"],
        (_, Action::Allow) => &["file_read"],
        // Whatever it is read by.
        (_, Action::Ask | Action::Deny) => &[],
    };
    let wider = patterns.is_anywhere.then(|| {
        "the rule is there, but a command that goes through directories (`grep -r`) finds them"
            .to_owned()
    });
    Ok(Translated {
        wider,
        ..of_tools(tools).with("path", patterns.paths).into()
    })
}

fn fetch(content: &str) -> Result<Translated, String> {
    let host = content
        .strip_prefix("domain:")
        .ok_or("`WebFetch` takes `domain:NAME`")?;
    Ok(of_tools(&["web_fetch"])
        .with("host", vec![host.to_owned()])
        .into())
}

/// What the name of a tool alone comes to.
fn whole_tool(tool: &str, action: Action) -> Result<Translated, String> {
    let is_allow = action == Action::Allow;
    let tools: &[&str] = match tool {
        // Whoever may search for anything sees everything.
        "Read" | "Grep" => &["file_read"],
        "Edit" | "Write" | "MultiEdit" if is_allow => &["file_write", "file_read"],
        "Edit" | "Write" | "MultiEdit" => &["file_write", "file_delete"],
        "Glob" | "LS" => &["file_list"],
        "WebFetch" => &["web_fetch"],
        _ => return named_tool(tool, is_allow),
    };
    let is_more = !is_allow && matches!(tool, "Edit" | "Write" | "MultiEdit" | "Grep");
    Ok(Translated {
        narrower: is_more
            .then(|| "all that does so to files is meant, and not this tool alone".to_owned()),
        ..of_tools(tools).into()
    })
}

/// A tool that the language does not know, or all of a server's.
fn named_tool(tool: &str, is_allow: bool) -> Result<Translated, String> {
    let mut parts = tool.splitn(3, "__");
    let (of_server, server, rest) = (parts.next() == Some("mcp"), parts.next(), parts.next());
    let is_server = of_server && server.is_some();
    let wild_server = server.is_none_or(|server| server.contains('*'));
    if is_allow && tool.contains('*') && (!is_server || wild_server) {
        return Err("an allow of tools names their server".to_owned());
    }
    if tool.contains(['\0', ' ', '\t', '\n']) {
        return Err("it names no tool".to_owned());
    }
    let name = tool.chars().map(|character| match character {
        '*' => "*".to_owned(),
        other => super::toml_text::literal(other),
    });
    let mut name: String = name.collect();
    if is_server && rest.is_none() && !name.ends_with('*') {
        name += "__*";
    }
    Ok(Keys::default().with("tool", vec![name]).into())
}

fn of_tools(tools: &[&str]) -> Keys {
    match tools {
        [] => Keys::default(),
        tools => Keys::default().with("tool", tools.iter().map(|&tool| tool.to_owned()).collect()),
    }
}

/// What `defaultMode` comes to.
fn mode(draft: &mut Draft, permissions: &Map<String, Value>) {
    let what = "permissions.defaultMode";
    match permissions.get("defaultMode").and_then(Value::as_str) {
        Some("default" | "manual") | None => {}
        Some("dontAsk") => draft.is_silent = true,
        Some("plan") => {
            draft.leave_out_setting(what, true, "`plan` lets nothing be changed at all");
        }
        Some(mode @ ("acceptEdits" | "bypassPermissions" | "auto")) => {
            let why = format!("`{mode}` lets run what no rule allows; here that is asked about");
            draft.leave_out_setting(what, false, why);
        }
        Some(other) => draft.leave_out_setting(what, true, format!("`{other}` is not known")),
    }
}

/// What else the settings say of permissions, and how much that says nothing of them.
fn others(draft: &mut Draft, permissions: &Map<String, Value>, settings: &Map<String, Value>) {
    if permissions
        .get("additionalDirectories")
        .is_some_and(|list| list != &Value::Array(Vec::new()))
    {
        let why = "what lies outside the workspace is asked about";
        draft.leave_out_setting("permissions.additionalDirectories", false, why);
    }
    for key in permissions.keys() {
        let is_list = LISTS.iter().any(|(name, _, _)| name == key);
        if !is_list && !HARMLESS.contains(&key.as_str()) {
            draft.leave_out_setting(&format!("permissions.{key}"), true, "the key is not known");
        }
    }
    if settings.contains_key("hooks") {
        let why = "they are Claude Code's to run, and go on where it does";
        draft.leave_out_setting("hooks", false, why);
    }
    if settings.contains_key("sandbox") {
        let why = "execward is no sandbox; it goes on where Claude Code runs";
        draft.leave_out_setting("sandbox", true, why);
    }
    let is_read = |key: &&String| {
        let lists = LISTS.iter().flat_map(|(name, _, old)| [*name, *old]);
        let mut known = lists.chain(["permissions", "hooks", "sandbox", "$schema"]);
        known.any(|known| known == key.as_str())
    };
    let count = settings.keys().filter(|key| !is_read(key)).count();
    if count > 0 {
        draft.note(format!("settings that are no permissions: {count}"));
    }
}
