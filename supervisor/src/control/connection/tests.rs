use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::*;

const ONE: Approver = Approver { uid: 1, pid: 1 };
const OTHER: Approver = Approver { uid: 1, pid: 2 };

#[test]
fn a_line_is_one_senders() {
    let mut lines = Lines::default();
    lines.add(b"half", Some(ONE)).unwrap();
    lines.add(b" and half", Some(ONE)).unwrap();
    let error = lines.add(b"\n", Some(OTHER)).unwrap_err();
    assert!(matches!(error, ConnectionError::TwoSenders(ONE, OTHER)));
    let mut lines = Lines::default();
    assert!(matches!(
        lines.add(b"x", None),
        Err(ConnectionError::NoSender)
    ));
}

#[tokio::test(flavor = "current_thread")]
async fn lines_come_with_their_sender_whole_and_bounded() {
    let (ours, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
    ours.set_nonblocking(true).unwrap();
    nix::sys::socket::setsockopt(&ours, nix::sys::socket::sockopt::PassCred, &true).unwrap();
    let ours = UnixStream::from_std(ours).unwrap();
    io::Write::write_all(&mut &theirs, b"one\ntwo\nthr").unwrap();
    let mut lines = Lines::default();
    let (line, sender) = lines.next(&ours).await.unwrap().unwrap();
    assert_eq!(line, b"one\n");
    assert_eq!(sender.pid, std::process::id());
    assert_eq!(lines.next(&ours).await.unwrap().unwrap().0, b"two\n");
    let writer = std::thread::spawn(move || {
        io::Write::write_all(&mut &theirs, &[b'x'; LINE_MAX_BYTES]).unwrap();
    });
    let error = lines.next(&ours).await.unwrap_err();
    assert!(matches!(error, ConnectionError::TooLong), "{error}");
    writer.join().unwrap();
}

/// Lines of every length, the last one without an end.
fn any_stream() -> impl Strategy<Value = Vec<u8>> {
    let lengths = vec![
        0,
        1,
        4095,
        4096,
        LINE_MAX_BYTES - 2,
        LINE_MAX_BYTES - 1,
        LINE_MAX_BYTES,
    ];
    let length = prop_oneof![
        4 => 0..60_usize,
        1 => select(lengths),
        1 => 0..2 * LINE_MAX_BYTES,
    ];
    let byte = any::<u8>().prop_map(|byte| if byte == b'\n' { b' ' } else { byte });
    let line = (byte, length).prop_map(|(byte, length)| vec![byte; length]);
    vec(line, 0..6).prop_map(|lines| lines.join(&b'\n'))
}

/// How a stream comes in: how much at once, and from which of two senders.
fn any_pieces() -> impl Strategy<Value = Vec<(usize, bool)>> {
    let lengths = select(vec![1, 4095, PIECE_BYTES]);
    let length = prop_oneof![lengths, 1..=PIECE_BYTES];
    vec((length, prop::bool::weighted(0.02)), 12..40)
}

/// A line and who sent it.
type Taken = (Vec<u8>, Approver);

/// Takes `stream` in these pieces: its lines, and whether it was taken to the end.
fn taken(stream: &[u8], pieces: &[(usize, bool)]) -> (Vec<Taken>, Result<(), ConnectionError>) {
    let (mut lines, mut found) = (Lines::default(), Vec::new());
    let (mut rest, mut pieces) = (stream, pieces.iter().cycle());
    while let Some((length, is_other)) = pieces.next().filter(|_| !rest.is_empty()) {
        let (piece, behind) = rest.split_at(rest.len().min(*length));
        let sender = if *is_other { OTHER } else { ONE };
        if let Err(error) = lines.add(piece, Some(sender)) {
            return (found, Err(error));
        }
        assert!(lines.bytes.len() < LINE_MAX_BYTES + PIECE_BYTES);
        loop {
            match lines.take() {
                Ok(Some(line)) => found.push(line),
                Ok(None) => break,
                Err(error) => return (found, Err(error)),
            }
        }
        rest = behind;
    }
    (found, Ok(()))
}

proptest! {
    #[test]
    fn a_stream_is_its_lines_however_it_comes_in(stream in any_stream(), pieces in any_pieces()) {
        let own: Vec<_> = pieces.iter().map(|(length, _)| (*length, false)).collect();
        let (found, end) = taken(&stream, &own);
        let whole: Vec<&[u8]> = stream.split_inclusive(|byte| *byte == b'\n').collect();
        let kept = whole.iter().take_while(|line| line.len() <= LINE_MAX_BYTES);
        let kept: Vec<_> = kept.filter(|line| line.ends_with(b"\n")).map(|line| (line.to_vec(), ONE)).collect();
        prop_assert_eq!(&found, &kept);
        let is_too_long = whole.iter().any(|line| line.len() > LINE_MAX_BYTES)
            || whole.last().is_some_and(|line| line.len() == LINE_MAX_BYTES && !line.ends_with(b"\n"));
        prop_assert_eq!(matches!(end, Err(ConnectionError::TooLong)), is_too_long);
        prop_assert_eq!(end.is_ok(), !is_too_long);
    }

    #[test]
    fn no_line_is_of_two_senders(stream in any_stream(), pieces in any_pieces()) {
        let (found, end) = taken(&stream, &pieces);
        // Who sent each byte, told apart from the lines.
        let mut senders = pieces.iter().cycle().flat_map(|(length, other)| std::iter::repeat_n(*other, *length));
        for (line, sender) in &found {
            let of: Vec<bool> = senders.by_ref().take(line.len()).collect();
            prop_assert!(of.iter().all(|other| *other == (*sender == OTHER)));
        }
        let whole = found.iter().map(|(line, _)| line.len()).sum::<usize>();
        if let Err(ConnectionError::TwoSenders(first, second)) = end {
            let next: Vec<bool> = senders.take(LINE_MAX_BYTES + PIECE_BYTES).collect();
            prop_assert!(first != second && next.contains(&true) && next.contains(&false));
        } else if end.is_ok() {
            prop_assert!(!stream[whole..].contains(&b'\n'));
        }
    }
}
