//! What came of an exec that went on, as its record says it.

use execward_policy::{Masked, Redaction};
use serde::Serialize;

use super::program::{argv_digest, cut, shown_argv};
use super::record::Decided;
use super::text::{ExactBytes, text};

/// What came of an exec that went on.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Outcome {
    /// verified, changed, failed, killed or vanished; unverified where nothing is held against what
    /// is loaded, since the session is only observed.
    pub(crate) result: &'static str,
    /// Why an exec failed, where the gate saw it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) errno: Option<String>,
    /// In what the loaded image differed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) difference: Option<&'static str>,
    /// What was loaded instead, if it differed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) loaded: Option<Loaded>,
    /// The second decision, if it differed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) decision: Option<Decided>,
    /// What could not be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) detail: Option<String>,
    /// The exact bytes of what is not UTF-8.
    #[serde(skip)]
    pub(crate) exact: ExactBytes,
}

/// A loaded image that was not the expected one.
#[derive(Debug, Serialize)]
pub(crate) struct Loaded {
    exe: String,
    execfn: String,
    argv: Vec<String>,
    argc: usize,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    argv_cut: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    argv_sha256: Option<String>,
}

impl Outcome {
    pub(crate) const UNVERIFIED: &str = "unverified";

    pub(crate) fn of(result: &'static str) -> Self {
        Self {
            result,
            ..Self::default()
        }
    }

    pub(crate) fn set_loaded(
        &mut self,
        exe: &[u8],
        execfn: &[u8],
        argv: &[Vec<u8>],
        redaction: &Redaction,
    ) {
        let masked = redaction.argv(argv);
        let is_masked = masked.iter().any(Masked::is_masked);
        let exact = &mut self.exact;
        let exe = text(cut(exe), || "/outcome/loaded/exe".into(), exact);
        let execfn = text(cut(execfn), || "/outcome/loaded/execfn".into(), exact);
        let (shown, is_cut) = shown_argv(
            masked.iter().map(Masked::shown),
            "/outcome/loaded/argv",
            exact,
        );
        self.loaded = Some(Loaded {
            exe,
            execfn,
            argv: shown,
            argc: argv.len(),
            argv_cut: is_cut,
            argv_sha256: (!is_masked).then(|| argv_digest(argv)),
        });
    }
}
