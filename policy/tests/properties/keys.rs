//! What the keys of one rule do, and one entry of a key more.

use std::sync::Arc;

use execward_policy::{Action, Ancestor, Decision, Destination, Layer, RuleKey};
use proptest::prelude::*;
use proptest::sample::select;

use crate::calls::{call, calls, many_calls};
use crate::draft::{DraftFile, DraftPolicy, DraftRule, Seen};
use crate::draw;

/// The keys whose lists take exceptions.
const WITH_EXCEPTIONS: [&str; 6] = ["program", "command", "flags", "cwd", "env", "children"];

/// An entry that the key of the rule may have besides.
fn entry(rule: &DraftRule, key: &str) -> BoxedStrategy<String> {
    match key {
        "command" => draw::command(rule.has("program")),
        "flags" => draw::flag(),
        "cwd" => draw::cwd(),
        "env" => draw::variable(),
        "children" => draw::program(Action::Allow),
        _ => draw::program(rule.action),
    }
}

/// A rule with the id `r0`, and one of its keys that takes exceptions, with an entry more.
fn rule_and_entry() -> impl Strategy<Value = (DraftRule, &'static str, String)> {
    let keys = |rule: DraftRule| {
        let keys: Vec<_> = WITH_EXCEPTIONS
            .into_iter()
            .filter(|key| rule.has(key))
            .collect();
        (Just(rule), select(keys))
    };
    draw::rule()
        .prop_filter("has a key with exceptions", |rule| {
            WITH_EXCEPTIONS.iter().any(|key| rule.has(key))
        })
        .prop_flat_map(keys)
        .prop_flat_map(|(rule, key)| {
            let entry = entry(&rule, key);
            let id = "r0".to_owned();
            (Just(DraftRule { id, ..rule }), Just(key), entry)
        })
}

fn with_entry(mut rule: DraftRule, key: &str, entry: String) -> DraftRule {
    for (own, entries) in &mut rule.lists {
        if *own == key {
            entries.push(entry.clone());
        }
    }
    rule
}

/// Policies that differ in one user's rule `r0`, and in nothing else.
fn with_each(policy: DraftPolicy, rules: [DraftRule; 2]) -> [DraftPolicy; 2] {
    let mut rest = policy;
    let files = rest.files.iter_mut();
    for file in files.filter(|file| file.layer == Layer::User) {
        file.rules.retain(|rule| rule.id != "r0");
    }
    rules.map(|rule| rest.with_rule(Layer::User, rule))
}

/// Whether `narrow`, which differs from `wide` in that `action` holds for less, fits that.
fn is_narrower(action: Action, narrow: &Seen, wide: &Seen) -> bool {
    match action {
        Action::Allow => narrow.is_no_looser_than(wide),
        Action::Ask | Action::Deny => wide.is_no_looser_than(narrow),
    }
}

proptest! {
    #![proptest_config(crate::config())]

    #[test]
    fn an_exception_narrows_a_rule(
        policy in draw::policy(), (rule, key, entry) in rule_and_entry(), calls in many_calls(),
    ) {
        let excepting = with_entry(rule.clone(), key, format!("!{entry}"));
        let action = rule.action;
        let [narrow, wide] = with_each(policy, [excepting, rule]);
        for (narrow, wide) in narrow.decide(&calls).iter().zip(wide.decide(&calls)) {
            prop_assert!(is_narrower(action, narrow, &wide), "{narrow:?} {wide:?}");
        }
    }

    #[test]
    fn an_entry_widens_a_rule(
        policy in draw::policy(), (rule, key, entry) in rule_and_entry(), calls in many_calls(),
    ) {
        let wide = with_entry(rule.clone(), key, entry);
        let action = rule.action;
        // A list of exceptions alone stands for everything, which nothing can widen.
        let mut own = rule.lists.iter().filter(|(own, _)| *own == key);
        prop_assume!(own.any(|(_, list)| list.iter().any(|entry| !entry.starts_with('!'))));
        let [narrow, wide] = with_each(policy, [rule, wide]);
        for (narrow, wide) in narrow.decide(&calls).iter().zip(wide.decide(&calls)) {
            prop_assert!(is_narrower(action, narrow, &wide), "{narrow:?} {wide:?}");
        }
    }

    /// `flags` aside: a call without flags has all of them on any list, and none.
    #[test]
    fn a_deny_holds_wherever_an_allow_of_the_same_keys_does(
        rule in draw::rule_of(Action::Allow), calls in calls(),
    ) {
        let rule = DraftRule { id: "r".to_owned(), ..rule }.without(&["flags", "children"]);
        let deny = rule.clone().acting(Action::Deny);
        let allowing = DraftPolicy::of_user("allowlist", "off", &[rule]).decide(&calls);
        let denying = DraftPolicy::of_user("full", "off", &[deny]).decide(&calls);
        for (allowing, denying) in allowing.iter().zip(denying) {
            let is_allowed = allowing.decision == Decision::Allow;
            prop_assert!(!is_allowed || denying.decision == Decision::Deny);
        }
    }

    /// The same list lets the same files run, below a rule and by itself.
    #[test]
    fn children_are_what_an_allow_of_these_programs_allows(
        list in draw::programs(),
        calls in many_calls(),
        is_below in prop::bool::weighted(0.8),
        end in prop::option::weighted(0.2, select(&draw::EXPIRES[..])),
    ) {
        let of = |lists| DraftRule {
            action: Action::Allow, id: "r0".to_owned(), lists, expires: end, ignores_case: false,
        };
        let parent = of(vec![("argv", vec!["parent".to_owned()]), ("children", list.clone())]);
        let itself = of(vec![("program", list)]);
        let key = RuleKey { layer: Layer::User, id: "r0".to_owned() };
        let below = DraftPolicy::of_user("allowlist", "off", &[parent]).load();
        let itself = DraftPolicy::of_user("allowlist", "off", &[itself]).load();
        for mut call in calls {
            // An allow looks at it, and `children` do not.
            call.request.env = Some(Arc::default());
            let lineage = &mut call.request.lineage;
            lineage.ancestors.retain(|ancestor| ancestor.allowed_by.as_ref() != Some(&key));
            if is_below {
                let allowed_by = Some(key.clone());
                lineage.ancestors.push(Arc::new(Ancestor { files: Vec::new(), allowed_by }));
            }
            let is_below = is_below && !lineage.is_broken;
            let allowed = call.decide(&itself).decision == Decision::Allow;
            let is_let = call.decide(&below).decision == Decision::Allow;
            // Below a rule an interpreter may run what no file holds; by itself it may not.
            let files = call.request.interpreters.iter().map(|level| &level.file);
            let mut files = files.chain([&call.request.program]);
            let is_python = |name: &[u8]| name.ends_with(b"python3");
            let is_of_file = !files.any(|file| {
                let mut names = [&file.given].into_iter().chain(&file.links).chain(&file.aliases).chain(&file.resolved);
                names.any(|name| is_python(name))
            });
            prop_assert!(is_let || !(is_below && allowed));
            prop_assert!(!is_let || is_below && (allowed || !is_of_file));
        }
    }

    #[test]
    fn a_trusted_directory_never_tightens(
        policy in draw::policy(), directory in select(&["/h", "/w/x", "/w"][..]), calls in calls(),
    ) {
        let trusting = policy.with_file(DraftFile {
            trusted_dirs: Some(directory),
            ..DraftFile::of(Layer::User)
        });
        for (before, after) in policy.decide(&calls).iter().zip(trusting.decide(&calls)) {
            prop_assert!(before.is_no_looser_than(&after), "{before:?} {after:?}");
        }
    }

    /// `match` and `not_match` say of a rule what the rule would do.
    #[test]
    fn an_example_holds_where_the_rule_does(rule in draw::rule(), call in call()) {
        let rule = DraftRule { id: "r".to_owned(), ..rule };
        let rule = rule.without(&["env", "via", "sha256", "expires", "children"]);
        prop_assume!(!rule.lists.is_empty());
        let mut request = call.request;
        request.program = execward_policy::ProgramFile::at(request.program.given);
        request.interpreters.clear();
        request.cwd = Some("/w".into());
        request.env = Some(Arc::default());
        // An example has no other first word than the program.
        let rest = request.argv.into_iter().skip(1);
        request.argv = std::iter::once(request.program.given.clone()).chain(rest).collect();
        let words = request.argv.iter();
        let words: Vec<String> = words.map(|word| {
            String::from_utf8(word.clone()).expect("the alphabet is ASCII")
        }).collect();
        let (security, action) = match rule.action {
            Action::Allow => ("allowlist", Decision::Allow),
            Action::Ask | Action::Deny => ("full", Decision::Deny),
        };
        let rules = DraftPolicy::of_user(security, "off", std::slice::from_ref(&rule));
        let loaded = rules.load();
        // An example's files are where they are written.
        for path in loaded.named_paths(&request) {
            let destination = Destination::as_written(&path);
            request.destinations.insert(path, destination);
        }
        let holds = loaded.decide(&request, call.now).decision() == action;
        for (key, loads) in [("match", holds), ("not_match", !holds)] {
            let text = rules.files[0].text() + &format!("{key} = [['{}']]\n", words.join("', '"));
            let source = rules.files[0].source(text.as_bytes());
            let places = crate::draft::places();
            let load =
                execward_policy::Ruleset::load(&[source], &places, &execward_policy::NoIncludes);
            prop_assert_eq!(load.is_ok(), loads, "{}", text);
        }
    }
}
