//! CMD as another user than root who starts it: `--user`.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::Path;

use execward_tests::{
    Asking, Ground, binary, finish, is_root, needs_answers, of_type, skip, under, until,
};

use crate::approvals::ground as basis;

/// Whose number the tests run as without root, too.
const NOBODY: &str = "nobody";
const REASON: &str = "only root can run a command as another user";

/// A ground whose sessions run as that user, who may make files there and keeps off those of others.
fn ground(ground: Ground) -> Ground {
    open_to_all(&ground.path(""));
    ground.option(&format!("--user={NOBODY}"))
}

fn open_to_all(directory: &Path) {
    fs::set_permissions(directory, Permissions::from_mode(0o1777)).expect("chmod");
}

#[test]
fn the_command_has_the_users_rights_and_home_and_none_of_the_callers() {
    if !is_root() {
        return skip(REASON);
    }
    let ground = ground(Ground::full(""));
    let ran = ground.sh(
        "id -u; id -G; echo $HOME $USER $LOGNAME; echo [$XDG_STATE_HOME$XDG_RUNTIME_DIR]
         awk '/^(CapPrm|CapEff|CapInh|NoNewPrivs|Seccomp_filters)/ { print $1, $2 }' /proc/self/status",
    );
    let none = "0000000000000000";
    let expected = format!(
        "65534\n65534\n/nonexistent nobody nobody\n[]\nCapInh: {none}\nCapPrm: {none}\n\
         CapEff: {none}\nNoNewPrivs: 1\nSeccomp_filters: 1\n"
    );
    assert_eq!(ran.stdout, expected, "{}", ran.stderr);
    let start = of_type(&ran.records, "session.start").next().expect("one");
    assert_eq!(
        (&start["uid"], &start["cmd_uid"]),
        (&0.into(), &65534.into())
    );
    for decision in of_type(&ran.records, "exec.decision") {
        assert_eq!(decision["proc"]["uid_e"], 65534, "{decision}");
    }
}

#[test]
fn who_cannot_be_or_may_not_run_the_command_is_said_and_nothing_runs() {
    let says = |user: &str, why: &str| {
        let ground = Ground::full("").option(&format!("--user={user}"));
        let ran = ground.run(&["touch", "marker"]);
        assert_eq!(ran.status.code(), Some(125), "{}", ran.stderr);
        assert!(ran.stderr.contains(why), "{}", ran.stderr);
        assert!(!ground.has("marker"));
    };
    if !is_root() {
        return says(NOBODY, "only root can run CMD as another user");
    }
    says("no-such-user", "there is no user `no-such-user`");
    says("root", "`root` is user 0");
    says("0", "`root` is user 0");
    // The twin, by its number.
    let open = Ground::full("").option("--user=65534");
    fs::set_permissions(open.path(""), Permissions::from_mode(0o755)).expect("chmod");
    assert_eq!(open.run(&["id", "-u"]).stdout, "65534\n");
}

/// Else the promise would hold for nothing: a policy, a log or a socket that this user can change.
#[test]
fn what_the_user_can_change_is_no_policy_log_or_socket() {
    if !is_root() {
        return skip(REASON);
    }
    let theirs = |ground: &Ground| {
        fs::create_dir(ground.path("theirs")).expect("a directory");
        chown(ground.path("theirs"), Some(65534), None).expect("chown");
        ground.path("theirs")
    };
    let refused = |ground: &Ground, command: std::process::Command| {
        let ran = ground.end(command);
        assert_eq!(ran.status.code(), Some(125), "{}", ran.stdout);
        assert!(
            ran.stderr.contains("out of the reach of nobody"),
            "{}",
            ran.stderr
        );
        assert!(!ground.has("marker"));
    };
    let touch = ["touch", "marker"];
    // By its owner, its mode, its directory, or what a link leads to.
    let ground = self::ground(Ground::full(""));
    chown(ground.path("policy.toml"), Some(65534), None).expect("chown");
    refused(&ground, ground.command(&touch));
    let ground = self::ground(Ground::full(""));
    fs::set_permissions(ground.path("policy.toml"), Permissions::from_mode(0o666)).expect("chmod");
    refused(&ground, ground.command(&touch));
    let ground = self::ground(Ground::full(""));
    fs::set_permissions(ground.path(""), Permissions::from_mode(0o777)).expect("chmod");
    refused(&ground, ground.command(&touch));
    let ground = self::ground(Ground::full(""));
    fs::rename(
        ground.path("policy.toml"),
        theirs(&ground).join("policy.toml"),
    )
    .expect("moved");
    symlink("theirs/policy.toml", ground.path("policy.toml")).expect("a link");
    refused(&ground, ground.command(&touch));
    for (option, name) in [("--audit", "audit.jsonl"), ("--control", "control")] {
        let ground = self::ground(Ground::full(""));
        let path = theirs(&ground).join(name).display().to_string();
        let ground = ground.option(option).option(&path);
        refused(&ground, ground.command(&touch));
    }
    let ground = self::ground(Ground::full(""));
    assert_eq!(ground.run(&touch).status.code(), Some(0));
    assert!(ground.has("marker"));
}

/// What of its own processes works, and of the gate's and the front's does not.
#[test]
fn another_user_has_no_hold_on_front_and_gate() {
    if !is_root() {
        return skip(REASON);
    }
    let ground = ground(Ground::full(""));
    let ways = binary("fixture-ways").display().to_string();
    let script = format!(
        "gate=$PPID; front=$(awk '/^PPid/ {{ print $2 }}' /proc/$gate/status); sleep 1000 &
         for c in $(cat /proc/$gate/task/$gate/children); do [ $c = $$ ] || keeper=$c; done
         for p in $gate $front $keeper $!; do
             {ways} attach $p | grep -x errno=0; {ways} steal $p | grep -x errno=0
             (: < /proc/$p/mem) 2>/dev/null && echo mem
             readlink /proc/$p/fd/0 >/dev/null 2>&1 && echo fd
             (echo 0 > /proc/$p/oom_score_adj) 2>/dev/null && echo oom
             prlimit --pid $p --nofile=4:4 >/dev/null 2>&1 && echo prlimit
             renice -n 19 -p $p >/dev/null 2>&1 && echo renice
             taskset -p 1 $p >/dev/null 2>&1 && echo taskset
             kill -s STOP $p 2>/dev/null && echo stop; kill -s KILL $p 2>/dev/null && echo kill
             echo over $p
         done; echo $gate $front $keeper $!"
    );
    let ran = ground.sh(&script);
    let (told, named) = ran.stdout.trim_end().rsplit_once('\n').expect("lines");
    let numbers: Vec<&str> = named.split(' ').collect();
    let [gate, front, keeper, own] = numbers[..] else {
        panic!("{}{}", ran.stdout, ran.stderr);
    };
    // Yama keeps even one's own processes apart, but for descendants.
    let scope = fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope").unwrap_or_default();
    let traced = match scope.trim() {
        "" | "0" => "errno=0\nerrno=0\nmem\n",
        _ => "",
    };
    let expected = format!(
        "over {gate}\nover {front}\nover {keeper}\n{traced}fd\noom\nprlimit\nrenice\ntaskset\n\
         stop\nkill\nover {own}"
    );
    assert_eq!(told, expected, "{}", ran.stderr);
    let records = ground.records_at_end();
    assert_eq!(of_type(&records, "session.end").count(), 1);
}

/// Of what root has, that user gets the standard descriptors, and no other, nor root's keys; and nothing
/// of that user is left to read root's terminal.
#[test]
fn another_user_inherits_no_descriptor_no_key_and_no_terminal() {
    if !is_root() {
        return skip(REASON);
    }
    let script = "ls /proc/self/fd; python3 -c \"$1\"; sleep 1000 & echo $!";
    const LOOKS: &str = "import ctypes,sys\nsys.stdout.write('key %d\\n' % (ctypes.CDLL(None)\
        .syscall(250, 10, -3, b'user', b'execward-test', 0) > 0))";
    const KEEPS: &str = "import ctypes,os,sys\nc=ctypes.CDLL(None)\nc.syscall(250, 1, None)\n\
        c.syscall(248, b'user', b'execward-test', b'secret', 6, -3)\n\
        os.set_inheritable(os.open('/etc/passwd', 0), True)\nos.execvp(sys.argv[1], sys.argv[1:])";
    let run = |ground: Ground| {
        let command = ground.command(&["sh", "-c", script, "sh", LOOKS]);
        let ran = ground.end(under(&["python3", "-c", KEEPS], &command));
        let lines: Vec<String> = ran.stdout.lines().map(str::to_owned).collect();
        (lines, ground)
    };
    let (lines, _) = run(ground(Ground::full("")));
    let [fds @ .., key, left] = &lines[..] else {
        panic!("{lines:?}");
    };
    // The last is that of the directory itself.
    assert_eq!((fds.join(" ").as_str(), key.as_str()), ("0 1 2 3", "key 0"));
    let left = format!("/proc/{left}");
    until("the end of what was left", || {
        (!fs::exists(&left).expect("proc")).then_some(())
    });
    // The twin has root's rights anyway.
    let (lines, _) = run(Ground::full("").option("--kill-at-exit"));
    assert!(
        lines.len() > 6 && lines.contains(&"key 1".to_owned()),
        "{lines:?}"
    );
}

/// The kernel says who sends on a socket, and would name the gate.
#[test]
fn another_users_socket_gets_no_line_of_root() {
    if !is_root() {
        return skip(REASON);
    }
    const RECEIVES: &str = "import socket,subprocess,sys\na,b=socket.socketpair()\n\
        try: subprocess.run(['/usr/bin/touch', 'marker'], stderr=b)\n\
        except PermissionError: pass\n\
        a.setblocking(False)\n\
        try: print(a.recv(99))\n\
        except BlockingIOError: print('nothing')";
    let rules = "[[deny]]\nid = \"evil\"\nprogram = \"touch\"\n";
    let said = |ground: Ground| ground.run(&["python3", "-c", RECEIVES]).stdout;
    assert_eq!(said(ground(Ground::full(rules))), "nothing\n");
    assert!(said(Ground::full(rules)).contains("execward: denied touch marker"));
}

/// Log, policy, state, socket and execward itself belong to who started the session.
#[test]
fn another_user_changes_neither_log_nor_policy_nor_execward() {
    if !is_root() {
        return skip(REASON);
    }
    let ground = Ground::full("[[deny]]\nid = \"evil\"\nprogram = \"touch\"\n");
    fs::create_dir(ground.path("kept")).expect("a directory");
    fs::rename(ground.path("policy.toml"), ground.path("kept/policy.toml")).expect("moved");
    fs::create_dir(ground.path("open")).expect("a directory");
    open_to_all(&ground.path("open"));
    let kept = |name: &str| ground.path("kept").join(name).display().to_string();
    let execward = binary("execward").display().to_string();
    let script = format!(
        "cd {open}; for f in {policy} {log} {execward} own; do
             (: >> $f) 2>/dev/null && echo $f written; mv $f away 2>/dev/null && echo $f moved
             cp /dev/null new; mv new $f 2>/dev/null && echo $f replaced
         done
         for d in /var/lib/execward /var/log/execward /run/execward; do ls $d 2>&1 && echo seen; done | grep -x seen
         touch marker; echo $?",
        open = ground.path("open").display(),
        policy = kept("policy.toml"),
        log = kept("audit.jsonl"),
    );
    let script = ground.script("script.sh", &script);
    let mut command = std::process::Command::new(binary("execward"));
    command
        .args([
            "run",
            "-q",
            "--prompt=none",
            "--user",
            NOBODY,
            "--policy",
            &kept("policy.toml"),
        ])
        .args(ground.state())
        .args(["--audit", &kept("audit.jsonl"), "--", "sh", &script])
        .env("PATH", "/usr/bin:/bin");
    let (_, stdout, stderr) = finish(command);
    assert_eq!(
        stdout, "own written\nown moved\nown replaced\n126\n",
        "{stderr}"
    );
    assert!(!ground.has("open/marker"));
    until("the last record", || {
        let log = fs::read_to_string(kept("audit.jsonl")).expect("the log");
        log.contains("session.end").then_some(())
    });
}

/// Root answers; the user does not, from within or from outside.
#[test]
fn another_user_answers_nothing_inside_or_outside() {
    needs_answers!();
    if !is_root() {
        return skip(REASON);
    }
    let ask = "[[ask]]\nid = \"ask-touch\"\nprogram = \"touch\"\n";
    let execward = binary("execward").display().to_string();
    let script = format!(
        "/usr/bin/touch a & read id; {execward} allow $id --session NAME 2>/dev/null; echo $?; wait; \
         echo over"
    );
    let mut asking = Asking::start(ground(Ground::full(ask)), "socket", &script);
    let question = asking.question();
    let mut stdin = asking.stdin();
    std::io::Write::write_all(&mut stdin, format!("{}\n", question.id).as_bytes()).expect("read");
    assert_ne!(asking.stdout.next_line().as_deref(), Some("0"));
    let user = ["--reuid=65534", "--regid=65534", "--clear-groups"];
    let mut outside = std::process::Command::new("setpriv");
    outside
        .args(user)
        .args([&execward, "allow", &question.id, "--control"])
        .arg(asking.socket())
        .env("HOME", "/tmp");
    let (status, _, stderr) = finish(outside);
    assert_ne!(status.code(), Some(0), "{stderr}");
    assert!(!asking.has_run("a"));
    asking.answer(&["allow", &question.id]);
    assert_eq!(asking.stdout.next_line().as_deref(), Some("over"));
    let records = asking.end();
    assert_eq!(basis(&records, "a"), ("allow", "user"));
    assert!(asking.has_run("a"));
}

/// A program of a system directory is what a bare name means, unless that user may write there.
#[test]
fn a_bare_name_is_no_file_that_the_user_can_write() {
    if !is_root() {
        return skip(REASON);
    }
    let rules = "[[allow]]\nid = \"a\"\nprogram = [\"sh\", \"tool\"]\n";
    for (mode, status) in [(0o755, 0), (0o777, 126)] {
        let ground = ground(Ground::allowlist(rules));
        fs::create_dir(ground.path("bin")).expect("a directory");
        let _tool = ground.copy("/bin/true", "bin/tool");
        fs::set_permissions(ground.path("bin"), Permissions::from_mode(mode)).expect("chmod");
        let mount = format!(
            "mount --bind {} /usr/local/bin && exec \"$@\"",
            ground.path("bin").display()
        );
        let outer = ["unshare", "--mount", "sh", "-c", &mount, "sh"];
        let script = ground.script("script.sh", "/usr/local/bin/tool; echo $?");
        let ran = ground.end(under(&outer, &ground.command(&["sh", &script])));
        assert_eq!(ran.stdout, format!("{status}\n"), "{}", ran.stderr);
    }
}
