//! Codex's `config.toml`: when it asks. What it confines, execward does not.

use serde_json::{Map, Value};

use super::draft::Draft;
use super::{ImportError, Imported, toml_value};

/// Keys that say what is confined, and how.
const CONFINING: [&str; 6] = [
    "sandbox_workspace_write",
    "default_permissions",
    "permissions",
    "network",
    "shell_environment_policy",
    "apps",
];

/// The policy that the configuration comes to.
///
/// # Errors
/// If it is no TOML.
pub(super) fn import(text: &str) -> Result<Imported, ImportError> {
    let config = toml_value::table(text)?;
    let mut draft = Draft::new("codex");
    approval(&mut draft, config.get("approval_policy"));
    sandbox(&mut draft, config.get("sandbox_mode"));
    let mut others = 0;
    for key in config.keys() {
        match key.as_str() {
            "approval_policy" | "sandbox_mode" => {}
            key if CONFINING.contains(&key) => {
                draft.leave_out_setting(key, true, "execward confines nothing; Codex goes on to");
            }
            "mcp_servers" => servers(&mut draft, config.get("mcp_servers")),
            "hooks" | "notify" => {
                let why = "it is Codex's to run, and goes on where it does";
                draft.leave_out_setting(key, false, why);
            }
            "profiles" => {
                let why = "a profile is not in force by itself; import the one you use as a file of its own";
                draft.leave_out_setting(key, true, why);
            }
            _ => others += 1,
        }
    }
    if others > 0 {
        draft.note(format!("settings that are no permissions: {others}"));
    }
    draft.note("commands are in Codex's `.rules` files, which are imported one by one");
    draft.finish("Codex's config.toml")
}

fn approval(draft: &mut Draft, policy: Option<&Value>) {
    let what = "approval_policy";
    match policy {
        None => {}
        Some(Value::String(policy)) => match policy.as_str() {
            "untrusted" => {}
            "never" => {
                draft.is_silent = true;
                let why = "what no rule allows is refused, and does not run confined";
                draft.narrow_setting(what, why);
            }
            "on-request" | "on-failure" => {
                let why = "what no rule allows is asked about, and does not run confined before";
                draft.narrow_setting(what, why);
            }
            _ => draft.leave_out_setting(what, true, "the word is not known"),
        },
        Some(_) => {
            let why = "which questions are refusals is for `[mode] approval = { reject = … }`; here they are asked";
            draft.leave_out_setting(what, true, why);
        }
    }
}

fn sandbox(draft: &mut Draft, mode: Option<&Value>) {
    if let Some(mode) = mode
        && mode.as_str() != Some("danger-full-access")
    {
        let why = "execward confines nothing; Codex goes on to";
        draft.leave_out_setting("sandbox_mode", true, why);
    }
}

/// Servers of tools of which some are switched off or asked about.
fn servers(draft: &mut Draft, servers: Option<&Value>) {
    let restricting = [
        "enabled_tools",
        "disabled_tools",
        "default_tools_approval_mode",
        "tools",
    ];
    let empty = Map::new();
    for (name, server) in servers.and_then(Value::as_object).unwrap_or(&empty) {
        let is_restricted = restricting.iter().any(|key| server.get(key).is_some());
        if is_restricted {
            let why = "which of its tools there are is for Codex; a tool that no rule names is refused here";
            draft.leave_out_setting(&format!("mcp_servers.{name}"), false, why);
        }
    }
}
