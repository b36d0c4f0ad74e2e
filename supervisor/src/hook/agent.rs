//! The agents that ask.

use std::path::{Path, PathBuf};

/// An agent with hooks of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Agent {
    /// Claude Code
    Claude,
    /// Codex CLI
    Codex,
    /// Gemini CLI
    Gemini,
    /// Cursor
    Cursor,
}

impl Agent {
    /// As in commands.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Cursor => "cursor",
        }
    }

    /// The file in `base`, a home or a project, that says which hooks it has.
    pub(super) fn settings(self, base: &Path) -> PathBuf {
        base.join(match self {
            Self::Claude => ".claude/settings.json",
            Self::Codex => ".codex/hooks.json",
            Self::Gemini => ".gemini/settings.json",
            Self::Cursor => ".cursor/hooks.json",
        })
    }

    /// The events before which it asks.
    pub(super) fn events(self) -> &'static [&'static str] {
        match self {
            Self::Claude | Self::Codex => &["PreToolUse"],
            Self::Gemini => &["BeforeTool"],
            Self::Cursor => &[
                "beforeShellExecution",
                "beforeMCPExecution",
                "beforeReadFile",
            ],
        }
    }

    /// The tools that it asks about, as its settings have it; none where the events say so.
    pub(super) fn matcher(self) -> Option<&'static str> {
        match self {
            Self::Claude => {
                Some("Bash|Read|Edit|MultiEdit|Write|NotebookEdit|Glob|Grep|LS|WebFetch|mcp__.*")
            }
            Self::Codex => Some("Bash|apply_patch|mcp__.*"),
            Self::Gemini => Some(
                "run_shell_command|read_file|read_many_files|write_file|replace|list_directory|glob|\
                 grep_search|search_file_content|web_fetch|mcp_.*",
            ),
            Self::Cursor => None,
        }
    }
}
