//! Policies by chance.
//!
//! From a small alphabet, the same as that of the calls, so that rules and calls meet often.

use execward_policy::{Action, Layer};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::Union;

use super::draft::{DraftFile, DraftMode, DraftPolicy, DraftRule};

pub(crate) const SECURITY: [&str; 3] = ["deny", "allowlist", "full"];
pub(crate) const ASK: [&str; 3] = ["off", "on-miss", "always"];
pub(crate) const APPROVAL: [&str; 6] = [
    "'unless_trusted'",
    "'on_request'",
    "'never'",
    "{ reject = { rules = true } }",
    "{ reject = { rules = false } }",
    "{ reject = { sandbox_approval = true } }",
];
/// Every key of a rule that the properties draw.
pub(crate) const KEYS: [&str; 10] = [
    "program", "command", "argv", "flags", "cwd", "env", "via", "sha256", "expires", "children",
];
pub(crate) const LAYERS: [Layer; 4] = [Layer::Builtin, Layer::Agent, Layer::User, Layer::Floor];
/// When a rule may end. Calls are tried before the first, between the two, and after.
pub(crate) const EXPIRES: [&str; 2] = ["2026-01-01T00:00:00Z", "2027-06-30T00:00:00+02:00"];
/// Where a rule may end up that is not to be in force any more.
pub(crate) const ENDED: &str = "1969-12-31T00:00:00Z";
/// How `DIGESTS[0]` and `DIGESTS[1]` of the calls are written.
const DIGESTS: [&str; 2] = [
    "0000000000000000000000000000000000000000000000000000000000000000",
    "1111111111111111111111111111111111111111111111111111111111111111",
];

const NAMES: [&str; 9] = [
    "git", "git", "git", "git", "sh", "python3", "pip", "pip", "docker",
];
const PATHS: [&str; 11] = [
    "/usr/bin/git",
    "/usr/bin/*",
    "/usr/bin/*",
    "/**",
    "/usr/bin/git-*",
    "/usr/bin/",
    "/usr/**",
    "~/git",
    "/h/*",
    "${workspace}/",
    "/w/*/git",
];

type Text = BoxedStrategy<String>;

fn one_of(texts: &'static [&'static str]) -> Text {
    select(texts).prop_map(str::to_owned).boxed()
}

/// An entry of `program`, `via` or `children`.
pub(crate) fn program(action: Action) -> Text {
    let anywhere = one_of(&["**/git", "**/bin/*"]);
    let entry = prop_oneof![1 => one_of(&NAMES), 1 => one_of(&PATHS)];
    match action {
        Action::Allow => entry.boxed(),
        Action::Ask | Action::Deny => {
            prop_oneof![20 => entry, 2 => anywhere, 1 => one_of(&["@setuid"])].boxed()
        }
    }
}

/// An entry of `command`; beside `program`, its first word is a bare name.
pub(crate) fn command(is_bound: bool) -> Text {
    let first = if is_bound {
        one_of(&NAMES)
    } else {
        prop_oneof![4 => one_of(&NAMES), 1 => one_of(&["/usr/bin/git", "/usr/bin/*", "~/git"])]
            .boxed()
    };
    let words = prop_oneof![
        4 => one_of(&["push", "push", "a"]),
        2 => one_of(&["b", "p*", "?", "*", "${workspace}/*"]),
        1 => one_of(&["-x", "-yx", "--force", "--name=v*", "-m"]),
    ];
    let last = prop_oneof![1 => Just(None), 2 => Just(Some("*".to_owned()))];
    let words = prop_oneof![
        2 => prop::collection::vec(words.clone(), 0..2),
        1 => prop::collection::vec(words, 2..3),
    ];
    (first, words, last)
        .prop_map(|(first, words, last)| {
            let words: Vec<String> = std::iter::once(first).chain(words).chain(last).collect();
            words.join(" ")
        })
        .boxed()
}

fn argv(is_bound: bool) -> BoxedStrategy<Vec<String>> {
    let first = if is_bound {
        one_of(&NAMES)
    } else {
        prop_oneof![1 => one_of(&["git", "git", "sh"]), 1 => one_of(&["/usr/bin/git", "/usr/bin/*"])]
            .boxed()
    };
    let rest = prop_oneof![
        6 => Just(Vec::new()),
        3 => one_of(&["push", "push", "-x"]).prop_map(|word| vec![word]),
        1 => Just(vec!["push".to_owned(), "a".to_owned()]),
    ];
    (first, rest)
        .prop_map(|(first, rest)| [vec![first], rest].concat())
        .boxed()
}

pub(crate) fn flag() -> Text {
    one_of(&[
        "-x",
        "-x",
        "-y",
        "--force",
        "--force",
        "--name",
        "--name=v*",
        "-yv",
        "*",
    ])
}

pub(crate) fn cwd() -> Text {
    one_of(&[
        "${workspace}/",
        "${workspace}/",
        "/w",
        "~",
        "/h/**",
        "**/sub",
    ])
}

/// Entries, and fewer exceptions. A key that may do without an entry is drawn so too.
fn list(entry: Text, needs_entry: bool) -> BoxedStrategy<Vec<String>> {
    let exception = entry.clone().prop_map(|entry| format!("!{entry}"));
    let exceptions = prop::option::weighted(0.2, exception.clone());
    let mixed = (prop::collection::vec(entry, 1..3), exceptions)
        .prop_map(|(entries, exception)| entries.into_iter().chain(exception).collect());
    if needs_entry {
        return mixed.boxed();
    }
    let only_exceptions = exception.prop_map(|exception| vec![exception]);
    prop_oneof![3 => mixed, 1 => only_exceptions].boxed()
}

/// What an allow may have as `program` or `children`.
pub(crate) fn programs() -> BoxedStrategy<Vec<String>> {
    list(program(Action::Allow), true)
}

type Lists = BoxedStrategy<Vec<(&'static str, Vec<String>)>>;

/// The keys that say which file, and with which words.
fn what(action: Action) -> Lists {
    let is_allow = action == Action::Allow;
    let program = move || list(program(action), is_allow).prop_map(|list| vec![("program", list)]);
    let command =
        move |is_bound| list(command(is_bound), is_allow).prop_map(|list| vec![("command", list)]);
    let argv = |is_bound| argv(is_bound).prop_map(|list| vec![("argv", list)]);
    let both = |(a, b)| [a, b].concat();
    prop_oneof![
        4 => program(),
        4 => command(false),
        5 => argv(false),
        1 => (program(), command(true)).prop_map(both),
        1 => (program(), argv(true)).prop_map(both),
    ]
    .boxed()
}

/// A variable, as a rule writes it.
pub(crate) fn variable() -> Text {
    one_of(&["A", "A=v*", "B", "B=v1", "A*"])
}

/// One more key that selects.
fn condition(action: Action) -> BoxedStrategy<(&'static str, Vec<String>)> {
    let plain = |entry| prop::collection::vec(entry, 1..3).boxed();
    let of_any = [
        list(flag(), false).prop_map(|list| ("flags", list)).boxed(),
        list(cwd(), false).prop_map(|list| ("cwd", list)).boxed(),
        plain(program(Action::Ask))
            .prop_map(|list| ("via", list))
            .boxed(),
        plain(one_of(&DIGESTS))
            .prop_map(|list| ("sha256", list))
            .boxed(),
    ];
    let env = list(variable(), false).prop_map(|list| ("env", list));
    let of_others = (action != Action::Allow).then_some(env.boxed());
    Union::new(of_any.into_iter().chain(of_others)).boxed()
}

/// A rule of this action for a file of any layer, without an id.
pub(crate) fn rule_of(action: Action) -> BoxedStrategy<DraftRule> {
    let conditions = prop_oneof![
        4 => prop::collection::vec(condition(action), 0..1),
        4 => prop::collection::vec(condition(action), 1..2),
        1 => prop::collection::vec(condition(action), 2..4),
    ];
    let what = match action {
        Action::Allow => what(action),
        Action::Ask | Action::Deny => prop_oneof![3 => what(action), 1 => Just(Vec::new())].boxed(),
    };
    let children = match action {
        Action::Allow => prop::option::weighted(0.5, programs()).boxed(),
        Action::Ask | Action::Deny => Just(None).boxed(),
    };
    let expires = prop::option::weighted(0.25, select(&EXPIRES[..]));
    let ignores_case = prop::bool::weighted(0.2);
    (what, conditions, children, expires, ignores_case)
        .prop_filter("selects something", |(what, conditions, ..)| {
            !what.is_empty() || !conditions.is_empty()
        })
        .prop_map(move |(what, conditions, children, expires, ignores_case)| {
            let mut lists = what;
            for condition in conditions {
                if lists.iter().all(|(key, _)| *key != condition.0) {
                    lists.push(condition);
                }
            }
            lists.extend(children.map(|list| ("children", list)));
            let id = String::new();
            DraftRule {
                action,
                id,
                lists,
                expires,
                ignores_case,
            }
        })
        .boxed()
}

pub(crate) fn rule() -> impl Strategy<Value = DraftRule> {
    prop_oneof![
        3 => rule_of(Action::Allow),
        1 => rule_of(Action::Ask),
        1 => rule_of(Action::Deny),
    ]
}

pub(crate) fn mode() -> impl Strategy<Value = DraftMode> {
    let security = prop_oneof![1 => Just("deny"), 4 => Just("allowlist"), 4 => Just("full")];
    let ask = prop_oneof![1 => Just("off"), 3 => Just("on-miss"), 1 => Just("always")];
    (
        prop::option::weighted(0.8, security),
        prop::option::weighted(0.7, ask),
        prop::option::weighted(0.4, select(&SECURITY[..])),
        prop::option::weighted(0.2, select(&APPROVAL[..])),
    )
        .prop_map(|(security, ask, ask_fallback, approval)| DraftMode {
            security,
            ask,
            ask_fallback,
            approval,
        })
}

/// A file of this layer, with what the layer may have.
pub(crate) fn file(layer: Layer) -> impl Strategy<Value = DraftFile> {
    let trusted_dirs = prop::option::weighted(0.2, select(&["~", "/w/*"][..]));
    let includes = prop::option::weighted(0.1, select(&["preset:dev", "preset:ci"][..]));
    let mode = prop_oneof![1 => mode(), 1 => Just(DraftMode::default())];
    let rules = prop::collection::vec(rule(), 0..6);
    (trusted_dirs, includes, mode, rules).prop_map(move |(trusted_dirs, includes, mode, rules)| {
        let may_include = matches!(layer, Layer::User | Layer::Builtin);
        DraftFile {
            layer,
            includes: includes.filter(|_| may_include),
            trusted_dirs: trusted_dirs.filter(|_| may_include),
            mode,
            rules: rules.into_iter().map(|rule| fitting(layer, rule)).collect(),
        }
    })
}

/// The rule, or what of it a file of the layer may have.
pub(crate) fn fitting(layer: Layer, rule: DraftRule) -> DraftRule {
    match (layer, rule.action) {
        (Layer::Floor, Action::Allow) => rule.acting(Action::Ask),
        (Layer::Agent, _) => rule.without(&["children"]),
        _ => rule,
    }
}

/// Files of several layers, the user's among them. Ids count from `r0` in each layer.
pub(crate) fn policy() -> impl Strategy<Value = DraftPolicy> {
    let drawn = (mode(), file(Layer::User), others(), any::<bool>());
    drawn.prop_map(|(mode, mut first, others, answers)| {
        first.mode = mode;
        if answers {
            let lower = others.iter().filter(|file| file.layer < Layer::User);
            first
                .rules
                .extend(lower.flat_map(|file| &file.rules).filter_map(answer));
        }
        let files = std::iter::once(first).chain(others).collect();
        let mut policy = DraftPolicy { files };
        if !policy.has_security() {
            policy = policy.with_mode(DraftMode {
                security: Some("allowlist"),
                ..DraftMode::default()
            });
        }
        number(&mut policy);
        policy
    })
}

/// The allow of what an ask asks about: chance seldom draws one that lifts it.
fn answer(ask: &DraftRule) -> Option<DraftRule> {
    let is_what = |key: &str| matches!(key, "program" | "command" | "argv");
    let says_what = ask.lists.iter().any(|(key, _)| is_what(key));
    let may_be_allowed = ask.lists.iter().all(|(key, list)| {
        let is_open = list.iter().all(|entry| entry.starts_with('!'));
        let is_anywhere = list.iter().any(|entry| entry.starts_with("**/"));
        !is_what(key) || !is_open && !is_anywhere
    });
    let is_answered = ask.action == Action::Ask && says_what && may_be_allowed;
    // What an allow says of variables is not read yet.
    let answer = || ask.clone().without(&["env"]).acting(Action::Allow);
    is_answered.then(answer)
}

/// As [`policy`], but the user states no rule, and perhaps nothing of what runs.
pub(crate) fn policy_of_others() -> impl Strategy<Value = DraftPolicy> {
    let agent = (file(Layer::Agent), mode()).prop_map(|(file, mode)| DraftFile { mode, ..file });
    (mode(), agent, others()).prop_map(|(mode, agent, others)| {
        let user = DraftFile {
            mode: DraftMode {
                security: None,
                ..mode
            },
            ..DraftFile::of(Layer::User)
        };
        let mut files = [vec![user, agent], others].concat();
        files.retain(|file| file.layer != Layer::User || file.rules.is_empty());
        let mut policy = DraftPolicy { files };
        number(&mut policy);
        policy
    })
}

fn others() -> impl Strategy<Value = Vec<DraftFile>> {
    let file = select(&LAYERS[..]).prop_flat_map(file);
    prop::collection::vec(file, 0..3)
}

fn number(policy: &mut DraftPolicy) {
    let mut counts = std::collections::HashMap::new();
    for (layer, rule) in policy.rules_mut() {
        let count = counts.entry(layer).or_insert(0);
        rule.id = format!("r{count}");
        *count += 1;
    }
}

/// A layer, and a rule of this action that its files may have.
pub(crate) fn added(action: Action) -> impl Strategy<Value = (Layer, DraftRule)> {
    let layers = match action {
        Action::Allow => &LAYERS[..3],
        Action::Ask | Action::Deny => &LAYERS[..],
    };
    (select(layers), rule_of(action)).prop_map(|(layer, rule)| {
        let id = "added".to_owned();
        (layer, fitting(layer, DraftRule { id, ..rule }))
    })
}
