//! Containers of runc's and crun's, in which a session's `execward` runs.
//!
//! A ground's directory and the programs of this workspace have the paths in them that they have outside.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::{Ground, binary};

/// The root file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Root {
    /// This machine's, below an overlay.
    Debian,
    /// busybox, with a name for each of its applets.
    Busybox,
    /// Nothing but the libraries that programs are linked with.
    Bare,
    /// Nothing.
    Empty,
}

/// The programs that make containers of one description (the OCI's).
pub const RUNTIMES: [&str; 2] = ["runc", "crun"];

/// A container, as `runc spec` describes one, and as it is changed.
#[derive(Debug)]
pub struct Container {
    runtime: &'static str,
    root: Root,
    config: Value,
    uid: u32,
    /// What podman says of it.
    containerenv: Option<String>,
    /// A shell's text that adds to the root file system.
    furniture: Option<&'static str>,
}

/// The capabilities that Docker leaves.
pub const OF_DOCKER: [&str; 14] = [
    "CAP_AUDIT_WRITE",
    "CAP_CHOWN",
    "CAP_DAC_OVERRIDE",
    "CAP_FOWNER",
    "CAP_FSETID",
    "CAP_KILL",
    "CAP_MKNOD",
    "CAP_NET_BIND_SERVICE",
    "CAP_NET_RAW",
    "CAP_SETFCAP",
    "CAP_SETGID",
    "CAP_SETPCAP",
    "CAP_SETUID",
    "CAP_SYS_CHROOT",
];

/// Leaves a test out where no container can be had.
#[macro_export]
macro_rules! needs_containers {
    () => {
        if !$crate::is_root() {
            return $crate::skip("only root can start a container");
        }
        for path in ["/usr/sbin/runc", "/usr/bin/crun"] {
            if std::fs::metadata(path).is_err() {
                return $crate::skip(&format!("there is no {path}"));
            }
        }
    };
}

impl Container {
    /// One of runc's, with what that leaves by itself.
    ///
    /// # Panics
    /// If runc describes none.
    #[must_use]
    pub fn on(root: Root) -> Self {
        let scratch = tempfile::tempdir().expect("a directory");
        let mut spec = Command::new("runc");
        spec.arg("spec").current_dir(scratch.path());
        assert!(spec.status().expect("runc").success());
        let text = fs::read(scratch.path().join("config.json")).expect("a configuration");
        let mut config: Value = serde_json::from_slice(&text).expect("JSON");
        config["process"]["terminal"] = false.into();
        config["root"]["readonly"] = false.into();
        Self {
            runtime: "runc",
            root,
            config,
            uid: 0,
            containerenv: None,
            furniture: None,
        }
    }

    /// With this in `/run/.containerenv`, on a root file system of its own.
    #[must_use]
    pub fn with_containerenv(mut self, text: &str) -> Self {
        self.containerenv = Some(text.to_owned());
        self
    }

    /// With what a shell's `script` makes there, on a root file system of its own.
    #[must_use]
    pub fn furnished(mut self, script: &'static str) -> Self {
        self.furniture = Some(script);
        self
    }

    /// With another mount.
    ///
    /// # Panics
    /// If the configuration has none.
    #[must_use]
    pub fn mounting(mut self, mount: Value) -> Self {
        let mounts = self.config["mounts"].as_array_mut().expect("mounts");
        mounts.push(mount);
        self
    }

    /// Made by another of [`RUNTIMES`].
    #[must_use]
    pub fn made_by(mut self, runtime: &'static str) -> Self {
        self.runtime = runtime;
        if runtime == "crun" {
            // A program for the devices of a cgroup asks for more locked memory than there may be.
            self.config["linux"]["resources"] = json!({});
        }
        self
    }

    /// CMD's user, who has no capabilities if that is not root.
    #[must_use]
    pub fn of_user(mut self, uid: u32) -> Self {
        self.uid = uid;
        self.config["process"]["user"] = json!({"uid": uid, "gid": uid});
        self.with_capabilities(&[])
    }

    /// With these capabilities.
    #[must_use]
    pub fn with_capabilities(mut self, names: &[&str]) -> Self {
        let sets = ["bounding", "effective", "permitted"];
        let sets = sets.map(|set| (set.to_owned(), json!(names)));
        self.config["process"]["capabilities"] = Value::Object(sets.into_iter().collect());
        self
    }

    /// With a root file system that can be read alone.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        self.config["root"]["readonly"] = true.into();
        self
    }

    /// With this part of the configuration, by JSON pointer, another.
    ///
    /// # Panics
    /// If there is no such part.
    #[must_use]
    pub fn changed(mut self, pointer: &str, value: Value) -> Self {
        let part = self.config.pointer_mut(pointer);
        *part.expect("a part of the configuration") = value;
        self
    }

    /// `command`, which [`Ground::command`] made, in the container.
    ///
    /// # Panics
    /// If its files cannot be made.
    #[must_use]
    pub fn around(mut self, ground: &Ground, command: &Command) -> Command {
        let bundle = ground.path("bundle");
        let root = bundle.join("root");
        fs::create_dir_all(&root).expect("a directory");
        self.furnish(&root);
        let text = |word: &std::ffi::OsStr| word.to_str().expect("UTF-8").to_owned();
        let program = [command.get_program()];
        let words = program.into_iter().chain(command.get_args()).map(text);
        let variables = command.get_envs();
        let variables = variables.filter_map(|(name, value)| Some((text(name), text(value?))));
        let process = &mut self.config["process"];
        process["args"] = words.collect::<Vec<_>>().into();
        process["env"] = variables
            .map(|(name, value)| format!("{name}={value}"))
            .collect::<Vec<_>>()
            .into();
        process["cwd"] = text(ground.path("").as_os_str()).into();
        self.config["root"]["path"] = text(root.as_os_str()).into();
        self.mount(ground);
        let config = self.config.to_string();
        fs::write(bundle.join("config.json"), config).expect("a configuration");
        let owner = format!("{0}:{0}", self.uid);
        run("chown", &["-R", &owner, &text(ground.path("").as_os_str())]);
        self.run(ground)
    }

    /// A program of the outside that runs in a container of runc's while that runs, none of its session.
    #[must_use]
    pub fn beside(ground: &Ground, words: &[&str]) -> Command {
        let mut exec = runtime("runc", ground);
        exec.arg("exec").arg(name(ground)).args(words);
        exec
    }

    fn run(&self, ground: &Ground) -> Command {
        let mut run = runtime(self.runtime, ground);
        run.arg("run").arg("--bundle").arg(ground.path("bundle"));
        run.arg(name(ground));
        let mut mounts = Vec::new();
        if self.root == Root::Debian {
            // It lies below `/` itself, and is gone with whoever sees it.
            mounts.push(
                "mkdir upper work && mount -t overlay none root \
                 -o lowerdir=/,upperdir=$PWD/upper,workdir=$PWD/work",
            );
        }
        if self.runtime == "crun" {
            // It starts nothing where cgroups of both versions are.
            mounts.push("mount -t cgroup2 none /sys/fs/cgroup");
        }
        let script = [mounts, vec!["exec \"$@\""]].concat().join(" && ");
        let words = ["unshare", "--mount", "sh", "-c", &script, "sh"];
        let mut within = crate::under(&words, &run);
        within.current_dir(ground.path("bundle"));
        within
    }

    fn furnish(&self, root: &Path) {
        for directory in ["tmp", "proc", "sys", "dev", "etc"] {
            fs::create_dir(root.join(directory)).expect("a directory");
        }
        let everyone = fs::Permissions::from_mode(0o1777);
        fs::set_permissions(root.join("tmp"), everyone).expect("chmod");
        if self.root == Root::Debian {
            return;
        }
        if let Some(text) = &self.containerenv {
            fs::create_dir(root.join("run")).expect("a directory");
            fs::write(root.join("run/.containerenv"), text).expect("a file");
        }
        if self.root == Root::Empty {
            return;
        }
        bring_libraries(&binary("execward"), root);
        if self.root == Root::Busybox {
            let busybox = Path::new("/usr/bin/busybox");
            bring_libraries(busybox, root);
            bring(busybox, &root.join("bin/busybox"));
            for applet in ["sh", "echo", "mkdir", "touch", "cat"] {
                symlink("busybox", root.join("bin").join(applet)).expect("a link");
            }
        }
        if let Some(script) = self.furniture {
            let mut shell = Command::new("sh");
            shell.args(["-ec", script]).current_dir(root);
            assert!(shell.status().expect("sh").success(), "{script}");
        }
    }

    fn mount(&mut self, ground: &Ground) {
        let programs = binary("execward");
        let programs = programs.parent().expect("a directory").to_owned();
        let bind = |path: PathBuf, mode: &str| {
            json!({
                "destination": path, "source": path, "type": "bind", "options": ["bind", mode],
            })
        };
        let memory = json!({
            "destination": "/tmp", "source": "tmpfs", "type": "tmpfs", "options": ["mode=1777"],
        });
        let mounts = self.config["mounts"].as_array_mut().expect("mounts");
        mounts.extend([memory, bind(programs, "ro"), bind(ground.path(""), "rw")]);
    }
}

/// What a container is called.
fn name(ground: &Ground) -> String {
    let path = ground.path("");
    let name = path.file_name().and_then(|name| name.to_str());
    format!("execward-{}", name.expect("a name").replace('.', ""))
}

fn runtime(name: &str, ground: &Ground) -> Command {
    let mut runtime = Command::new(name);
    runtime
        .arg("--root")
        .arg(ground.path("bundle/state"))
        .stdin(Stdio::null());
    runtime
}

fn run(program: &str, words: &[&str]) -> String {
    let ran = Command::new(program).args(words).output();
    let ran = ran.expect("a program");
    assert!(ran.status.success(), "{program} {words:?}");
    String::from_utf8(ran.stdout).expect("UTF-8")
}

/// The libraries that `program` is linked with, at their paths.
fn bring_libraries(program: &Path, root: &Path) {
    let listed = run("ldd", &[program.to_str().expect("UTF-8")]);
    let paths = listed
        .split_whitespace()
        .filter(|word| word.starts_with('/'));
    for path in paths {
        bring(Path::new(path), &root.join(path.trim_start_matches('/')));
    }
}

fn bring(from: &Path, to: &Path) {
    fs::create_dir_all(to.parent().expect("a directory")).expect("a directory");
    fs::copy(from, to).expect("a copy");
}
