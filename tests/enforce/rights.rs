//! Rights: of files that bring them (set-user-ID, set-group-ID, capabilities of their own), and of root,
//! which does without some.

use std::ffi::CString;
use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use execward_tests::{Ground, Ran, is_root, of_type, skip, under};

/// Runs `line` in a shell of a user without rights. (setpriv itself keeps its own until it executes
/// that.)
fn as_another(ground: &Ground, line: &str) -> Ran {
    let user = ["--reuid=65534", "--regid=65534", "--clear-groups"];
    ground.run(&[&["setpriv"], &user[..], &["sh", "-c", line]].concat())
}

/// A ground where anybody may write, with copies of touch that root owns: `plain`, and `suid`,
/// `sgid`, `caps`, which bring rights.
#[track_caller]
fn ground(rules: &str) -> Ground {
    let ground = Ground::full(rules).option("--prompt=none");
    let writable = Permissions::from_mode(0o777);
    fs::set_permissions(ground.path(""), writable).expect("chmod");
    for (name, mode) in [
        ("plain", 0o755),
        ("suid", 0o4755),
        ("sgid", 0o2755),
        ("lock", 0o2745),
        ("caps", 0o755),
    ] {
        let _copy = ground.copy("/usr/bin/touch", name);
        fs::set_permissions(ground.path(name), Permissions::from_mode(mode)).expect("chmod");
    }
    permit_chown(&ground.path("caps"));
    ground
}

/// Gives `CAP_CHOWN` to whoever executes the file: `vfs_cap_data` of linux/capability.h.
fn permit_chown(path: &Path) {
    const REVISION_2: u32 = 0x0200_0000;
    const CAP_CHOWN: u32 = 1;
    let words = [REVISION_2, CAP_CHOWN, 0, 0, 0];
    let data: Vec<u8> = words.into_iter().flat_map(u32::to_le_bytes).collect();
    let path = CString::new(path.as_os_str().as_bytes()).expect("a path");
    let flags = rustix::fs::XattrFlags::empty();
    rustix::fs::setxattr(&path, "security.capability", &data, flags).expect("setxattr");
}

#[test]
fn a_file_that_brings_rights_is_asked_about_and_one_that_does_not_runs() {
    if !is_root() {
        return skip("only root can make such files");
    }
    let ground = ground("");
    for (name, is_asked) in [
        ("plain", false),
        ("suid", true),
        ("sgid", true),
        ("lock", false),
        ("caps", true),
    ] {
        let (program, marker) = (format!("./{name}"), format!("{name}.ran"));
        let ran = as_another(&ground, &format!("{program} {marker}"));
        assert_eq!(ground.has(&marker), !is_asked, "{name}: {}", ran.stderr);
        let decision = ran.decisions(&[&program])[0];
        if !is_asked {
            assert_eq!(decision["decision"]["verdict"], "allow", "{decision}");
            continue;
        }
        assert_eq!(decision["decision"]["verdict"], "deny", "{decision}");
        assert_eq!(decision["decision"]["reason"], "no_approver");
        assert_eq!(decision["decision"]["rule"]["id"], "set-uid");
        assert_eq!(decision["effect"]["errno"], "EPERM");
        assert!(ran.stderr.contains("rule set-uid asks"), "{}", ran.stderr);
    }
}

#[test]
fn who_has_the_rights_already_is_not_asked_and_an_allow_of_the_users_lifts_it() {
    if !is_root() {
        return skip("only root can make such files");
    }
    let ground = ground("[[allow]]\nid = \"ok\"\nprogram = \"DIR/suid\"\n");
    for name in ["suid", "sgid", "caps"] {
        let ran = ground.run(&[&format!("./{name}"), &format!("{name}.root")]);
        assert!(ground.has(&format!("{name}.root")), "{}", ran.stderr);
    }
    let ran = as_another(&ground, "./suid other");
    assert!(ground.has("other"), "{}", ran.stderr);
    let decision = ran.decisions(&["./suid"])[0];
    assert_eq!(decision["decision"]["rule"]["id"], "ok");
    let ran = as_another(&ground, "./sgid never");
    assert!(!ground.has("never"), "{}", ran.stderr);
}

#[test]
fn a_refusal_of_such_questions_refuses_no_other() {
    if !is_root() {
        return skip("only root can make such files");
    }
    let asking = "approval = { reject = { sandbox_approval = true } }\n\
        [[allow]]\nid = \"sh\"\nprogram = [\"setpriv\", \"sh\", \"dash\"]\n\
        [[ask]]\nid = \"plain\"\nprogram = \"DIR/plain\"\n";
    let ground = ground(asking);
    for (line, reason) in [("./suid never", "rule"), ("./plain never", "no_approver")] {
        let ran = as_another(&ground, line);
        assert!(!ground.has("never"), "{}", ran.stderr);
        let program = line.split(' ').next().unwrap_or_default();
        let decision = ran.decisions(&[program])[0];
        assert_eq!(decision["decision"]["verdict"], "deny");
        assert_eq!(decision["decision"]["reason"], reason, "{decision}");
    }
}

/// The system's own set-user-ID files are not this user's.
#[test]
fn what_the_system_has_set_uid_is_asked_about_and_its_copy_runs() {
    if is_root() {
        return skip("root has the rights of such files already");
    }
    let ground = Ground::full("").option("--prompt=none");
    let found = ["/usr/bin/su", "/usr/bin/mount", "/usr/bin/passwd"]
        .into_iter()
        .find(|path| {
            let mode = fs::metadata(path).map(|seen| seen.permissions().mode());
            mode.is_ok_and(|mode| mode & 0o4000 != 0)
        });
    let Some(path) = found else {
        return skip("the system has no set-user-ID file that is known here");
    };
    let _copy = ground.copy(path, "copy");
    let ran = ground.run(&[path, "--version"]);
    let decision = ran.decisions(&[path])[0];
    assert_eq!(decision["decision"]["verdict"], "deny", "{decision}");
    assert_eq!(decision["decision"]["rule"]["id"], "set-uid");
    assert_eq!(decision["effect"]["errno"], "EPERM");
    assert_eq!(ran.stdout, "");
    let ran = ground.run(&["./copy", "--version"]);
    let decision = ran.decisions(&["./copy"])[0];
    assert_eq!(decision["decision"]["verdict"], "allow", "{decision}");
}

/// A script that tries what a session of root could do to the kernel; each try that is made says so.
const HOLDS: &str = "pattern=$(cat /proc/sys/kernel/core_pattern)
    (echo \"$pattern\" > /proc/sys/kernel/core_pattern) 2>/dev/null && echo core_pattern
    mkdir at && unshare -m mount -t tmpfs none at 2>/dev/null && echo mount
    unshare -m mount -t tmpfs none /proc/$$ 2>/dev/null && echo proc
    mknod null c 1 3 2>/dev/null && echo device
    rm -rf at null; /bin/echo over\n";

#[test]
fn a_session_of_root_has_no_hold_on_the_kernel() {
    if !is_root() {
        return skip("only root has what is taken away");
    }
    let ran = Ground::full("").sh(HOLDS);
    assert_eq!(ran.stdout, "over\n", "{}", ran.stderr);
    let kept = Ground::full("").option("--keep-caps").sh(HOLDS);
    assert_eq!(
        kept.stdout, "core_pattern\nmount\nproc\ndevice\nover\n",
        "{}",
        kept.stderr
    );
    for (ran, keeps) in [(ran, false), (kept, true)] {
        let start = of_type(&ran.records, "session.start")
            .next()
            .expect("a start");
        assert_eq!(start["keeps_caps"] == true, keeps);
    }
}

/// The session of a script in a mount namespace for which a shell has done `before`, and its ground.
fn in_mounts(option: &str, before: &str, script: &str) -> (Ran, Ground) {
    let ground = Ground::full("").option(option);
    let session = ground.command(&["sh", "-c", script]);
    let prepared = format!("{before}; exec \"$@\"");
    let shell = ["unshare", "-m", "sh", "-c", &prepared, "sh"];
    (ground.end(under(&shell, &session)), ground)
}

/// As where a machine has the root directory of another system: proc and sysfs are mounted there, too.
#[test]
fn what_is_mounted_a_second_time_is_closed_to_root_as_well() {
    if !is_root() {
        return skip("only root has what is taken away");
    }
    let script = "for at in \"a proc/sys/kernel/core_pattern\" sysfs/kernel/mm/ksm/run cgroup/cgroup.procs; do
        (: >> \"$at\") 2>/dev/null && echo \"$at\"; done; echo kept >> plain/file; /bin/echo over";
    let mounts = "mkdir -p 'a proc' sysfs cgroup plain && mount -t proc none 'a proc' && mount -t sysfs none sysfs && \
                  mount -t cgroup2 none cgroup && mount --bind plain plain || exit 9";
    let by = |option: &str| {
        let (ran, ground) = in_mounts(option, mounts, script);
        assert!(ground.has("plain/file"));
        ran
    };
    let closed = by("--prompt=none");
    assert_eq!(closed.stdout, "over\n", "{}", closed.stderr);
    let open = by("--keep-caps");
    assert_eq!(
        open.stdout,
        "a proc/sys/kernel/core_pattern\nsysfs/kernel/mm/ksm/run\ncgroup/cgroup.procs\nover\n",
        "{}",
        open.stderr
    );
}

/// What was entered or opened before is as it was mounted then.
#[test]
fn a_directory_that_root_was_in_or_had_open_is_no_way_around() {
    if !is_root() {
        return skip("only root has what is taken away");
    }
    let script = "for at in core_pattern /proc/self/fd/7/proc/sys/kernel/core_pattern; do
        [ -e $at ] && (: >> $at) 2>/dev/null && echo open; done; echo over";
    let by = |option: &str, before: &str| in_mounts(option, before, script).0;
    let inside = "cd /proc/sys/kernel";
    let closed = by("--prompt=none", inside);
    assert_eq!(closed.stdout, "over\n", "{}", closed.stderr);
    assert_eq!(by("--keep-caps", inside).stdout, "open\nover\n");
    assert_eq!(by("--keep-caps", "exec 7</").stdout, "open\nover\n");
    let removed = by("--prompt=none", "mkdir gone; cd gone; rmdir ../gone");
    assert_eq!(removed.stdout, "over\n", "{}", removed.stderr);
    const ENTERED: &str = "from in there CMD would reach what execward closes or hides";
    const OPEN: &str = "by which CMD would reach what execward closes or hides; close it (`7<&-`)";
    for (option, before, said) in [
        (
            "--prompt=none",
            "mkdir at; mount -t proc none at; cd at/sys/kernel; umount -l ../..",
            ENTERED,
        ),
        (
            "--prompt=none",
            "mkdir at; mount -t proc none at; cd at/sys/kernel; mount -t tmpfs none ../..",
            ENTERED,
        ),
        (
            "--prompt=none",
            "mkdir at; cd at; mount -t tmpfs none ../at",
            ENTERED,
        ),
        ("--prompt=none", "exec 7</proc/sys/kernel", OPEN),
        ("--prompt=none", "exec 7</", OPEN),
        ("--pid-namespace", "cd /proc", ENTERED),
        (
            "--hide-state",
            "mkdir -p state/execward/x; cd state/execward/x",
            ENTERED,
        ),
        ("--hide-state", "exec 7</", OPEN),
    ] {
        let refused = by(option, before);
        let seen = (refused.code(), refused.stdout.as_str());
        assert_eq!(seen, (Some(125), ""), "{before}: {}", refused.stderr);
        assert!(
            refused.stderr.contains(said),
            "{before}: {}",
            refused.stderr
        );
    }
}

/// As in a container, where the runtime has closed these files or has not.
#[test]
fn what_cannot_be_closed_to_root_is_said_and_nothing_runs() {
    if !is_root() {
        return skip("only root has what is taken away");
    }
    let ground = Ground::full("");
    let caps = [
        "setpriv",
        "--bounding-set",
        "-sys_admin",
        "--inh-caps",
        "-all",
    ];
    let session = || ground.command(&["/bin/echo", "ran"]);
    let open = ground.end(under(&caps, &session()));
    assert_eq!((open.code(), open.stdout.as_str()), (Some(125), ""));
    let said = "cannot make `/proc/sys` read-only for a session of root";
    assert!(open.stderr.contains(said), "{}", open.stderr);
    let closed_by = |mount: &str| {
        let close = format!(
            "mount --bind /sys /sys/kernel/mm; for at in /proc/sys /sys/kernel /sys/fs/cgroup; do {mount} $at $at && \
             mount -o remount,bind,ro $at || exit 9; done; exec \"$@\""
        );
        let container = [&["unshare", "-m", "sh", "-c", &close, "sh"][..], &caps].concat();
        ground.end(under(&container, &session()))
    };
    let closed = closed_by("mount --bind");
    assert_eq!(closed.stdout, "ran\n", "{}", closed.stderr);
    assert_eq!(closed.results("verified"), 1);
    // What is mounted further below can still be written.
    let half_closed = closed_by("mount --rbind");
    let is_half = (half_closed.code(), half_closed.stdout.as_str());
    assert_eq!(is_half, (Some(125), ""), "{}", half_closed.stderr);
}
