//! Words, exceptions, and what a file is called.

use super::*;

#[test]
fn exceptions_take_away_from_a_permission_in_doubt() {
    let ruleset = policy("[[allow]]\nid = 'a'\ncommand = ['git *', '!git push']");
    assert_eq!(decide(&ruleset, "/usr/bin/git status"), Decision::Allow);
    assert_eq!(decide(&ruleset, "/usr/bin/git -C x push"), Decision::Ask);
}

#[test]
fn exceptions_take_away_from_a_prohibition_only_what_is_proven() {
    let ruleset = policy(
        "[[allow]]\nid = 'a'\nprogram = '/**'\n\
         [[deny]]\nid = 'd'\ncommand = ['git', '!git status']\n\
         [[deny]]\nid = 'e'\nprogram = ['!/usr/', '!/w/']",
    );
    assert_eq!(decide(&ruleset, "/usr/bin/git status"), Decision::Allow);
    assert_eq!(
        decide(&ruleset, "/usr/bin/git -c a=b status"),
        Decision::Deny
    );
    assert_eq!(decide(&ruleset, "/w/git status"), Decision::Deny);
    assert_eq!(decide(&ruleset, "/w/x"), Decision::Allow);
    assert_eq!(decide(&ruleset, "/opt/x"), Decision::Deny);
}

#[test]
fn beside_program_a_command_only_says_what_the_file_is_called() {
    let ruleset = policy(
        "[[allow]]\nid = 'a'\nprogram = '~/.cargo/bin/*'\ncommand = 'cargo test'\n\
         [[deny]]\nid = 'd'\nprogram = '/w/'\ncommand = 'cargo run'",
    );
    assert_eq!(
        decide(&ruleset, "/home/u/.cargo/bin/cargo test"),
        Decision::Allow
    );
    assert_eq!(
        decide(&ruleset, "/home/u/.cargo/bin/cargo run"),
        Decision::Ask
    );
    assert_eq!(
        decide(&ruleset, "/home/u/.cargo/bin/other test"),
        Decision::Ask
    );
    assert_eq!(decide(&ruleset, "/usr/bin/cargo test"), Decision::Ask);
    assert_eq!(decide(&ruleset, "/w/cargo run"), Decision::Deny);
    assert_eq!(decide(&ruleset, "/usr/bin/cargo run"), Decision::Ask);
}

#[test]
fn an_allow_binds_the_command_to_the_name_that_program_covers() {
    let ruleset = policy("[[allow]]\nid = 'a'\nprogram = '/usr/bin/*'\ncommand = 'cargo test'");
    let disguised = ProgramFile {
        given: "/tmp/cargo".into(),
        links: vec!["/tmp/cargo".into()],
        ..ProgramFile::at("/usr/bin/tool")
    };
    let request = call(disguised, &["cargo", "test"]);
    assert_eq!(
        ruleset.decide(&request, Timestamp::UNIX_EPOCH).decision(),
        Decision::Ask
    );
}

#[test]
fn a_module_is_a_program_however_the_flag_is_written() {
    let ruleset = load(&[(
        "version = 1\nmode.security = 'full'\n[[deny]]\nid = 'd'\ncommand = 'pip install'",
        Layer::User,
    )]);
    for line in [
        "/usr/bin/python3 -m pip install x",
        "/usr/bin/python3 -mpip install x",
        "/usr/bin/python3.12 -Im pip install x",
        "/usr/bin/python3 -Bmpip -q install x",
    ] {
        assert_eq!(decide(&ruleset, line), Decision::Deny, "{line}");
    }
    for line in [
        "/usr/bin/python3 -m venv pip",
        "/usr/bin/python3 setup.py install",
        "/usr/bin/perl -mpip install",
    ] {
        assert_eq!(decide(&ruleset, line), Decision::Allow, "{line}");
    }
}

#[test]
fn a_path_is_that_file_and_no_twin_of_it() {
    let ruleset = load(&[(
        "version = 1\nmode.security = 'full'\n[[deny]]\nid = 'd'\ncommand = '/opt/bin/git push'",
        Layer::User,
    )]);
    assert_eq!(decide(&ruleset, "/opt/bin/git push"), Decision::Deny);
    assert_eq!(
        decide(&ruleset, "/usr/lib/git-core/git-push"),
        Decision::Allow
    );
}

#[test]
fn a_class_is_its_members_in_trusted_directories_and_in_doubt_anywhere() {
    let ruleset = policy(
        "[[allow]]\nid = 'a'\nprogram = ['@shells', '@interpreters']\n\
         [[deny]]\nid = 'd'\nprogram = '@brokers'\n[[deny]]\nid = 'e'\nprogram = '@anonymous'",
    );
    for (path, decision) in [
        ("/usr/bin/bash", Decision::Allow),
        ("/usr/bin/python3.11 x.py", Decision::Allow),
        ("/usr/bin/python3.11 -c x", Decision::Ask),
        ("/tmp/bash", Decision::Ask),
        ("/usr/bin/git", Decision::Ask),
        ("/usr/bin/docker", Decision::Deny),
        ("/tmp/docker", Decision::Deny),
    ] {
        assert_eq!(decide(&ruleset, path), decision, "{path}");
    }
    let memory = ProgramFile {
        resolved: None,
        origin: Origin::Anonymous,
        ..ProgramFile::at("/proc/self/fd/3")
    };
    let decided = ruleset.decide(&call(memory, &["x"]), Timestamp::UNIX_EPOCH);
    assert_eq!(decided.rule().map(Rule::id), Some("e"));
}

#[test]
fn a_class_may_be_the_first_word_and_an_exception() {
    let ruleset = policy(
        "[[deny]]\nid = 'd'\ncommand = '@shells -c'\n\
         [[allow]]\nid = 'a'\nprogram = ['/usr/bin/*', '!@network']",
    );
    assert_eq!(decide(&ruleset, "/usr/bin/dash -c x"), Decision::Deny);
    assert_eq!(decide(&ruleset, "/usr/bin/dash x"), Decision::Allow);
    assert_eq!(decide(&ruleset, "/usr/bin/git -c x"), Decision::Allow);
    assert_eq!(decide(&ruleset, "/usr/bin/curl x"), Decision::Ask);
}

/// The first element says which command a multi-call file is, and nothing of any other.
#[test]
fn a_file_that_goes_by_its_name_is_what_it_is_called() {
    let decide = |rules: &str, path: &str, argv: &str| {
        let argv: Vec<&str> = argv.split(' ').collect();
        let request = call(ProgramFile::at(path), &argv);
        policy(rules)
            .decide(&request, Timestamp::UNIX_EPOCH)
            .decision()
    };
    let push = "[[deny]]\nid = 'd'\ncommand = 'git push'\n[[allow]]\nid = 'a'\nprogram = '/**'";
    let git = "/usr/bin/git";
    assert_eq!(decide(push, git, "git-push origin"), Decision::Deny);
    assert_eq!(decide(push, git, "/x/git-push origin"), Decision::Deny);
    assert_eq!(decide(push, git, "git-log origin"), Decision::Ask);
    assert_eq!(decide(push, git, "whatever push"), Decision::Deny);
    assert_eq!(decide(push, git, "whatever log"), Decision::Allow);
    assert_eq!(
        decide(push, "/usr/bin/ls", "git-push origin"),
        Decision::Allow
    );
    let status = "[[allow]]\nid = 'a'\ncommand = 'git status'";
    assert_eq!(decide(status, git, "git status"), Decision::Allow);
    assert_eq!(decide(status, git, "git-push status"), Decision::Ask);
    for keys in [
        "program = '/usr/bin/systemctl'",
        "command = 'systemctl status'",
        "argv = ['systemctl', 'status']",
    ] {
        let rules = format!("[[allow]]\nid = 'a'\n{keys}");
        let systemctl = "/usr/bin/systemctl";
        assert_eq!(
            decide(&rules, systemctl, "systemctl status"),
            Decision::Allow
        );
        assert_eq!(decide(&rules, systemctl, "poweroff status"), Decision::Ask);
    }

    let rules = "[[deny]]\nid = 'd'\nprogram = ['wget', '/usr/bin/id']\n\
        [[allow]]\nid = 'a'\ncommand = ['busybox echo', '/lib64/ld-linux-x86-64.so.2 *']\n\
        [[allow]]\nid = 'b'\nprogram = ['busybox', '/lib64/']";
    let busybox = "/usr/bin/busybox";
    assert_eq!(decide(rules, busybox, "busybox wget x"), Decision::Deny);
    assert_eq!(decide(rules, busybox, "wget x"), Decision::Deny);
    assert_eq!(decide(rules, busybox, "busybox echo x"), Decision::Allow);
    assert_eq!(decide(rules, busybox, "busybox rm x"), Decision::Ask);
    assert_eq!(decide(rules, busybox, "rm echo x"), Decision::Ask);
    assert_eq!(decide(rules, busybox, "busybox --list"), Decision::Allow);
    let loader = "/lib64/ld-linux-x86-64.so.2";
    assert_eq!(
        decide(rules, loader, "ld.so /usr/bin/id -u"),
        Decision::Deny
    );
    assert_eq!(
        decide(rules, loader, "ld.so --argv0 x /usr/bin/id"),
        Decision::Deny
    );
    assert_eq!(decide(rules, loader, "ld.so wget"), Decision::Deny);
    assert_eq!(decide(rules, loader, "ld.so --version"), Decision::Allow);
}
