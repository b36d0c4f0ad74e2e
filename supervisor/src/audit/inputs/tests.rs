//! What is written and read back.

use execward_policy::{Destination, FileKind, Redaction};

use super::*;
use crate::audit::text::decoded;

/// A request with every part that a record keeps.
fn request() -> ExecRequest {
    let file = |path: &[u8]| ProgramFile {
        given: b"/opt/a\xff\n".to_vec(),
        links: vec![b"/opt/\"l".to_vec()],
        aliases: vec![b"/srv/a\xfe".to_vec()],
        is_settled: false,
        brings_rights: true,
        sha256: Some(Digest([7; 32])),
        ..ProgramFile::at(path)
    };
    let lead = |path: &[u8]| Destination {
        is_proven: false,
        kind: FileKind::Missing,
        ..Destination::as_written(path)
    };
    ExecRequest {
        interpreters: vec![Interpreter {
            file: file(b"/usr/bin/sh"),
            argument: Some(b"-e\xfe".to_vec()),
        }],
        cwd: Some(b"/w".to_vec()),
        destinations: [
            (b"/a".to_vec(), lead(b"/b\xff")),
            (b"/c".to_vec(), lead(b"/c")),
        ]
        .into(),
        streams: [
            Stream::Unknown,
            Stream::Plain,
            Stream::File(b"/o\xff".to_vec()),
        ],
        ..ExecRequest::new(file(b"/opt/b"), vec![b"a".to_vec()])
    }
}

#[test]
fn what_a_record_keeps_of_a_question_is_the_question() {
    let mut exact = ExactBytes::new();
    let (request, history) = (request(), History::default());
    let variables = Variables {
        changed: vec![b"LD_PRELOAD".to_vec()],
        gone: vec![b"A\xff".to_vec()],
        named: Vec::new(),
    };
    let inputs = Inputs::of(
        &request,
        &variables,
        Some(history.clone()),
        (&[], &Redaction::default()),
        &mut exact,
    );
    let json = serde_json::to_string(&inputs).unwrap();
    let raw = decoded(&exact).unwrap();
    let read: Inputs<'_> = serde_json::from_str(&json).unwrap();
    let again = read.request(request.argv.clone(), request.cwd.clone(), &raw);
    assert_eq!(again, request, "{json}");
    assert_eq!(read.variables(&raw), variables);
    assert_eq!(read.history(), Some(&history));
}

#[test]
fn a_file_without_a_path_has_none_in_a_record() {
    let mut exact = ExactBytes::new();
    let memory = ProgramFile {
        resolved: None,
        origin: Origin::Anonymous,
        ..ProgramFile::at("/memfd:x")
    };
    let request = ExecRequest::new(memory, vec![b"x".to_vec()]);
    let inputs = Inputs::of(
        &request,
        &Variables::default(),
        None,
        (&[], &Redaction::default()),
        &mut exact,
    );
    let again = inputs.request(request.argv.clone(), None, &decoded(&exact).unwrap());
    assert_eq!(again, request);
}
