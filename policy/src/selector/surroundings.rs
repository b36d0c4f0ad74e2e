//! The keys that look at what surrounds a call: `cwd`, `env`, `via`.

use super::Selectors;
use super::named::covers;
use crate::image::{Image, Reading};
use crate::operand::{FileOperand, Part};
use crate::variable::Variable;
use crate::watch::Change;

impl Selectors {
    /// The working directory counts, and the one that an option puts in its place.
    pub(super) fn cwd_holds(&self, image: &Image<'_>, reading: Reading) -> bool {
        let Some(list) = &self.cwd else {
            return true;
        };
        let mut places = image.files().iter().filter(|file| file.part == Part::Place);
        let is_on = |file: &FileOperand| {
            list.holds(reading, |pattern, reading| covers(pattern, file, reading))
        };
        let is_here = self.is_in_directory(image.request.cwd.as_deref(), reading);
        match reading {
            Reading::Strict => is_here && places.all(is_on),
            Reading::Doubtful => is_here || places.any(is_on),
        }
    }

    /// Whether the directory is on `cwd`, if there is such a key.
    pub(super) fn is_in_directory(&self, directory: Option<&[u8]>, reading: Reading) -> bool {
        let Some(list) = &self.cwd else {
            return true;
        };
        let is_on = |directory| list.holds(reading, |pattern, _| pattern.matches(directory));
        directory.map_or(reading == Reading::Doubtful, is_on)
    }

    /// A deny or an ask looks at every variable; an allow, at those that are watched and not as
    /// they were when the session began.
    pub(super) fn env_holds(&self, image: &Image<'_>, reading: Reading) -> bool {
        match (reading, &self.env, &image.request.env) {
            (Reading::Strict, _, Some(_)) => image
                .changes()
                .iter()
                .all(|change| self.passes_over(change)),
            (Reading::Strict, _, None) => false,
            (Reading::Doubtful, None, _) | (Reading::Doubtful, _, None) => true,
            (Reading::Doubtful, Some(list), Some(env)) => env.iter().any(|variable| {
                list.holds(reading, |entry, reading| entry.covers(variable, reading))
            }),
        }
    }

    /// Whether an allow names the variable that changed.
    pub(crate) fn passes_over(&self, change: &Change<'_>) -> bool {
        let covers = |entry: &Variable, reading| entry.covers(change.shown(), reading);
        let list = self.env.as_ref();
        list.is_some_and(|list| list.holds(Reading::Strict, covers))
    }

    pub(super) fn via_holds(&self, image: &Image<'_>, reading: Reading) -> bool {
        let Some(programs) = &self.via else {
            return true;
        };
        let is_one = |ancestor: Image<'_>| {
            let mut programs = programs.iter();
            programs.any(|program| program.covers(&ancestor, reading))
        };
        match (image.request.lineage.is_broken, reading) {
            (true, Reading::Doubtful) => true,
            (true, Reading::Strict) => false,
            (false, _) => image.of_ancestors().any(is_one),
        }
    }
}
