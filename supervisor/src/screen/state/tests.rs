use serde_json::json;

use super::super::code::ALPHABET;
use super::super::keys::Key;
use super::*;
use crate::control::Decision;
use crate::grants::Span;

fn now() -> Timestamp {
    "2026-11-28T00:00:02Z".parse().unwrap()
}

/// A question, alike to the others with the same argument.
pub(in crate::screen) fn question(id: u64, argument: &str) -> Required {
    let message = json!({
        "sessionId": "s", "requestId": format!("{id:04x}"), "digest": argument, "request": {
            "proc": {"pid": 4711, "path": "/usr/bin/curl", "argv": ["curl", argument], "cwd": "/w"},
            "rule": {"id": "net", "src": "policy.toml:7"}, "reason": "it sends data",
            "askedAt": "2026-11-28T00:00:00Z", "expiresAt": "2026-11-28T00:05:00Z",
            "amendments": [
                {"scope": "exact", "covers": "this very call", "rule": ""},
                {"scope": "program", "covers": "`curl` with any arguments", "rule": ""},
            ],
        },
    });
    serde_json::from_value(message).unwrap()
}

fn settled(id: u64, is_allowed: bool) -> Settled {
    Settled {
        session_id: "s".into(),
        request_id: ExecId(id),
        is_allowed,
        reason: "user".into(),
    }
}

/// A screen on which these arguments are asked about, in this order.
pub(in crate::screen) fn screen(arguments: &[&str]) -> Screen {
    let mut screen = Screen::new("s-1".into(), (80, 24));
    for (id, argument) in arguments.iter().enumerate() {
        screen.ask(question(id as u64, argument));
    }
    screen
}

/// Presses keys, each drawn; `!` is Enter. The code is always `k7`.
pub(in crate::screen) fn press(screen: &mut Screen, keys: &str) -> Vec<Effect> {
    let mut effects = Vec::new();
    for key in keys.chars() {
        let key = if key == '!' {
            Key::Enter
        } else {
            Key::Char(key)
        };
        screen.show(now());
        effects.extend(screen.press(key, now(), Code::of("k7")));
    }
    screen.show(now());
    effects
}

/// What was said, the redrawing aside.
fn said(effects: Vec<Effect>) -> Vec<Response> {
    let said = effects.into_iter().filter_map(|effect| match effect {
        Effect::Say(response) => Some(*response),
        Effect::Redraw | Effect::Suspend | Effect::Quit => None,
    });
    said.collect()
}

#[test]
fn the_code_of_the_redrawn_question_says_it() {
    let mut screen = screen(&["a"]);
    let effects = press(&mut screen, "a1");
    assert!(matches!(effects.as_slice(), [Effect::Redraw]));
    let said = said(press(&mut screen, "k7"));
    let [response] = said.as_slice() else {
        panic!("{said:?}")
    };
    assert_eq!(response.decision, Decision::AllowOnce);
    assert_eq!(response.request_id, ExecId(0));
    assert_eq!((response.these, response.span()), (None, Ok(Span::Once)));
    screen.settle(&settled(0, true), now());
    assert_eq!(screen.note, "0000 allowed here (user)");
    assert!(screen.history[0].ends_with("/usr/bin/curl a"));
}

#[test]
fn nothing_else_says_it() {
    for keys in [
        "!", "!!", "!!!!!!", "a!!", "a1!", "a1k!", "a1kk", "a17k", "a1x7", "k7", "y", "a1  ",
        "aaaa",
    ] {
        let mut screen = screen(&["a"]);
        assert!(said(press(&mut screen, keys)).is_empty(), "{keys}");
    }
    let mut screen = screen(&["a"]);
    press(&mut screen, "a1k");
    screen.press(Key::Escape, now(), Code::of("k7"));
    assert!(said(press(&mut screen, "7")).is_empty());
    assert_eq!(screen.note, "nothing was said");
}

#[test]
fn a_question_is_read_to_its_end_first() {
    let long = "x ".repeat(1000);
    let mut screen = screen(&[&long]);
    assert!(said(press(&mut screen, "a1k7k7")).is_empty());
    assert!(matches!(screen.mode, Mode::Confirm { .. }));
    // What was passed over by a resize is not seen.
    press(&mut screen, " ");
    screen.resize((80, 24));
    let pages = " ".repeat(8);
    assert!(said(press(&mut screen, "k7")).is_empty());
    assert_eq!(said(press(&mut screen, &format!("{pages}k7"))).len(), 1);
}

#[test]
fn what_is_not_shown_whole_is_only_denied() {
    let mut long = screen(&[&"x".repeat(5000)]);
    assert!(press(&mut long, "a").is_empty());
    assert!(matches!(long.mode, Mode::Browse) && long.note.contains("only be denied"));
    let pages = " ".repeat(20);
    let said = said(press(&mut long, &format!("d1no!{pages}k7")));
    assert_eq!(said[0].decision, Decision::Deny);
    assert_eq!(said[0].reason.as_deref(), Some("no"));
}

#[test]
fn alike_questions_are_a_card() {
    let mut screen = screen(&["a", "b", "a", "a"]);
    assert_eq!((screen.queue.cards().len(), screen.queue.waiting()), (2, 4));
    let these = said(press(&mut screen, "a2k7"));
    assert_eq!(these[0].these, Some(3));
    screen.settle(&settled(0, true), now());
    assert_eq!(
        screen.card().and_then(Card::oldest).unwrap().request_id,
        ExecId(2)
    );
    let deny = said(press(&mut screen, "d1!k7"));
    assert_eq!((deny[0].decision, deny[0].these), (Decision::Deny, None));
}

#[test]
fn an_answer_lasts_as_long_as_it_is_said_to() {
    let last = |keys: &str| {
        let said = said(press(&mut screen(&["a"]), keys));
        said.into_iter().next().unwrap()
    };
    let session = last("a3sk7");
    assert_eq!(session.span(), Ok(Span::Session));
    assert_eq!(session.scope, crate::control::Scope::Exact);
    let always = last("a4ak7");
    assert_eq!(always.scope, crate::control::Scope::Program);
    assert_eq!(always.span(), Ok(Span::Always));
    assert!(matches!(last("a4u2h!k7").span(), Ok(Span::Until(_))));
    assert_eq!(last("a2k7").span(), Ok(Span::Subtree));
    assert_eq!(last("d2a!k7").span(), Ok(Span::Always));
    assert!(said(press(&mut screen(&["a"]), "a4unever!k7")).is_empty());
}

#[test]
fn whoever_answers_first_wins() {
    let mut screen = screen(&["a", "b"]);
    press(&mut screen, "a1k");
    screen.settle(&settled(0, false), now());
    assert_eq!(screen.note, "0000 denied not here (user)");
    assert!(said(press(&mut screen, "7")).is_empty());
    assert_eq!(screen.queue.waiting(), 1);
    // What was about to be said of one is not said of another.
    assert!(said(press(&mut screen, "k7")).is_empty());
}

#[test]
fn the_chosen_question_stays_chosen() {
    let mut screen = screen(&["a", "b", "c"]);
    press(&mut screen, "jj");
    screen.settle(&settled(0, false), now());
    let chosen = screen.card().and_then(Card::oldest).unwrap();
    assert_eq!(chosen.request_id, ExecId(2));
    screen.settle(&settled(2, false), now());
    screen.settle(&settled(1, false), now());
    assert!(screen.card().is_none());
    assert!(press(&mut screen, "adjk").is_empty());
    assert!(matches!(press(&mut screen, "q").as_slice(), [Effect::Quit]));
}

#[test]
fn a_screen_that_is_too_small_shows_nothing_that_counts_as_seen() {
    let mut screen = screen(&["a"]);
    screen.resize((40, 8));
    assert!(said(press(&mut screen, "a1k7")).is_empty());
    screen.resize((80, 24));
    assert_eq!(said(press(&mut screen, "k7")).len(), 1);
}

/// Typed when its question is settled already, a code must not do what its letters do as keys.
#[test]
fn no_code_is_a_key() {
    let mut screen = screen(&["a", "b"]);
    screen.note.clear();
    for character in ALPHABET {
        let effects = press(&mut screen, &char::from(*character).to_string());
        assert!(effects.is_empty() && matches!(screen.mode, Mode::Browse));
        assert_eq!((screen.selected, screen.note.as_str()), (0, ""));
    }
}
