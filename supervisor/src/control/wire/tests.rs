use std::fmt::Debug;

use proptest::collection::{hash_map, vec};
use proptest::prelude::*;
use proptest::sample::select;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::*;
use crate::mutation::spoilt;

fn response(text: &str) -> Result<Span, String> {
    let text = format!(
        r#"{{"type":"approval_response","sessionId":"s","requestId":"1003","digest":"d",{text}}}"#
    );
    match serde_json::from_str(&text) {
        Ok(FromClient::ApprovalResponse(response)) => response.span().map_err(str::to_owned),
        Ok(_) => Err("another message".into()),
        Err(error) => Err(error.to_string()),
    }
}

#[test]
fn the_three_decisions_have_the_names_of_the_contract() {
    assert_eq!(response(r#""decision":"allow-once""#), Ok(Span::Once));
    assert_eq!(response(r#""decision":"allow-always""#), Ok(Span::Session));
    assert_eq!(response(r#""decision":"deny""#), Ok(Span::Once));
    assert_eq!(
        response(r#""decision":"deny","duration":"session","later":1"#),
        Ok(Span::Session)
    );
    let lasting = response(r#""decision":"allow-always","duration":"always","scope":"prefix""#);
    assert_eq!(lasting, Ok(Span::Always));
}

#[test]
fn what_contradicts_itself_or_is_not_known_is_an_error() {
    for wrong in [
        r#""decision":"allow-once","duration":"session""#,
        r#""decision":"allow-always","duration":"once""#,
        r#""decision":"allow""#,
        r#""decision":"deny","scope":"program""#,
        r#""decision":"deny","duration":"never""#,
        r#""decision":"deny","duration":"1999-01-01""#,
        r#""decision":"deny","duration":"session","scope":"all""#,
        r#""scope":"exact""#,
    ] {
        assert!(response(wrong).is_err(), "{wrong}");
    }
    let long = "x".repeat(REASON_MAX_BYTES + 1);
    assert!(response(&format!(r#""decision":"deny","reason":"{long}""#)).is_err());
    let no_digest =
        r#"{"type":"approval_response","sessionId":"s","requestId":"1","decision":"deny"}"#;
    assert!(serde_json::from_str::<FromClient>(no_digest).is_err());
}

#[test]
fn a_question_has_the_names_of_the_contract_and_is_ascii() {
    let required = FromGate::ApprovalRequired(Box::new(Required {
        session_id: "s".into(),
        request_id: ExecId(0x3f9c),
        digest: serde_json::from_str("\"d\"").unwrap(),
        request: Request {
            proc: serde_json::json!({ "argv": ["\u{202e}"] }),
            bytes: ExactBytes::new(),
            rule: None,
            reason: None,
            asked_at: Timestamp::UNIX_EPOCH,
            expires_at: Timestamp::UNIX_EPOCH,
            unanswered: Unanswered::Deny,
            ancestry: Vec::new(),
            script: None,
            environment: ShownVariables::default(),
            amendments: Vec::new(),
            escalated_from: None,
        },
    }));
    let line = line(&required).unwrap();
    let expected = br#"{"type":"approval_required","sessionId":"s","requestId":"3f9c","digest":"d","request":{"proc":{"argv":["\u202e"]},"askedAt":"1970-01-01T00:00:00Z","expiresAt":"1970-01-01T00:00:00Z","unanswered":"deny"}}"#;
    assert_eq!(line.trim_ascii_end(), expected);
    assert!(serde_json::from_slice::<FromGate>(&line).is_ok());
}

/// Text of any characters, or one that means something elsewhere.
fn any_text() -> impl Strategy<Value = String> {
    let texts = [
        "",
        "allow-once",
        "/etc/passwd",
        "\"}\n{\"",
        "\u{202e}\u{0}\u{7f}",
        "type",
    ];
    prop_oneof![select(texts.to_vec()).prop_map(str::to_owned), ".{0,12}"]
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any_text().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            hash_map(any_text(), inner, 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// A message of the contract, as a client writes it.
fn any_request() -> impl Strategy<Value = Value> {
    let texts = || vec(any_text(), 0..3);
    let answer = (
        [any_text(), any_text()],
        any::<u64>(),
        select(vec!["allow-once", "allow-always", "deny"]),
        select(vec![Value::Null, "once".into(), "session".into()]),
        proptest::option::of(any_text()),
    );
    let answer = answer.prop_map(|([session, digest], id, decision, duration, reason)| {
        json!({
            "type": "approval_response", "sessionId": session, "requestId": format!("{id:04x}"),
            "digest": digest, "decision": decision, "scope": "exact", "duration": duration,
            "reason": reason,
        })
    });
    let arguments = hash_map(any_text(), any_json(), 0..3);
    let cwd = proptest::option::of(any_text());
    let check = (any_text(), any_text(), texts(), texts(), arguments, cwd);
    let check = check.prop_map(|(id, tool, paths, urls, arguments, cwd)| {
        json!({
            "type": "tool_check", "requestId": id, "tool": tool, "paths": paths, "urls": urls,
            "arguments": arguments, "cwd": cwd,
        })
    });
    let escalated = (any_text(), any::<u64>(), any_json());
    let escalated = escalated.prop_map(|(text, id, proc)| {
        let at = Timestamp::UNIX_EPOCH.to_string();
        json!({
            "type": "escalate", "sessionId": text, "session": text, "digest": text,
            "requestId": format!("{id:x}"), "request": {
                "proc": proc, "askedAt": at, "expiresAt": at,
                "escalatedFrom": {"sessionId": text, "session": text, "requestId": "1"},
            },
        })
    });
    prop_oneof![
        escalated,
        any::<u32>().prop_map(|protocol| json!({"type": "hello", "protocol": protocol})),
        select(vec!["list", "subscribe", "policy_load"]).prop_map(|kind| json!({"type": kind})),
        any_text().prop_map(|part| json!({"type": "policy_part", "part": part})),
        answer,
        check,
    ]
}

/// A message of the contract, as the gate writes it.
fn any_reply() -> impl Strategy<Value = Value> {
    let question = (
        any_text(),
        any::<u64>(),
        any_json(),
        any_text(),
        0..4_000_000_000_i64,
    );
    let question = question.prop_map(|(text, id, proc, exact, at)| {
        let at = Timestamp::from_second(at).unwrap().to_string();
        json!({
            "type": "approval_required", "sessionId": text, "requestId": format!("{id:04x}"),
            "digest": text, "request": {
                "proc": proc, "bytes": {"/proc/path": exact}, "rule": {"id": text, "src": exact},
                "reason": text, "askedAt": at, "expiresAt": at, "unanswered": "allow",
                "script": {"head": text, "sha256": exact},
                "environment": {"changed": [text], "gone": [exact], "others": 3},
                "amendments": [{"scope": text, "covers": exact, "rule": text}],
            },
        })
    });
    let settled = (any_text(), any::<u64>(), any::<bool>()).prop_map(|(text, id, is_allowed)| {
        json!({
            "type": "approval_settled", "sessionId": text, "requestId": format!("{id:x}"),
            "isAllowed": is_allowed, "reason": text,
        })
    });
    let verdict = (any_text(), any_text()).prop_map(|(one, other)| {
        json!({
            "type": "tool_verdict", "requestId": one, "verdict": other, "unanswered": "deny",
            "ground": one, "rule": {"id": other, "src": one}, "instead": other,
        })
    });
    prop_oneof![
        question,
        settled,
        verdict,
        select(vec!["listed", "subscribed"]).prop_map(|kind| json!({"type": kind})),
        (any::<u32>(), any_text()).prop_map(|(protocol, text)| {
            json!({"type": "hello", "protocol": protocol, "sessionId": text, "session": text})
        }),
        (any_text(), any::<u32>()).prop_map(|(file, rules)| {
            json!({"type": "policy_loaded", "files": [file], "rules": rules})
        }),
        any_text().prop_map(|error| json!({"type": "policy_rejected", "error": error})),
        any_text().prop_map(|error| json!({"type": "error", "error": error})),
    ]
}

/// Whether `text` is a message, which comes back whole from the line that it is written as.
fn is_message<T: Serialize + DeserializeOwned + Debug>(text: &[u8]) -> Result<bool, TestCaseError> {
    let Ok(message) = serde_json::from_slice::<T>(text) else {
        return Ok(false);
    };
    let written = line(&message).unwrap();
    let (end, shown) = written.split_last().unwrap();
    prop_assert!(*end == b'\n' && shown.iter().all(|byte| (b' '..=b'~').contains(byte)));
    let again: T = serde_json::from_slice(&written).unwrap();
    prop_assert_eq!(format!("{again:?}"), format!("{message:?}"));
    Ok(true)
}

/// What the gate does with a message before it judges anything.
fn look_at(text: &[u8]) {
    match serde_json::from_slice(text) {
        Ok(FromClient::ApprovalResponse(response)) => drop(response.span()),
        Ok(FromClient::ToolCheck(check)) => drop((check.check(), check.clone().into_call())),
        Ok(_) | Err(_) => {}
    }
}

const LENGTHS: &[usize] = &[REASON_MAX_BYTES, PART_MAX_BYTES, LINE_MAX_BYTES];

proptest! {
    #[test]
    fn every_message_comes_back_as_it_was(request in any_request(), reply in any_reply()) {
        prop_assert!(is_message::<FromClient>(request.to_string().as_bytes())?, "{request}");
        prop_assert!(is_message::<FromGate>(reply.to_string().as_bytes())?, "{reply}");
        look_at(request.to_string().as_bytes());
    }

    #[test]
    fn any_line_is_a_message_or_an_error(
        request in spoilt(any_request().prop_map(|message| message.to_string().into_bytes()), LENGTHS),
        reply in spoilt(any_reply().prop_map(|message| message.to_string().into_bytes()), LENGTHS),
    ) {
        is_message::<FromClient>(&request)?;
        is_message::<FromGate>(&reply)?;
        look_at(&request);
    }

    #[test]
    fn a_piece_of_a_policy_fits_a_line(byte in b' '..=b'~', other in b' '..=b'~', at in 0..PART_MAX_BYTES) {
        let mut part = vec![byte; PART_MAX_BYTES];
        part[at..].fill(other);
        let part = String::from_utf8(part).unwrap();
        let written = line(&FromClient::PolicyPart { part }).unwrap();
        prop_assert!(written.len() <= LINE_MAX_BYTES);
    }
}
