use super::*;

fn request(program: ProgramFile) -> ExecRequest {
    ExecRequest::new(program, ["x", "one", "two"].map(Into::into).into())
}

fn names(file: &ProgramFile, reading: Reading) -> Vec<String> {
    let (request, trust) = (request(file.clone()), Trust::default());
    let image = Image::of_program(&request, &trust);
    image
        .names(reading)
        .map(|name| name.escape_ascii().to_string())
        .collect()
}

fn file(given: &str, links: &[&str], resolved: &str) -> ProgramFile {
    ProgramFile {
        given: given.into(),
        links: links.iter().map(|link| (*link).into()).collect(),
        ..ProgramFile {
            given: given.into(),
            ..ProgramFile::at(resolved)
        }
    }
}

#[test]
fn every_name_on_the_way_counts_in_both_readings() {
    let file = file(
        "/bin/awk",
        &["/usr/bin/awk", "/etc/alternatives/awk"],
        "/usr/bin/mawk",
    );
    let all = [
        "/bin/awk",
        "/usr/bin/awk",
        "/etc/alternatives/awk",
        "/usr/bin/mawk",
    ];
    assert_eq!(names(&file, Reading::Strict), all);
    assert_eq!(names(&file, Reading::Doubtful), all);
}

#[test]
fn a_path_through_a_parent_proves_nothing_and_raises_every_doubt() {
    let file = file("/opt/dir/.././/tool", &[], "/evil/tool");
    assert_eq!(names(&file, Reading::Strict), ["/evil/tool"]);
    assert_eq!(
        names(&file, Reading::Doubtful),
        ["/opt/dir/../tool", "/evil/tool", "/opt/tool"]
    );
}

#[test]
fn empty_steps_change_nothing() {
    let file = file("/w/.//./configure", &[], "/w/configure");
    assert_eq!(names(&file, Reading::Strict), ["/w/configure"]);
}

#[test]
fn a_file_that_is_not_the_sessions_has_no_proven_name() {
    for origin in [Origin::Foreign, Origin::Anonymous, Origin::Unstable] {
        let file = ProgramFile {
            origin,
            ..ProgramFile::at("/usr/bin/git")
        };
        assert!(names(&file, Reading::Strict).is_empty(), "{origin:?}");
        assert_eq!(names(&file, Reading::Doubtful).len(), 1, "{origin:?}");
    }
    let nameless = ProgramFile {
        resolved: None,
        ..ProgramFile::at("/usr/bin/git")
    };
    assert!(names(&nameless, Reading::Strict).is_empty());
}

#[test]
fn a_bare_name_is_bound_to_the_trusted_directories() {
    for (file, is_called) in [
        (file("/usr/bin/git", &[], "/usr/bin/git"), true),
        (file("/bin/git", &[], "/usr/bin/git"), true),
        (file("/tmp/x", &["/tmp/x"], "/usr/bin/git"), true),
        (
            file("/usr/bin/git", &["/usr/bin/git"], "/usr/local/bin/git-2"),
            true,
        ),
        (
            ProgramFile {
                is_settled: false,
                ..file("/usr/local/bin/git", &["/usr/local/bin/git"], "/home/u/git")
            },
            false,
        ),
        (file("/tmp/git", &["/tmp/git"], "/usr/bin/true"), false),
        (file("/usr/bin/sub/git", &[], "/usr/bin/sub/git"), false),
        (file("/usr/binary/git", &[], "/usr/binary/git"), false),
    ] {
        let (request, trust) = (request(file.clone()), Trust::default());
        let image = Image::of_program(&request, &trust);
        assert_eq!(
            image.is_called(b"git", Case::Exact, Reading::Strict),
            is_called,
            "{file:?}"
        );
        assert!(
            image.is_called(b"git", Case::Exact, Reading::Doubtful),
            "{file:?}"
        );
    }
}

#[test]
fn an_interpreter_finds_the_vector_that_the_kernel_builds() {
    let interpreter = |path: &str, argument: Option<&str>| Interpreter {
        file: ProgramFile::at(path),
        argument: argument.map(Into::into),
    };
    let request = ExecRequest {
        interpreters: vec![
            interpreter("/w/outer", Some("-o")),
            interpreter("/bin/inner", None),
        ],
        ..request(ProgramFile::at("/w/script"))
    };
    let trust = Trust::default();
    let vectors: Vec<Vec<&[u8]>> = Images::of(&request, &trust)
        .all()
        .map(|image| image.arguments().collect())
        .collect();
    let expected: [&[&[u8]]; 3] = [
        &[b"one", b"two"],
        &[b"-o", b"/w/script", b"one", b"two"],
        &[b"/w/outer", b"-o", b"/w/script", b"one", b"two"],
    ];
    assert_eq!(vectors, expected);
}
