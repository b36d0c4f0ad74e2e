use std::collections::HashMap;
use std::time::Duration;

use super::*;

fn digest(n: u64) -> FactsDigest {
    FactsDigest::of_pieces([n.to_le_bytes()])
}

fn id(n: u64) -> ExecId {
    ExecId(n)
}

fn open(pending: &mut Pending<u64>, n: u64, expires: Instant) {
    pending.ask(id(n), digest(n), expires, n);
}

#[test]
fn the_first_answer_wins_and_the_second_finds_nothing() {
    let mut pending = Pending::default();
    let later = Instant::now() + Duration::from_secs(300);
    open(&mut pending, 1, later);
    assert_eq!(pending.answer(id(1), &digest(1)), Ok(1));
    assert_eq!(pending.answer(id(1), &digest(1)), Err(NotAnswered::NotOpen));
    assert!(pending.is_empty());
}

#[test]
fn an_answer_about_other_facts_leaves_the_question_open() {
    let mut pending = Pending::default();
    open(&mut pending, 1, Instant::now());
    assert_eq!(
        pending.answer(id(1), &digest(2)),
        Err(NotAnswered::OtherFacts)
    );
    assert_eq!(pending.answer(id(1), &digest(1)), Ok(1));
}

#[test]
fn many_are_open_and_each_is_answered_by_its_own_name() {
    let mut pending = Pending::default();
    let later = Instant::now() + Duration::from_secs(300);
    for n in 1..=5 {
        open(&mut pending, n, later);
    }
    for n in [3, 1, 5, 2, 4] {
        assert_eq!(pending.answer(id(n), &digest(n)), Ok(n));
    }
    assert!(pending.is_empty() && pending.next_expiry().is_none());
}

#[test]
fn what_is_withdrawn_can_no_longer_be_answered_and_does_not_expire() {
    let mut pending = Pending::default();
    let now = Instant::now();
    open(&mut pending, 1, now);
    assert_eq!(pending.withdraw(id(1)), Some(1));
    assert_eq!(pending.withdraw(id(1)), None);
    assert_eq!(pending.answer(id(1), &digest(1)), Err(NotAnswered::NotOpen));
    assert!(pending.expire(now).is_empty());
}

#[test]
fn questions_expire_at_their_time_and_no_other_does() {
    let mut pending = Pending::default();
    let now = Instant::now();
    let second = |n| now + Duration::from_secs(n);
    open(&mut pending, 1, second(1));
    open(&mut pending, 2, second(2));
    assert_eq!(pending.next_expiry(), Some(second(1)));
    assert!(pending.expire(now).is_empty());
    assert_eq!(pending.expire(second(1)), [1]);
    assert_eq!(pending.answer(id(1), &digest(1)), Err(NotAnswered::NotOpen));
    assert_eq!(pending.expire(second(9)), [2]);
    assert_eq!(pending.next_expiry(), None);
}

/// What may happen to the queue.
#[derive(Clone, Copy, Debug)]
enum Event {
    Ask { lasts: u64 },
    Answer { of: u64, facts: u64 },
    Withdraw { of: u64 },
    Tick { seconds: u64 },
}

fn event() -> impl proptest::strategy::Strategy<Value = Event> {
    use proptest::prelude::*;
    prop_oneof![
        (0_u64..20).prop_map(|lasts| Event::Ask { lasts }),
        (0_u64..12, 0_u64..12).prop_map(|(of, facts)| Event::Answer { of, facts }),
        (0_u64..12).prop_map(|of| Event::Answer { of, facts: of }),
        (0_u64..12).prop_map(|of| Event::Withdraw { of }),
        (0_u64..8).prop_map(|seconds| Event::Tick { seconds }),
    ]
}

proptest::proptest! {
    /// Whatever happens in whatever order: each question leaves once, and an answered one was open,
    /// not over, and about the same facts.
    #[test]
    fn each_question_leaves_once(events in proptest::collection::vec(event(), 0..60)) {
        let mut pending = Pending::default();
        let mut now = Instant::now();
        let mut model: HashMap<u64, Instant> = HashMap::new();
        let mut next = 0;
        for event in events {
            match event {
                Event::Ask { lasts } => {
                    let expires = now + Duration::from_secs(lasts + 1);
                    open(&mut pending, next, expires);
                    model.insert(next, expires);
                    next += 1;
                }
                Event::Answer { of, facts } => {
                    let is_right = model.contains_key(&of) && of == facts;
                    assert_eq!(pending.answer(id(of), &digest(facts)).is_ok(), is_right);
                    if is_right {
                        model.remove(&of);
                    }
                }
                Event::Withdraw { of } => {
                    assert_eq!(pending.withdraw(id(of)).is_some(), model.remove(&of).is_some());
                }
                Event::Tick { seconds } => {
                    now += Duration::from_secs(seconds);
                    let mut over = pending.expire(now);
                    over.sort_unstable();
                    let mut expected: Vec<u64> =
                        model.extract_if(|_, expires| *expires <= now).map(|(n, _)| n).collect();
                    expected.sort_unstable();
                    assert_eq!(over, expected);
                }
            }
            assert_eq!(pending.iter().count(), model.len());
            assert_eq!(pending.next_expiry(), model.values().min().copied());
        }
    }
}
