//! A program of the user's is told of a question, outside the session.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use execward_tests::{Asking, Ground, is_root, needs_answers, skip, until};
use serde_json::Value;

/// A ground whose policy lies outside the workspace and names `program`.
fn telling(program: &str) -> Ground {
    let ground = Ground::full("ask_timeout = \"5m\"\n[[ask]]\nid = \"q\"\nprogram = \"touch\"\n");
    let text = std::fs::read_to_string(ground.path("policy.toml")).expect("a policy");
    let text = text.replace(
        "version = 1",
        &format!("version = 1\nnotify = [\"{program}\", \"asked\"]"),
    );
    std::fs::write(ground.path("policy.toml"), text).expect("a policy");
    std::fs::create_dir(ground.path("work")).expect("a directory");
    let work = ground.path("work").display().to_string();
    ground.option(&format!("--workspace={work}"))
}

/// A program outside the workspace that does as `text` says.
fn program(place: &Ground, text: &str) -> String {
    place.script("tell", &format!("#!/bin/sh\n{text}\n"))
}

/// execward's own diagnostics of the session on `ground`.
fn diagnostics(asking: &Asking) -> String {
    let state = PathBuf::from(&asking.ground().state()[1]);
    let session = std::fs::read_dir(&state).into_iter().flatten().flatten();
    let texts =
        session.filter_map(|entry| std::fs::read_to_string(entry.path().join("execward.log")).ok());
    texts.collect()
}

#[test]
fn a_question_is_told_outside_and_decides_nothing() {
    needs_answers!();
    let place = Ground::new("");
    let told = place.path("told").display().to_string();
    let text = format!(
        "cat > {told}.part; echo \"$1\" >> {told}.part; grep Seccomp_filters /proc/self/status \
         >> {told}.part; env >> {told}.part; echo hello; mv {told}.part {told}"
    );
    let ground = telling(&program(&place, &text));
    let mut asking = Asking::start(ground, "socket", "SECRET=x /usr/bin/touch work/a; echo $?");
    let question = asking.question();
    let said = until("the word", || std::fs::read_to_string(&told).ok());
    let (line, rest) = said.split_once('\n').expect("a line");
    let message: Value = serde_json::from_str(line).expect("a message");
    assert_eq!(message["type"], "approval_required");
    assert_eq!(message["requestId"], question.id.as_str());
    assert_eq!(message["request"]["proc"]["argv"][1], "work/a");
    let own = std::fs::read_to_string("/proc/self/status").expect("status");
    let filters = own.lines().find(|line| line.starts_with("Seccomp_filters"));
    assert!(
        rest.starts_with(&format!("asked\n{}\n", filters.expect("filters"))),
        "{rest}"
    );
    assert!(
        !rest.contains("SECRET") && !rest.contains("CARGO"),
        "{rest}"
    );
    assert!(!asking.has_run("work/a"));
    asking.answer(&["allow", &question.id]);
    assert_eq!(asking.stdout.next_line().unwrap(), "0");
    until("diagnostics", || {
        diagnostics(&asking).contains("hello").then_some(())
    });
    let _records = asking.end();
}

#[test]
fn a_program_that_fails_or_never_ends_holds_up_nobody() {
    needs_answers!();
    let place = Ground::new("");
    for text in ["echo broken >&2; exit 3", "exec sleep 98761"] {
        let ground = telling(&program(&place, text));
        let script = "for i in 1 2 3 4 5 6 7 8; do /usr/bin/touch work/$i & done; wait; echo over";
        let mut asking = Asking::start(ground, "socket", script);
        for question in asking.questions(8) {
            asking.answer(&["allow", &question.id]);
        }
        assert_eq!(asking.stdout.next_line().unwrap(), "over");
        let expected = if text.contains("broken") {
            "broken"
        } else {
            "4 are running already"
        };
        until("diagnostics", || {
            diagnostics(&asking).contains(expected).then_some(())
        });
        let _records = asking.end();
        // The session's end is theirs, too.
        let pattern = "sleep\u{0}98761\u{0}";
        until("the end of what was told", || {
            let ours = |pid: &str| {
                let cmdline = std::fs::read_to_string(format!("/proc/{pid}/cmdline"));
                let cwd = std::fs::read_link(format!("/proc/{pid}/cwd"));
                cmdline.is_ok_and(|text| text == pattern)
                    && cwd.is_ok_and(|cwd| cwd == Path::new("/"))
            };
            let entries = std::fs::read_dir("/proc").expect("proc").flatten();
            let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
            (!names.into_iter().any(|pid| ours(&pid))).then_some(())
        });
    }
}

/// Whether a session starts on `ground`; what it says.
fn starts(ground: &Ground) -> (Option<i32>, String) {
    let (status, _, stderr) = execward_tests::finish(ground.command(&["/bin/true"]));
    (status.code(), stderr)
}

#[test]
fn what_others_could_have_written_is_not_started() {
    let place = Ground::new("");
    let path = program(&place, "true");
    let mode = |path: &str, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("chmod");
    };
    assert_eq!(starts(&telling(&path)).0, Some(0));
    mode(&path, 0o775);
    let (code, said) = starts(&telling(&path));
    assert_eq!(code, Some(125));
    assert!(
        said.contains("`notify` is not started") && said.contains("mode 775"),
        "{said}"
    );
    mode(&path, 0o644);
    assert!(starts(&telling(&path)).1.contains("is no program"));
    mode(&path, 0o755);
    mode(&place.path("").display().to_string(), 0o777);
    assert_eq!(starts(&telling(&path)).0, Some(125));
    let (code, said) = starts(&telling("/no/such/program"));
    assert_eq!(code, Some(125), "{said}");
}

#[test]
fn a_policy_in_the_workspace_names_no_program() {
    let outside = telling("/bin/true");
    assert_eq!(starts(&outside).0, Some(0));
    let inside = telling("/bin/true");
    let policy = inside.path("work/policy.toml").display().to_string();
    let text = "version = 1\nnotify = [\"/bin/true\"]\n";
    std::fs::write(&policy, text).expect("a policy");
    let inside = inside.option(&format!("--policy={policy}"));
    let (code, said) = starts(&inside);
    assert_eq!(code, Some(125));
    assert!(said.contains("lies in the workspace"), "{said}");
    let agents = telling("/bin/true");
    let text = std::fs::read_to_string(agents.path("policy.toml")).expect("a policy");
    let text = text.replace("version = 1", "version = 1\nlayer = \"agent\"");
    std::fs::write(agents.path("policy.toml"), text).expect("a policy");
    let (code, said) = starts(&agents);
    assert_eq!(code, Some(125));
    assert!(said.contains("may not have `notify`"), "{said}");
}

#[test]
fn a_session_that_began_without_a_program_takes_none_later() {
    needs_answers!();
    let ground = Ground::full("");
    std::fs::create_dir(ground.path("work")).expect("a directory");
    let work = ground.path("work").display().to_string();
    let ground = ground.option(&format!("--workspace={work}"));
    let mut asking = Asking::start(ground, "socket", "read go");
    drop(asking.connect());
    let place = Ground::new("version = 1\nnotify = [\"/bin/true\"]\nmode.security = \"full\"\n");
    let (code, _, said) = asking.client(&[
        "policy",
        "load",
        &place.path("policy.toml").display().to_string(),
    ]);
    assert_ne!(code, Some(0));
    assert!(said.contains("began without `notify`"), "{said}");
    let plain = Ground::new("version = 1\nmode.security = \"full\"\n");
    asking.answer(&[
        "policy",
        "load",
        &plain.path("policy.toml").display().to_string(),
    ]);
    let _records = asking.end();
}

#[test]
fn it_runs_as_who_started_the_session_and_not_as_the_commands_user() {
    if !is_root() {
        return skip("only root can run a command as another user");
    }
    needs_answers!();
    let place = Ground::new("");
    let told = place.path("told").display().to_string();
    let text = format!("id -u > {told}.part; mv {told}.part {told}");
    let ground = telling(&program(&place, &text)).option("--user=nobody");
    let mut asking = Asking::start(ground, "socket", "id -u; /usr/bin/touch work/a; echo $?");
    asking.answer(&["deny", &asking.question().id]);
    let said = until("the word", || std::fs::read_to_string(&told).ok());
    assert_eq!(said, "0\n");
    assert_eq!(asking.stdout.next_line().unwrap(), "65534");
    let _records = asking.end();
}
