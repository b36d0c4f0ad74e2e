//! A mixed load for as long as it is asked for.

use std::time::{Duration, Instant};

use execward_tests::drill::{descriptors, memory_kib, report};
use execward_tests::{Asking, Ground, needs_answers, of_type};

use crate::lifetime::{gate_of, pid};

/// How much the gate's memory may grow from the first third of the time on.
const GROWTH_MAX_KIB: u64 = 2048;

/// Allowed, denied, missing and failing execs, scripts, shell texts, pipes, orphans.
const LOAD: &str = "echo on; while [ ! -e stop ]; do /bin/true; /usr/bin/touch t 2>/dev/null; ./none \
    2>/dev/null; ./text 2>/dev/null; ./script; sh -c 'echo a | cat >/dev/null; :'; (/bin/true &); \
    sh -c 'sh -c \"touch u\" 2>/dev/null'; done; /bin/echo over";

/// So long; `scripts/check --soak MINUTES` says how long.
fn lasts() -> Duration {
    let minutes = std::env::var("EXECWARD_SOAK_MINUTES");
    let minutes: Option<u64> = minutes.ok().and_then(|text| text.parse().ok());
    minutes.map_or(Duration::from_secs(3), |minutes| {
        Duration::from_secs(minutes * 60)
    })
}

#[test]
fn t5_memory_and_descriptors_stay_as_they_are() {
    needs_answers!();
    let policy = |id: &str| {
        format!(
            "version = 1\nmode.security = \"full\"\n[[deny]]\nid = \"{id}\"\nprogram = \"touch\"\n"
        )
    };
    let ground = Ground::new(&policy("a"));
    ground.script("script", "#!/bin/sh\n:\n");
    ground.script("text", "no program");
    let load = ground.script("load", LOAD);
    let mut asking = Asking::start(ground, "socket", &format!(". {load}"));
    assert_eq!(asking.stdout.next_line().as_deref(), Some("on"));
    let gate = gate_of(pid(asking.front()));
    let other = asking.ground().path("other").display().to_string();
    let (start, lasts) = (Instant::now(), lasts());
    let (mut reloads, mut settled) = (0, None);
    while start.elapsed() < lasts {
        std::fs::write(&other, policy(&format!("r{reloads}"))).expect("a policy");
        asking.answer(&["policy", "load", &other]);
        reloads += 1;
        if start.elapsed() > lasts / 3 {
            settled.get_or_insert_with(|| (memory_kib(gate)[0], descriptors(gate)));
        }
    }
    let (memory, open) = settled.expect("a third of the time");
    let ([now, most], open_now) = (memory_kib(gate), descriptors(gate));
    std::fs::write(asking.ground().path("stop"), "").expect("a file");
    let records = asking.end();
    assert!(now <= memory + GROWTH_MAX_KIB, "{memory} KiB, then {now}");
    // A few are held for execs that are under way.
    let few = |(then, now): (usize, usize)| now <= then + 16;
    assert!(
        open.zip(open_now).is_none_or(few),
        "{open:?}, then {open_now:?}"
    );
    assert_eq!(of_type(&records, "audit.gap").count(), 0);
    let decisions: Vec<_> = of_type(&records, "exec.decision").collect();
    let is_denied = |record: &&&serde_json::Value| record["decision"]["verdict"] == "deny";
    let denied = decisions.iter().filter(is_denied).count();
    assert!(denied > 0 && !asking.has_run("t") && !asking.has_run("u"));
    let open = open.zip(open_now).map_or(String::new(), |(then, now)| {
        format!(", descriptors {then} and {now}")
    });
    report(
        "T5",
        &format!("a mixed load for {} s, {reloads} reloads", lasts.as_secs()),
        &format!(
            "{} decisions, {denied} denied, 0 gaps; after a third of the time {memory} KiB, at the end {now}, \
             never above {most}{open}",
            decisions.len()
        ),
    );
}
