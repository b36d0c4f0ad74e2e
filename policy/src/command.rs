//! Leading words of a call: an entry of `command`.
//!
//! The same words are read in two ways. Where there is a table of the command, [`crate::tabled`]
//! does so; what follows is about all others.
//!
//! *Strictly*, the words after the first are the first arguments of the call, one by one,
//! with nothing between them, and they are the whole name of the command as the arity table
//! has it: `tool stash` is not `tool stash drop`. A last `*` lifts the second condition.
//!
//! *In doubt*, flags may stand before and between the words, and nobody here knows which
//! flags take a value. So an argument that begins with `-` (`--` and `-` included) is
//! skipped both alone and together with the argument after it, one that begins with `+` is
//! skipped alone, and the words hold if *any* way of skipping makes them the leading
//! operands. `tool push` therefore holds for `tool -C sub push`, `tool --no-pager push` and
//! `tool -c a=b push`. It does not hold for `tool commit -m push`: the first operand is
//! `commit`, however the flag after it is read. Fewer words mean the family.
//!
//! A word that begins with `-` is no leading word but a flag that the call must have.

mod error;

use crate::arity;
use crate::case::Case;
use crate::flag::Flag;
use crate::grammar::{Grammar, Side};
use crate::guise::Guise;
use crate::image::{Image, Reading};
use crate::path::file_name;
use crate::places::Places;
use crate::program::Program;
use crate::synonym::{Spellings, Term};
use crate::tabled;
use crate::version::is_version_in;
use crate::word::Word;

pub(crate) use error::CommandError;

/// Most words of an entry.
///
/// [`may_lead`] keeps one bit a word, and no name of a command has a dozen.
const WORDS_MAX: usize = 32;

/// A program and the words that follow it.
#[derive(Debug, Clone)]
pub(crate) struct Command {
    /// The first word.
    pub(crate) program: Program,
    /// The operands that must lead.
    words: Spellings,
    /// The flags that must be there.
    pub(crate) flags: Vec<Flag>,
    /// Words and flags in their order, if there are flags: a call that begins exactly so
    /// (`python3 -m pytest`) is meant, whatever the flags take.
    written: Vec<Term>,
    /// Whether a last `*` covers the rest of the command's name.
    is_open: bool,
    /// How many words name the command that a literal entry names.
    arity: Option<usize>,
    /// The grammar of the program, if there is a table of it.
    pub(crate) grammar: Option<&'static Grammar>,
    /// How the letters of the words are compared.
    case: Case,
}

/// What a shell would act on. Each is longer than those after it that it contains.
const SHELL_SYNTAX: [&str; 10] = ["$(", "`", ";", "&&", "||", "|", "&", ">", "<", "\n"];

/// Programs whose first operand is a script, and how such a file is called.
const SCRIPTS: [(&[&str], &[&str]); 6] = [
    (
        &["node", "nodejs", "bun", "deno", "tsx", "ts-node"],
        &[".js", ".mjs", ".cjs", ".ts", ".mts"],
    ),
    (&["python", "pypy"], &[".py"]),
    (&["ruby"], &[".rb"]),
    (&["perl"], &[".pl"]),
    (&["php"], &[".php"]),
    (&["sh", "bash", "dash", "zsh", "ksh"], &[".sh"]),
];

impl Command {
    /// Reads one entry, with its `!` already taken off.
    pub(crate) fn parse(text: &str, places: &Places, case: Case) -> Result<Self, CommandError> {
        if let Some(syntax) = SHELL_SYNTAX
            .into_iter()
            .find(|syntax| text.contains(syntax))
        {
            return Err(CommandError::Shell(syntax));
        }
        if text.contains(['\'', '"']) {
            return Err(CommandError::Quote);
        }
        let mut texts = text.split([' ', '\t']).filter(|word| !word.is_empty());
        let program = texts.next().ok_or(CommandError::Blank)?;
        if program.starts_with('-') {
            return Err(CommandError::FlagFirst(program.to_owned()));
        }
        if is_assignment(program) {
            return Err(CommandError::Assignment(program.to_owned()));
        }
        let program = Program::parse(program, places, case)?;
        let grammar = program.grammar();
        let has_verbs = grammar.is_some_and(|grammar| !grammar.verbs.is_empty());
        let (mut words, mut flags, mut written) = (Vec::new(), Vec::new(), Vec::new());
        for text in texts {
            if text.starts_with('@') {
                return Err(CommandError::Class(text.to_owned()));
            }
            if text.len() > 1 && text.starts_with('-') {
                let side = match (has_verbs, words.is_empty()) {
                    (false, _) => Side::Either,
                    (true, true) => Side::Before,
                    (true, false) => Side::Behind,
                };
                flags.push(Flag::parse(text, places, case)?.on(side));
            } else {
                words.push(Word::parse(text, places, case)?);
            }
            let has_letters = text.starts_with('-') && !text.starts_with("--");
            let case = if has_letters { Case::Exact } else { case };
            written.push(Word::parse(text, places, case)?);
        }
        if written.len() >= WORDS_MAX {
            return Err(CommandError::TooLong);
        }
        let is_open = words.pop_if(|last| last.is_anything()).is_some();
        if flags.is_empty() || is_open {
            written.clear();
        }
        let words = Spellings::new(grammar, words);
        let arity = literal_arity(&program, &words.proper, case);
        Ok(Self {
            program,
            words,
            flags,
            written: Spellings::new(None, written).proper,
            is_open,
            arity,
            grammar,
            case,
        })
    }

    /// Whether the first word after the program is the file that an interpreter would run.
    pub(crate) fn check_script(&self) -> Result<(), CommandError> {
        let (Some(name), Some(word)) = (
            self.program.file_name(),
            self.words.proper.first().and_then(Term::literal),
        ) else {
            return Ok(());
        };
        let plain = self.case.plain(word);
        let is_script = SCRIPTS.iter().any(|(interpreters, endings)| {
            let mut interpreters = interpreters.iter();
            interpreters.any(|known| is_version_in(self.case, name, known.as_bytes()))
                && endings
                    .iter()
                    .any(|ending| plain.ends_with(ending.as_bytes()))
        });
        if is_script {
            let word = word.escape_ascii().to_string();
            return Err(CommandError::Script(word));
        }
        Ok(())
    }

    /// Takes what follows the words for no part of the command's name: a script beside `script`.
    pub(crate) fn open(&mut self) {
        self.is_open = true;
    }

    /// Whether the entry names a program and nothing that it is to do.
    pub(crate) fn is_bare(&self) -> bool {
        self.words.proper.is_empty() && !self.is_open
    }

    /// How many leading words the entry names, the program included.
    pub(crate) fn word_count(&self) -> usize {
        1 + self.words.proper.len()
    }

    /// The operands of a call behind the words.
    pub(crate) fn operands<'a>(
        &self,
        arguments: impl Iterator<Item = &'a [u8]> + Clone,
    ) -> impl Iterator<Item = &'a [u8]> {
        let leads = |words: &&[Term]| {
            let mut grammars = self.grammar.into_iter();
            grammars.any(|grammar| {
                tabled::may_lead(words, grammar.read(arguments.clone())).is_ok_and(|it| it)
            })
        };
        let spelled = self.words.iter(Reading::Doubtful).find(leads);
        let words = spelled.unwrap_or(&self.words.proper).len();
        tabled::operands(self.grammar, arguments, words)
    }

    /// Whether the words lead the arguments of `image` and the flags are among them.
    pub(crate) fn words_hold(&self, image: &Image<'_>, reading: Reading) -> bool {
        match reading {
            Reading::Strict => self.leads(image, image.arguments()),
            Reading::Doubtful => self.may_hold(image.arguments()),
        }
    }

    /// Whether the entry means that applet, strictly.
    pub(crate) fn means(&self, applet: &Guise<'_>) -> bool {
        self.program.is_name(applet.name) && self.leads(applet.image, applet.arguments())
    }

    /// Whether the entry names `flag` too.
    pub(crate) fn names(&self, flag: &Flag) -> bool {
        self.flags.iter().any(|own| own.names(flag))
    }

    /// Whether the entry may mean what `guise` does. Only ever a doubt.
    pub(crate) fn may_be(&self, guise: &Guise<'_>) -> bool {
        // `git-push` is `git push`, and no more than that.
        let is_joined_twin = || self.program.is_name(guise.name) && !self.words.proper.is_empty();
        (self.program.may_be(guise) || guise.is_joined() && is_joined_twin())
            && self.may_hold(guise.arguments())
    }

    /// Whether the words may lead these arguments, and the flags be among them.
    fn may_hold<'a>(&self, arguments: impl Iterator<Item = &'a [u8]> + Clone) -> bool {
        let Some(grammar) = self.grammar else {
            return may_lead(&self.words.proper, arguments.clone())
                && self.flags_hold(arguments, Reading::Doubtful);
        };
        let pieces = || grammar.read(arguments.clone());
        let leads = |words: &[Term]| {
            tabled::may_lead(words, pieces())
                .unwrap_or_else(|tabled::Unsure| may_lead(words, arguments.clone()))
        };
        let mut flags = self.flags.iter();
        self.words.iter(Reading::Doubtful).any(leads)
            && flags.all(|flag| tabled::has(flag, pieces(), Reading::Doubtful))
    }

    /// The grammar by which a call of `image` is read, strictly: that of the entry's program, or,
    /// where the entry means many, of the one that it is.
    pub(crate) fn grammar_of(&self, image: &Image<'_>) -> Option<&'static Grammar> {
        if self.grammar.is_some() || self.program.file_name().is_some() {
            return self.grammar;
        }
        image.grammars(Reading::Strict).next()
    }

    /// Whether the words lead `arguments`, strictly, and the flags are among them.
    fn leads<'a>(
        &self,
        image: &Image<'_>,
        arguments: impl Iterator<Item = &'a [u8]> + Clone,
    ) -> bool {
        let Some(grammar) = self.grammar_of(image) else {
            return self.leads_plainly(image, arguments.clone())
                || self.leads_as_written(image, arguments);
        };
        let pieces = || grammar.read(arguments.clone());
        let is_whole = !self.is_open && self.arity_of(image) > self.word_count();
        let leads = |words: &[Term]| tabled::lead(words, &self.flags, is_whole, pieces());
        let mut flags = self.flags.iter();
        self.words.iter(Reading::Strict).any(leads)
            && flags.all(|flag| tabled::has(flag, pieces(), Reading::Strict))
    }

    /// How many words name the command that the call's first words name.
    fn arity_of(&self, image: &Image<'_>) -> usize {
        if let (Some(arity), Case::Exact) = (self.arity, self.case) {
            return arity;
        }
        let words = || image.arguments().take(self.words.proper.len());
        let names = image.names(Reading::Strict).map(file_name);
        // Of a literal entry, only those are meant that are its own in letters of another case.
        let own = self.program.file_name().filter(|_| self.arity.is_some());
        let names = names.filter(|name| own.is_none_or(|own| self.case.is_same(own, name)));
        let arities = names.map(|name| arity::of(name, words()));
        arities.chain(self.arity).max().unwrap_or(0)
    }

    fn flags_hold<'a>(
        &self,
        arguments: impl Iterator<Item = &'a [u8]> + Clone,
        reading: Reading,
    ) -> bool {
        let mut flags = self.flags.iter();
        flags.all(|flag| flag.is_among(arguments.clone(), reading))
    }

    fn leads_plainly<'a>(
        &self,
        image: &Image<'_>,
        arguments: impl Iterator<Item = &'a [u8]> + Clone,
    ) -> bool {
        let words = &self.words.proper;
        let rest = arguments.clone().skip(words.len());
        lead(words, arguments)
            && (self.is_open || self.is_whole_name(image, rest.clone()))
            && self.flags_hold(rest, Reading::Strict)
    }

    fn leads_as_written<'a>(
        &self,
        image: &Image<'_>,
        arguments: impl Iterator<Item = &'a [u8]> + Clone,
    ) -> bool {
        let rest = arguments.clone().skip(self.written.len());
        !self.written.is_empty()
            && lead(&self.written, arguments)
            && self.is_whole_name(image, rest)
    }

    /// Whether nothing in `rest`, what follows the words, belongs to the command's name. An
    /// argument that may be an operand or the value of a flag counts as the operand.
    fn is_whole_name<'a>(
        &self,
        image: &Image<'_>,
        mut rest: impl Iterator<Item = &'a [u8]>,
    ) -> bool {
        self.arity_of(image) <= self.word_count() || rest.all(|argument| argument.starts_with(b"-"))
    }
}

/// Follows every way of reading the arguments at once.
///
/// Bit n of a set stands for a reading that has seen the first n words. A step costs the
/// same whatever the arguments are, so no caller can make it take long.
fn may_lead<'a>(words: &[Term], arguments: impl Iterator<Item = &'a [u8]>) -> bool {
    let complete = 1u64 << words.len();
    // Readings in which the next argument is still to be read, and those in which a flag
    // before it takes it as a value.
    let mut unread = 1u64;
    let mut as_value = 0u64;
    for argument in arguments {
        if unread & complete != 0 || unread | as_value == 0 {
            break;
        }
        let as_word = tabled::advance(words, unread, argument);
        let as_flag = if argument.starts_with(b"-") {
            unread
        } else {
            0
        };
        let as_mark = if argument.starts_with(b"+") {
            unread
        } else {
            0
        };
        unread = as_word | as_flag | as_mark | as_value;
        as_value = as_flag;
    }
    unread & complete != 0
}

/// Whether `words` are the first of `arguments`, one by one.
fn lead<'a>(words: &[Term], mut arguments: impl Iterator<Item = &'a [u8]>) -> bool {
    words.iter().all(|word| {
        let argument = arguments.next();
        argument.is_some_and(|argument| word.covers(argument))
    })
}

/// The arity of an entry whose words are known before any call.
fn literal_arity(program: &Program, words: &[Term], case: Case) -> Option<usize> {
    let name = case.plain(program.file_name()?);
    let words = words.iter().map(|word| Some(case.plain(word.literal()?)));
    let words: Vec<_> = words.collect::<Option<_>>()?;
    Some(arity::of(&name, words.iter().map(|word| &**word)))
}

/// Whether a shell would take a first word for the setting of a variable.
fn is_assignment(word: &str) -> bool {
    let is_name = |name: &str| {
        let mut bytes = name.bytes();
        let starts = |byte: u8| byte == b'_' || byte.is_ascii_alphabetic();
        bytes.next().is_some_and(starts) && bytes.all(|byte| starts(byte) || byte.is_ascii_digit())
    };
    word.split_once('=').is_some_and(|(name, _)| is_name(name))
}

#[cfg(test)]
mod tests;
