//! The first seed's policy: layers of prefix lists, flat lists, and a way of approving.

use std::cmp::Reverse;

use super::mode::{AskForApproval, ExecPolicy};
use super::ruleset::{Ruleset, RulesetLayer, ToolAskRule};
use super::text::{PolicyText, SPECIAL, escaped};
use super::translation::Translation;
use crate::source::Layer;

/// What the first seed's engine is made of. The default has no rule.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PrefixPolicy {
    /// In the order of their layers; within a layer, as they came.
    rulesets: Vec<Ruleset>,
    /// Lists without a layer: the user's, and the last of the user's.
    trusted_prefixes: Vec<String>,
    denied_prefixes: Vec<String>,
}

impl PrefixPolicy {
    /// Two flat lists, which are the user's.
    #[must_use]
    pub fn new(trusted_prefixes: Vec<String>, denied_prefixes: Vec<String>) -> Self {
        Self {
            rulesets: Vec::new(),
            trusted_prefixes,
            denied_prefixes,
        }
    }

    /// Layers of lists, in any order.
    #[must_use]
    pub fn with_rulesets(rulesets: Vec<Ruleset>) -> Self {
        let mut policy = Self::default();
        rulesets
            .into_iter()
            .for_each(|ruleset| policy.add_ruleset(ruleset));
        policy
    }

    /// Adds a layer of lists behind those of its layer.
    pub fn add_ruleset(&mut self, ruleset: Ruleset) {
        let at = self
            .rulesets
            .partition_point(|other| other.layer <= ruleset.layer);
        self.rulesets.insert(at, ruleset);
    }

    /// The layers, from the lowest.
    #[must_use]
    pub fn rulesets(&self) -> &[Ruleset] {
        &self.rulesets
    }

    /// The policy in the language, in the mode that `approval` stands for in the seed.
    #[must_use]
    pub fn translate(&self, approval: &AskForApproval) -> Translation {
        self.translate_in(&approval.preset(), Some(approval))
    }

    /// The policy in the language, in a mode of its own: the stricter of the two counts.
    #[must_use]
    pub fn translate_in(
        &self,
        mode: &ExecPolicy,
        approval: Option<&AskForApproval>,
    ) -> Translation {
        let mut translation = Translation::default();
        for layer in RulesetLayer::ALL {
            let lists = self.lists(layer);
            let is_users = layer == RulesetLayer::User;
            if !is_users && lists.is_empty() {
                continue;
            }
            let mut text = PolicyText::new();
            if layer == RulesetLayer::Agent {
                text.text("layer", Layer::Agent.as_str());
            }
            if is_users {
                text.mode(mode, approval);
            }
            lists.write(layer.into(), &mut text, &mut translation);
            translation.add_source(layer.into(), text.finish());
        }
        translation
    }

    /// What a layer says, over all its rulesets; the flat lists are the last of the user's.
    fn lists(&self, layer: RulesetLayer) -> Lists<'_> {
        let own = || self.rulesets.iter().filter(move |own| own.layer == layer);
        let mut lists = Lists {
            denied: own().flat_map(|own| &own.denied_prefixes).collect(),
            asked: own().flat_map(|own| &own.ask_rules).collect(),
            trusted: own().flat_map(|own| &own.trusted_prefixes).collect(),
        };
        if layer == RulesetLayer::User {
            lists.denied.extend(&self.denied_prefixes);
            lists.trusted.extend(&self.trusted_prefixes);
        }
        lists.asked.sort_by_key(|rule| Reverse(rule.specificity()));
        lists
    }
}

/// The entries of one layer, each list in the order in which its entries are to be reported: the
/// first of several prefixes that hold, the ask that says most.
struct Lists<'p> {
    denied: Vec<&'p String>,
    asked: Vec<&'p ToolAskRule>,
    trusted: Vec<&'p String>,
}

impl Lists<'_> {
    fn is_empty(&self) -> bool {
        self.denied.is_empty() && self.asked.is_empty() && self.trusted.is_empty()
    }

    /// Writes a rule for each entry, with ids that sort as the entries do.
    fn write(&self, layer: Layer, text: &mut PolicyText, translation: &mut Translation) {
        for (number, prefix) in self.denied.iter().enumerate() {
            let id = format!("denied-{number:04}");
            let reason = format!("`{prefix}` is a denied prefix");
            text.table("[[deny]]")
                .text("id", &id)
                .text("command", &words(prefix))
                .text("reason", &reason);
            translation.add_label(layer, id, prefix);
        }
        for (number, rule) in self.asked.iter().enumerate() {
            let id = format!("ask-{number:04}");
            let reason = format!("`{}` asks", rule.label());
            text.table("[[ask]]")
                .text("id", &id)
                .text("tool", &escaped(&rule.tool, &SPECIAL))
                .text("reason", &reason);
            if let Some(command) = &rule.command {
                text.text("command", &words(command));
            }
            if let Some(path) = &rule.path {
                text.text("path", &file(path));
            }
            translation.add_label(layer, id, &rule.label());
        }
        for (number, prefix) in self.trusted.iter().enumerate() {
            let id = format!("trusted-{number:04}");
            text.table("[[allow]]")
                .text("id", &id)
                .text("command", &words(prefix));
            translation.add_label(layer, id, prefix);
        }
    }
}

/// A prefix as an entry of `command`.
///
/// Its `*` and its `~/` keep the meaning that whoever wrote it had in mind, and a `$`, which a shell
/// would have expanded, is left for the language to refuse. The rest is literal.
fn words(prefix: &str) -> String {
    escaped(prefix.trim(), &['?', '!', '\\', '@'])
}

/// A seed's path as a path pattern for that one file.
///
/// One that is not absolute is below the workspace, where the language would take it from the
/// directory of each call. `.` means nothing, and `..` is left for the language to refuse.
fn file(path: &str) -> String {
    let path = path.trim();
    let (place, rest) = match path.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => ("~", rest),
        _ if path.is_empty() || path.starts_with('/') => ("", path),
        _ => ("${workspace}", path),
    };
    let components = rest.split('/').filter(|part| !matches!(*part, "" | "."));
    let components = components.map(|part| format!("/{}", escaped(part, &SPECIAL)));
    let written: String = std::iter::once(place.to_owned())
        .chain(components)
        .collect();
    match written.is_empty() && !path.is_empty() {
        true => "/".to_owned(),
        false => written,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_of_the_seed_is_one_file() {
        for (path, pattern) in [
            ("/etc/passwd", "/etc/passwd"),
            (" /TMP/PROJECT/ ", "/TMP/PROJECT"),
            ("/", "/"),
            ("src/a.rs", "${workspace}/src/a.rs"),
            ("./src//a.rs", "${workspace}/src/a.rs"),
            (".", "${workspace}"),
            ("~/.ssh", "~/.ssh"),
            ("/x/~", "/x/\\~"),
            ("a*?\\b", "${workspace}/a\\*\\?\\\\b"),
            ("../x", "${workspace}/../x"),
            (" ", ""),
        ] {
            assert_eq!(file(path), pattern, "{path:?}");
        }
    }

    #[test]
    fn a_prefix_keeps_its_star_and_its_home_alone() {
        assert_eq!(words(" ~/bin/x * "), "~/bin/x *");
        assert_eq!(words("!a @b \\c d?"), "\\!a \\@b \\\\c d\\?");
    }
}
