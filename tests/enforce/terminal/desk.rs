//! A person's shell on a terminal, in which sessions are started and ask.

use std::fs;

use execward_tests::{Ground, Screen, typed};
use serde_json::Value;

/// A person's shell, and a line that runs `script` by sh under the gate.
pub(super) struct Desk {
    pub(super) ground: Ground,
    pub(super) terminal: Screen,
    /// How many lines were typed.
    lines: u32,
}

impl Desk {
    pub(super) fn of(rules: &str) -> Self {
        Self::on(Ground::full(rules))
    }

    pub(super) fn on(ground: Ground) -> Self {
        let mut terminal = Screen::open(&ground);
        // The first prompt may have been shown before the screen was looked at.
        terminal.press("\n");
        Self {
            ground,
            terminal,
            lines: 0,
        }
    }

    /// `execward run … -- words…`, as it is typed.
    pub(super) fn line(&self, words: &[&str]) -> String {
        typed(&self.ground.command(words))
    }

    /// Has `sh` read `script` under the gate, from a file.
    pub(super) fn run(&mut self, script: &str) {
        let script = self.ground.script("script.sh", script);
        let line = self.line(&["sh", &script]);
        self.type_line(&format!("{line}; echo status=$?"));
    }

    /// Types a line at the prompt, by a file: the screen is empty but for its number. `$status` is that of
    /// the line before.
    pub(super) fn type_line(&mut self, line: &str) {
        self.has_prompt();
        self.lines += 1;
        let mark = format!("#{}\n", self.lines);
        let line = format!(
            "status=$?; printf '\\033[2J\\033[H{}\\n'; {line}",
            mark.trim()
        );
        fs::write(self.ground.path("line"), line).expect("a line");
        self.terminal.press(". ./line\n");
        self.terminal.until("the line's own screen", |shown| {
            (shown.starts_with(&mark) || shown.starts_with("execward")).then_some(())
        });
    }

    fn has_prompt(&mut self) {
        self.terminal.until("a prompt", |shown| {
            shown.trim_end().ends_with("ready>").then_some(())
        });
    }

    pub(super) fn size(&mut self, rows: u16, columns: u16) {
        let size = [rows, columns].map(|size| size.try_into().expect("a size"));
        self.terminal.resize(size[0], size[1]);
    }

    pub(super) fn sees(&mut self, text: &str) -> String {
        let found = |shown: &str| shown.contains(text).then(|| shown.to_owned());
        self.terminal.until(text, found)
    }

    /// The code of the answer that is drawn.
    pub(super) fn code(&mut self) -> String {
        self.terminal.until("a code", |shown| {
            let (_, rest) = shown.split_once(": type ")?;
            Some(rest.split_once(" to confirm")?.0.to_owned())
        })
    }

    /// Answers the question that is drawn, and makes sure.
    pub(super) fn answers(&mut self, answer: &str) {
        self.terminal.press(&format!("{answer}\r"));
        let code = self.code();
        self.terminal.press(&format!("{code}\r"));
    }

    /// Ends the shell, once it has the terminal.
    pub(super) fn leave(mut self) {
        self.has_prompt();
        self.terminal.close();
    }

    pub(super) fn close(self) -> Vec<Value> {
        let records = self.ground.records_at_end();
        self.leave();
        records
    }
}
