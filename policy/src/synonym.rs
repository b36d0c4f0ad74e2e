//! The words of a rule under every name that the command has for its verbs: `npm i` is
//! `npm install`, and `docker container run` is `docker run`.
//!
//! All of it is found when a rule is loaded; a call is only compared.

use crate::case::Case;
use crate::grammar::{Alias, Grammar};
use crate::image::Reading;
use crate::word::Word;

/// A word of a rule, with what means the same in its place.
#[derive(Debug, Clone)]
pub(crate) struct Term {
    word: Word,
    /// Other verbs of one word for what it means.
    twins: Vec<&'static str>,
    /// Verbs whose longer name begins with the word: `run` if it is `container`.
    members: Vec<&'static str>,
    /// What may be cut short to mean it.
    cut: Vec<&'static str>,
    /// Whether it is the verb that any other word implies.
    is_implied: bool,
    /// Where its verbs are.
    grammar: Option<&'static Grammar>,
}

impl Term {
    /// Whether a permission means `argument` by it.
    pub(crate) fn covers(&self, argument: &[u8]) -> bool {
        self.word.covers(argument, Reading::Strict) || is_among(&self.twins, argument, Case::Exact)
    }

    /// Whether `argument` may be meant by it.
    pub(crate) fn may_mean(&self, argument: &[u8]) -> bool {
        let case = self.word.case();
        let is_cut = || is_short_of(&self.cut, argument, case);
        self.word.matches(argument)
            || is_among(&self.twins, argument, case)
            || is_among(&self.members, argument, case)
            || (self.is_implied || is_cut()) && !self.is_verb(argument)
    }

    fn is_verb(&self, word: &[u8]) -> bool {
        self.grammar
            .is_some_and(|grammar| grammar.verb(word).is_some())
    }

    /// The bytes of a word without wildcards, as they are written.
    pub(crate) fn literal(&self) -> Option<&[u8]> {
        self.word.literal()
    }

    /// `word`, the first of `words`, behind which `grammar` has its verbs.
    fn new(grammar: Option<&'static Grammar>, word: &Word, words: &[Word]) -> Self {
        let aliases = || grammar.into_iter().flat_map(|grammar| &grammar.aliases);
        let is_meant = |alias: &&Alias| word.matches(alias.verb.as_bytes());
        let twins: Vec<_> = aliases()
            .filter(is_meant)
            .filter_map(|alias| alias.single())
            .collect();
        let is_last = words.len() == 1;
        let begins = |alias: &&Alias| {
            alias.words.len() > 1 && alias.words.first().is_some_and(|first| word.is(first))
        };
        let members = aliases().filter(|alias| is_last && begins(alias));
        let members = members.map(|alias| alias.verb).collect();
        let cut = match grammar {
            Some(grammar) if grammar.abbreviates_verbs => {
                let verbs = grammar.verbs.keys().copied();
                let verbs = verbs.filter(|verb| word.matches(verb.as_bytes()));
                verbs.chain(twins.iter().copied()).collect()
            }
            Some(_) | None => Vec::new(),
        };
        let implied = grammar.and_then(|grammar| grammar.implied_verb);
        Self {
            word: word.clone(),
            twins,
            members,
            cut,
            is_implied: is_last && implied.is_some_and(|verb| word.is(verb)),
            grammar,
        }
    }
}

/// A rule's words under their proper names, and each way to say the same in other words.
#[derive(Debug, Clone)]
pub(crate) struct Spellings {
    pub(crate) proper: Vec<Term>,
    others: Vec<Vec<Term>>,
    /// With the implied verb, or without: the same, unless the table lacks a verb.
    doubtful: Vec<Vec<Term>>,
}

impl Spellings {
    /// Those of `words`, which stand behind the command of `grammar`.
    pub(crate) fn new(grammar: Option<&'static Grammar>, mut words: Vec<Word>) -> Self {
        make_proper(grammar, &mut words);
        let mut others = Vec::new();
        for (at, (grammar, word)) in levels(grammar, &words).enumerate() {
            let aliases = grammar.into_iter().flat_map(|grammar| &grammar.aliases);
            let longer = aliases.filter(|alias| alias.single().is_none());
            for alias in longer.filter(|alias| word.matches(alias.verb.as_bytes())) {
                let mut other = words.clone();
                let names = alias.words.iter().map(|name| Word::of(name, word.case()));
                other.splice(at..=at, names);
                others.push(other);
            }
        }
        let of = |words: &Vec<Word>| terms(grammar, words);
        Self {
            proper: of(&words),
            others: others.iter().map(of).collect(),
            doubtful: without_implied(grammar, &words).iter().map(of).collect(),
        }
    }

    /// Those that mean what the rule says in this reading.
    pub(crate) fn iter(&self, reading: Reading) -> impl Iterator<Item = &[Term]> {
        let doubtful = self.doubtful.iter();
        let doubtful = doubtful.filter(move |_| reading == Reading::Doubtful);
        let others = self.others.iter().chain(doubtful).map(Vec::as_slice);
        std::iter::once(self.proper.as_slice()).chain(others)
    }
}

/// Puts the proper name of each verb in the place of another.
fn make_proper(grammar: Option<&'static Grammar>, words: &mut Vec<Word>) {
    let (mut level, mut at) = (grammar, 0);
    while let Some(grammar) = level {
        // More than once: `run-script test` is `run test`, which is `test`.
        while let Some(alias) = longest_alias(grammar, words.get(at..).unwrap_or_default()) {
            let case = words.get(at).map(Word::case).unwrap_or_default();
            words.splice(at..at + alias.words.len(), [Word::of(alias.verb, case)]);
        }
        level = words.get(at).and_then(|word| behind(grammar, word));
        at += 1;
    }
}

/// The name of another verb that `words` begin with, the longest if there are several.
fn longest_alias(grammar: &'static Grammar, words: &[Word]) -> Option<&'static Alias> {
    let is_meant = |alias: &&Alias| {
        let mut names = alias.words.iter().zip(words);
        alias.words.len() <= words.len() && names.all(|(name, word)| word.is(name))
    };
    let aliases = grammar.aliases.iter().filter(is_meant);
    aliases.max_by_key(|alias| alias.words.len())
}

/// The words with the implied verb if they lack it, or without it if they have it.
fn without_implied(grammar: Option<&'static Grammar>, words: &[Word]) -> Option<Vec<Word>> {
    let verb = grammar?.implied_verb?;
    // As it is written: in letters of another case it may be one.
    let is_script = |word: &Word| {
        let verb = |it: &'static Grammar| it.verb(word.literal()?);
        grammar.is_some_and(|it| verb(it).is_none())
    };
    match words {
        [first, script, ..] if first.is(verb) && is_script(script) => {
            Some(words.iter().skip(1).cloned().collect())
        }
        [script, ..] if script.literal().is_some() && is_script(script) => {
            let verb = std::iter::once(Word::of(verb, script.case()));
            Some(verb.chain(words.iter().cloned()).collect())
        }
        _ => None,
    }
}

fn terms(grammar: Option<&'static Grammar>, words: &[Word]) -> Vec<Term> {
    let levels = levels(grammar, words).enumerate();
    levels
        .map(|(at, (grammar, word))| {
            let rest = words.get(at..).unwrap_or_default();
            Term::new(grammar, word, rest)
        })
        .collect()
}

/// Each word with the grammar that has its verb, as long as that is known.
fn levels<'w>(
    grammar: Option<&'static Grammar>,
    words: &'w [Word],
) -> impl Iterator<Item = (Option<&'static Grammar>, &'w Word)> {
    words.iter().scan(grammar, |level, word| {
        let here = *level;
        *level = here.and_then(|grammar| behind(grammar, word));
        Some((here, word))
    })
}

fn behind(grammar: &'static Grammar, word: &Word) -> Option<&'static Grammar> {
    grammar.verb_in(word.case(), word.literal()?)
}

fn is_short_of(names: &[&str], argument: &[u8], case: Case) -> bool {
    let is_short_of = |name: &&str| case.strip_prefix(name.as_bytes(), argument).is_some();
    !argument.is_empty() && names.iter().any(is_short_of)
}

fn is_among(names: &[&str], argument: &[u8], case: Case) -> bool {
    let mut names = names.iter();
    names.any(|name| case.is_same(name.as_bytes(), argument))
}
