//! The cases that do not come out as they should, each with its reason.

/// A case, and why.
pub(crate) type Known = (&'static str, &'static str);

const APPLET: &str = "a deny of a path does not hit the applet of its name";
const LINKED: &str =
    "a file that had two names when the policy was loaded is known by its names alone";
const FILE_ALONE: &str = "a file that cannot run is asked about";
const UNSAID: &str = "what decides is not in the case's fields, and `check` sees no other";
const HELPER: &str = "git tells its helpers where they are (GIT_EXEC_PATH), which is watched";
const SPLIT: &str = "a deny does not look into the text that `env -S` splits";
const CLASS: &str = "a class as the first word of a command lets dangerous options pass";

/// What `check` answers otherwise.
pub(crate) const CHECK: &[Known] = &[
    ("busybox-argv0-selects-applet", APPLET),
    ("busybox-nested-env", APPLET),
    ("busybox-touch-applet", APPLET),
    ("cd-then-bare-name", UNSAID),
    ("env-split-string", SPLIT),
    ("env-split-string-abbrev", SPLIT),
    ("exec-of-non-executable", FILE_ALONE),
    ("hardlink-to-denied-binary", LINKED),
    ("memfd-program", UNSAID),
    ("perl-module-flag-code", CLASS),
    ("symlink-retarget-between-check-and-exec", UNSAID),
];

/// What comes out otherwise under the gate.
pub(crate) const RUN: &[Known] = &[
    ("exec-of-non-executable", FILE_ALONE),
    ("fp-git-stash-reexec", HELPER),
    ("hardlink-to-denied-binary", LINKED),
];
