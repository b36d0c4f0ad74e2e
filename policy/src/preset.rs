//! The policies that come with execward.

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

/// The rules that execward brings to every policy, a source of [`Layer::Builtin`](crate::Layer).
pub const BUILTIN: &str = include_str!("../presets/builtin.toml");

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::{Decision, ExecRequest, Layer, NoIncludes, Places, ProgramFile, Ruleset, Source};

    fn load(name: &str) -> Ruleset {
        let places = Places::of_tests();
        let text = preset(name).unwrap().as_bytes();
        let layer = Layer::Builtin;
        let name = format!("preset:{name}");
        let sources = [("builtin", BUILTIN.as_bytes()), (name.as_str(), text)];
        let sources = sources.map(|(name, text)| Source { name, text, layer });
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
        let request = ExecRequest::new(ProgramFile::at(path), argv);
        dev().decide(&request, Timestamp::UNIX_EPOCH).decision()
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
        for rule in dev().rules() {
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
