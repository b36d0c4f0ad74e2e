//! Calls by chance, from the alphabet of the policies.

use std::sync::Arc;

use execward_policy::{
    Ancestor, Digest, ExecRequest, Interpreter, Layer, Lineage, Origin, ProgramFile, RuleKey,
};
use jiff::Timestamp;
use proptest::prelude::*;
use proptest::sample::select;

use super::draft::Call;

/// The digests that the policies pin, and one that they do not.
pub(crate) const DIGESTS: [Digest; 3] = [Digest([0; 32]), Digest([0x11; 32]), Digest([0x22; 32])];

const PATHS: [&str; 16] = [
    "/usr/bin/git",
    "/usr/bin/git",
    "/usr/bin/git",
    "/usr/bin/git",
    "/usr/bin/git",
    "/usr/bin/git",
    "/usr/bin/sh",
    "/usr/bin/python3",
    "/usr/bin/docker",
    "/usr/bin/git-push",
    "/usr/bin/git-2.4",
    "/h/git",
    "/w/git",
    "/w/x/git",
    "/w/x/../git",
    "/w//sh",
];

pub(crate) fn file() -> BoxedStrategy<ProgramFile> {
    let path = || select(&PATHS[..]);
    let origin = prop_oneof![
        20 => Just(Origin::Session),
        1 => Just(Origin::Foreign),
        1 => Just(Origin::Anonymous),
        1 => Just(Origin::Unstable),
    ];
    let resolved = prop_oneof![6 => Just(None), 2 => path().prop_map(Some)];
    (
        path(),
        prop::collection::vec(path(), 0..2),
        resolved,
        origin,
        prop::bool::weighted(0.8),
        digest(),
        prop::option::weighted(0.04, path()),
        prop::bool::weighted(0.1),
    )
        .prop_map(
            |(given, links, resolved, origin, is_settled, sha256, alias, gains_rights)| {
                let is_plain = !given.contains("..") && !given.contains("//");
                ProgramFile {
                    links: links.into_iter().map(Into::into).collect(),
                    resolved: resolved
                        .or(Some(given).filter(|_| is_plain))
                        .map(Into::into),
                    origin,
                    is_settled,
                    aliases: alias.into_iter().map(Into::into).collect(),
                    gains_rights,
                    sha256,
                    ..ProgramFile::at(given)
                }
            },
        )
        .boxed()
}

pub(crate) fn digest() -> impl Strategy<Value = Option<Digest>> {
    prop::option::weighted(0.8, select(&DIGESTS[..]))
}

fn argument() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        4 => select(&["push", "push", "a"][..]),
        2 => select(&["b", "v1", "+y", "/w/x", "../v"][..]),
        2 => select(&["-x", "-y", "-xy", "--force", "--forc", "--name", "--name=v1"][..]),
        1 => select(&["--", "-m"][..]),
    ]
}

fn arguments() -> impl Strategy<Value = Vec<&'static str>> {
    let words = || {
        prop_oneof![
            2 => Just(Vec::new()),
            2 => prop::collection::vec(argument(), 1..2),
            2 => prop::collection::vec(argument(), 2..5),
        ]
    };
    let module = select(&["git", "pip"][..]).prop_map(|name| vec!["-m", name]);
    prop_oneof![
        6 => words(),
        2 => (module, words()).prop_map(|(module, words)| [module, words].concat()),
    ]
}

pub(crate) fn interpreter() -> impl Strategy<Value = Interpreter> {
    (file(), prop::option::of(argument())).prop_map(|(file, argument)| Interpreter {
        file,
        argument: argument.map(Into::into),
    })
}

pub(crate) fn cwd() -> impl Strategy<Value = Option<Vec<u8>>> {
    let cwd = select(&["/w", "/w", "/w/sub", "/h", "/h/sub", "/"][..]);
    prop::option::weighted(0.9, cwd.prop_map(Into::into))
}

fn ancestor() -> impl Strategy<Value = Arc<Ancestor>> {
    let layer = prop_oneof![
        8 => Just(Layer::User),
        1 => Just(Layer::Builtin),
        1 => Just(Layer::Agent),
    ];
    let rule = (layer, 0..4).prop_map(|(layer, number)| RuleKey {
        layer,
        id: format!("r{number}"),
    });
    (
        prop::collection::vec(file(), 1..3),
        prop::option::weighted(0.7, rule),
    )
        .prop_map(|(files, allowed_by)| Arc::new(Ancestor { files, allowed_by }))
}

/// An exec history, whole or not.
pub(crate) fn lineage() -> impl Strategy<Value = Lineage> {
    (
        prop::collection::vec(ancestor(), 0..4),
        prop::bool::weighted(0.15),
    )
        .prop_map(|(ancestors, is_broken)| Lineage {
            ancestors,
            is_broken,
        })
}

/// An environment, if it was read.
pub(crate) fn env() -> impl Strategy<Value = Option<Arc<[Vec<u8>]>>> {
    let variable = select(&["A=v1", "A=w", "B=v1", "B=", "C=x", "B"][..]);
    let variable = variable.prop_map(Into::into);
    let variables = prop::collection::vec(variable, 0..4).prop_map(Into::into);
    prop::option::weighted(0.9, variables)
}

fn now() -> impl Strategy<Value = Timestamp> {
    // Before the ends of rules, at and between them, and after.
    let seconds = select(
        &[
            0,
            1_767_225_599,
            1_767_225_600,
            1_798_761_600,
            1_900_000_000,
        ][..],
    );
    seconds.prop_map(|second| Timestamp::from_second(second).expect("a second of this century"))
}

pub(crate) fn call() -> impl Strategy<Value = Call> {
    let interpreters = prop_oneof![
        4 => prop::collection::vec(interpreter(), 0..1),
        1 => prop::collection::vec(interpreter(), 1..3),
    ];
    (
        (file(), interpreters, arguments()),
        (cwd(), env(), lineage(), now(), prop::bool::weighted(0.95)),
    )
        .prop_map(
            |((program, interpreters, arguments), (cwd, env, lineage, now, has_first))| {
                let first = has_first.then_some("first");
                let argv = first.into_iter().chain(arguments);
                let request = ExecRequest {
                    interpreters,
                    cwd,
                    env,
                    lineage,
                    ..ExecRequest::new(program, argv.map(Into::into).collect())
                };
                Call { request, now }
            },
        )
}

/// Several calls for one policy: a load costs more than a decision.
pub(crate) fn calls() -> impl Strategy<Value = Vec<Call>> {
    prop::collection::vec(call(), 1..8)
}

/// Calls for a property that only rare ones can fail.
pub(crate) fn many_calls() -> impl Strategy<Value = Vec<Call>> {
    prop::collection::vec(call(), 12..20)
}
