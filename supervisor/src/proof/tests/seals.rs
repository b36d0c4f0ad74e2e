//! What a seal makes known, and what it does not.

use super::forgery::rechain;
use super::logged::{Logged, begun, write};
use crate::proof::copies::Copies;
use crate::proof::seal::sealed;
use crate::proof::walk::Proof;
use crate::proof::{ProofError, State};

#[test]
fn what_is_sealed_is_known_as_long_as_it_stays_as_it_was() {
    let logged = Logged::written();
    logged.change(1, |lines| drop(lines.remove(4)));
    let last = logged.files().len() - 1;
    logged.change(last, |lines| drop(lines.pop()));
    assert_eq!(logged.proof().state(), State::Altered);
    let proof = sealed(&logged.path, "the disk").unwrap();
    assert_eq!(proof.state(), State::Intact, "{:?}", proof.found);
    assert_eq!((proof.seals.len(), proof.seals[0].faults), (1, 2));
    assert_eq!(logged.files().len(), last + 2);
    // Of a whole log nothing is to be sealed.
    sealed(&logged.path, "again").unwrap();
    assert_eq!(logged.files().len(), last + 2);
    // The log goes on, in further files, and what comes is held to all.
    write(&logged.path, "three");
    assert_eq!(
        logged.proof().state(),
        State::Intact,
        "{:?}",
        logged.proof().found
    );
    assert!(logged.files().len() > last + 3);
    logged.change(1, |lines| drop(lines.remove(4)));
    let found = logged.found(State::Altered);
    assert!(
        found
            .iter()
            .any(|(_, _, what)| what.contains("when it was sealed")),
        "{found:?}"
    );
}

#[test]
fn a_log_that_a_session_writes_to_is_not_sealed() {
    let logged = Logged::written();
    logged.change(1, |lines| drop(lines.remove(4)));
    let log = begun(&logged.path, "live");
    let files = logged.files().len();
    assert!(matches!(sealed(&logged.path, "no"), Err(ProofError::Busy)));
    drop(log);
    assert_eq!(logged.files().len(), files);
}

/// Who may write the log may seal it as well, and has no say in what somebody else keeps of it.
#[test]
fn a_seal_answers_no_copy() {
    let logged = Logged::written();
    let kept = logged.path.with_file_name("copies");
    std::fs::write(&kept, logged.lines(1)[4].clone()).unwrap();
    let copies = Copies::read([kept.as_path()]).unwrap();
    std::fs::remove_file(&kept).unwrap();
    logged.change(1, |lines| {
        lines[4] = lines[4].replacen("\"target_missing\":", "\"target_missing\":1", 1);
        rechain(lines, 4);
    });
    assert_eq!(sealed(&logged.path, "no").unwrap().state(), State::Intact);
    let proof = Proof::of(&logged.path, &copies).unwrap();
    assert_eq!(proof.state(), State::Altered, "{:?}", proof.found);
    assert_eq!((proof.faults, proof.seals.len()), (1, 1));
    let found = &proof.found[0];
    assert!(found.fault.to_string().contains("another than its copy"));
    assert_eq!(found.place.as_ref().unwrap().line, 5);
}
