//! The build that has faults. They are ordered by a variable.

use std::fs::File;
use std::io::Write;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};

use jiff::{SignedDuration, Timestamp};
use nix::sys::signal::{Signal, raise};

use super::Phase;

/// `PHASE:DEED:N`, several with commas between them. CMD has it too, and can do nothing with it: a
/// session in a session has no gate.
const VARIABLE: &str = "EXECWARD_FAULT";

const PHASES: [(&str, Phase); 6] = [
    ("before_receive", Phase::BeforeReceive),
    ("parked", Phase::Parked),
    ("after_seize", Phase::AfterSeize),
    ("after_continue", Phase::AfterContinue),
    ("at_stop", Phase::AtStop),
    ("while_recording", Phase::WhileRecording),
];

const DEEDS: [(&str, Deed); 5] = [
    ("panic", Deed::Panic),
    ("kill", Deed::Kill),
    ("stop", Deed::Stop),
    ("ahead", Deed::Step(1)),
    ("back", Deed::Step(-1)),
];

/// What the gate's thread does to itself, or what happens to its clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Deed {
    Panic,
    Kill,
    /// SIGSTOP, of the whole process: somebody else continues it.
    Stop,
    /// Its wall clock is set by so many hours.
    Step(i64),
}

/// By how many hours the wall clock was set.
static STEPPED: AtomicI64 = AtomicI64::new(0);

/// One fault, and how often its phase comes until it is met.
#[derive(Debug)]
struct Order {
    phase: Phase,
    deed: Deed,
    left: AtomicU32,
}

/// Read when the first phase comes.
static ORDERS: LazyLock<Vec<Order>> = LazyLock::new(|| {
    let value = std::env::var(VARIABLE).unwrap_or_default();
    let words = value.split(',').filter(|word| !word.is_empty());
    let orders = words.map(|word| {
        Order::parse(word).unwrap_or_else(|| {
            let (phases, deeds) = (names(&PHASES), names(&DEEDS));
            panic!("{VARIABLE}: `{word}` is not PHASE:DEED:N with one of {phases}, one of {deeds}, a number")
        })
    });
    orders.collect()
});

fn names<T>(of: &[(&str, T)]) -> String {
    let names: Vec<_> = of.iter().map(|(name, _)| *name).collect();
    names.join(", ")
}

/// Meets what is ordered for this time of the phase.
pub(crate) fn at(phase: Phase) {
    if let Some(deed) = due(phase) {
        deed.be_done();
    }
}

/// The same as `line` is about to be written to `log`. Killed, the gate leaves half of it: a signal may
/// end write(2) between two pages.
pub(crate) fn while_recording(mut log: &File, line: &[u8]) {
    let Some(deed) = due(Phase::WhileRecording) else {
        return;
    };
    if deed == Deed::Kill {
        let half = line.get(..line.len() / 2).unwrap_or_default();
        log.write_all(half).expect("half a record");
    }
    deed.be_done();
}

/// What the wall clock shows, by how it was set.
pub(crate) fn stepped(now: Timestamp) -> Timestamp {
    now + SignedDuration::from_hours(STEPPED.load(Ordering::Relaxed))
}

fn due(phase: Phase) -> Option<Deed> {
    let mut due = None;
    for order in ORDERS.iter().filter(|order| order.phase == phase) {
        if order.left.fetch_sub(1, Ordering::Relaxed) == 1 {
            due = Some(order.deed);
        }
    }
    due
}

impl Order {
    fn parse(word: &str) -> Option<Self> {
        let mut parts = word.split(':');
        let (phase, deed) = (parts.next()?, parts.next()?);
        let count = parts.next()?.parse().ok().filter(|count| *count > 0)?;
        parts.next().is_none().then_some(Self {
            phase: named(&PHASES, phase)?,
            deed: named(&DEEDS, deed)?,
            left: AtomicU32::new(count),
        })
    }
}

fn named<T: Copy>(of: &[(&str, T)], name: &str) -> Option<T> {
    let found = of.iter().find(|(known, _)| *known == name);
    found.map(|(_, it)| *it)
}

impl Deed {
    fn be_done(self) {
        match self {
            Self::Panic => panic!("{VARIABLE} orders it"),
            Self::Kill => raise(Signal::SIGKILL).expect("a signal to oneself"),
            Self::Stop => raise(Signal::SIGSTOP).expect("a signal to oneself"),
            Self::Step(hours) => {
                STEPPED.fetch_add(hours, Ordering::Relaxed);
            }
        }
    }
}
