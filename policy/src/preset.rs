//! The policies that come with execward.

use crate::places::Places;
use crate::source::{Layer, Source};

/// The names that [`preset`] knows.
pub const PRESETS: [&str; 3] = ["dev", "strict", "ci"];

/// Those under which what the operator typed is judged like anything else.
pub(crate) const DISTRUSTING: [&str; 2] = ["preset:strict", "preset:ci"];

/// The text of a preset, to be loaded as a source of [`Layer::Builtin`](crate::Layer).
///
/// `None` if there is no preset of that name. `dev` is the policy of those who name none.
#[must_use]
pub fn preset(name: &str) -> Option<&'static str> {
    match name {
        "dev" => Some(include_str!("../presets/dev.toml")),
        "strict" => Some(include_str!("../presets/strict.toml")),
        "ci" => Some(include_str!("../presets/ci.toml")),
        _ => None,
    }
}

/// The rules that execward brings to every policy, each part with the place that it needs.
pub const BUILTIN: [(&str, Option<&str>, &str); 3] = [
    (
        "builtin",
        None,
        include_str!("../presets/builtin/every.toml"),
    ),
    (
        "builtin:home",
        Some("home"),
        include_str!("../presets/builtin/home.toml"),
    ),
    (
        "builtin:workspace",
        Some("workspace"),
        include_str!("../presets/builtin/workspace.toml"),
    ),
];

/// Whether execward brings the source of that name.
#[must_use]
pub fn is_builtin(source: &str) -> bool {
    BUILTIN.iter().any(|(name, ..)| *name == source)
}

/// Those of its rules that make sense in a session with these places, to be loaded before others.
pub fn builtin<'s>(places: &Places) -> impl Iterator<Item = Source<'s>> {
    let has = |place: &str| {
        let value = places.get(place);
        value.is_some_and(|value| value.starts_with(b"/") && value.len() > 1)
    };
    let meant = BUILTIN
        .iter()
        .filter(move |(_, place, _)| place.is_none_or(has));
    meant.map(|(name, _, text)| Source {
        name,
        text: text.as_bytes(),
        layer: Layer::Builtin,
    })
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::{Decision, Destination, ExecRequest, NoIncludes, ProgramFile, Ruleset};

    fn load(name: &str) -> Ruleset {
        let places = Places::of_tests();
        let name_of = format!("preset:{name}");
        let own = Source {
            name: &name_of,
            text: preset(name).unwrap().as_bytes(),
            layer: Layer::Builtin,
        };
        let sources: Vec<_> = builtin(&places).chain([own]).collect();
        Ruleset::load(&sources, &places, &NoIncludes).unwrap()
    }

    fn dev() -> Ruleset {
        load("dev")
    }

    #[test]
    fn strict_asks_and_ci_refuses_and_both_judge_what_is_typed() {
        let request = ExecRequest::new(ProgramFile::at("/usr/bin/git"), vec![b"git".to_vec()]);
        for (name, decision, trusts) in [
            ("dev", Decision::Allow, true),
            ("strict", Decision::Ask, false),
            ("ci", Decision::Deny, false),
        ] {
            let rules = load(name);
            let verdict = rules.decide(&request, Timestamp::UNIX_EPOCH);
            assert_eq!(verdict.decision(), decision, "{name}");
            assert_eq!(rules.trusts_operator(), trusts, "{name}");
            assert!(
                rules.rules().any(|rule| rule.id() == "privileges"),
                "{name}"
            );
        }
    }

    fn decide(path: &str, words: &[&str]) -> Decision {
        let argv = words.iter().map(|word| (*word).into()).collect();
        let mut request = ExecRequest::new(ProgramFile::at(path), argv);
        request.cwd = Some("/w".into());
        let rules = dev();
        let paths = rules.named_paths(&request).into_iter();
        let destinations = paths.map(|path| (path.clone(), Destination::as_written(&path)));
        request.destinations = destinations.collect();
        rules.decide(&request, Timestamp::UNIX_EPOCH).decision()
    }

    #[test]
    fn dev_refuses_what_leaves_the_session() {
        for (path, words) in [
            ("/usr/bin/sudo", ["sudo", "-n", "true"]),
            ("/opt/x/su", ["su", "-", "root"]),
            ("/usr/bin/crontab", ["crontab", "-l", ""]),
            ("/usr/bin/systemd-run", ["systemd-run", "--user", "true"]),
        ] {
            assert_eq!(decide(path, &words), Decision::Deny, "{path}");
        }
    }

    #[test]
    fn dev_asks_before_a_daemon_is_given_work() {
        assert_eq!(
            decide("/usr/bin/docker", &["docker", "run", "x"]),
            Decision::Ask
        );
    }

    #[test]
    fn what_nobody_wants_is_denied_under_every_policy() {
        for words in [
            ["rm", "-rf", "/"],
            ["rm", "-rf", "/home/u"],
            ["rm", "-rf", "."],
            ["dd", "if=x", "of=/dev/sda"],
        ] {
            let path = format!("/usr/bin/{}", words[0]);
            assert_eq!(decide(&path, &words), Decision::Deny, "{words:?}");
        }
        assert_eq!(
            decide("/usr/bin/cat", &["cat", "/home/u/.ssh/id"]),
            Decision::Ask
        );
        assert_eq!(decide("/usr/bin/rm", &["rm", "-rf", "x"]), Decision::Allow);
    }

    #[test]
    fn without_a_home_and_a_workspace_there_is_still_the_rest() {
        let places = Places {
            home: b"/".to_vec(),
            workspace: Vec::new(),
            tmp: b"/tmp".to_vec(),
        };
        let sources: Vec<_> = builtin(&places).collect();
        assert_eq!(sources.len(), 1);
        assert!(Ruleset::load(&sources, &places, &NoIncludes).is_ok());
    }

    #[test]
    fn dev_lets_the_rest_run() {
        for path in [
            "/usr/bin/git",
            "/w/target/debug/x",
            "/usr/bin/sudoedit-helper",
        ] {
            assert_eq!(
                decide(path, &["x", "sudo", "su"]),
                Decision::Allow,
                "{path}"
            );
        }
    }

    #[test]
    fn every_deny_of_dev_says_why_and_what_instead() {
        let rules = dev();
        for rule in rules.rules().filter(|rule| !is_builtin(rule.source())) {
            assert!(rule.reason().is_some(), "{}", rule.id());
            let is_deny = rule.action() == crate::Action::Deny;
            assert_eq!(rule.instead().is_some(), is_deny, "{}", rule.id());
        }
    }

    #[test]
    fn an_unknown_preset_is_none() {
        assert_eq!(preset("prod"), None);
    }
}
