//! Gemini CLI's `settings.json`, and which of its files a text is.

use execward_policy::Action;
use serde_json::{Map, Value};

use super::draft::{Draft, Entry, Translated};
use super::{ImportError, Imported, gemini_policy, gemini_tools, json};

/// The policy that a file comes to: settings, or rules of the policy engine.
///
/// # Errors
/// If it is neither.
pub(super) fn import(name: &str, text: &str) -> Result<Imported, ImportError> {
    let is_json = name.ends_with(".json") || text.trim_start().starts_with(['{', '/']);
    match is_json && !name.ends_with(".toml") {
        true => settings(text),
        false => gemini_policy::import(text),
    }
}

fn settings(text: &str) -> Result<Imported, ImportError> {
    let settings = json::object(&json::without_comments(text))?;
    let mut draft = Draft::new("gemini");
    let tools = section(&settings, "tools")?;
    let mcp = section(&settings, "mcp")?;
    for (action, id, name, old) in [
        (Action::Deny, "exclude", "exclude", "excludeTools"),
        (
            Action::Ask,
            "confirm",
            "confirmationRequired",
            "confirmationRequired",
        ),
        (Action::Allow, "allowed", "allowed", "allowedTools"),
    ] {
        let lists = [
            (id.to_owned(), format!("tools.{name}"), tools.get(name)),
            (format!("old-{id}"), old.to_owned(), settings.get(old)),
        ];
        for (id, key, list) in lists {
            for (number, value) in json::list(&key, list)?.iter().enumerate() {
                take(&mut draft, action, (&id, &key, number), value, tool_of_list);
            }
        }
    }
    for (number, value) in json::list("mcp.excluded", mcp.get("excluded"))?
        .iter()
        .enumerate()
    {
        take(
            &mut draft,
            Action::Deny,
            ("mcp", "mcp.excluded", number),
            value,
            |server, action| gemini_tools::tool(&format!("mcp_{server}_*"), action),
        );
    }
    servers(&mut draft, section(&settings, "mcpServers")?)?;
    others(&mut draft, &settings, tools);
    draft.note(
        "an allow of a command does not cover the shell that it is typed into: `program = \"bash\"` in an \
         allow of its own does",
    );
    draft.finish("Gemini CLI's settings.json")
}

/// The object at `name`; an empty one if there is none.
fn section<'v>(
    settings: &'v Map<String, Value>,
    name: &str,
) -> Result<&'v Map<String, Value>, ImportError> {
    static EMPTY: std::sync::LazyLock<Map<String, Value>> = std::sync::LazyLock::new(Map::new);
    match settings.get(name) {
        None | Some(Value::Null) => Ok(&EMPTY),
        Some(Value::Object(section)) => Ok(section),
        Some(_) => Err(ImportError::Shape(format!("`{name}` is no object"))),
    }
}

fn take(
    draft: &mut Draft,
    action: Action,
    (id, key, number): (&str, &str, usize),
    value: &Value,
    translate: impl Fn(&str, Action) -> Result<Translated, String>,
) {
    let entry = Entry {
        action,
        id: format!("{id}-{}", number + 1),
        what: value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned),
        place: format!("{key}[{number}]"),
    };
    let translated = match value.as_str() {
        Some(text) => translate(text, action),
        None => Err("it is no string".to_owned()),
    };
    draft.take(&entry, translated);
}

/// What `ToolName` or `run_shell_command(prefix)` comes to.
fn tool_of_list(text: &str, action: Action) -> Result<Translated, String> {
    match text.split_once('(') {
        None => gemini_tools::tool(text, action),
        Some((tool, rest)) => {
            let prefix = rest.strip_suffix(')').ok_or("its bracket is left open")?;
            match gemini_tools::is_shell(tool) {
                true => gemini_tools::commands(prefix, action),
                false => Err(format!("what `{tool}` takes there is not known")),
            }
        }
    }
}

/// Tools of servers that are switched off, and servers that are trusted.
fn servers(draft: &mut Draft, servers: &Map<String, Value>) -> Result<(), ImportError> {
    for (place, (server, value)) in servers.iter().enumerate() {
        let key = format!("mcpServers.{server}.excludeTools");
        for (number, tool) in json::list(&key, value.get("excludeTools"))?
            .iter()
            .enumerate()
        {
            let id = format!("server-{}", place + 1);
            take(
                draft,
                Action::Deny,
                (&id, &key, number),
                tool,
                |tool, action| gemini_tools::tool(&format!("mcp_{server}_{tool}"), action),
            );
        }
        if value.get("trust") == Some(&Value::Bool(true)) {
            let why = "trust runs whatever tool the server has; name them in an allow";
            draft.leave_out_setting(&format!("mcpServers.{server}.trust"), false, why);
        }
    }
    Ok(())
}

/// What else the settings say of permissions.
fn others(draft: &mut Draft, settings: &Map<String, Value>, tools: &Map<String, Value>) {
    let at = |path: &str| {
        let mut keys = path.split('.');
        let first = keys.next().and_then(|key| settings.get(key));
        keys.try_fold(first?, |value, key| value.get(key))
    };
    let core = [
        ("tools.core", tools.get("core")),
        ("coreTools", settings.get("coreTools")),
    ];
    for (what, _) in core.into_iter().filter(|(_, list)| list.is_some()) {
        let why = "what is not on the list is not there at all; here it is asked about";
        draft.leave_out_setting(what, true, why);
    }
    for (what, is_wider, why) in [
        ("tools.sandbox", true, "execward is no sandbox"),
        ("sandbox", true, "execward is no sandbox"),
        (
            "tools.autoAccept",
            false,
            "what counts as safe is Gemini's to say",
        ),
        (
            "autoAccept",
            false,
            "what counts as safe is Gemini's to say",
        ),
        (
            "general.defaultApprovalMode",
            false,
            "what no rule allows is asked about",
        ),
        (
            "tools.approvalMode",
            false,
            "what no rule allows is asked about",
        ),
        ("mcp.allowed", false, "a tool that no rule names is refused"),
        ("policyPaths", true, "policies are imported one by one"),
        ("adminPolicyPaths", true, "policies are imported one by one"),
        (
            "hooks",
            false,
            "they are Gemini's to run, and go on where it does",
        ),
    ] {
        let value = at(what).filter(|value| !matches!(value, Value::Bool(false)));
        let is_default = value.is_some_and(|value| value.as_str() == Some("default"));
        if value.is_some() && !is_default {
            draft.leave_out_setting(what, is_wider, why);
        }
    }
}
