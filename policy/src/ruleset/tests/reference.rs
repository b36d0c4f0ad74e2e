//! `decide` held against the same decision made slowly: every rule is looked at for every image, one
//! action after the other, and nothing is looked up. `scripts/fuzz` goes on with it for minutes.

use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, RngAlgorithm, TestRunner};

use super::*;
use crate::operand::{Access, FileOperand};
use crate::request::Stream;

// The drawing of the properties, which see no more of this crate than its callers do.
#[expect(dead_code, reason = "the properties draw more")]
#[path = "../../../tests/properties/calls.rs"]
mod calls;
#[expect(dead_code, reason = "the properties draw more")]
#[path = "../../../tests/properties/draft.rs"]
mod draft;
#[expect(dead_code, reason = "the properties draw more")]
#[path = "../../../tests/properties/draw.rs"]
mod draw;

/// What a verdict says, comparable.
fn seen(verdict: &Verdict<'_>) -> (Decision, Decision, String) {
    let basis = match verdict.basis() {
        Basis::Rule(rule) => format!("rule {:?}", rule.key()),
        Basis::Children(rule) => format!("children {:?}", rule.key()),
        basis @ (Basis::SafeBin | Basis::Wrapper | Basis::UnknownTool | Basis::Default { .. }) => {
            format!("{basis:?}")
        }
    };
    (verdict.decision(), verdict.unanswered(), basis)
}

/// A ruleset as a plain list of rules.
struct Reference<'r> {
    ruleset: &'r Ruleset,
    /// The highest layer first, then by id.
    rules: Vec<&'r Rule>,
    now: Timestamp,
}

impl<'r> Reference<'r> {
    fn new(ruleset: &'r Ruleset, now: Timestamp) -> Self {
        let mut rules: Vec<&Rule> = ruleset.rules().collect();
        rules.sort_by_key(|rule| (std::cmp::Reverse(rule.layer()), rule.id()));
        Self {
            ruleset,
            rules,
            now,
        }
    }

    fn of(&self, action: Action) -> impl Iterator<Item = &'r Rule> {
        let rules = self.rules.iter().copied();
        rules.filter(move |rule| rule.action() == action)
    }

    fn denying(&self, request: &ExecRequest) -> Option<&'r Rule> {
        let images = Images::of(request, &self.ruleset.trust);
        let holds = |rule: &&Rule| images.all().any(|image| rule.holds(image, self.now));
        self.of(Action::Deny).find(holds)
    }

    /// The deny of a payload, the digests of which nobody has taken yet.
    fn denying_payload(&self, request: &ExecRequest) -> Option<&'r Rule> {
        let images = Images::of(request, &self.ruleset.trust);
        let is_held = |rule: &Rule, image: &Image<'_>| {
            !rule.lacks_digest(image) && rule.holds(image, self.now)
        };
        let holds = |rule: &&Rule| images.all().any(|image| is_held(rule, image));
        self.of(Action::Deny).find(holds)
    }

    fn asking(&self, images: &Images<'_>, is_meant: impl Fn(&Rule) -> bool) -> Option<&'r Rule> {
        let asks = |ask: &Rule, image: &Image<'_>| {
            let answers =
                |allow: &Rule| allow.holds(image, self.now) && allow.outweighs(ask, image);
            ask.holds(image, self.now) && !self.of(Action::Allow).any(answers)
        };
        let mut rules = self.of(Action::Ask).filter(|rule| is_meant(rule));
        rules.find(|rule| images.all().any(|image| asks(rule, image)))
    }

    fn allowing(&self, images: &Images<'_>) -> Option<&'r Rule> {
        let holds = |rule: &&Rule| rule.holds(&images.program, self.now);
        let may_interpret = |image: &Image<'_>| {
            let of_program = |rule: &Rule| rule.is_of_program() && rule.holds(image, self.now);
            image.is_trusted() || self.of(Action::Allow).any(of_program)
        };
        let rule = self.of(Action::Allow).find(holds)?;
        images
            .interpreters
            .iter()
            .all(may_interpret)
            .then_some(rule)
    }

    fn is_safe_bin(&self, image: &Image<'_>) -> bool {
        let bins = &self.ruleset.safe_bins;
        let Some(name) = self.ruleset.safe_name(image) else {
            return false;
        };
        let accesses: [&[Access]; 3] = [&[Access::Read], &[Access::Write], &[Access::Write]];
        let mut streams = image.request.streams.iter().zip(accesses);
        let may_use = |(stream, accesses): (&Stream, &'static [Access])| match stream {
            Stream::Plain => true,
            Stream::Unknown => false,
            Stream::File(path) => {
                let file = FileOperand::of_stream(path, accesses);
                self.of(Action::Allow)
                    .any(|rule| rule.lets_file(&file, self.now))
            }
        };
        bins.judge(name, image.arguments()).is_ok()
            && streams.all(may_use)
            && image.changes().is_empty()
    }

    fn parent(&self, images: &Images<'_>) -> Option<&'r Rule> {
        let lineage = &images.program.request.lineage;
        let ancestors = lineage.ancestors.iter().filter(|_| !lineage.is_broken);
        let keys = ancestors.filter_map(|ancestor| ancestor.allowed_by.as_ref());
        let mut rules =
            keys.filter_map(|key| self.of(Action::Allow).find(|rule| rule.key() == *key));
        rules.find(|rule| {
            let mut interpreters = images.interpreters.iter();
            !rule.has_expired(self.now)
                && rule.covers_child(&images.program)
                && interpreters.all(|image| image.is_trusted() || rule.covers_child(image))
        })
    }

    fn decide(&self, request: &ExecRequest) -> Verdict<'r> {
        let images = Images::of(request, &self.ruleset.trust);
        let mut payloads = wrapper::payloads(&images.program);
        let deny = self.denying(request);
        let deny = deny.or_else(|| payloads.find_map(|payload| self.denying_payload(&payload)));
        let escalating = self.asking(&images, Rule::escalates);
        let unheard = escalating.filter(|_| self.ruleset.escalate_to().is_none());
        if let Some(rule) = deny.or(unheard) {
            return Verdict::of_rule(Decision::Deny, rule);
        }
        let about = |category| self.asking(&images, |rule| rule.category() == category);
        let judged = |state, category, basis| self.ruleset.modes.judge(state, category, basis);
        let by_rights = about(Category::Sandbox)
            .map(|rule| judged(State::Asked, Category::Sandbox, Some(Basis::Rule(rule))));
        let (state, basis) = if let Some(rule) = escalating.or_else(|| about(Category::Rules)) {
            (State::Asked, Some(Basis::Rule(rule)))
        } else if let Some(rule) = self.allowing(&images) {
            (State::Allowed, Some(Basis::Rule(rule)))
        } else if self.is_safe_bin(&images.program) {
            (State::Allowed, Some(Basis::SafeBin))
        } else if let Some(rule) = self.parent(&images) {
            (State::Allowed, Some(Basis::Children(rule)))
        } else if wrapper::is_light(&images.program) {
            (State::Allowed, Some(Basis::Wrapper))
        } else {
            (State::Unmatched, None)
        };
        let by_rules = judged(state, Category::Rules, basis);
        by_rights.map_or(by_rules, |by_rights| by_rules.stricter(by_rights))
    }
}

/// Files that may be another command than they are called, and ones that start another.
const DISGUISES: [&str; 10] = [
    "/usr/bin/busybox",
    "/lib64/ld-linux-x86-64.so.2",
    "/usr/bin/env",
    "/usr/bin/timeout",
    "/usr/bin/xargs",
    "/usr/bin/find",
    "/usr/bin/cat",
    "/w/git-push-",
    "/w/-git-push",
    "",
];

const WORDS: [&str; 20] = [
    "",
    "-",
    "--",
    "---",
    "=",
    "-=",
    "+",
    "git",
    "git-push",
    "/usr/bin/git",
    "sh",
    "push",
    "-c",
    "-m",
    "-xmgit",
    "env",
    "5",
    "A=B",
    "--=",
    "-\u{80}",
];

/// An element of a vector that was written to hurt.
fn hostile() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        6 => select(&WORDS[..]).prop_map(|word| word.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..12),
        1 => prop::collection::vec(select(&b"-=/.*git\0\xff"[..]), 0..300),
    ]
}

/// Drawn calls as they are; of other files; with other vectors, down to none.
fn call() -> impl Strategy<Value = draft::Call> {
    let files = prop::option::weighted(0.4, select(&DISGUISES[..]));
    let argv = prop::option::weighted(0.4, prop::collection::vec(hostile(), 0..8));
    (calls::call(), files, argv).prop_map(|(mut call, file, argv)| {
        if let Some(file) = file {
            call.request.program = ProgramFile::at(file);
        }
        call.request.argv = argv.unwrap_or(call.request.argv);
        call
    })
}

/// Whether `decide` says what the reference says of each call.
fn compare(policy: &draft::DraftPolicy, calls: &[draft::Call]) -> Result<(), TestCaseError> {
    let ruleset = policy.load();
    for draft::Call { request, now } in calls {
        let fast = seen(&ruleset.decide(request, *now));
        let slow = seen(&Reference::new(&ruleset, *now).decide(request));
        prop_assert_eq!(fast, slow, "{:?}", request);
    }
    Ok(())
}

#[test]
fn the_index_changes_no_verdict() {
    let mut runner = TestRunner::new(Config {
        rng_algorithm: RngAlgorithm::XorShift,
        failure_persistence: None,
        ..Config::default()
    });
    let drawn = (draw::policy(), prop::collection::vec(call(), 1..24));
    let compared = runner.run(&drawn, |(policy, calls)| compare(&policy, &calls));
    compared.unwrap_or_else(|failure| panic!("{failure}"));
}

/// A hundred thousand arguments are read as a hundred are: whatever they are, nothing recurses.
#[test]
fn calls_of_any_length_are_decided() {
    let ruleset = policy(
        "[[deny]]\nid = 'd'\ncommand = ['git push --force', 'find -delete']\n\
         [[ask]]\nid = 'q'\nflags = ['-x', '--force']\n\
         [[allow]]\nid = 'a'\ncommand = ['git *', 'find', 'busybox']\nflags = ['*', '!-y']",
    );
    let every: Vec<u8> = (0..=u8::MAX).collect();
    let elements: [&[u8]; 10] = [
        b"",
        b"-",
        b"--",
        b"a",
        b"-m",
        b"--name=v",
        b"git",
        b"A=B",
        b"5",
        &every,
    ];
    let long = vec![b'-'; 2 << 20];
    let files = [
        "git", "find", "busybox", "env", "python3", "cat", "ld.so", "npm", "tar",
    ];
    for file in files {
        let decide = |arguments: &mut dyn Iterator<Item = &[u8]>| {
            let argv = std::iter::once(file.as_bytes()).chain(arguments);
            let argv = argv.map(<[u8]>::to_vec).collect();
            let request = ExecRequest::new(ProgramFile::at(format!("/usr/bin/{file}")), argv);
            let verdict = ruleset.decide(&request, Timestamp::UNIX_EPOCH);
            assert_ne!(verdict.unanswered(), Decision::Ask, "{file}");
        };
        decide(&mut elements.into_iter().cycle().take(100_000));
        decide(&mut [long.as_slice()].into_iter());
        for element in elements {
            decide(&mut std::iter::repeat_n(element, 10_000));
        }
    }
}

#[test]
fn a_call_without_a_vector_is_decided() {
    let ruleset = policy("[[deny]]\nid = 'd'\ncommand = 'git push'");
    for file in DISGUISES {
        let request = ExecRequest::new(ProgramFile::at(file), Vec::new());
        let now = Timestamp::UNIX_EPOCH;
        let slow = seen(&Reference::new(&ruleset, now).decide(&request));
        assert_eq!(seen(&ruleset.decide(&request, now)), slow, "{file}");
    }
}
