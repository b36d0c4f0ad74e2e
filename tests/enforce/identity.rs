//! Which file it is, by whatever way it is named.

use execward_tests::{Asking, Ground, Ran, binary, is_root, needs_answers, skip};

fn way(ground: &Ground, way: &str, path: &str) -> Ran {
    ground.run(&[&binary("fixture-ways").display().to_string(), way, path])
}

#[test]
fn a_file_by_descriptor_is_that_file() {
    let allowed = Ground::full("");
    let denied = Ground::full("[[deny]]\nid = \"no-echo\"\nprogram = \"/usr/bin/echo\"\n");
    for by in ["fd", "proc", "thread", "int80"] {
        let ran = way(&allowed, by, "/usr/bin/echo");
        assert_eq!(ran.stdout, format!("by-{by}\n"), "{}", ran.stderr);
        assert_eq!(
            ran.outcome(&["/usr/bin/echo"])["result"],
            "verified",
            "{by}"
        );
        let ran = way(&denied, by, "/usr/bin/echo");
        assert_eq!(ran.stdout, "errno=1\n", "{by}: {}", ran.stderr);
    }
}

#[test]
fn memory_has_no_name_that_an_allow_could_mean() {
    let ways = binary("fixture-ways").display().to_string();
    let rules =
        format!("[[allow]]\nid = \"a\"\nprogram = [\"/usr/bin/echo\", \"{ways}\", \"/**\"]\n");
    assert_eq!(
        way(&Ground::allowlist(&rules), "memfd", "/usr/bin/echo").stdout,
        "errno=1\n"
    );
    // It is asked about under any policy; a person may let it run.
    let ran = way(
        &Ground::full("").option("--prompt=none"),
        "memfd",
        "/usr/bin/echo",
    );
    assert_eq!(ran.stdout, "errno=1\n");
    let decision = ran.decisions(&["/usr/bin/echo"])[0];
    assert_eq!(decision["decision"]["rule"]["id"], "anonymous");
    assert_eq!(decision["decision"]["reason"], "no_approver");
    assert_eq!(decision["proc"]["file"]["origin"], "anonymous");
    assert!(decision["proc"].get("path").is_none());
    needs_answers!();
    let script = format!("{ways} memfd /usr/bin/echo");
    let asking = Asking::start(Ground::full(""), "socket", &script);
    asking.answer(&["allow", &asking.question().id]);
    assert_eq!(asking.stdout.next_line().as_deref(), Some("by-memfd"));
}

/// What never had a name or has lost it is as memory is; what is only called so is a file.
#[test]
fn a_file_without_a_name_is_as_memory_is() {
    let ways = binary("fixture-ways").display().to_string();
    let rules = format!("[[allow]]\nid = \"a\"\nprogram = [\"{ways}\", \"/**\"]\n");
    for by in ["tmpfile", "deleted"] {
        let allowlist = Ground::allowlist(&rules);
        assert_eq!(
            way(&allowlist, by, "/usr/bin/echo").stdout,
            "errno=1\n",
            "{by}"
        );
        let asked = Ground::full("").option("--prompt=none");
        let ran = way(&asked, by, "/usr/bin/echo");
        assert_eq!(ran.stdout, "errno=1\n", "{by}");
        let decision = ran.decisions(&["/usr/bin/echo"])[0];
        assert_eq!(decision["decision"]["rule"]["id"], "anonymous", "{by}");
        assert_eq!(decision["proc"]["file"]["origin"], "anonymous", "{by}");
        needs_answers!();
        let script = format!("{ways} {by} /usr/bin/echo");
        let asking = Asking::start(Ground::full(""), "socket", &script);
        asking.answer(&["allow", &asking.question().id]);
        let line = asking.stdout.next_line();
        assert_eq!(line, Some(format!("by-{by}")));
    }
    let ground = Ground::full("");
    let called = ground.copy("/usr/bin/echo", "echo (deleted)");
    let ran = way(&ground, "missing", &called);
    assert_eq!(ran.stdout, "by-missing\n", "{}", ran.stderr);
    assert_eq!(
        ran.decisions(&[&called])[0]["proc"]["file"]["origin"],
        "session"
    );
}

#[test]
fn a_script_by_a_descriptor_that_closes_fails_as_the_kernel_says() {
    let ground = Ground::full("");
    let script = ground.script("script", "#!/bin/sh\necho ran\n");
    let ran = way(&ground, "cloexec", &script);
    assert_eq!(
        ran.stdout,
        format!("errno={}\n", libc::ENOENT),
        "{}",
        ran.stderr
    );
    // Whether its end is seen before the failure is a matter of time; that it ran is not.
    let result = ran.outcome(&[&script])["result"].clone();
    assert!(result == "failed" || result == "vanished", "{result}");
}

#[test]
fn x32_has_no_way_around_the_filter() {
    let denied = Ground::full("[[deny]]\nid = \"no-echo\"\nprogram = \"/usr/bin/echo\"\n");
    let ran = way(&denied, "x32", "/usr/bin/echo");
    // The gate's refusal, or a fault of reading 64-bit pointers as narrow ones; never an image.
    assert!(ran.stdout.starts_with("errno="), "{}", ran.stdout);
    assert_ne!(ran.stdout, "errno=0\n");
}

#[test]
fn execs_that_the_kernel_refuses_keep_its_errno() {
    let ground = Ground::full("");
    for (by, path, errno) in [
        ("flags", "/usr/bin/echo", libc::EINVAL),
        ("badfd", "/usr/bin/echo", libc::EBADF),
        ("fault", "/usr/bin/echo", libc::EFAULT),
        ("missing", "/no/such", libc::ENOENT),
        ("missing", "/etc/passwd/x", libc::ENOTDIR),
        ("missing", "/etc", libc::EACCES),
        ("missing", "/etc/passwd", libc::EACCES),
    ] {
        let ran = way(&ground, by, path);
        assert_eq!(ran.stdout, format!("errno={errno}\n"), "{by} {path}");
    }
    let long = format!("/{}", "x/".repeat(3000));
    assert_eq!(
        way(&ground, "missing", &long).stdout,
        format!("errno={}\n", libc::ENAMETOOLONG)
    );
}

#[test]
fn no_arguments_at_all_are_one_empty_one() {
    let ran = way(&Ground::full(""), "noargs", "/bin/true");
    assert_eq!(ran.code(), Some(0), "{}", ran.stdout);
    assert_eq!(ran.outcome(&[""])["result"], "verified");
}

#[test]
fn arguments_of_every_shape_arrive_and_are_logged_whole() {
    let ground = Ground::full("");
    let script = "/bin/echo a '' b '' ''; /bin/echo $(seq 2000) | wc -w; \
        /bin/echo \"$(head -c 100000 /dev/zero | tr '\\0' x)\" | wc -c; /bin/echo \"$(printf 'a\\377b')\" | wc -c";
    let ran = ground.sh(script);
    assert_eq!(ran.stdout, "a  b  \n2000\n100001\n4\n");
    assert_eq!(ran.decisions(&["/bin/echo", "a", "", "b", "", ""]).len(), 1);
    let bytes = ran.decisions(&["/bin/echo", "a\u{fffd}b"])[0];
    assert_eq!(bytes["bytes"]["/proc/argv/1"], "Yf9i");
    assert_eq!(ran.results("verified"), ran.decisions(&[]).len());
}

#[test]
fn a_relative_path_is_the_tasks_own() {
    let ground = Ground::full("");
    std::fs::create_dir(ground.path("sub")).unwrap();
    ground.script("sub/here", "#!/bin/sh\necho found\n");
    let ran = ground.sh("cd sub && ./here; cd .. && rmdir gone 2>/dev/null; mkdir gone; cd gone; rmdir ../gone; ../sub/here");
    assert_eq!(ran.stdout, "found\nfound\n", "{}", ran.stderr);
}

#[test]
fn a_bind_mount_over_an_allowed_path_is_not_that_program() {
    let ground = Ground::allowlist(
        "[[allow]]\nid = \"a\"\nprogram = [\"sh\", \"dash\", \"unshare\", \"mount\", \"true\"]\n",
    );
    let evil = ground.script("evil", "#!/bin/sh\necho EVIL\n");
    let inner = format!(
        "/usr/bin/true && echo before; mount --bind {evil} /usr/bin/true || echo no-mount; /usr/bin/true; echo $?"
    );
    let ran = ground.run(&["unshare", "-Urm", "sh", "-c", &inner]);
    if ran.stderr.contains("unshare failed") || ran.stdout.contains("no-mount") {
        return skip("user namespaces are not allowed here");
    }
    assert_eq!(ran.stdout, "before\n126\n", "{}", ran.stderr);
}

#[test]
fn a_chroot_does_not_lend_the_names_of_the_real_root() {
    if !is_root() {
        return skip("chroot needs root");
    }
    let ground = Ground::allowlist(
        "[[allow]]\nid = \"a\"\nprogram = [\"/usr/sbin/chroot\", \"/usr/bin/true\"]\n",
    );
    std::fs::create_dir_all(ground.path("jail/usr/bin")).unwrap();
    let _evil = ground.copy("/bin/echo", "jail/usr/bin/true");
    let jail = ground.path("jail").display().to_string();
    let ran = ground.run(&["/usr/sbin/chroot", &jail, "/usr/bin/true", "EVIL"]);
    assert!(!ran.stdout.contains("EVIL"), "{}", ran.stdout);
    // Where the kernel cannot tell a file system below another root (statmount, Linux 6.8): unstable.
    let origin = &ran.decisions(&["/usr/bin/true"])[0]["proc"]["file"]["origin"];
    assert!(origin == "foreign" || origin == "unstable", "{origin}");
}

#[test]
fn a_deleted_working_directory_changes_nothing() {
    let ground = Ground::full("[[deny]]\nid = \"no-touch\"\nprogram = \"touch\"\n");
    let marker = ground.path("marker").display().to_string();
    let script = format!(
        "mkdir gone; cd gone; rmdir ../gone; /bin/echo here; ./x; echo $?; touch {marker}; echo $?"
    );
    let ran = ground.sh(&script);
    assert_eq!(ran.stdout, "here\n127\n126\n", "{}", ran.stderr);
    assert!(!ground.path("marker").try_exists().unwrap());
}

#[test]
fn a_mebibyte_of_arguments_is_compared_whole() {
    let ground = Ground::full("[[deny]]\nid = \"no\"\ncommand = \"echo stop\"\n");
    let script = "a=$(head -c 100000 /dev/zero | tr '\\0' x); \
        /bin/echo $a $a $a $a $a $a $a $a $a $a | wc -c";
    let ran = ground.sh(script);
    assert_eq!(ran.stdout, "1000010\n", "{}", ran.stderr);
    assert_eq!(ran.results("verified"), ran.decisions(&[]).len());
}

/// Another name, made by the session, leads to the file that the policy forbids by its own.
#[test]
fn a_denied_file_is_denied_by_a_hard_link_and_a_copy_is_not() {
    let ground = Ground::full("[[deny]]\nid = \"no-prog\"\nprogram = \"DIR/prog\"\n");
    let _prog = ground.copy("/usr/bin/echo", "prog");
    let ran = ground.sh("ln prog link && ./link ran; echo $?; cp prog copy && ./copy twin");
    assert_eq!(ran.stdout, "126\ntwin\n", "{}", ran.stderr);
    let decision = ran.decisions(&["./link"])[0];
    assert_eq!(decision["decision"]["rule"]["id"], "no-prog");
    assert_eq!(decision["effect"]["errno"], "EPERM");
    assert!(ran.stderr.contains("denied"), "{}", ran.stderr);
}

/// A file with several links when the session begins may be a multi-call file: by one of its names
/// it is forbidden, by the others it is not.
#[test]
fn a_file_of_many_names_is_denied_by_the_one_that_is_named() {
    let ground = Ground::full("[[deny]]\nid = \"no-prog\"\nprogram = \"DIR/prog\"\n");
    let _prog = ground.copy("/usr/bin/echo", "prog");
    std::fs::hard_link(ground.path("prog"), ground.path("applet")).expect("a link");
    let ran = ground.sh("./prog ran; echo $?; ./applet twin");
    assert_eq!(ran.stdout, "126\ntwin\n", "{}", ran.stderr);
}

#[test]
fn a_denied_file_is_denied_below_a_bind_mount_over_another_name() {
    let ground = Ground::full("[[deny]]\nid = \"no-prog\"\nprogram = \"DIR/prog\"\n");
    let _prog = ground.copy("/usr/bin/echo", "prog");
    let _twin = ground.copy("/usr/bin/echo", "twin");
    let inner = "touch here; for f in twin prog; do mount --bind $f here || echo no-mount; \
        ./here $f; echo $?; done";
    let ran = ground.run(&["unshare", "-Urm", "sh", "-c", inner]);
    if ran.stderr.contains("unshare failed") || ran.stdout.contains("no-mount") {
        return skip("this system makes no user namespaces, so no mounts of one's own");
    }
    assert_eq!(ran.stdout, "twin\n0\n126\n", "{}", ran.stderr);
}

/// Device and inode of a file on an overlay are not those that a mapping of it shows.
#[test]
fn a_file_on_an_overlay_is_told_from_another_there() {
    let ground = Ground::full("[[deny]]\nid = \"no-b\"\nprogram = \"DIR/merged/prog-b\"\n");
    for directory in ["lower", "upper", "work", "merged"] {
        std::fs::create_dir(ground.path(directory)).expect("a directory");
    }
    let _twin = ground.copy("/usr/bin/echo", "lower/prog-a");
    let _prog = ground.copy("/usr/bin/echo", "lower/prog-b");
    let inner = "mount -t overlay -o lowerdir=lower,upperdir=upper,workdir=work none merged \
        || echo no-mount; cd merged; for f in prog-a prog-b; do ./$f $f; echo $?; done; \
        cp prog-a new; ./new new; touch prog-b; ./prog-b b; echo $?";
    let ran = ground.run(&["unshare", "-Urm", "sh", "-c", inner]);
    if ran.stderr.contains("unshare failed") || ran.stdout.contains("no-mount") {
        return skip("this system makes no user namespaces, so no mounts of one's own");
    }
    assert_eq!(ran.stdout, "prog-a\n0\n126\nnew\n126\n", "{}", ran.stderr);
    let outcome = ran.outcome(&["./prog-a", "prog-a"]);
    assert_eq!(outcome["result"], "verified");
    let refused = ran.decisions(&["./prog-b"])[0];
    assert_eq!(refused["decision"]["rule"]["id"], "no-b");
    assert_eq!(refused["effect"]["errno"], "EPERM");
}

/// The program is the genuine one; what the kernel loads to start it is not.
#[test]
fn a_bind_mount_over_the_elf_interpreter_loads_nothing() {
    let ground = Ground::allowlist(
        "[[allow]]\nid = \"a\"\nprogram = [\"sh\", \"dash\", \"unshare\", \"mount\", \"true\"]\n",
    );
    let system = "/lib64/ld-linux-x86-64.so.2";
    if std::fs::metadata(system).is_err() {
        return skip("this system has another ELF interpreter");
    }
    let other = ground.copy(system, "other");
    for (from, expected) in [(system, "before\n0\n"), (&other, "before\n137\n")] {
        let inner = format!(
            "/usr/bin/true && echo before; mount --bind {from} {system} || echo no-mount; \
             /usr/bin/true; echo $?"
        );
        let ran = ground.run(&["unshare", "-Urm", "sh", "-c", &inner]);
        if ran.stderr.contains("unshare failed") || ran.stdout.contains("no-mount") {
            return skip("this system makes no user namespaces, so no mounts of one's own");
        }
        assert_eq!(ran.stdout, expected, "{}", ran.stderr);
    }
}
