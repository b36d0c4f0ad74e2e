//! Whatever is loaded, it is a policy or it has faults that point into the text.

use execward_policy::{Diagnostics, Layer, NoIncludes, Ruleset, Style};
use proptest::prelude::*;
use proptest::sample::{Index, select};

use crate::calls::calls;
use crate::draft::{Call, DraftFile, DraftPolicy, places};
use crate::draw;

/// One thing that happens to a text.
#[derive(Debug, Clone)]
enum Mishap {
    /// Bits of a byte are flipped.
    Flip(Index, u8),
    /// A byte that means something is put in, or takes another's place.
    Put(Index, u8, bool),
    /// A line is lost, written again at the end, or put elsewhere.
    Drop(Index),
    Repeat(Index),
    Move(Index, Index),
    /// The text ends early.
    Cut(Index),
}

fn mishap() -> impl Strategy<Value = Mishap> {
    let meaningful = select(&b"[]{}'\"=#\n\r\t ,.\\!*?~$@-+:0aZ\0\xff"[..]);
    let at = any::<Index>;
    prop_oneof![
        4 => (at(), 1u8..).prop_map(|(at, bits)| Mishap::Flip(at, bits)),
        4 => (at(), meaningful, any::<bool>()).prop_map(|(at, byte, over)| {
            Mishap::Put(at, byte, over)
        }),
        2 => at().prop_map(Mishap::Drop),
        1 => at().prop_map(Mishap::Repeat),
        1 => (at(), at()).prop_map(|(from, to)| Mishap::Move(from, to)),
        1 => at().prop_map(Mishap::Cut),
    ]
}

impl Mishap {
    fn befall(&self, text: &mut Vec<u8>) {
        match self {
            Self::Flip(at, bits) => {
                let at = at.index(text.len().max(1));
                text.iter_mut()
                    .skip(at)
                    .take(1)
                    .for_each(|byte| *byte ^= bits);
            }
            Self::Put(at, byte, over) => {
                let at = at.index(text.len() + 1);
                let end = text.len().min(at + usize::from(*over));
                text.splice(at..end, [*byte]);
            }
            Self::Cut(at) => text.truncate(at.index(text.len() + 1)),
            Self::Drop(_) | Self::Repeat(_) | Self::Move(..) => {
                let mut lines: Vec<Vec<u8>> = text
                    .split_inclusive(|byte| *byte == b'\n')
                    .map(<[u8]>::to_vec)
                    .collect();
                self.befall_lines(&mut lines);
                *text = lines.concat();
            }
        }
    }

    fn befall_lines(&self, lines: &mut Vec<Vec<u8>>) {
        let count = lines.len();
        if count == 0 {
            return;
        }
        match self {
            Self::Drop(at) => drop(lines.remove(at.index(count))),
            Self::Repeat(at) => lines.extend(lines.get(at.index(count)).cloned()),
            Self::Move(from, to) => {
                let line = lines.remove(from.index(count));
                lines.insert(to.index(count), line);
            }
            Self::Flip(..) | Self::Put(..) | Self::Cut(_) => {}
        }
    }
}

/// A text that a policy's author could have written, with every kind of key in it.
fn written() -> impl Strategy<Value = String> {
    let extras = select(
        &[
            "reason = 'r'\n",
            "match = ['git push', ['sh', '-c', \"a\\tb\"]]\n",
            "not_match = '''\nls'''\n",
            "ask_timeout = '90s'\n",
            "env = 'A=b'\n",
            "instead = \"\"\"\na\\u00e9\u{1f600}\"\"\"\n",
            "",
        ][..],
    );
    (draw::policy(), extras).prop_map(|(policy, extra)| {
        let file = policy.files.iter().max_by_key(|file| file.rules.len());
        file.map_or_else(String::new, DraftFile::text) + extra
    })
}

/// Asserts that every fault stands somewhere in a text of so many lines, and can be shown.
fn assert_located(faults: &Diagnostics, text: &[u8]) -> Result<(), TestCaseError> {
    let lines = text.iter().filter(|byte| **byte == b'\n').count() + 1;
    prop_assert!(!faults.faults().is_empty());
    for fault in faults.faults() {
        prop_assert!((1..=lines).contains(&fault.place().line()), "{fault}");
        prop_assert!(fault.place().column() >= 1, "{fault}");
        prop_assert!(!fault.message().is_empty());
        prop_assert_eq!(fault.place().source(), "p.toml");
        let related = fault.related_place();
        prop_assert!(related.is_none_or(|place| (1..=lines).contains(&place.line())));
    }
    for style in [Style::Plain, Style::Coloured] {
        let shown = faults.render(style);
        prop_assert!(shown.contains("p.toml:"), "{shown}");
    }
    prop_assert!(faults.to_string().starts_with("p.toml:"));
    Ok(())
}

/// Loads the text as a file of this layer, and judges some calls if it is a policy.
fn assert_sound(text: &[u8], layer: Layer, calls: &[Call]) -> Result<(), TestCaseError> {
    let mut source = DraftFile::of(layer).source(text);
    source.layer = layer;
    match Ruleset::load(&[source], &places(), &NoIncludes) {
        Ok(ruleset) => {
            for call in calls {
                drop(ruleset.explain(&call.request, call.now));
            }
        }
        Err(faults) => assert_located(&faults, text)?,
    }
    Ok(())
}

proptest! {
    #![proptest_config(crate::config())]

    #[test]
    fn a_mangled_policy_loads_or_says_where_it_is_wrong(
        text in written(),
        mishaps in prop::collection::vec(mishap(), 1..4),
        layer in select(&draw::LAYERS[..]),
        calls in calls(),
    ) {
        // One mishap by itself shows what several hide behind one another.
        let mut together = text.clone().into_bytes();
        for mishap in &mishaps {
            let mut alone = text.clone().into_bytes();
            mishap.befall(&mut alone);
            assert_sound(&alone, layer, &calls)?;
            mishap.befall(&mut together);
            assert_sound(&together, layer, &calls)?;
        }
    }

    #[test]
    fn bytes_load_or_are_wrong_somewhere(
        text in prop::collection::vec(any::<u8>(), 0..200), calls in calls(),
    ) {
        assert_sound(&text, Layer::User, &calls)?;
    }

    #[test]
    fn what_is_drawn_loads_whatever_is_beside_it(
        one in draw::policy(), other in draw::policy(), calls in calls(),
    ) {
        // Ids count from the same in both; only a layer that has one twice may refuse.
        let files = [one.files, other.files].concat();
        let mut both = DraftPolicy { files };
        for (number, (_, rule)) in both.rules_mut().enumerate() {
            rule.id = format!("r{number}");
        }
        prop_assert_eq!(both.decide(&calls).len(), calls.len());
    }
}
