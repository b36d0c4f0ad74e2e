//! Allowed, denied, asked, not in the policy: verdict, errno, record, and whether it ran.

use execward_tests::{Ground, binary, of_type, under};

const NO_TOUCH: &str = "[[deny]]\nid = \"no-touch\"\nprogram = \"touch\"\n\
    reason = \"files are precious\"\ninstead = \"echo\"\n";

#[test]
fn what_is_not_denied_runs_and_is_verified() {
    let ran = Ground::full(NO_TOUCH).sh("/bin/echo one two");
    assert_eq!(
        (ran.code(), ran.stdout.as_str(), ran.stderr.as_str()),
        (Some(0), "one two\n", "")
    );
    assert_eq!(ran.outcome(&["/bin/echo", "one"])["result"], "verified");
}

#[test]
fn a_denied_program_does_not_run_and_is_told_why() {
    let ground = Ground::full(NO_TOUCH);
    let ran = ground.sh("/usr/bin/touch marker; echo status $?");
    assert_eq!(ran.stdout, "status 126\n");
    assert!(!ground.path("marker").try_exists().unwrap());
    assert!(
        ran.stderr.contains(
            "execward: denied touch marker (rule no-touch): files are precious. Instead: echo ["
        ),
        "{}",
        ran.stderr
    );
    assert!(
        ran.stderr.contains("Operation not permitted"),
        "{}",
        ran.stderr
    );
    let decision = ran.decisions(&["/usr/bin/touch"])[0];
    assert_eq!(decision["decision"]["verdict"], "deny");
    assert_eq!(decision["decision"]["rule"]["id"], "no-touch");
    assert_eq!(decision["effect"]["errno"], "EPERM");
    assert_eq!(decision["proc"]["path"], "/usr/bin/touch");
}

/// Kernels before 6.4 write nothing into a pipe that may not wait (`RWF_NOWAIT`).
#[test]
fn a_denied_program_is_told_why_through_a_pipe_of_an_old_kernel_too() {
    let ground = Ground::full(NO_TOUCH);
    let old = format!("{}={}", libc::SYS_pwritev2, libc::EOPNOTSUPP);
    let fixture = binary("fixture-refuses").display().to_string();
    let session = ground.command(&["sh", "-c", "exec /usr/bin/touch marker"]);
    let ran = ground.end(under(&[&fixture, &old, "--"], &session));
    assert_eq!(ran.code(), Some(126));
    assert!(ran.stderr.contains("execward: denied"), "{}", ran.stderr);
}

#[test]
fn a_refused_command_ends_with_126_and_a_missing_one_with_127() {
    let ground = Ground::full(NO_TOUCH);
    assert_eq!(ground.run(&["touch", "marker"]).code(), Some(126));
    assert!(!ground.path("marker").try_exists().unwrap());
    let missing = ground.run(&["no-such-program"]);
    assert_eq!(missing.code(), Some(127));
    assert!(
        missing
            .stderr
            .starts_with("execward: cannot find `no-such-program`"),
        "{}",
        missing.stderr
    );
}

#[test]
fn a_denied_file_is_denied_by_every_name() {
    let ground = Ground::full("[[deny]]\nid = \"evil\"\nprogram = \"DIR/evil\"\n");
    let evil = ground.copy("/usr/bin/touch", "evil");
    std::os::unix::fs::symlink(&evil, ground.path("link")).unwrap();
    std::os::unix::fs::symlink("/usr/bin/touch", ground.path("fine")).unwrap();
    let script = "./evil a; ./link b; .//x/../evil c; /proc/self/cwd/evil d; ./fine e";
    std::fs::create_dir(ground.path("x")).unwrap();
    let ran = ground.sh(script);
    for name in ["a", "b", "c", "d"] {
        assert!(
            !ground.path(name).try_exists().unwrap(),
            "{name} ran: {}",
            ran.stderr
        );
    }
    assert!(ground.path("e").try_exists().unwrap());
}

#[test]
fn a_denied_subcommand_is_denied_behind_global_flags() {
    let ran = Ground::full("[[deny]]\nid = \"no-push\"\ncommand = \"git push\"\n")
        .sh("git -C . push; echo $?; git --version >/dev/null; echo $?");
    assert_eq!(ran.stdout, "126\n0\n");
}

#[test]
fn what_is_not_in_an_allowlist_does_not_run_and_the_rest_does() {
    let ground =
        Ground::allowlist("[[allow]]\nid = \"a\"\nprogram = [\"sh\", \"dash\", \"true\"]\n");
    let ran = ground.sh("true; echo $?; touch marker; echo $?");
    assert_eq!(ran.stdout, "0\n126\n");
    assert!(!ground.path("marker").try_exists().unwrap());
    assert_eq!(
        ran.decisions(&["touch"])[0]["decision"]["reason"],
        "default"
    );
}

#[test]
fn the_typed_command_is_allowed_once_and_its_children_inherit_nothing() {
    let ground = Ground::allowlist("[[allow]]\nid = \"a\"\nprogram = \"true\"\n");
    let again = "exec /bin/sh -c 'echo twice'";
    let ran = ground.run(&["sh", "-c", again]);
    assert_eq!((ran.code(), ran.stdout.as_str()), (Some(126), ""));
    assert_eq!(ran.decisions(&["sh"])[0]["decision"]["reason"], "operator");
    assert_eq!(
        ran.decisions(&["/bin/sh"])[0]["decision"]["verdict"],
        "deny"
    );
    let ran = ground.sh("true; echo once");
    assert_eq!(ran.stdout, "once\n");
}

#[test]
fn missing_programs_get_their_errno_and_only_a_count() {
    let ground = Ground::full("");
    let mut ran = ground.sh("/no/such; echo $?; PATH=/x:/y nothing; echo $?");
    // The gate ends after the front.
    ran.records = ground.records_at_end();
    assert_eq!(ran.stdout, "127\n127\n");
    let end = of_type(&ran.records, "session.end").next().unwrap();
    assert!(end["count"]["target_missing"].as_u64().unwrap() >= 1);
    assert_eq!(ran.decisions(&["/no/such"]).len(), 0);
}

#[test]
fn no_notice_means_no_line() {
    let ran = Ground::full(NO_TOUCH)
        .option("--no-notice")
        .sh("/usr/bin/touch x");
    assert!(!ran.stderr.contains("execward:"), "{}", ran.stderr);
}

#[test]
fn a_line_to_a_file_does_not_overwrite_it() {
    let ground = Ground::full(NO_TOUCH);
    std::fs::write(ground.path("log"), "first\n").unwrap();
    let ran = ground.sh("echo second >>log; touch x 2>>log; :");
    let log = execward_tests::until("the line", || {
        let text = std::fs::read_to_string(ground.path("log")).unwrap();
        text.contains("execward: denied").then_some(text)
    });
    assert!(log.starts_with("first\nsecond\n"), "{log}");
    assert_eq!(ran.stderr, "");
}

#[test]
fn a_file_that_is_open_for_reading_alone_gets_no_line() {
    let ground = Ground::full(NO_TOUCH);
    std::fs::write(ground.path("precious"), "mine\n").unwrap();
    let _ran = ground.sh("touch x 2<precious; :");
    assert_eq!(
        std::fs::read_to_string(ground.path("precious")).unwrap(),
        "mine\n"
    );
}

#[test]
fn a_deny_by_a_links_name_holds_for_the_name() {
    let ground = Ground::full("[[deny]]\nid = \"by-name\"\nprogram = \"DIR/link\"\n");
    std::os::unix::fs::symlink("/usr/bin/touch", ground.path("link")).unwrap();
    let ran = ground.sh("./link marker; echo $?");
    assert_eq!(ran.stdout, "126\n", "{}", ran.stderr);
    assert!(!ground.path("marker").try_exists().unwrap());
}

#[test]
fn mode_deny_runs_what_was_typed_and_nothing_else() {
    let ground = Ground::new("version = 1\n[mode]\nsecurity = \"deny\"\n");
    let ran = ground.sh("/usr/bin/touch marker; echo $?");
    assert!(
        ["", "126\n"].contains(&ran.stdout.as_str()),
        "{}",
        ran.stdout
    );
    assert!(!ground.path("marker").try_exists().unwrap());
}

/// Whoever reads the file once the exec has failed finds why in it, however busy the machine is.
#[test]
fn a_refusal_is_in_the_file_before_its_caller_goes_on() {
    let ground = Ground::full("[[deny]]\nid = \"no-touch\"\nprogram = \"touch\"\n");
    let script = "for n in 1 2 3 4; do while :; do :; done & done; i=0; t=/usr/bin/touch; \
        while [ $i -lt 100 ]; do $t m 2>f; read -r line <f; \
        case $line in execward*) ;; *) echo late;; esac; i=$((i+1)); done; kill $(jobs -p)";
    let ran = ground.run(&["bash", "-c", script]);
    assert_eq!(ran.stdout, "", "{}", ran.stderr);
    assert_eq!(ran.decisions(&["/usr/bin/touch", "m"]).len(), 100);
}
