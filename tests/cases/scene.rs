//! A case laid out: its workspace, its policy, and what `check` and `run` make of it there.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use execward_tests::{Ground, Ran, binary, finish};
use serde_json::{Map, Value, json};

use crate::case::{Case, Expect};
use crate::case_policies::CasePolicies;

/// The cases name the system's own programs.
pub(crate) const PATH: &str = "/usr/bin:/bin:/usr/sbin:/sbin";

/// A case's directories and files.
#[derive(Debug)]
pub(crate) struct Scene {
    ground: Ground,
    workspace: PathBuf,
    cwd: PathBuf,
}

impl Scene {
    /// Makes the workspace and runs the case's set-up there, not supervised.
    pub(crate) fn lay_out(case: &Case, policies: &CasePolicies) -> Self {
        let ground = Ground::new(policies.of(&case.policy));
        policies.write_included(&ground.path("include"));
        let workspace = ground.path("t");
        fs::create_dir(&workspace).expect("a workspace");
        let mut ground = ground
            .option("--workspace")
            .option(workspace.to_str().expect("text"))
            .option("--prompt=none")
            .option("--kill-at-exit");
        if case.has_stand_in {
            let stand_ins = stand_ins(&ground);
            ground = ground.option("--policy").option(&stand_ins);
        }
        let mut scene = Self {
            ground,
            cwd: workspace.clone(),
            workspace,
        };
        if let Some(setup) = &case.setup {
            let (status, _, stderr) = scene.unsupervised("setup", setup);
            assert!(status.success(), "{}: {stderr}", case.id);
        }
        scene.cwd = case.directory_in(&scene.workspace);
        scene
    }

    /// Runs `text` with bash.
    pub(crate) fn unsupervised(&self, name: &str, text: &str) -> (ExitStatus, String, String) {
        let mut command = Command::new("/bin/bash");
        command.arg(self.script(name, text)).stdin(Stdio::null());
        self.dress(&mut command);
        finish(command)
    }

    /// Runs `text` with bash under the gate. It is a file, because what `bash -c` is given would be
    /// judged before it is run.
    pub(crate) fn supervised(&self, text: &str) -> Ran {
        let mut command = self
            .ground
            .command(&["/bin/bash", &self.script("command", text)]);
        self.dress(&mut command);
        let (status, stdout, stderr) = finish(command);
        let records = self.ground.records();
        Ran {
            status,
            stdout,
            stderr,
            records,
        }
    }

    fn script(&self, name: &str, text: &str) -> String {
        self.ground.script(&format!("{name}.sh"), text)
    }

    fn dress(&self, command: &mut Command) {
        command
            .current_dir(&self.cwd)
            .env("T", &self.workspace)
            .env("HOME", self.ground.path(""))
            .env("PATH", PATH)
            .env("LC_ALL", "C.UTF-8");
    }

    /// Whether the payload's file is there.
    pub(crate) fn has(&self, marker: &str) -> bool {
        self.workspace
            .join(marker)
            .try_exists()
            .expect("the workspace")
    }

    pub(crate) fn workspace(&self) -> &Path {
        &self.workspace
    }

    /// The exit code of `check` for this exec, and what it says.
    pub(crate) fn check(&self, case: &Case, exec: &[String]) -> (Option<i32>, String) {
        let mut command = Command::new(binary("execward"));
        command
            .arg("check")
            .arg("--policy")
            .arg(self.ground.path("policy.toml"));
        if case.has_stand_in {
            command.args(["--policy", &stand_ins(&self.ground)]);
        }
        command.arg("--workspace").arg(&self.workspace);
        // A variable that nothing watches says that the environment is known.
        command.args(["--env", "LC_ALL=C.UTF-8"]);
        for (name, value) in &case.env {
            let value = case.value_of(value, &self.workspace);
            command.args(["--env", &format!("{name}={value}")]);
        }
        if case.expect == Expect::Allow && Case::is_own(exec) {
            command.arg("--missing");
        }
        self.dress(&mut command);
        command.args(["--request", "-"]);
        answer(command, &self.record(case, exec))
    }

    /// The exec as a record of the audit log, which can say a name that is not the path's, any byte,
    /// and more than fits a command line.
    fn record(&self, case: &Case, exec: &[String]) -> Value {
        let mut bytes = Map::new();
        let mut put = |pointer: String, word: &[u8]| {
            bytes.insert(pointer, STANDARD.encode(word).into());
        };
        let (path, argv) = exec.split_first().expect("a path");
        put(
            "/proc/req_path".to_owned(),
            &case.bytes_of(path, &self.workspace),
        );
        for (at, word) in argv.iter().enumerate() {
            put(
                format!("/proc/argv/{at}"),
                &case.bytes_of(word, &self.workspace),
            );
        }
        json!({ "proc": { "argv": argv, "cwd": self.cwd }, "bytes": bytes })
    }
}

/// What says that a stub is the program of its name.
fn stand_ins(ground: &Ground) -> String {
    ground.path("include/stand-ins.toml").display().to_string()
}

fn answer(mut command: Command, record: &Value) -> (Option<i32>, String) {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().expect("execward");
    let mut stdin = child.stdin.take().expect("stdin");
    // Where the policy does not load, nobody reads it.
    stdin.write_all(record.to_string().as_bytes()).ok();
    drop(stdin);
    let output = child.wait_with_output().expect("execward");
    let said = [output.stdout, output.stderr].concat();
    (
        output.status.code(),
        String::from_utf8(said).expect("text").trim().to_owned(),
    )
}
