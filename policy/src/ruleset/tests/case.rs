//! Rules that ignore the case of letters.

use super::*;
use crate::request::Destination;

/// Whether the rule of this text holds for the call, with `ignore_case` and without.
fn holds(action: &str, keys: &str, request: &ExecRequest) -> [bool; 2] {
    [true, false].map(|ignores| {
        let ruleset = alone(action, &format!("ignore_case = {ignores}\n{keys}"));
        let decision = ruleset.decide(request, Timestamp::UNIX_EPOCH).decision();
        (decision == Decision::Allow) == (action == "allow")
    })
}

/// The call of this line in `/w`; each path leads where it says.
fn call_of(line: &str) -> ExecRequest {
    let argv: Vec<&str> = line.split(' ').collect();
    let mut request = call(ProgramFile::at(argv[0]), &argv);
    request.cwd = Some(b"/w".to_vec());
    let paths = crate::operand::paths(&Image::of_program(&request, &Trust::default()), |_| true);
    let destinations = paths
        .into_iter()
        .map(|path| (path.clone(), Destination::as_written(&path)));
    request.destinations = destinations.collect();
    request
}

#[test]
fn every_pattern_of_a_deny_and_an_ask_holds_in_letters_of_either_case() {
    for (keys, line) in [
        ("program = 'Tool'", "/tmp/tOOL x"),
        ("program = '/Opt/Tool'", "/opt/tool x"),
        ("program = '/Opt/*/T*'", "/opt/a/tool x"),
        ("command = 'GIT Push'", "/usr/bin/git -C x push"),
        ("command = 'git push'", "/tmp/GIT -C x PUSH"),
        ("command = 'git push'", "/usr/lib/GIT-Push"),
        ("command = 'NPM Install'", "/usr/bin/npm i"),
        ("command = 'npm install'", "/usr/bin/npm I"),
        ("command = 'docker run'", "/usr/bin/docker CONTAINER Run x"),
        ("command = 'git --No-Pager'", "/usr/bin/git --no-pager log"),
        (
            "command = 'git'\nflags = '--FORCE'",
            "/usr/bin/git push --force",
        ),
        (
            "command = 'git'\nflags = '--Force'",
            "/usr/bin/git push --forc",
        ),
        (
            "program = '/opt/x'\nflags = '--Name=A*'",
            "/opt/x --name=ab",
        ),
        ("args = 'Secret*'", "/opt/x SECRETS"),
        ("path = '~/.SSH/'", "/usr/bin/cat /home/U/.ssh/id"),
        ("path = '/W/Key'", "/usr/bin/grep -r x /w"),
        ("script = '/w/**/A.py'", "/usr/bin/python3 b/a.PY"),
        (
            "host = 'Example.com'\ncommand = 'CURL'",
            "/usr/bin/curl example.COM",
        ),
        ("cwd = '/W'", "/opt/x"),
        ("tool = 'FILE_Read'\npath = '/W/X'", "/usr/bin/cat x"),
        ("tool = 'EXEC_shell'", "/opt/x"),
    ] {
        for action in ["deny", "ask"] {
            let [folded, exact] = holds(action, keys, &call_of(line));
            assert!(folded, "{action} {keys}: {line}");
            assert!(!exact, "{action} {keys}: {line}");
        }
    }
}

#[test]
fn every_pattern_of_an_allow_permits_in_letters_of_either_case() {
    for (keys, line) in [
        ("program = 'Tool'", "/usr/bin/tOOL x"),
        ("program = '/Opt/*/T*'", "/opt/a/tool x"),
        ("command = 'GIT Status'", "/usr/bin/git status -s"),
        ("command = 'NPM Install'", "/usr/bin/npm i"),
        ("command = '/opt/x --Force'", "/opt/x --force"),
        (
            "command = 'git push'\nflags = '--Force'",
            "/usr/bin/git push --force",
        ),
        (
            "command = 'git add'\nargs = 'Src/*'",
            "/usr/bin/git add sRC/a",
        ),
        (
            "program = 'python3'\nscript = '/w/A.py'",
            "/usr/bin/python3 a.py",
        ),
        ("program = '/opt/x'\ncwd = '/W'", "/opt/x"),
        ("program = '/OPT/*'\ncommand = 'X a'", "/opt/x A"),
        ("program = '/OPT/*'\nargv = ['x', 'a']", "/opt/x a"),
        ("tool = 'FILE_read'\npath = '/W/'", "/usr/bin/cat x"),
    ] {
        let [folded, exact] = holds("allow", keys, &call_of(line));
        assert!(folded && !exact, "{keys}: {line}");
    }
}

#[test]
fn an_allow_that_ignores_case_is_no_wider_than_it_reads() {
    for (keys, line) in [
        // Letters of flags, and whole vectors.
        ("command = 'git branch -d'", "/usr/bin/git branch -D x"),
        ("command = '/opt/x -d'", "/opt/x -D"),
        ("program = '/opt/x'\nflags = '-d'", "/opt/x -D"),
        ("argv = ['/opt/x', 'a']", "/opt/x A"),
        ("argv = ['/opt/x', 'a']", "/opt/X a"),
        ("program = '/OPT/*'\nargv = ['x', 'a']", "/opt/X a"),
        // Names that are longer, and what the command may not have unless it is named.
        ("command = 'GIT STASH'", "/usr/bin/git stash drop"),
        ("command = 'git stash'", "/usr/bin/git STASH drop"),
        ("command = 'git stash'", "/usr/bin/GIT stash drop"),
        ("command = 'GIT status'", "/usr/bin/git -c a=b status"),
        ("command = 'GIT status'", "/usr/bin/GIT -c a=b status"),
        ("command = 'r x'", "/usr/bin/R -e x"),
        // Programs as text, and files that start others, under names that nobody knows.
        ("program = 'PYTHON3'", "/usr/bin/python3 -c x"),
        ("program = 'python3'", "/usr/bin/PYTHON3 -c x"),
        ("program = 'busybox'", "/usr/bin/BusyBox sh"),
        ("program = 'git'", "/tmp/GIT"),
    ] {
        let [folded, _] = holds("allow", keys, &call_of(line));
        assert!(!folded, "{keys}: {line}");
    }
}

#[test]
fn how_many_words_name_a_command_is_asked_of_the_name_that_is_meant() {
    let file = ProgramFile {
        links: vec![b"/usr/bin/sh".to_vec()],
        ..ProgramFile::at("/usr/bin/git")
    };
    let request = call(file, &["sh", "push"]);
    assert_eq!(holds("allow", "command = 'sh'", &request), [true, true]);
    assert_eq!(holds("allow", "command = 'git'", &request), [false, false]);
    assert_eq!(holds("allow", "command = 'GIT'", &request), [false, false]);
}

#[test]
fn an_exception_is_folded_as_the_entries_are() {
    for (action, keys, line, is_held) in [
        (
            "deny",
            "program = ['/opt/*', '!/opt/Tool']",
            "/opt/tool",
            false,
        ),
        (
            "deny",
            "program = ['/opt/*', '!/opt/Tool']",
            "/opt/tools",
            true,
        ),
        (
            "allow",
            "program = ['/opt/*', '!/opt/Tool']",
            "/opt/tool",
            false,
        ),
        (
            "allow",
            "command = ['git *', '!git Push']",
            "/usr/bin/git push",
            false,
        ),
    ] {
        let [folded, exact] = holds(action, keys, &call_of(line));
        assert_eq!((folded, exact), (is_held, true), "{action} {keys}: {line}");
    }
}

#[test]
fn variables_and_ancestors_are_folded_too() {
    let mut request = call_of("/opt/x");
    request.env = Some([b"aws_profile=PROD".to_vec()].into());
    let ancestor = Ancestor {
        files: vec![ProgramFile::at("/usr/bin/MAKE")],
        allowed_by: None,
    };
    request.lineage.ancestors.push(Arc::new(ancestor));
    for keys in [
        "env = 'AWS_PROFILE=prod*'",
        "via = 'make'",
        "via = '/Usr/Bin/make'",
    ] {
        assert_eq!(holds("deny", keys, &request), [true, false], "{keys}");
    }
    request.env = Some([b"LD_PRELOAD=/x".to_vec()].into());
    let keys = "program = '/opt/x'\nenv = 'ld_preload=/X'";
    assert_eq!(holds("allow", keys, &request), [true, false]);
}

#[test]
fn children_are_folded_too() {
    let decision = |ignores: bool| {
        let ruleset = policy(&format!(
            "[[allow]]\nid = 'a'\nprogram = '/opt/x'\nchildren = '/Opt/Sub/*'\nignore_case = {ignores}"
        ));
        let mut request = call_of("/opt/sub/y");
        let ancestor = Ancestor {
            files: vec![ProgramFile::at("/opt/x")],
            allowed_by: Some(RuleKey {
                layer: Layer::User,
                id: "a".to_owned(),
            }),
        };
        request.lineage.ancestors.push(Arc::new(ancestor));
        ruleset.decide(&request, Timestamp::UNIX_EPOCH).decision()
    };
    assert_eq!(
        [true, false].map(decision),
        [Decision::Allow, Decision::Ask]
    );
}

#[test]
fn a_rule_that_ignores_case_knows_the_files_that_it_names_by_what_no_name_hides() {
    let ruleset = policy("[[deny]]\nid = 'd'\nprogram = '/opt/Tool'\nignore_case = true");
    let named: Vec<_> = ruleset.named_files().collect();
    assert_eq!(named, [b"/opt/Tool".to_vec(), b"/opt/tool".to_vec()]);
    let file = ProgramFile {
        aliases: vec![b"/opt/tool".to_vec()],
        ..ProgramFile::at("/tmp/x")
    };
    let decision = ruleset.decide(&call(file, &["x"]), Timestamp::UNIX_EPOCH);
    assert_eq!(decision.decision(), Decision::Deny);
}

#[test]
fn an_ask_is_lifted_by_an_allow_that_says_as_much() {
    let decision = |ask: &str, allow: &str| {
        let agent = format!("version = 1\nlayer = 'agent'\n[[ask]]\nid = 'q'\n{ask}");
        let user =
            format!("version = 1\nmode.security = 'allowlist'\n[[allow]]\nid = 'a'\n{allow}");
        let ruleset = load(&[(&agent, Layer::User), (&user, Layer::User)]);
        decide(&ruleset, "/usr/bin/git push --force")
    };
    let folded = "command = 'git PUSH --FORCE'\nignore_case = true";
    let exact = "command = 'git push --force'";
    assert_eq!(decision(exact, folded), Decision::Allow);
    assert_eq!(decision(folded, folded), Decision::Allow);
    // The allow does not name all that is asked about.
    assert_eq!(decision(folded, exact), Decision::Ask);
}

#[test]
fn every_exec_is_no_tool_of_an_allow_in_whatever_letters() {
    let text = "version = 1\nmode.security = 'allowlist'\n\
                [[allow]]\nid = 'a'\ntool = 'Exec_Shell'\nignore_case = true";
    let source = Source {
        name: "p.toml",
        text: text.as_bytes(),
        layer: Layer::User,
    };
    assert!(Ruleset::load(&[source], &Places::of_tests(), &NoIncludes).is_err());
}
