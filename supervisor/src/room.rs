//! What execs may hold in the gate, from their notification to their outcome: descriptors and memory.
//!
//! There is an end to both, and whoever starts execs that do not end must not take all of it. A process
//! group may hold as much as is left free, so that one group alone gets half, two get a third each,
//! and a newcomer finds room (dynamic thresholds: Choudhury and Hahne, IEEE/ACM ToN 6(2), 1998).

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use nix::sys::resource::{Resource, getrlimit};

use crate::tracee::Tid;

/// Descriptors that an exec holds: its proc directory, its file, that of a script's interpreter, and one
/// more for a root of its own or a longer chain. Where that is too few, an exec is refused unread.
const DESCRIPTORS_AN_EXEC: u64 = 4;

/// Part of the limit of descriptors that is not for execs but for the gate itself.
const OWN_PART: u64 = 4;

/// Most execs that are held, however many descriptors there may be.
const EXECS_MAX: u64 = 4096;

/// Most bytes of arguments and environment that are held.
const BYTES_MAX: usize = 64 << 20;

/// The room, and who is in it.
#[derive(Debug)]
pub(crate) struct Room(Rc<RefCell<Occupancy>>);

#[derive(Debug)]
struct Occupancy {
    limit: Amount,
    taken: Amount,
    groups: HashMap<Tid, Amount>,
}

/// So many execs, so many bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Amount {
    execs: usize,
    bytes: usize,
}

/// One exec's place in the room, given back with its last copy.
#[derive(Clone, Debug)]
pub(crate) struct Share(Rc<Place>);

#[derive(Debug)]
struct Place {
    room: Rc<RefCell<Occupancy>>,
    group: Tid,
    bytes: Cell<usize>,
}

impl Room {
    /// As much as this process's limit of descriptors, getrlimit(2), has room for.
    pub(crate) fn of_this_process() -> Self {
        let limit = getrlimit(Resource::RLIMIT_NOFILE).map_or(0, |(now, _)| now);
        let execs = (limit - limit / OWN_PART) / DESCRIPTORS_AN_EXEC;
        let execs = usize::try_from(execs.clamp(2, EXECS_MAX)).unwrap_or(usize::MAX);
        Self::of(Amount {
            execs,
            bytes: BYTES_MAX,
        })
    }

    fn of(limit: Amount) -> Self {
        Self(Rc::new(RefCell::new(Occupancy {
            limit,
            taken: Amount::default(),
            groups: HashMap::new(),
        })))
    }

    /// A place for an exec of a process of `group`; `None` if the group holds as many as are free.
    pub(crate) fn share(&self, group: Tid) -> Option<Share> {
        let mut room = self.0.borrow_mut();
        let free = room.limit.execs.saturating_sub(room.taken.execs);
        let held = room.groups.get(&group).copied().unwrap_or_default();
        if held.execs >= free {
            return None;
        }
        room.change(group, |amount| amount.execs += 1);
        Some(Share(Rc::new(Place {
            room: Rc::clone(&self.0),
            group,
            bytes: Cell::new(0),
        })))
    }
}

impl Occupancy {
    /// Changes what is taken, and what `group` has of it.
    fn change(&mut self, group: Tid, change: impl Fn(&mut Amount)) {
        change(&mut self.taken);
        let held = self.groups.entry(group).or_default();
        change(held);
        if *held == Amount::default() {
            self.groups.remove(&group);
        }
    }
}

impl Share {
    /// Has it hold `bytes` instead of what it held; whether there was room.
    #[must_use]
    pub(crate) fn hold(&self, bytes: usize) -> bool {
        let Place {
            room,
            group,
            bytes: own,
        } = &*self.0;
        let mut room = room.borrow_mut();
        let more = bytes.saturating_sub(own.get());
        let free = room.limit.bytes.saturating_sub(room.taken.bytes);
        let held = room.groups.get(group).copied().unwrap_or_default();
        if more > 0 && held.bytes.saturating_add(more) > free {
            return false;
        }
        let before = own.replace(bytes);
        room.change(*group, |amount| {
            amount.bytes = (amount.bytes - before).saturating_add(bytes);
        });
        true
    }

    /// Whether it may stay for a person's answer: such execs leave a part of what their group gets to
    /// those that go on.
    pub(crate) fn may_wait(&self) -> bool {
        let room = self.0.room.borrow();
        let free = room.limit.execs.saturating_sub(room.taken.execs);
        let held = room.groups.get(&self.0.group).copied().unwrap_or_default();
        held.execs <= free / 2
    }

    /// A place in a room of its own.
    #[cfg(test)]
    pub(crate) fn for_tests() -> Self {
        let room = Room::of(Amount { execs: 2, bytes: 2 });
        room.share(Tid::new(1)).expect("room for one")
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let bytes = self.bytes.get();
        self.room.borrow_mut().change(self.group, |amount| {
            amount.execs -= 1;
            amount.bytes -= bytes;
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLOOD: Tid = Tid::new(10);
    const OTHER: Tid = Tid::new(20);

    fn room(execs: usize, bytes: usize) -> Room {
        Room::of(Amount { execs, bytes })
    }

    /// As many places as `group` gets.
    fn all(room: &Room, group: Tid) -> Vec<Share> {
        std::iter::from_fn(|| room.share(group)).collect()
    }

    #[test]
    fn a_group_gets_as_much_as_it_leaves_free() {
        let room = room(100, 0);
        let flood = all(&room, FLOOD);
        assert_eq!(flood.len(), 50);
        let other = all(&room, OTHER);
        assert_eq!(other.len(), 25);
        assert!(room.share(FLOOD).is_none() && room.share(Tid::new(30)).is_some());
    }

    #[test]
    fn who_waits_leaves_room_for_who_goes_on() {
        let room = room(99, 0);
        let waiting = std::iter::from_fn(|| room.share(FLOOD).filter(Share::may_wait));
        let waiting: Vec<_> = waiting.collect();
        assert_eq!(waiting.len(), 33);
        assert_eq!(all(&room, FLOOD).len(), 17);
    }

    #[test]
    fn what_is_given_back_is_there_for_others() {
        let room = room(10, 100);
        let mut flood = all(&room, FLOOD);
        let copy = flood.first().cloned();
        assert!(flood.iter().all(|share| share.hold(10)));
        flood.clear();
        assert_eq!(
            room.0.borrow().taken,
            Amount {
                execs: 1,
                bytes: 10
            }
        );
        drop(copy);
        assert_eq!(room.0.borrow().taken, Amount::default());
        assert!(room.0.borrow().groups.is_empty());
        assert_eq!(all(&room, OTHER).len(), 5);
    }

    #[test]
    fn bytes_are_shared_as_execs_are() {
        let room = room(100, 100);
        let [one, two] = [FLOOD, OTHER].map(|group| room.share(group).unwrap());
        assert!(one.hold(50) && !one.hold(76));
        assert!(one.hold(50) && !two.hold(51) && two.hold(50));
        assert!(one.hold(0) && two.hold(50));
        assert_eq!(room.0.borrow().taken.bytes, 50);
    }

    #[test]
    fn a_limit_of_descriptors_leaves_some_for_the_gate() {
        let room = Room::of_this_process();
        let execs = room.0.borrow().limit.execs;
        let (limit, _) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
        assert!(execs >= 2 && execs as u64 * DESCRIPTORS_AN_EXEC < limit);
    }
}
