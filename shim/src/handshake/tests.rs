use std::os::fd::BorrowedFd;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socketpair};

fn pair() -> (OwnedFd, OwnedFd) {
    socketpair(
        AddressFamily::Unix,
        SockType::SeqPacket,
        None,
        SockFlag::SOCK_CLOEXEC,
    )
    .unwrap()
}

#[test]
fn a_listener_crosses_with_its_report() {
    let (gate, shim) = pair();
    let sent = std::fs::File::open("/dev/null").unwrap();
    send_listener(&shim, &sent.into()).unwrap();
    assert!(matches!(
        receive_report(&gate).unwrap(),
        Report::Listening(_)
    ));
}

#[test]
fn a_failure_keeps_stage_and_errno() {
    let (gate, shim) = pair();
    for stage in Stage::ALL {
        send_failure(&shim, stage, Errno::EBUSY).unwrap();
        let Report::Failed { stage: seen, errno } = receive_report(&gate).unwrap() else {
            panic!("not a failure");
        };
        assert_eq!((seen, errno), (stage, Errno::EBUSY));
    }
}

#[test]
fn a_closed_peer_is_an_end_for_both_sides() {
    let (gate, shim) = pair();
    drop(shim);
    assert!(matches!(receive_report(&gate).unwrap(), Report::Closed));
    let (gate, shim) = pair();
    drop(gate);
    assert_eq!(
        await_go(&shim).unwrap_err().kind(),
        io::ErrorKind::UnexpectedEof
    );
}

#[test]
fn a_message_of_another_version_is_refused() {
    let (gate, shim) = pair();
    send(&shim, &[VERSION + 1, LISTENING], &[]).unwrap();
    assert_eq!(
        receive_report(&gate).unwrap_err().kind(),
        io::ErrorKind::InvalidData
    );
    send(&gate, &[VERSION + 1, GO], &[]).unwrap();
    assert_eq!(
        await_go(&shim).unwrap_err().kind(),
        io::ErrorKind::InvalidData
    );
}

#[test]
fn a_go_ahead_is_understood() {
    let (gate, shim) = pair();
    send_go(&gate).unwrap();
    await_go(&shim).unwrap();
}

/// Bytes near those of a message: one of them, cut, continued, or with a byte changed.
fn any_message() -> impl Strategy<Value = Vec<u8>> {
    let listening = Just(vec![VERSION, LISTENING]);
    let go = Just(vec![VERSION, GO]);
    let failed = (0..7_u8, any::<[u8; 4]>());
    let failed = failed.prop_map(|(stage, errno)| [&[VERSION, FAILED, stage], &errno[..]].concat());
    let message = prop_oneof![listening, go, failed, vec(any::<u8>(), 0..12)];
    let change = prop_oneof![
        4 => Just(None),
        1 => (any::<proptest::sample::Index>(), any::<u8>()).prop_map(Some),
    ];
    let length = prop_oneof![4 => Just(None), 1 => (0..300_usize).prop_map(Some)];
    (message, change, length).prop_map(|(mut message, change, length)| {
        if let Some((at, byte)) = change
            && !message.is_empty()
        {
            let at = at.index(message.len());
            message[at] = byte;
        }
        message.resize(length.unwrap_or(message.len()), 0);
        message
    })
}

/// What [`receive_report`] is to make of a message: the letter of its kind, with what it holds.
fn expected(message: &[u8], descriptors: usize) -> Option<(u8, u8, i32)> {
    match (message, descriptors) {
        ([], 0) => Some((0, 0, 0)),
        ([1, b'L'], 1) => Some((b'L', 0, 0)),
        ([1, b'F', stage @ 1..=5, errno @ ..], 0) => {
            let errno = i32::from_le_bytes(errno.try_into().ok()?);
            // Numbers that are no errno are all one to nix.
            Some((b'F', *stage, Errno::from_raw(errno) as i32))
        }
        _ => None,
    }
}

/// Whether nobody holds the other end of a pipe any more.
fn is_closed(end: BorrowedFd<'_>) -> bool {
    let mut fds = [PollFd::new(end, PollFlags::empty())];
    poll(&mut fds, PollTimeout::from(1000_u16)).unwrap() == 1
}

proptest! {
    #[test]
    fn any_message_is_a_report_or_an_error_and_leaves_nothing_open(
        message in any_message(),
        descriptors in select(vec![0, 0, 1, 1, 2, 3, 8]),
    ) {
        let (gate, shim) = pair();
        let (end, sent) = nix::unistd::pipe().unwrap();
        let fds = vec![sent.as_raw_fd(); descriptors];
        let rights = [ControlMessage::ScmRights(&fds)];
        send(&shim, &message, if fds.is_empty() { &[] } else { &rights }).unwrap();
        drop((sent, shim));
        let seen = match receive_report(&gate) {
            Ok(Report::Closed) => Some((0, 0, 0)),
            Ok(Report::Listening(_)) => Some((b'L', 0, 0)),
            Ok(Report::Failed { stage, errno }) => Some((b'F', stage.code(), errno as i32)),
            Err(_) => None,
        };
        prop_assert_eq!(seen, expected(&message, descriptors));
        prop_assert!(is_closed(end.as_fd()), "a descriptor is left open");
    }

    #[test]
    fn any_message_is_a_go_ahead_or_an_error(
        message in any_message(),
        descriptors in select(vec![0, 0, 1, 3]),
    ) {
        let (gate, shim) = pair();
        let (end, sent) = nix::unistd::pipe().unwrap();
        let fds = vec![sent.as_raw_fd(); descriptors];
        let rights = [ControlMessage::ScmRights(&fds)];
        send(&gate, &message, if fds.is_empty() { &[] } else { &rights }).unwrap();
        drop((sent, gate));
        let is_go = message == [1, b'G'] && descriptors == 0;
        prop_assert_eq!(await_go(&shim).is_ok(), is_go);
        prop_assert!(is_closed(end.as_fd()), "a descriptor is left open");
    }

    #[test]
    fn what_the_shim_says_of_a_failure_is_what_the_gate_hears(stage in select(&Stage::ALL[..]), errno in 1..134) {
        let (gate, shim) = pair();
        let errno = Errno::from_raw(errno);
        send_failure(&shim, stage, errno).unwrap();
        let Report::Failed { stage: heard, errno: its } = receive_report(&gate).unwrap() else {
            panic!("not a failure");
        };
        prop_assert_eq!((heard, its), (stage, errno));
    }
}
