use std::collections::BTreeMap;
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
    assert_eq!(pending.answer(id(1), &digest(1), Release::All), Ok(vec![1]));
    assert_eq!(
        pending.answer(id(1), &digest(1), Release::All),
        Err(NotAnswered::NotOpen)
    );
    assert!(pending.is_empty());
}

#[test]
fn an_answer_about_other_facts_leaves_the_question_open() {
    let mut pending = Pending::default();
    open(&mut pending, 1, Instant::now());
    assert_eq!(
        pending.answer(id(1), &digest(2), Release::All),
        Err(NotAnswered::OtherFacts)
    );
    assert_eq!(pending.answer(id(1), &digest(1), Release::All), Ok(vec![1]));
}

#[test]
fn many_are_open_and_each_is_answered_by_its_own_name() {
    let mut pending = Pending::default();
    let later = Instant::now() + Duration::from_secs(300);
    for n in 1..=5 {
        open(&mut pending, n, later);
    }
    for n in [3, 1, 5, 2, 4] {
        assert_eq!(pending.answer(id(n), &digest(n), Release::All), Ok(vec![n]));
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
    assert_eq!(
        pending.answer(id(1), &digest(1), Release::All),
        Err(NotAnswered::NotOpen)
    );
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
    assert_eq!(
        pending.answer(id(1), &digest(1), Release::All),
        Err(NotAnswered::NotOpen)
    );
    assert_eq!(pending.expire(second(9)), [2]);
    assert_eq!(pending.next_expiry(), None);
}

/// What is known of a question: its facts, and when it expires.
type Known = (u64, Instant);

#[test]
fn an_answer_closes_so_many_of_a_card_as_it_is_meant_for() {
    let later = Instant::now() + Duration::from_secs(300);
    let card = || {
        let mut pending = Pending::default();
        for (n, facts) in [(1, 7), (2, 8), (3, 7), (4, 7)] {
            pending.ask(id(n), digest(facts), later, n);
        }
        pending
    };
    let answer = |release| card().answer(id(4), &digest(7), release);
    assert_eq!(answer(Release::Oldest), Ok(vec![1]));
    assert_eq!(answer(Release::These(3)), Ok(vec![1, 3, 4]));
    assert_eq!(answer(Release::All), Ok(vec![1, 3, 4]));
    assert_eq!(
        answer(Release::These(2)),
        Err(NotAnswered::OtherCount(3, 2))
    );
    let mut pending = card();
    assert!(
        pending
            .answer(id(4), &digest(7), Release::These(9))
            .is_err()
    );
    assert_eq!(pending.iter().count(), 4);
}

/// What may happen to the queue.
#[derive(Clone, Copy, Debug)]
enum Event {
    Ask {
        facts: u64,
        lasts: u64,
    },
    Answer {
        of: u64,
        facts: u64,
        release: Release,
    },
    Withdraw {
        of: u64,
    },
    Tick {
        seconds: u64,
    },
}

fn event() -> impl proptest::strategy::Strategy<Value = Event> {
    use proptest::prelude::*;
    let release = prop_oneof![
        Just(Release::Oldest),
        Just(Release::All),
        (0_usize..4).prop_map(Release::These),
    ];
    prop_oneof![
        3 => (0_u64..4, 0_u64..20).prop_map(|(facts, lasts)| Event::Ask { facts, lasts }),
        3 => (0_u64..12, 0_u64..4, release)
            .prop_map(|(of, facts, release)| Event::Answer { of, facts, release }),
        1 => (0_u64..12).prop_map(|of| Event::Withdraw { of }),
        1 => (0_u64..8).prop_map(|seconds| Event::Tick { seconds }),
    ]
}

/// Which questions an answer is to close, the oldest first.
fn closed(model: &BTreeMap<u64, Known>, of: u64, facts: u64, release: Release) -> Option<Vec<u64>> {
    model.get(&of).filter(|(own, _)| *own == facts)?;
    let card = model.iter().filter(|(_, (own, _))| *own == facts);
    let card: Vec<u64> = card.map(|(n, _)| *n).collect();
    match release {
        Release::Oldest => Some(card.into_iter().take(1).collect()),
        Release::These(count) => Some(card).filter(|card| card.len() == count),
        Release::All => Some(card),
    }
}

proptest::proptest! {
    /// Whatever happens in whatever order: each question leaves once, and an answered one was open,
    /// not over, and about the same facts.
    #[test]
    fn each_question_leaves_once(events in proptest::collection::vec(event(), 0..60)) {
        let mut pending = Pending::default();
        let mut now = Instant::now();
        let mut model: BTreeMap<u64, Known> = BTreeMap::new();
        let mut next = 0;
        for event in events {
            match event {
                Event::Ask { facts, lasts } => {
                    let expires = now + Duration::from_secs(lasts + 1);
                    pending.ask(id(next), digest(facts), expires, next);
                    model.insert(next, (facts, expires));
                    next += 1;
                }
                Event::Answer { of, facts, release } => {
                    let expected = closed(&model, of, facts, release);
                    let answered = pending.answer(id(of), &digest(facts), release);
                    assert_eq!(answered.ok(), expected);
                    model.retain(|n, _| !expected.iter().flatten().any(|closed| closed == n));
                }
                Event::Withdraw { of } => {
                    assert_eq!(pending.withdraw(id(of)).is_some(), model.remove(&of).is_some());
                }
                Event::Tick { seconds } => {
                    now += Duration::from_secs(seconds);
                    let is_over = |_: &u64, (_, expires): &mut Known| *expires <= now;
                    let expected: Vec<u64> = model.extract_if(.., is_over).map(|(n, _)| n).collect();
                    assert_eq!(pending.expire(now), expected);
                }
            }
            assert_eq!(pending.iter().count(), model.len());
            let next = model.values().map(|(_, expires)| *expires).min();
            assert_eq!(pending.next_expiry(), next);
        }
    }
}
