//! From sources, and what they include, to a policy without a fault.

use std::collections::{HashMap, HashSet};

use crate::charter;
use crate::diagnostic::{Diagnostics, Fault, Place};
use crate::keys::nearest;
use crate::kind::Complaint;
use crate::outlets::Outlets;
use crate::places::Places;
use crate::preset::{DISTRUSTING, PRESETS, preset};
use crate::reader::{DraftRule, Part, read};
use crate::redaction::Redaction;
use crate::rule::Rule;
use crate::safe_bin::SafeBins;
use crate::settings::Modes;
use crate::source::{Included, Includes, Layer, Source};
use crate::tool_mode::ToolModes;
use crate::trust::Trust;
use crate::watch::WatchList;

/// How deep files may include one another.
const DEPTH_MAX: usize = 8;

/// A policy without a fault.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) rules: Vec<Rule>,
    pub(crate) modes: Modes,
    /// Where word of questions goes.
    pub(crate) outlets: Outlets,
    /// What calls of tools get, as far as the user or execward says.
    pub(crate) tools: ToolModes,
    pub(crate) trust: Trust,
    pub(crate) safe_bins: SafeBins,
    pub(crate) redaction: Redaction,
    /// Whether what the operator typed needs no rule.
    pub(crate) trusts_operator: bool,
}

/// Reads `sources` and whatever they include.
pub(crate) fn load(
    sources: &[Source<'_>],
    places: &Places,
    includes: &dyn Includes,
) -> Result<Loaded, Diagnostics> {
    let mut loading = Loading {
        places,
        includes,
        parts: Vec::new(),
        seen: HashSet::new(),
        order: 0,
        faults: Vec::new(),
    };
    for source in sources {
        loading.take(source, Standing::Named, &mut Vec::new());
    }
    let Loading {
        mut parts,
        mut faults,
        seen,
        ..
    } = loading;
    charter::number(&mut parts);
    faults.extend(repeated_ids(&parts));
    if faults.is_empty() {
        faults.extend(missing_security(&parts));
    }
    let resolve = |directory: &[u8]| includes.resolve(directory);
    for part in &mut parts {
        let rules = part.rules.iter_mut();
        rules.for_each(|draft| draft.rule.resolve_heads(&resolve));
        part.trusted_dirs
            .iter_mut()
            .for_each(|named| named.resolve_head(&resolve));
    }
    charter::intersect(&mut parts);
    let trust = trust(&parts);
    if faults.is_empty() {
        faults.extend(failing_examples(&parts, places, &trust));
    }
    Diagnostics::check(faults)?;
    let safe_bins = own(&parts).filter_map(|part| part.safe_bins.clone());
    let safe_bins = safe_bins.last().unwrap_or_default();
    let mut tools = ToolModes::default();
    own(&parts).for_each(|part| tools.extend(&part.tools));
    let settings = parts.iter().map(|part| (part.layer, part.settings));
    let modes = Modes::of(&settings.collect::<Vec<_>>());
    let outlets = Outlets::of(parts.iter().map(|part| (part.layer, &part.outlets)));
    let redaction = Redaction::joined(parts.iter().map(|part| &part.redaction));
    let rules = parts.into_iter().flat_map(|part| part.rules);
    Ok(Loaded {
        rules: rules.map(|draft| draft.rule).collect(),
        modes,
        outlets,
        tools,
        trust,
        safe_bins,
        redaction,
        trusts_operator: !DISTRUSTING.iter().any(|preset| seen.contains(*preset)),
    })
}

/// What all parts say of files and variables.
fn trust(parts: &[Part]) -> Trust {
    Trust {
        named: parts
            .iter()
            .flat_map(|part| part.trusted_dirs.iter().cloned())
            .collect(),
        watch: WatchList::new(parts.iter().flat_map(|part| part.untrusted.iter().cloned())),
    }
}

/// The parts that may say more than rules and a mode, from the lowest layer: what the last of them
/// says counts.
fn own(parts: &[Part]) -> impl Iterator<Item = &Part> {
    let layers = [Layer::Builtin, Layer::User].into_iter();
    layers.flat_map(|layer| parts.iter().filter(move |part| part.layer == layer))
}

/// How a source came to be read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// The caller named it.
    Named,
    /// Another source includes it, and settles its layer.
    Included,
    /// It has what people said of calls, and nothing else.
    Grants,
}

struct Loading<'a> {
    places: &'a Places,
    includes: &'a dyn Includes,
    /// What was read, each after what it includes: a file overrides what it includes.
    parts: Vec<Part>,
    /// The names of the sources that were read.
    seen: HashSet<String>,
    order: usize,
    faults: Vec<Fault>,
}

impl Loading<'_> {
    /// Reads a source; `chain` are the names of those that include it, outermost first.
    fn take(&mut self, source: &Source<'_>, standing: Standing, chain: &mut Vec<String>) {
        let order = self.order;
        self.order += 1;
        self.seen.insert(source.name.to_owned());
        let mut part = read(source, standing, order, self.places);
        self.faults.append(&mut part.faults);
        chain.push(source.name.to_owned());
        for (path, place) in std::mem::take(&mut part.includes) {
            if let Err((message, help)) = self.include(source.name, part.layer, &path, chain) {
                self.faults.push(Fault::new(place, message).help(help));
            }
        }
        chain.pop();
        self.parts.push(part);
    }

    fn include(
        &mut self,
        includer: &str,
        layer: Layer,
        path: &str,
        chain: &mut Vec<String>,
    ) -> Result<(), Complaint> {
        let shown = path.escape_debug();
        let (included, layer) = match path.strip_prefix("preset:") {
            Some(name) => {
                let text = preset(name).ok_or_else(|| no_preset(name))?;
                let (name, text) = (path.to_owned(), text.into());
                (Included { name, text }, Layer::Builtin)
            }
            None => {
                if path.is_empty() {
                    return Err(("the name of an include is empty".to_owned(), None));
                }
                let included = self.includes.read(includer, path);
                let refused = |error| {
                    let preset = PRESETS.into_iter().find(|preset| *preset == path);
                    let help = preset.map(|preset| format!("the preset is `preset:{preset}`"));
                    (format!("cannot include `{shown}`: {error}"), help)
                };
                (included.map_err(refused)?, layer)
            }
        };
        if chain.contains(&included.name) {
            return Err((
                format!("`{shown}` includes itself: {}", chain.join(" → ")),
                None,
            ));
        }
        if self.seen.contains(&included.name) {
            return Ok(());
        }
        if chain.len() > DEPTH_MAX {
            return Err((format!("includes go deeper than {DEPTH_MAX} files"), None));
        }
        let (name, text) = (included.name.as_str(), included.text.as_slice());
        self.take(&Source { name, text, layer }, Standing::Included, chain);
        Ok(())
    }
}

fn no_preset(name: &str) -> Complaint {
    let help = match nearest(name, PRESETS) {
        Some(nearest) => format!("the nearest is `preset:{nearest}`"),
        None => format!("the presets are `preset:{}`", PRESETS.join("`, `preset:")),
    };
    let message = format!("there is no preset `{}`", name.escape_debug());
    (message, Some(help))
}

fn drafts(parts: &[Part]) -> impl Iterator<Item = &DraftRule> {
    parts.iter().flat_map(|part| &part.rules)
}

/// A fault for each id that its layer has already.
pub(crate) fn repeated_ids(parts: &[Part]) -> Vec<Fault> {
    let mut first_uses: HashMap<(Layer, &str), &Place> = HashMap::new();
    let mut faults = Vec::new();
    // By action they were read; the first use is the one that is read first in the text.
    let mut in_order: Vec<&DraftRule> = drafts(parts).collect();
    in_order.sort_by_key(|draft| draft.place.position());
    for DraftRule { rule, place, .. } in in_order {
        let first = *first_uses.entry((rule.layer(), rule.id())).or_insert(place);
        if !std::ptr::eq(first, place) {
            let message = format!("the id `{}` is used twice", rule.id().escape_debug());
            faults
                .push(Fault::new(place.clone(), message).related(first.clone(), "first used here"));
        }
    }
    faults
}

/// A fault if the user has rules, and nothing says what is done with the rest.
fn missing_security(parts: &[Part]) -> Option<Fault> {
    let mut own = parts
        .iter()
        .filter(|part| matches!(part.layer, Layer::User | Layer::Builtin));
    if own.any(|part| part.settings.security.is_some()) {
        return None;
    }
    let users = parts.iter().filter(|part| part.layer == Layer::User);
    let draft = users
        .flat_map(|part| &part.rules)
        .min_by_key(|draft| draft.place.position())?;
    let help = "write `[mode]` with `security = \"allowlist\"`, or \"full\" or \"deny\"".to_owned();
    let message = "a policy with rules says its `security`";
    Some(Fault::new(draft.place.clone(), message).help(help))
}

/// A fault for each example that its rule does not bear out.
fn failing_examples(parts: &[Part], places: &Places, trust: &Trust) -> Vec<Fault> {
    let check = |draft: &DraftRule| -> Vec<Fault> {
        let examples = draft.examples.iter();
        examples
            .filter_map(|example| example.check(&draft.rule, places, trust))
            .collect()
    };
    drafts(parts).flat_map(check).collect()
}
