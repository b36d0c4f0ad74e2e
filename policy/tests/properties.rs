//! What stays true of every policy.
//!
//! Policies and calls are drawn from a small alphabet of names and words, so that rules and
//! calls meet often.

use execward_policy::{
    Decision, ExecRequest, Interpreter, Layer, Lineage, NoIncludes, Origin, Places, ProgramFile,
    Ruleset, Source,
};
use jiff::Timestamp;
use proptest::prelude::*;

const SECURITY: [&str; 3] = ["deny", "allowlist", "full"];
const ASK: [&str; 3] = ["off", "on-miss", "always"];

/// A rule without its header and id: the action and the selecting keys.
type DraftRule = (&'static str, String);

fn load(security: &str, ask: &str, rules: &[DraftRule]) -> Ruleset {
    let mut text = format!("version = 1\n[mode]\nsecurity = \"{security}\"\nask = \"{ask}\"\n");
    for (number, (action, keys)) in rules.iter().enumerate() {
        text += &format!("[[{action}]]\nid = \"r{number}\"\n{keys}\n");
    }
    let places = Places {
        home: "/h".into(),
        workspace: "/w".into(),
        tmp: "/tmp".into(),
    };
    let source = Source {
        name: "p",
        text: text.as_bytes(),
        layer: Layer::User,
    };
    Ruleset::load(&[source], &places, &NoIncludes)
        .unwrap_or_else(|faults| panic!("{faults}\n{text}"))
}

fn decide(security: &str, ask: &str, rules: &[DraftRule], request: &ExecRequest) -> Decision {
    load(security, ask, rules)
        .decide(request, Timestamp::UNIX_EPOCH)
        .decision()
}

fn keys() -> impl Strategy<Value = String> {
    let program = prop::sample::select(vec![
        "git",
        "sh",
        "/usr/bin/git",
        "/usr/bin/*",
        "~/git",
        "${workspace}/",
        "/usr/**",
        "/w/*/git",
    ]);
    let word = prop::sample::select(vec!["push", "a", "b"]);
    let command = (
        prop::sample::select(vec!["git", "sh"]),
        prop::collection::vec(word, 0..3),
    )
        .prop_map(|(name, words)| [vec![name], words].concat().join(" "));
    let exception = prop::option::of(program.clone());
    prop_oneof![
        (program.clone(), exception).prop_map(|(program, exception)| match exception {
            Some(exception) => format!("program = ['{program}', '!{exception}']"),
            None => format!("program = '{program}'"),
        }),
        command
            .clone()
            .prop_map(|command| format!("command = '{command}'")),
        (program, command).prop_map(|(program, command)| {
            format!("program = '{program}'\ncommand = '{command}'")
        }),
    ]
}

fn rules() -> impl Strategy<Value = Vec<DraftRule>> {
    let action = prop::sample::select(vec!["allow", "ask", "deny"]);
    prop::collection::vec((action, keys()), 0..6)
}

fn file() -> impl Strategy<Value = ProgramFile> {
    let path = prop::sample::select(vec![
        "/usr/bin/git",
        "/usr/bin/sh",
        "/h/git",
        "/w/git",
        "/w/x/git",
        "/w/x/../git",
        "/w//sh",
    ]);
    let origin = prop_oneof![
        4 => Just(Origin::Session),
        1 => Just(Origin::Foreign),
        1 => Just(Origin::Anonymous),
    ];
    (
        path.clone(),
        prop::collection::vec(path.clone(), 0..2),
        prop::option::of(path),
        origin,
        any::<bool>(),
    )
        .prop_map(|(given, links, resolved, origin, is_settled)| ProgramFile {
            given: given.into(),
            links: links.into_iter().map(Into::into).collect(),
            resolved: resolved.map(Into::into),
            aliases: Vec::new(),
            origin,
            is_settled,
            sha256: None,
        })
}

fn request() -> impl Strategy<Value = ExecRequest> {
    let argument = prop::sample::select(vec!["push", "a", "b", "-x", "--", "+y"]);
    let interpreter =
        (file(), prop::option::of(argument.clone())).prop_map(|(file, argument)| Interpreter {
            file,
            argument: argument.map(Into::into),
        });
    (
        file(),
        prop::collection::vec(interpreter, 0..3),
        prop::collection::vec(argument, 0..5),
    )
        .prop_map(|(program, interpreters, argv)| ExecRequest {
            program,
            interpreters,
            argv: argv.into_iter().map(Into::into).collect(),
            cwd: None,
            lineage: Lineage::default(),
        })
}

fn mode() -> impl Strategy<Value = (&'static str, &'static str)> {
    (
        prop::sample::select(&SECURITY[..]),
        prop::sample::select(&ASK[..]),
    )
}

proptest! {
    #[test]
    fn adding_a_deny_never_loosens(
        (security, ask) in mode(), rules in rules(), keys in keys(), request in request(),
    ) {
        let before = decide(security, ask, &rules, &request);
        let after = decide(security, ask, &[rules, vec![("deny", keys)]].concat(), &request);
        prop_assert!(after == before || after == Decision::Deny);
    }

    #[test]
    fn adding_an_allow_never_tightens(
        (security, ask) in mode(), rules in rules(), keys in keys(), request in request(),
    ) {
        let before = decide(security, ask, &rules, &request);
        let after = decide(security, ask, &[rules, vec![("allow", keys)]].concat(), &request);
        prop_assert!(after <= before);
    }

    #[test]
    fn the_order_of_rules_is_irrelevant(
        (security, ask) in mode(),
        (rules, shuffled) in rules().prop_flat_map(|rules| {
            (Just(rules.clone()), Just(rules).prop_shuffle())
        }),
        request in request(),
    ) {
        prop_assert_eq!(
            decide(security, ask, &rules, &request),
            decide(security, ask, &shuffled, &request)
        );
    }

    #[test]
    fn lowering_security_never_loosens(
        ask in prop::sample::select(&ASK[..]), rules in rules(), request in request(),
    ) {
        let decisions = SECURITY.map(|security| decide(security, ask, &rules, &request));
        prop_assert!(decisions.is_sorted_by(|stricter, looser| stricter >= looser));
    }

    #[test]
    fn security_deny_denies_everything(
        ask in prop::sample::select(&ASK[..]), rules in rules(), request in request(),
    ) {
        prop_assert_eq!(decide("deny", ask, &rules, &request), Decision::Deny);
    }

    #[test]
    fn ask_off_never_asks(
        security in prop::sample::select(&SECURITY[..]), rules in rules(), request in request(),
    ) {
        prop_assert_ne!(decide(security, "off", &rules, &request), Decision::Ask);
    }

    #[test]
    fn a_deny_holds_wherever_an_allow_of_the_same_keys_does(
        keys in keys(), request in request(),
    ) {
        let is_allowed =
            decide("allowlist", "off", &[("allow", keys.clone())], &request) == Decision::Allow;
        let is_denied = decide("full", "off", &[("deny", keys)], &request) == Decision::Deny;
        prop_assert!(!is_allowed || is_denied);
    }

    #[test]
    fn loading_never_panics(text in prop::collection::vec(any::<u8>(), 0..200)) {
        let places = Places { home: "/h".into(), workspace: "/w".into(), tmp: "/tmp".into() };
        let source = Source { name: "p", text: &text, layer: Layer::User };
        if let Err(faults) = Ruleset::load(&[source], &places, &NoIncludes) {
            prop_assert!(!faults.render(execward_policy::Style::Plain).is_empty());
        }
    }

    #[test]
    fn loading_a_mangled_policy_never_panics(
        at in 0usize..200, byte in "[\\[\\]\"'=\n{}*$\\\\!~,. ax-]",
    ) {
        let mut text = String::from(
            "version = 1\nmode.security = 'full'\n[[deny]]\nid = 'd'\nprogram = ['~/x/*', \"!y\"]\ncommand = 'a b'\n",
        );
        let at = at.min(text.len());
        text.insert_str(at, &byte);
        let places = Places { home: "/h".into(), workspace: "/w".into(), tmp: "/tmp".into() };
        let source = Source { name: "p", text: text.as_bytes(), layer: Layer::User };
        if let Err(faults) = Ruleset::load(&[source], &places, &NoIncludes) {
            prop_assert!(!faults.render(execward_policy::Style::Plain).is_empty());
        }
    }
}
