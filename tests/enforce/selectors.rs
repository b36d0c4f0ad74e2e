//! What a rule may look at beside the file: working directory, history, digest, children, trust.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use execward_tests::{Ground, binary};

#[test]
fn a_rule_for_a_directory_holds_there_alone() {
    let ground = Ground::allowlist(
        "[[allow]]\nid = \"t\"\ncommand = \"touch\"\ncwd = \"DIR/in/\"\n\
         [[allow]]\nid = \"sh\"\nprogram = \"sh\"\n",
    );
    for name in ["in", "in/below", "out"] {
        fs::create_dir(ground.path(name)).unwrap();
    }
    symlink(ground.path("in"), ground.path("out/link")).unwrap();
    let ran = ground.sh(
        "cd in && touch a; cd below && touch b; cd ../../out; touch c; cd link; touch d; cd /; touch /tmp/never",
    );
    for (path, ran_there) in [
        ("in/a", true),
        ("in/below/b", true),
        ("out/c", false),
        ("in/d", true),
    ] {
        assert_eq!(ground.has(path), ran_there, "{path}: {}", ran.stderr);
    }
    assert_eq!(
        ran.decisions(&["touch", "/tmp/never"])[0]["effect"]["errno"],
        "EPERM"
    );
}

#[test]
fn an_exact_vector_allows_nothing_more() {
    let ground = Ground::allowlist(
        "[[allow]]\nid = \"t\"\nargv = [\"touch\", \"a b\"]\n[[allow]]\nid = \"sh\"\nprogram = \"sh\"\n",
    );
    let ran = ground.sh("touch 'a b'; touch 'a b' c; touch a b; touch");
    assert!(ground.has("a b"));
    for name in ["a", "b", "c"] {
        assert!(!ground.has(name), "{name}");
    }
    assert_eq!(
        ran.decisions(&["touch", "a b"])[0]["decision"]["verdict"],
        "allow"
    );
}

#[test]
fn children_run_below_their_rule_and_nowhere_else() {
    let ground = Ground::allowlist(
        "[[allow]]\nid = \"tool\"\nprogram = \"DIR/tool\"\nchildren = [\"/usr/bin/*\", \"!rm\"]\n\
         [[allow]]\nid = \"sh\"\nprogram = \"sh\"\n[[deny]]\nid = \"d\"\ncommand = \"touch denied\"\n",
    );
    ground.script(
        "tool",
        "#!/bin/sh\ntouch below; sh -c 'touch deeper; true'; touch denied; rm below\n",
    );
    let ran = ground.sh("./tool; touch beside");
    for (name, is_there) in [
        ("below", true),
        ("deeper", true),
        ("denied", false),
        ("beside", false),
    ] {
        assert_eq!(ground.has(name), is_there, "{name}: {}", ran.stderr);
    }
    let child = ran.decisions(&["touch", "below"])[0];
    assert_eq!(child["decision"]["reason"], "children");
    assert_eq!(child["decision"]["rule"]["id"], "tool");
    assert_eq!(ran.decisions(&["rm"])[0]["decision"]["verdict"], "deny");
    assert_eq!(
        ran.decisions(&["touch", "beside"])[0]["decision"]["verdict"],
        "deny"
    );
}

#[test]
fn an_orphan_has_no_history_that_allows() {
    let ground = Ground::allowlist(
        "[[allow]]\nid = \"tool\"\nprogram = \"DIR/tool\"\nchildren = \"/usr/bin/*\"\n\
         [[allow]]\nid = \"sh\"\nprogram = [\"sh\", \"mkfifo\"]\n",
    );
    // The orphan waits until its parent is gone: the pipe's writer is the parent's alone.
    ground.script(
        "tool",
        "#!/bin/sh\nmkfifo gate; (exec 3<gate; read -r _ <&3; touch orphan; echo done >over) &\nexec 4>gate\nexec true\n",
    );
    let ran = ground.sh("mkfifo over; ./tool; read -r _ <over; true");
    assert!(!ground.has("orphan"), "{}", ran.stderr);
    assert_eq!(
        ran.decisions(&["touch", "orphan"])[0]["decision"]["verdict"],
        "deny"
    );
}

#[test]
fn via_is_history_with_replaced_images() {
    let ground =
        Ground::full("[[deny]]\nid = \"below\"\nprogram = \"touch\"\nvia = \"DIR/agent\"\n");
    ground.script(
        "agent",
        "#!/bin/sh\ntouch direct; exec sh -c 'touch replaced; true'\n",
    );
    let ran = ground.sh("./agent; touch beside");
    for (name, is_there) in [("direct", false), ("replaced", false), ("beside", true)] {
        assert_eq!(ground.has(name), is_there, "{name}: {}", ran.stderr);
    }
    assert_eq!(
        ran.decisions(&["touch", "direct"])[0]["decision"]["rule"]["id"],
        "below"
    );
}

pub(crate) fn sha256(path: &str) -> String {
    let out = Command::new("sha256sum").arg(path).output();
    let line = String::from_utf8(out.expect("sha256sum").stdout).expect("a line");
    line.split(' ').next().unwrap_or_default().to_owned()
}

#[test]
fn a_digest_binds_the_content() {
    let digest = sha256("/usr/bin/touch");
    let ground = Ground::allowlist(&format!(
        "[[allow]]\nid = \"t\"\nprogram = \"DIR/**\"\nsha256 = \"{digest}\"\n\
         [[allow]]\nid = \"sh\"\nprogram = [\"sh\", \"cp\"]\n"
    ));
    let _path = ground.copy("/usr/bin/touch", "same");
    let _path = ground.copy("/usr/bin/mkdir", "other");
    let ran = ground.sh("./same a; ./other b; cp other same; ./same c");
    assert!(ground.has("a"), "{}", ran.stderr);
    assert!(!ground.has("b") && !ground.has("c"));
    assert_eq!(ran.outcome(&["./same", "a"])["result"], "verified");
}

/// What a mapping writes changes the content under the same times and size. The kernel runs nothing
/// while it is there, but looks at the file, as the gate does: nothing of that look may be kept.
#[test]
fn a_digest_binds_content_that_a_mapping_changes() {
    let maps = binary("fixture-maps").display().to_string();
    let files = Ground::full("");
    let script = files.script("script", "#!/bin/sh\nexit 11\n");
    let program = files.copy("/usr/bin/true", "program");
    for (path, old, new, runs, changed) in [
        (&script, "exit 11", "exit 12", "code-11", "code-12"),
        (
            &program,
            "GNU coreutils",
            "GNU coreutilz",
            "code-0",
            "code-0",
        ),
    ] {
        let pinned = Ground::allowlist(&format!(
            "[[allow]]\nid = \"pinned\"\nprogram = \"{path}\"\nsha256 = \"{}\"\n\
             [[allow]]\nid = \"maps\"\nprogram = \"{maps}\"\n",
            sha256(path)
        ));
        let ran = pinned.run(&[&maps, path, old, new]);
        let told = format!("before={runs}\nmapped=errno-26\nchanged=errno-1\ntold=0\n");
        assert_eq!(ran.stdout, told, "{path}: {}", ran.stderr);
        let verdicts = ran.decisions(&[path]);
        let verdicts = verdicts.iter().map(|it| &it["decision"]["verdict"]);
        assert_eq!(verdicts.collect::<Vec<_>>(), ["allow", "allow", "deny"]);

        let twin = files.run(&[&maps, path, new, new]);
        let told = format!("before={changed}\nmapped=errno-26\nchanged={changed}\ntold=0\n");
        assert_eq!(twin.stdout, told, "{path}: {}", twin.stderr);
    }
}

#[test]
fn a_denied_digest_is_denied_by_any_name() {
    let digest = sha256("/usr/bin/touch");
    let ground = Ground::full(&format!("[[deny]]\nid = \"bad\"\nsha256 = \"{digest}\"\n"));
    let _path = ground.copy("/usr/bin/touch", "innocent");
    let ran = ground.sh("./innocent a; touch b; mkdir c");
    assert!(!ground.has("a") && !ground.has("b"));
    assert!(ground.has("c"), "{}", ran.stderr);
}

#[test]
fn a_bare_name_is_no_file_that_the_session_made() {
    let ground = Ground::allowlist(
        "[[allow]]\nid = \"t\"\nprogram = \"tool\"\n[[allow]]\nid = \"sh\"\nprogram = \"sh\"\n",
    );
    let _path = ground.copy("/usr/bin/touch", "tool");
    let ran = ground.sh("PATH=$PWD:$PATH; tool a");
    assert!(!ground.has("a"), "{}", ran.stderr);
    let trusting = Ground::new(
        "version = 1\ntrusted_dirs = [\"~\"]\nmode.security = \"allowlist\"\nmode.ask = \"off\"\n\
         [[allow]]\nid = \"t\"\nprogram = [\"tool\", \"sh\"]\n",
    );
    let _path = trusting.copy("/usr/bin/touch", "tool");
    let ran = trusting.sh("PATH=$PWD:$PATH; tool a");
    assert!(trusting.has("a"), "{}", ran.stderr);
}

#[test]
fn an_expired_rule_is_none() {
    let ground = Ground::allowlist(
        "[[allow]]\nid = \"old\"\ncommand = \"touch\"\nexpires = 2020-01-01T00:00:00Z\n\
         [[allow]]\nid = \"new\"\ncommand = \"mkdir\"\nexpires = 2100-01-01T00:00:00Z\n\
         [[allow]]\nid = \"sh\"\nprogram = \"sh\"\n",
    );
    let ran = ground.sh("touch a; mkdir b");
    assert!(!ground.has("a") && ground.has("b"), "{}", ran.stderr);
}

#[test]
fn a_question_that_nobody_can_answer_falls_back_as_the_policy_says() {
    for (fallback, runs) in [("full", true), ("allowlist", false), ("deny", false)] {
        let ground = Ground::new(&format!(
            "version = 1\nmode = {{ security = \"full\", ask = \"always\", ask_fallback = \"{fallback}\" }}\n\
             [[ask]]\nid = \"q\"\ncommand = \"touch asked\"\n[[allow]]\nid = \"sh\"\nprogram = \"sh\"\n"
        ))
        .option("--prompt")
        .option("none");
        let ran = ground.sh("touch a; touch asked");
        assert_eq!(ran.code(), Some(126), "the last command is refused");
        assert_eq!(ground.has("a"), runs, "{fallback}: {}", ran.stderr);
        assert!(!ground.has("asked"), "an ask rule means a person");
    }
}

/// make says by a variable that it runs the program; what it fetches, a shell would run.
#[test]
fn what_a_build_fetches_is_asked_about_and_what_a_person_fetches_is_not() {
    // As the preset dev has it.
    let rule = "[[ask]]\nid = \"fetch-in-build\"\nprogram = \"**/curl\"\n\
        env = [\"MAKELEVEL\", \"npm_lifecycle_event=*install\"]\n";
    let ground = Ground::full(rule).option("--prompt=none");
    // Stands for what curl would have written.
    let curl = ground.script("curl", "#!/bin/sh\necho touch payload\n");
    let fetch = format!("{curl} | sh");
    let ran = ground.run(&["env", "MAKELEVEL=1", "sh", "-c", &fetch]);
    assert!(!ground.has("payload"), "{}", ran.stderr);
    let decision = ran.decisions(&[&curl])[0];
    assert_eq!(decision["decision"]["rule"]["id"], "fetch-in-build");
    assert_eq!(decision["decision"]["reason"], "no_approver");
    let ran = ground.run(&["env", "npm_lifecycle_event=test", "sh", "-c", &fetch]);
    assert!(ground.has("payload"), "{}", ran.stderr);
}

/// A directory of a pattern may be a link: what it is counts as what it is called.
#[test]
fn a_deny_by_a_directory_that_is_a_link_holds_for_what_it_leads_to() {
    let ground = Ground::full(
        "[[deny]]\nid = \"linked\"\nprogram = \"DIR/link/*\"\n\
         [[deny]]\nid = \"there\"\nprogram = \"true\"\ncwd = \"DIR/link/\"\n",
    );
    fs::create_dir(ground.path("real")).unwrap();
    symlink("real", ground.path("link")).unwrap();
    ground.script("real/tool", "#!/bin/sh\necho ran\n");
    let copy = ground.script("tool", "#!/bin/sh\necho twin\n");
    let real = ground.path("real/tool").display().to_string();
    let ran = ground.sh(&format!(
        "{real}; echo $?; link/tool; echo $?; {copy}; cd real; /bin/true; echo $?"
    ));
    assert_eq!(ran.stdout, "126\n126\ntwin\n126\n", "{}", ran.stderr);
}
