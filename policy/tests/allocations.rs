//! A verdict is not paid for in memory: a call that a rule settles allocates nothing.

#![expect(unsafe_code, reason = "the trait of an allocator is unsafe")]

#[path = "../benches/synthetic/mod.rs"]
mod synthetic;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use execward_policy::Decision;
use jiff::Timestamp;

/// The system's allocator, counting for each thread how often it is asked.
struct Counting;

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call is passed on as it came, and what is counted in has no destructor and takes
// no memory of its own.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        // SAFETY: the caller keeps the contract, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract, which is the same.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// How often something allocates when it is done again. The first time may read a table.
fn allocations(mut run: impl FnMut()) -> usize {
    run();
    let before = COUNT.get();
    run();
    COUNT.get() - before
}

#[test]
fn what_allocates_is_counted() {
    assert_eq!(allocations(|| drop(std::hint::black_box(vec![0_u8; 9]))), 1);
}

#[test]
fn a_hit_among_a_hundred_rules_allocates_nothing() {
    let rules = synthetic::text(96)
        + "[[deny]]\nid = 'no-force'\ncommand = 'git push'\nflags = ['--force', '-d']\n\
           [[ask]]\nid = 'hard'\nflags = ['--hard']\n\
           [[ask]]\nid = 'elsewhere'\nprogram = ['**/git', '!/usr/bin/git']\n\
           [[deny]]\nid = 'shells'\nprogram = '@shells'\n";
    let rules = synthetic::load(&rules);
    for (line, expected) in [
        (synthetic::HIT, Decision::Allow),
        ("git -C sub diff --stat HEAD~1 -- src", Decision::Allow),
        ("tool3 status --short", Decision::Allow),
        ("tool10 -v push", Decision::Deny),
        ("git push origin --forc", Decision::Deny),
        ("bash -c x", Decision::Deny),
        (synthetic::MISS, Decision::Ask),
    ] {
        let request = synthetic::call(line);
        let decide = || {
            let verdict = rules.decide(&request, Timestamp::UNIX_EPOCH);
            assert_eq!(verdict.decision(), expected, "{line}");
        };
        assert_eq!(allocations(decide), 0, "{line}");
    }
}
