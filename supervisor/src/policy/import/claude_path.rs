//! Claude Code's patterns of files, which are those of gitignore, as path patterns.

use execward_policy::Action;

use super::Scope;
use super::toml_text::literal;

/// The path patterns of an entry of `Read` or `Edit`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Patterns {
    pub(super) paths: Vec<String>,
    /// Whether they mean a name in any directory, which a walk through directories does not meet.
    pub(super) is_anywhere: bool,
}

/// Reads a pattern.
///
/// # Errors
/// If no path pattern says it.
pub(super) fn patterns(text: &str, action: Action, scope: Scope) -> Result<Patterns, String> {
    if text.contains('\0') {
        return Err("a NUL byte can be in no path".to_owned());
    }
    if text.starts_with('!') {
        return Err("what it takes out again no rule says".to_owned());
    }
    if text.contains(['[', '{', '\\']) {
        return Err("of wildcards a path pattern has `*`, `**` and `?` alone".to_owned());
    }
    let (base, rest) = anchored(text, scope);
    let rest = rest.trim_start_matches('/');
    let name = rest.strip_prefix("**/").unwrap_or(rest);
    // A name without a slash before its end is meant in any directory.
    let is_loose = base.is_none() && !name.trim_end_matches('/').contains('/') && name != "**";
    let (name, is_directory) = without_end(if is_loose { name } else { rest });
    let base = base.unwrap_or("${workspace}");
    let escaped = name.chars().map(|character| match character {
        '*' | '?' => character.to_string(),
        other => literal(other),
    });
    let escaped: String = escaped.collect();
    let end = if is_directory { "/" } else { "" };
    let is_whole = name.is_empty() || is_loose && name == "*";
    let paths = match (action, is_loose) {
        // `/` is the root alone.
        _ if is_whole && base.is_empty() => vec!["/**".to_owned()],
        _ if is_whole => vec![format!("{base}/")],
        (Action::Allow, false) => vec![format!("{base}/{escaped}{end}")],
        (Action::Allow, true) => vec![format!("{base}/**/{escaped}{end}")],
        // A directory is meant with what it holds.
        (Action::Ask | Action::Deny, false) => vec![format!("{base}/{escaped}/")],
        (Action::Ask | Action::Deny, true) => {
            vec![format!("**/{escaped}"), format!("**/{escaped}/**")]
        }
    };
    Ok(Patterns {
        is_anywhere: is_loose && !is_whole && action != Action::Allow,
        paths,
    })
}

/// What the beginning of a pattern says of where it is meant; nothing where it says nothing.
fn anchored(text: &str, scope: Scope) -> (Option<&'static str>, &str) {
    if let Some(rest) = text.strip_prefix("//") {
        (Some(""), rest)
    } else if let Some(rest) = text.strip_prefix("~/") {
        (Some("~"), rest)
    } else if let Some(rest) = text.strip_prefix('/') {
        let base = match scope {
            Scope::Project => "${workspace}",
            Scope::User => "~/.claude",
        };
        (Some(base), rest)
    } else if let Some(rest) = text.strip_prefix("./") {
        (Some("${workspace}"), rest)
    } else {
        (None, text)
    }
}

/// A pattern without a last `/` or `/**`, and whether it had one.
fn without_end(text: &str) -> (&str, bool) {
    if text == "**" {
        return ("", true);
    }
    let mut ends = ["/**", "/"].into_iter();
    match ends.find_map(|end| text.strip_suffix(end)) {
        Some(text) => (text, true),
        None => (text, false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_of_gitignore_is_one_of_the_language() {
        use Action::{Allow, Deny};
        for (text, action, paths) in [
            ("src/**", Allow, &["${workspace}/src/"][..]),
            ("/src/**/*.ts", Allow, &["${workspace}/src/**/*.ts"]),
            ("./a", Allow, &["${workspace}/a"]),
            ("*.ts", Allow, &["${workspace}/**/*.ts"]),
            ("**/*.ts", Allow, &["${workspace}/**/*.ts"]),
            ("src/", Allow, &["${workspace}/**/src/"]),
            ("**", Allow, &["${workspace}/"]),
            ("./**", Allow, &["${workspace}/"]),
            ("*", Allow, &["${workspace}/"]),
            ("//**", Allow, &["/**"]),
            ("//**", Deny, &["/**"]),
            ("//etc/hosts", Allow, &["/etc/hosts"]),
            ("~/.zshrc", Allow, &["~/.zshrc"]),
            ("./a$b@c!~", Allow, &["${workspace}/a\\$b\\@c\\!\\~"]),
            (".env", Deny, &["**/.env", "**/.env/**"]),
            ("**/.env", Deny, &["**/.env", "**/.env/**"]),
            ("./.env", Deny, &["${workspace}/.env/"]),
            ("./secrets/**", Deny, &["${workspace}/secrets/"]),
            ("~/.ssh/**", Deny, &["~/.ssh/"]),
            ("a/*.key", Deny, &["${workspace}/a/*.key/"]),
        ] {
            let read = patterns(text, action, Scope::Project).unwrap();
            assert_eq!(read.paths, paths, "{text}");
        }
        let of_user = patterns("/commands/**", Allow, Scope::User).unwrap();
        assert_eq!(of_user.paths, ["~/.claude/commands/"]);
    }

    #[test]
    fn what_the_language_has_no_wildcard_for_is_refused() {
        for text in ["!a", "a[bc]", "a{b,c}", "a\\b", "a\0b"] {
            assert!(
                patterns(text, Action::Deny, Scope::Project).is_err(),
                "{text:?}"
            );
        }
    }
}
