//! The second seed's policy: an allowlist of programs, tools, safe programs, and a mode.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::mode::{AskForApproval, ExecAsk, ExecPolicy, ExecSecurity};
use super::text::{PolicyText, SPECIAL, escaped, quoted};
use super::translation::Translation;
use crate::mode::{Ask, Security};
use crate::source::Layer;

/// A program that runs with any arguments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AllowlistEntry {
    /// The id of the rule.
    pub id: String,
    /// A path with wildcards, or a bare name.
    pub pattern: String,
    /// When it last held, in milliseconds since 1970. It selects nothing, as the next two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_used_at: Option<u64>,
    /// The command that it last held for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_used_command: Option<String>,
    /// The file that it last held for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_resolved_path: Option<String>,
}

/// What the calls of one tool may be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ToolPolicy {
    /// The tool, or the class of an exec.
    pub tool_name: String,
    /// What of its calls runs.
    pub security: ExecSecurity,
    /// Which of its calls are asked about.
    pub ask: ExecAsk,
    /// The only files that its calls may name; any if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_restrictions: Option<Vec<String>>,
    /// What no argument of its calls may be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arg_restrictions: Option<Vec<String>>,
}

/// What the second seed judges by.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AllowlistPolicy {
    /// The mode.
    pub policy: ExecPolicy,
    /// Programs that run.
    pub allowlist: Vec<AllowlistEntry>,
    /// Tools with a policy of their own.
    pub tool_policies: Vec<ToolPolicy>,
    /// Programs that run where their arguments name no file, in place of execward's own list.
    pub safe_bins: Option<Vec<String>>,
}

/// Why an allowlist is none.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SeedError {
    /// Two entries for one pattern: of which was it used?
    #[error("the entries `{first}` and `{second}` have the same pattern `{pattern}`")]
    RepeatedPattern {
        /// What both say.
        pattern: String,
        /// The id of the one.
        first: String,
        /// The id of the other.
        second: String,
    },
}

impl AllowlistPolicy {
    /// The policy in the language. With `approval`, the stricter of the two modes counts.
    ///
    /// # Errors
    ///
    /// If a pattern is there twice. What else is wrong, an id that is there twice among it, is a
    /// fault of the text when it is loaded.
    pub fn translate(&self, approval: Option<&AskForApproval>) -> Result<Translation, SeedError> {
        self.check_patterns()?;
        let mut translation = Translation::default();
        let mut text = PolicyText::new();
        text.mode(&self.policy, approval);
        for (number, tool) in self.tool_policies.iter().enumerate() {
            tool.write(number, &mut text, &mut translation);
        }
        if let Some(names) = &self.safe_bins {
            text.table("[safe_bins]").list("names", names);
        }
        for entry in &self.allowlist {
            text.table("[[allow]]")
                .text("id", &entry.id)
                .text("program", &glob(&entry.pattern));
            translation.add_label(Layer::User, entry.id.clone(), &entry.pattern);
        }
        translation.add_source(Layer::User, text.finish());
        Ok(translation)
    }

    fn check_patterns(&self) -> Result<(), SeedError> {
        let mut seen: BTreeMap<&str, &str> = BTreeMap::new();
        for AllowlistEntry { id, pattern, .. } in &self.allowlist {
            if let Some(first) = seen.insert(pattern, id) {
                return Err(SeedError::RepeatedPattern {
                    pattern: pattern.clone(),
                    first: first.to_owned(),
                    second: id.clone(),
                });
            }
        }
        Ok(())
    }
}

impl ToolPolicy {
    /// What the tool's restrictions come to, without the mode of its calls: rules to be loaded
    /// beside a policy. They hold for execs of the class too, which the mode of the calls does not.
    #[must_use]
    pub fn restrictions(&self) -> Translation {
        let mut translation = Translation::default();
        let mut text = PolicyText::new();
        self.write_restrictions(0, &mut text, &mut translation);
        translation.add_source(Layer::User, text.finish());
        translation
    }

    fn write(&self, number: usize, text: &mut PolicyText, translation: &mut Translation) {
        text.table(&format!("[tools.{}]", quoted(&self.tool_name)))
            .text("security", Security::from(self.security).as_str())
            .text("ask", Ask::from(self.ask).as_str());
        self.write_restrictions(number, text, translation);
    }

    /// The denies of the tool: files that are not on its list, arguments that are.
    fn write_restrictions(
        &self,
        number: usize,
        text: &mut PolicyText,
        translation: &mut Translation,
    ) {
        let mut deny = |what: &str, key: &str, entries: Vec<String>| {
            let id = format!("tool-{number:04}-{what}");
            let reason = format!("`{}` is restricted in its {what}", self.tool_name);
            text.table("[[deny]]")
                .text("id", &id)
                .text("tool", &escaped(&self.tool_name, &SPECIAL))
                .list(key, &entries)
                .text("reason", &reason);
            translation.add_label(Layer::User, id, &self.tool_name);
        };
        if let Some(paths) = &self.path_restrictions {
            let outside = paths
                .iter()
                .map(|path| format!("!{}", below_workspace(path)));
            deny("paths", "path", outside.collect());
        }
        if let Some(arguments) = &self.arg_restrictions {
            let is_flag = |argument: &&String| argument.starts_with('-');
            let (flags, others): (Vec<_>, Vec<_>) = arguments.iter().partition(is_flag);
            let written = |argument: &String| escaped(argument, &['!', '\\', '$', '@', '~']);
            // `args` is about operands; a flag is named where flags are.
            if !flags.is_empty() {
                deny("flags", "flags", flags.into_iter().map(written).collect());
            }
            // An empty list stays one, for the language to refuse.
            if !others.is_empty() || arguments.is_empty() {
                deny(
                    "arguments",
                    "args",
                    others.into_iter().map(written).collect(),
                );
            }
        }
    }
}

/// A pattern of the seed in the language: the wildcards and the home directory are the same, and
/// nothing else has a meaning.
fn glob(pattern: &str) -> String {
    escaped(pattern, &['!', '\\', '$', '@'])
}

/// The same for files, which the seed looks for from the workspace.
fn below_workspace(pattern: &str) -> String {
    match pattern.starts_with(['/', '~']) || pattern.starts_with("**/") {
        true => glob(pattern),
        false => format!("${{workspace}}/{}", glob(pattern.trim_start_matches("./"))),
    }
}
