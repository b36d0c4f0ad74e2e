use super::*;

fn offer() -> Offer {
    Offer {
        alike: 3,
        scopes: vec![Scope::Exact, Scope::Prefix],
    }
}

fn code() -> Code {
    Code::of("a9")
}

/// What `keys` make of a question; the first answer, if there is one.
fn answer(keys: &str, offer: &Offer) -> (Option<Answer>, Dialog) {
    let mut dialog = Dialog::new(None);
    for key in keys.bytes() {
        if dialog.press(key) == Reaction::Enter
            && let Outcome::Answered(answer) = dialog.enter(offer, code)
        {
            return (Some(answer), dialog);
        }
    }
    (None, dialog)
}

fn answered(keys: &str) -> Option<Answer> {
    answer(keys, &offer()).0
}

#[test]
fn only_an_answer_with_its_code_is_one() {
    let said = answered("a\ra9\r").unwrap();
    assert_eq!(
        (said.decision, said.span, said.these),
        (Decision::AllowOnce, Span::Once, None)
    );
    for keys in [
        "\r",
        "\r\r",
        "\r\r\r\r",
        "y\r",
        "y\ry\r",
        "a\r",
        "a\r\r",
        "a\ra8\r",
        "a\rA9\r",
        "aa9\r",
        "a9\r",
        "a\ra8\ra9\r",
        "yes\r",
        "a\r\x1b[200~a9",
        "a\ra9",
        "\x03",
        "a\ra\x039\ra9\r",
    ] {
        assert_eq!(answered(keys), None, "{keys:?}");
    }
}

#[test]
fn what_was_typed_wrong_is_no_answer_to_what_comes_next() {
    let (none, dialog) = answer("a\rxx\r", &offer());
    assert!(none.is_none() && dialog.step == Step::Choosing && dialog.note.is_some());
}

#[test]
fn each_answer_says_what_it_is() {
    let said = |keys: &str| {
        let said = answered(&format!("{keys}\ra9\r")).unwrap();
        (said.decision, said.span, said.scope, said.these)
    };
    let lasting = Decision::AllowAlways;
    assert_eq!(
        said("3"),
        (Decision::AllowOnce, Span::Once, Scope::Exact, Some(3))
    );
    assert_eq!(said("t"), (lasting, Span::Subtree, Scope::Exact, None));
    assert_eq!(said("s\r2"), (lasting, Span::Session, Scope::Prefix, None));
    assert_eq!(said("w\r1"), (lasting, Span::Always, Scope::Exact, None));
    assert_eq!(
        said("d\rnot now"),
        (Decision::Deny, Span::Once, Scope::Exact, None)
    );
    let denied = answered("\rnot\x7f\x7fo\r a9 \r").unwrap();
    assert_eq!(denied.reason.as_deref(), Some("no"));
    assert_eq!(answered("d\r\ra9\r").unwrap().reason, None);
}

#[test]
fn what_is_not_offered_cannot_be_said() {
    let bare = Offer {
        alike: 1,
        scopes: Vec::new(),
    };
    for keys in ["s\r1\ra9\r", "w\ra9\r", "1\ra9\r", "2\ra9\r"] {
        assert_eq!(answer(keys, &bare).0, None, "{keys:?}");
    }
    for keys in ["s\r\ra9\r", "s\r3\ra9\r", "s\r0\ra9\r", "4\ra9\r"] {
        assert_eq!(answered(keys), None, "{keys:?}");
    }
    let (choices, _) = Dialog::new(None).prompt(&bare);
    assert_eq!(choices.len(), 3, "{choices:?}");
}

#[test]
fn keys_that_are_no_letters_are_nothing() {
    let said = answered("\x1b[A\x1bOB\x1b[1;5Ca\x00\r\x1b[200~a9\x1b[201~\r");
    assert_eq!(said.unwrap().words, "allow once");
}

#[test]
fn nothing_is_said_twice() {
    let (said, mut dialog) = answer("a\ra9\r", &offer());
    assert!(said.is_some());
    assert_eq!(dialog.press(b'\r'), Reaction::Nothing);
    assert_eq!(dialog.step, Step::Sent);
}
