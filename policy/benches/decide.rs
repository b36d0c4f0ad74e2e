//! What a verdict costs by the number of rules: a call that one of the last rules allows, and one
//! that nothing matches.

#![expect(missing_docs, reason = "criterion's macros make items without")]

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use execward_policy::{ExecRequest, Layer, NoIncludes, Places, ProgramFile, Ruleset, Source};
use jiff::Timestamp;

/// A policy of `count` rules as people write them: mostly by name, some by path, a few denies.
fn ruleset(count: usize) -> Ruleset {
    let mut text = String::from("version = 1\nmode.security = 'allowlist'\n");
    for number in 0..count {
        text += &match number % 10 {
            0 => format!("[[deny]]\nid = 'r{number}'\ncommand = 'tool{number} push'\n"),
            1 => format!("[[ask]]\nid = 'r{number}'\nprogram = '/opt/{number}/bin/*'\n"),
            2 => format!("[[allow]]\nid = 'r{number}'\nprogram = '${{workspace}}/t{number}/**'\n"),
            _ => format!("[[allow]]\nid = 'r{number}'\ncommand = 'tool{number} status'\n"),
        };
    }
    text += "[[allow]]\nid = 'last'\ncommand = ['git status', 'git log', 'git diff']\n";
    let source = Source {
        name: "bench.toml",
        text: text.as_bytes(),
        layer: Layer::User,
    };
    let places = Places {
        home: b"/home/u".to_vec(),
        workspace: b"/home/u/work".to_vec(),
        tmp: b"/tmp".to_vec(),
    };
    Ruleset::load(&[source], &places, &NoIncludes).expect("the policy of the bench")
}

fn call(words: &[&str]) -> ExecRequest {
    let argv = words.iter().map(|word| (*word).into()).collect();
    ExecRequest::new(ProgramFile::at("/usr/bin/git"), argv)
}

fn decide(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("decide");
    let hit = call(&["git", "log", "--oneline", "-n", "20"]);
    let miss = call(&["git", "gc", "--auto"]);
    for count in [10, 100, 1_000, 10_000] {
        let rules = ruleset(count);
        for (name, request) in [("hit", &hit), ("miss", &miss)] {
            group.bench_with_input(
                BenchmarkId::new(name, count),
                request,
                |bencher, request| {
                    bencher.iter(|| rules.decide(request, Timestamp::UNIX_EPOCH).decision());
                },
            );
        }
    }
    group.finish();
}

criterion_group!(benches, decide);
criterion_main!(benches);
