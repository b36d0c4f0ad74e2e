//! The texts that recorded shells were given, looked at as the gate did.

use std::collections::HashMap;

use execward_policy::{ExecRequest, Ruleset, Verdict};

use super::Missing;
use crate::preflight::{self, Followed};
use crate::shell::{self, Analyser, Analysis, Given};

/// Most texts whose analysis is kept.
const KEPT_MAX: usize = 4096;

/// Texts and their analyses.
#[derive(Debug, Default)]
pub(super) struct Texts {
    /// None if it cannot be started: then texts say nothing, as in a session.
    analyser: Option<Option<Analyser>>,
    known: HashMap<Vec<u8>, Option<Analysis>>,
}

impl Texts {
    /// The denial of a part of the text that `request` gives to a shell, where its paths lead as they
    /// did.
    ///
    /// # Errors
    /// If the record does not say where one of them leads.
    pub(super) fn denied<'r>(
        &mut self,
        request: &ExecRequest,
        rules: &'r Ruleset,
    ) -> Result<Option<Verdict<'r>>, Missing> {
        let Some(Given::Text(text)) = shell::given_text(request) else {
            return Ok(None);
        };
        let Some(analysis) = self.analysis(text) else {
            return Ok(None);
        };
        let mut is_unknown = false;
        let mut follow = |path: &Vec<u8>| {
            let found = request.destinations.get(path).cloned();
            is_unknown |= found.is_none();
            found
        };
        let mut followed = Followed::by(&mut follow);
        let denied = preflight::denied(analysis, request, rules, &mut followed);
        match is_unknown {
            true => Err(Missing::TextPaths),
            false => Ok(denied.map(|(verdict, _)| verdict)),
        }
    }

    fn analysis(&mut self, text: &[u8]) -> Option<&Analysis> {
        if self.known.len() >= KEPT_MAX {
            self.known.clear();
        }
        if !self.known.contains_key(text) {
            let analyser = self.analyser.get_or_insert_with(start);
            let analysis = analyser.as_mut().and_then(|it| it.analyse(text).ok());
            self.known.insert(text.to_vec(), analysis);
        }
        self.known.get(text)?.as_ref()
    }
}

fn start() -> Option<Analyser> {
    let own = std::env::current_exe().ok()?;
    Analyser::start(own).ok()
}
