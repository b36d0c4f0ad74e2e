//! What a call names, what surrounds it, and what needs no rule, on the kernel: files by the links
//! that lead to them, standard descriptors, scripts, variables, safe bins, wrappers, linkers.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use execward_tests::{Ground, Ran, skip};
use sha2::{Digest, Sha256};

/// The verdict and its ground, as the record of the call has them.
fn decided(ran: &Ran, words: &[&str]) -> (String, String) {
    let decisions = ran.decisions(words);
    let decision = &decisions
        .first()
        .unwrap_or_else(|| panic!("{words:?}: {}", ran.stderr))["decision"];
    let word = |key: &str| decision[key].as_str().unwrap_or_default().to_owned();
    (word("verdict"), word("reason"))
}

fn is_denied(ran: &Ran, words: &[&str]) {
    assert_eq!(decided(ran, words).0, "deny", "{words:?}");
    let errnos = ran.decisions(words).into_iter();
    let errnos: Vec<_> = errnos
        .filter_map(|record| record.pointer("/effect/errno"))
        .collect();
    assert_eq!(errnos.first(), Some(&&"EPERM".into()), "{words:?}");
}

#[test]
fn a_file_is_the_one_that_links_lead_to() {
    let ground = Ground::full("[[deny]]\nid = \"key\"\npath = \"DIR/vault/\"\n");
    fs::create_dir(ground.path("vault")).unwrap();
    fs::write(ground.path("vault/key"), "secret").unwrap();
    fs::write(ground.path("plain"), "plain\n").unwrap();
    symlink("vault/key", ground.path("link")).unwrap();
    symlink("vault", ground.path("directory")).unwrap();
    symlink("plain", ground.path("harmless")).unwrap();
    let ran = ground.sh(
        "cat link; cat directory/key; cat ./vault/../vault/key; cd vault && cat key; cat ../harmless; \
         cat < key; cat ../plain > made; echo done",
    );
    assert!(!ran.stdout.contains("secret"), "{}", ran.stdout);
    assert!(
        ran.stdout.starts_with("plain\n"),
        "the twin: {}",
        ran.stdout
    );
    for words in [
        &["cat", "link"][..],
        &["cat", "directory/key"],
        &["cat", "key"],
        &["cat"],
    ] {
        is_denied(&ran, words);
    }
    // The shell has made it, and cat would have written it.
    assert_eq!(fs::read(ground.path("vault/made")).unwrap(), b"");
    assert_eq!(decided(&ran, &["cat", "../harmless"]).0, "allow");
}

#[test]
fn a_path_that_is_not_there_leads_to_where_it_would_be_made() {
    let ground = Ground::full("[[deny]]\nid = \"key\"\npath = \"DIR/vault/**\"\n");
    fs::create_dir(ground.path("vault")).unwrap();
    symlink("vault/new", ground.path("dangling")).unwrap();
    let ran = ground.sh("touch dangling; touch vault/x; touch harmless");
    assert!(!ground.has("vault/new") && !ground.has("vault/x") && ground.has("harmless"));
    is_denied(&ran, &["touch", "dangling"]);
    is_denied(&ran, &["touch", "vault/x"]);
}

#[test]
fn what_the_session_began_with_is_no_file_of_its_choice() {
    let ground = Ground::allowlist(
        "[[allow]]\nid = \"sh\"\nprogram = \"sh\"\n\
         [[allow]]\nid = \"r\"\ntool = \"file_read\"\npath = \"DIR/in/\"\n",
    );
    fs::create_dir(ground.path("in")).unwrap();
    fs::write(ground.path("in/data"), "1\n2\n").unwrap();
    fs::write(ground.path("other"), "1\n").unwrap();
    let ran = ground.sh(
        "W=/usr/bin/wc; $W -l < in/data; $W -l < other; $W -l < in/data > out; echo x | $W -l; tail -n 1 in/data",
    );
    assert_eq!(ran.stdout, "2\n1\n2\n", "{}", ran.stderr);
    let verdicts: Vec<_> = ran
        .decisions(&["/usr/bin/wc", "-l"])
        .iter()
        .map(|record| record["decision"]["verdict"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(verdicts, ["allow", "deny", "deny", "allow"]);
    assert!(
        ran.stderr
            .contains("no rule lets it read the file on descriptor 0"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_safe_bin_filters_a_pipe_and_no_file() {
    let ground = Ground::allowlist("[[allow]]\nid = \"sh\"\nprogram = \"sh\"\n");
    let ran =
        ground.sh("echo x | /usr/bin/wc -l; /usr/bin/wc -c < policy.toml; /usr/bin/wc policy.toml");
    assert_eq!(ran.stdout, "1\n", "{}", ran.stderr);
    assert_eq!(
        decided(&ran, &["/usr/bin/wc", "-l"]),
        ("allow".into(), "safe_bin".into())
    );
    is_denied(&ran, &["/usr/bin/wc", "-c"]);
    is_denied(&ran, &["/usr/bin/wc", "policy.toml"]);
    let why = "wc is a safe bin, but `policy.toml` is an operand too many";
    assert!(ran.stderr.contains(why), "{}", ran.stderr);
}

#[test]
fn a_variable_that_loads_code_holds_an_allow_back() {
    let ground = Ground::allowlist(
        "[[allow]]\nid = \"all\"\nprogram = [\"bash\", \"true\", \"printenv\"]\n",
    );
    let ran = ground.run(&[
        "bash",
        "-c",
        "LD_PRELOAD=/x /bin/true 1; NO_COLOR=1 /bin/true 2; BASH_ENV=/x /bin/true 3; unset LD_BIND_NOW; /bin/true 4",
    ]);
    for (number, verdict) in [("1", "deny"), ("2", "allow"), ("3", "deny"), ("4", "allow")] {
        assert_eq!(decided(&ran, &["/bin/true", number]).0, verdict, "{number}");
    }
    let line = "LD_PRELOAD (loader) is new since the session began, and rule all does not name it";
    assert!(ran.stderr.contains(line), "{}", ran.stderr);
}

#[test]
fn a_variable_that_the_session_began_with_is_no_change() {
    let ground = Ground::allowlist("[[allow]]\nid = \"all\"\nprogram = [\"bash\", \"true\"]\n");
    let mut command = ground.command(&[
        "bash",
        "-c",
        "/bin/true 1; HTTPS_PROXY=http://b /bin/true 2",
    ]);
    command.env("HTTPS_PROXY", "http://a");
    let ran = ground.end(command);
    assert_eq!(decided(&ran, &["/bin/true", "1"]).0, "allow");
    assert_eq!(decided(&ran, &["/bin/true", "2"]).0, "deny");
}

/// The digest of that text.
fn sha256(text: &str) -> String {
    let digest = Sha256::digest(text);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn a_digest_beside_a_script_binds_what_the_script_holds() {
    let (text, tool) = ("print('app')\n", "#!/bin/sh\necho tool\n");
    let ground = Ground::allowlist(&format!(
        "[[allow]]\nid = \"app\"\nprogram = \"/usr/bin/python3*\"\nscript = \"DIR/*\"\n\
         sha256 = \"{}\"\n\
         [[allow]]\nid = \"tool\"\nprogram = \"DIR/*\"\nscript = \"DIR/*\"\nsha256 = \"{}\"\n\
         [[allow]]\nid = \"sh\"\nprogram = [\"sh\", \"cp\"]\n",
        sha256(text),
        sha256(tool)
    ));
    if !Path::new("/usr/bin/python3").try_exists().unwrap() {
        return skip("python3 is not here");
    }
    fs::write(ground.path("a.py"), text).unwrap();
    fs::write(ground.path("b.py"), "open('ran', 'w')\n").unwrap();
    ground.script("tool", tool);
    ground.script("other", "#!/bin/sh\n: > ran\n");
    symlink("a.py", ground.path("link.py")).unwrap();
    let ran = ground.sh(
        "python3 a.py 1; python3 link.py; python3 b.py; ./tool 1; ./other; \
         cp b.py a.py; python3 a.py 2; cp other tool; ./tool 2",
    );
    assert_eq!(ran.stdout, "app\napp\ntool\n", "{}", ran.stderr);
    assert!(!ground.has("ran"));
    assert_eq!(ran.outcome(&["python3", "a.py", "1"])["result"], "verified");
    for words in [
        &["python3", "b.py"][..],
        &["python3", "a.py", "2"],
        &["./other"],
        &["./tool", "2"],
    ] {
        is_denied(&ran, words);
    }
}

#[test]
fn a_denied_script_is_known_by_what_it_holds() {
    let ground = Ground::full(&format!(
        "[[deny]]\nid = \"bad\"\nscript = \"/**\"\nsha256 = \"{}\"\n",
        sha256("open('ran', 'w')\n")
    ));
    if !Path::new("/usr/bin/python3").try_exists().unwrap() {
        return skip("python3 is not here");
    }
    fs::write(ground.path("a.py"), "print('app')\n").unwrap();
    fs::write(ground.path("b.py"), "open('ran', 'w')\n").unwrap();
    let ran = ground.sh("python3 a.py; env python3 a.py; env python3 b.py; python3 b.py");
    assert_eq!(ran.stdout, "app\napp\n", "{}", ran.stderr);
    assert!(!ground.has("ran"));
    is_denied(&ran, &["python3", "b.py"]);
}

#[test]
fn a_script_may_run_and_code_that_is_none_may_not() {
    let ground = Ground::allowlist(
        "[[allow]]\nid = \"app\"\nprogram = \"/usr/bin/python3*\"\nscript = \"DIR/app/*\"\n\
         [[allow]]\nid = \"sh\"\nprogram = \"sh\"\n",
    );
    if !Path::new("/usr/bin/python3").try_exists().unwrap() {
        return skip("python3 is not here");
    }
    fs::create_dir(ground.path("app")).unwrap();
    fs::write(ground.path("app/a.py"), "print('app')\n").unwrap();
    fs::write(ground.path("b.py"), "open('ran', 'w')\n").unwrap();
    symlink("../b.py", ground.path("app/link.py")).unwrap();
    let ran = ground.sh(
        "python3 app/a.py; python3 b.py; python3 app/link.py; python3 -c 'open(\"ran\", \"w\")'; \
         python3 - < b.py; python3 < b.py; python3 app",
    );
    assert_eq!(ran.stdout, "app\n", "{}", ran.stderr);
    assert!(!ground.has("ran"));
    for words in [
        &["python3", "b.py"][..],
        &["python3", "app/link.py"],
        &["python3", "-"],
        &["python3", "app"],
    ] {
        is_denied(&ran, words);
    }
}

#[test]
fn a_wrapper_runs_and_what_it_starts_is_judged() {
    let ground = Ground::allowlist(
        "[[allow]]\nid = \"sh\"\nprogram = [\"sh\", \"true\"]\n[[deny]]\nid = \"d\"\nprogram = \"touch\"\n",
    );
    let ran = ground.sh(
        "env A=b true; env touch 1; timeout 5 nice touch 2; nice mkdir 3; echo 4 | xargs touch; env -S 'touch 5'",
    );
    for name in ["1", "2", "3", "4", "5"] {
        assert!(!ground.has(name), "{name}: {}", ran.stderr);
    }
    assert_eq!(
        decided(&ran, &["env", "A=b", "true"]),
        ("allow".into(), "wrapper".into())
    );
    // A deny is known before anything runs, what nothing allows when it comes.
    assert_eq!(decided(&ran, &["env", "touch", "1"]).0, "deny");
    assert_eq!(
        decided(&ran, &["timeout", "5", "nice", "touch", "2"]).0,
        "deny"
    );
    assert_eq!(decided(&ran, &["nice", "mkdir", "3"]).0, "allow");
    is_denied(&ran, &["mkdir", "3"]);
}

#[test]
fn a_denied_program_is_that_by_a_linker_or_a_multi_call_file_too() {
    let ground = Ground::full("[[deny]]\nid = \"d\"\nprogram = \"/usr/bin/touch\"\n");
    symlink("/usr/bin/touch", ground.path("link")).unwrap();
    let linker = "/lib64/ld-linux-x86-64.so.2";
    let ran = ground.sh(&format!(
        "{linker} /bin/touch 1; {linker} ./link 2; cd / && {linker} usr/bin/touch \"$OLDPWD/3\"; {linker} /bin/true"
    ));
    for name in ["1", "2", "3"] {
        assert!(!ground.has(name), "{name}: {}", ran.stderr);
    }
    is_denied(&ran, &[linker, "./link", "2"]);
    assert_eq!(decided(&ran, &[linker, "/bin/true"]).0, "allow");
    if !Path::new("/usr/bin/busybox").try_exists().unwrap() {
        return skip("busybox is not here");
    }
    symlink("/usr/bin/busybox", ground.path("touch")).unwrap();
    let ran = ground.sh("busybox touch 4; ./touch 5; busybox env busybox touch 6; busybox true");
    for name in ["4", "5", "6"] {
        assert!(!ground.has(name), "{name}: {}", ran.stderr);
    }
    is_denied(&ran, &["busybox", "touch", "4"]);
    is_denied(&ran, &["./touch", "5"]);
    assert_eq!(decided(&ran, &["busybox", "true"]).0, "allow");
}

#[test]
fn a_hard_link_made_before_the_session_is_the_denied_file() {
    let ground = Ground::full("[[deny]]\nid = \"d\"\nprogram = \"DIR/a/tool\"\n");
    fs::create_dir(ground.path("a")).unwrap();
    fs::create_dir(ground.path("b")).unwrap();
    ground.script("a/tool", "#!/bin/sh\ntouch ran\n");
    fs::hard_link(ground.path("a/tool"), ground.path("b/other")).unwrap();
    ground.script("b/harmless", "#!/bin/sh\ntouch harmless\n");
    let ran = ground.sh("b/other; b/harmless");
    assert!(
        !ground.has("ran") && ground.has("harmless"),
        "{}",
        ran.stderr
    );
    is_denied(&ran, &["b/other"]);
}
