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
        Report::Listening {
            version: Version(VERSION),
            ..
        }
    ));
}

/// The bytes of a message, in hexadecimal, and whether a descriptor goes along.
fn seen(socket: &OwnedFd) -> String {
    let mut buffer = [0; 64];
    let (message, fds) = receive(socket, &mut buffer).unwrap();
    let digits: String = message.iter().map(|byte| format!("{byte:02x}")).collect();
    match fds.len() {
        0 => digits,
        1 => digits + " +fd",
        _ => panic!("more than the listener"),
    }
}

/// The messages of `golden.txt`: the version, who sends it, what it is, its bytes, whether the listener goes along.
fn golden() -> impl Iterator<Item = (u8, &'static str, &'static str, Vec<u8>, bool)> {
    let lines = include_str!("golden.txt").lines();
    lines.filter(|line| !line.starts_with('#')).map(|line| {
        let words: Vec<_> = line.split(' ').collect();
        let [version, sender, what, digits, rest @ ..] = &words[..] else {
            panic!("{line}")
        };
        let byte = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).unwrap();
        let bytes = (0..digits.len()).step_by(2).map(byte).collect();
        (
            version.parse().unwrap(),
            *sender,
            *what,
            bytes,
            rest == ["+fd"],
        )
    })
}

/// A report as `golden.txt` calls it.
fn called(report: &Report) -> String {
    match report {
        Report::Listening { .. } => "listening".into(),
        Report::Failed { stage, errno } => {
            let stage = match stage {
                Stage::NoNewPrivs => "no_new_privs",
                Stage::Rights => "rights",
                Stage::Compile => "compile",
                Stage::Install => "install",
                Stage::Exec => "exec",
            };
            format!("failed:{stage}:{errno:?}")
        }
        Report::Closed => "closed".into(),
    }
}

#[test]
fn shims_of_this_version_and_the_one_before_are_heard_and_answered_in_their_own() {
    let mut versions = Vec::new();
    for (version, sender, what, bytes, has_fd) in golden() {
        versions.push(version);
        if sender != "shim" {
            continue;
        }
        let (gate, shim) = pair();
        let fd = OwnedFd::from(std::fs::File::open("/dev/null").unwrap());
        let fds = [fd.as_raw_fd()];
        let rights = [ControlMessage::ScmRights(&fds)];
        send(&shim, &bytes, if has_fd { &rights } else { &[] }).unwrap();
        let report = receive_report(&gate).unwrap();
        assert_eq!(called(&report), what, "{version}");
        if let Report::Listening { version: heard, .. } = report {
            send_go(&gate, heard).unwrap();
            let go = golden().find(|it| (it.0, it.2) == (version, "go")).unwrap();
            let digits: String = go.3.iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(seen(&shim), digits);
        }
    }
    versions.dedup();
    assert_eq!(versions, [PREVIOUS, VERSION]);
}

#[test]
fn what_is_sent_is_what_images_have_been_told() {
    let (gate, shim) = pair();
    let null = OwnedFd::from(std::fs::File::open("/dev/null").unwrap());
    for (_, sender, what, bytes, has_fd) in golden().filter(|it| it.0 == VERSION) {
        let expected: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let expected = expected + if has_fd { " +fd" } else { "" };
        let words: Vec<_> = what.split(':').collect();
        match words[..] {
            ["listening"] => send_listener(&shim, &null).unwrap(),
            ["failed", ..] => {
                let of = |stage: &Stage, errno| {
                    called(&Report::Failed {
                        stage: *stage,
                        errno,
                    }) == what
                };
                let errnos = [Errno::EPERM, Errno::EINVAL, Errno::EBUSY, Errno::ENOENT];
                let all = Stage::ALL
                    .iter()
                    .flat_map(|stage| errnos.map(|errno| (stage, errno)));
                let (stage, errno) = all
                    .into_iter()
                    .find(|(stage, errno)| of(stage, *errno))
                    .unwrap();
                send_failure(&shim, *stage, errno).unwrap();
            }
            ["go"] => send_go(&gate, Version(VERSION)).unwrap(),
            ["refused", why] => send_refusal(&gate, why).unwrap(),
            _ => panic!("{what}"),
        }
        let end = if sender == "shim" { &gate } else { &shim };
        assert_eq!(seen(end), expected, "{what}");
    }
}

#[test]
fn a_refusal_says_why_in_no_more_than_it_may() {
    for (why, heard) in [
        ("no", "no".to_owned()),
        ("", String::new()),
        (&"é".repeat(2000), "é".repeat(REASON_MAX_BYTES / 2)),
    ] {
        let (gate, shim) = pair();
        send_refusal(&gate, why).unwrap();
        assert_eq!(await_answer(&shim).unwrap(), Answer::Refused(heard));
    }
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
        await_answer(&shim).unwrap_err().kind(),
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
        await_answer(&shim).unwrap_err().kind(),
        io::ErrorKind::InvalidData
    );
}

#[test]
fn a_go_ahead_is_understood() {
    let (gate, shim) = pair();
    send_go(&gate, Version(VERSION)).unwrap();
    assert_eq!(await_answer(&shim).unwrap(), Answer::Go);
}

/// Bytes near those of a message: one of them, cut, continued, or with a byte changed.
fn any_message() -> impl Strategy<Value = Vec<u8>> {
    let listening = Just(vec![VERSION, LISTENING]);
    let go = Just(vec![VERSION, GO]);
    let before = select(vec![
        vec![PREVIOUS, LISTENING],
        vec![PREVIOUS, GO],
        vec![VERSION, REFUSED, b'x'],
    ]);
    let failed = (0..7_u8, any::<[u8; 4]>());
    let failed = failed.prop_map(|(stage, errno)| [&[VERSION, FAILED, stage], &errno[..]].concat());
    let message = prop_oneof![listening, go, before, failed, vec(any::<u8>(), 0..12)];
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
        ([1 | 2, b'L'], 1) => Some((b'L', 0, 0)),
        ([1 | 2, b'F', stage @ 1..=5, errno @ ..], 0) => {
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
            Ok(Report::Listening { .. }) => Some((b'L', 0, 0)),
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
        let is_go = message == [2, b'G'] && descriptors == 0;
        prop_assert_eq!(matches!(await_answer(&shim), Ok(Answer::Go)), is_go);
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
