//! What a verdict costs by the number of rules: a call that one of the last rules allows, and one
//! that nothing matches; and where every rule is about the program that is called.

#![expect(missing_docs, reason = "criterion's macros make items without")]

mod synthetic;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use jiff::Timestamp;
use synthetic::{HIT, MISS};

fn decide(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("decide");
    for count in [10, 100, 1_000, 10_000] {
        let rules = synthetic::load(&synthetic::text(count));
        for (name, line) in [("hit", HIT), ("miss", MISS)] {
            let request = synthetic::call(line);
            group.bench_function(BenchmarkId::new(name, count), |bencher| {
                bencher.iter(|| rules.decide(&request, Timestamp::UNIX_EPOCH).decision());
            });
        }
    }
    for count in [10, 100] {
        let mut text = synthetic::text(0);
        for number in 0..count {
            let action = match number % 3 {
                0 => "deny",
                1 => "ask",
                _ => "allow",
            };
            let rule = format!("[[{action}]]\nid = 'r{number}'\ncommand = 'git verb{number}'\n");
            text += &rule;
        }
        let (rules, request) = (synthetic::load(&text), synthetic::call(HIT));
        group.bench_function(BenchmarkId::new("one program", count), |bencher| {
            bencher.iter(|| rules.decide(&request, Timestamp::UNIX_EPOCH).decision());
        });
    }
    group.finish();
}

/// Reading a policy: its text, its checks, its index.
fn load(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("load");
    group.sample_size(10);
    for count in [100, 10_000] {
        let text = synthetic::text(count);
        group.bench_function(BenchmarkId::new("rules", count), |bencher| {
            bencher.iter_with_large_drop(|| synthetic::load(&text));
        });
    }
    group.finish();
}

criterion_group!(benches, decide, load);
criterion_main!(benches);
