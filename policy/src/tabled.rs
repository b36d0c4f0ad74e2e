//! Words and flags of a rule, held against a call whose grammar is known.
//!
//! Where the table knows every flag, nothing is in doubt; a flag that it does not know is read with
//! a value and without.

use crate::flag::Flag;
use crate::grammar::{Grammar, Known, Piece, Side, Takes, Unknown};
use crate::image::Reading;
use crate::selector::List;
use crate::synonym::Term;

/// Whether `words` are the first operands, strictly: nothing stands between but what is harmless
/// or among `flags`. With `is_whole`, no operand may follow, nor what counts as one.
pub(crate) fn lead<'a>(
    words: &[Term],
    flags: &[Flag],
    is_whole: bool,
    mut pieces: impl Iterator<Item = Piece<'a>>,
) -> bool {
    let mut words = words.iter();
    let mut next = words.next();
    while let Some(word) = next {
        match pieces.next() {
            Some(Piece::Operand(operand)) if word.covers(operand) => {
                next = words.next();
            }
            Some(Piece::Flag(known)) if is_among(flags, &known) => {
                if let Some(value) = value_as_word(&known) {
                    if !word.covers(value) {
                        return false;
                    }
                    next = words.next();
                }
            }
            // Whether it may be there at all is for `are_permitted`, which looks at every flag.
            // Before a verb it is of another table, and means more often something else.
            Some(Piece::Flag(known)) if known.option.is_harmless || known.side == Side::Behind => {}
            Some(Piece::Unknown(unknown)) if are_among(flags, &unknown) => {}
            Some(Piece::Operand(_) | Piece::Flag(_) | Piece::Unknown(_)) | None => return false,
        }
    }
    let is_word = |piece| match piece {
        Piece::Operand(_) => true,
        Piece::Flag(known) => value_as_word(&known).is_some(),
        Piece::Unknown(_) => false,
    };
    !is_whole || !pieces.any(is_word)
}

/// What may be the first operands, in doubt, followed in every reading at once.
///
/// `Err` if a flag that the table does not know stands before the end of `words`: then the
/// arguments may also be others than the pieces say.
pub(crate) fn may_lead<'a>(
    words: &[Term],
    pieces: impl Iterator<Item = Piece<'a>>,
) -> Result<bool, Unsure> {
    let complete = 1_u64 << words.len();
    // Bit n: the first n words were read. In `as_value` the next argument is a flag's value.
    let (mut unread, mut as_value) = (1_u64, 0_u64);
    let mut is_unsure = false;
    for piece in pieces {
        if unread & complete != 0 || unread | as_value == 0 {
            break;
        }
        (unread, as_value) = match piece {
            Piece::Operand(operand) => (advance(words, unread, operand) | as_value, 0),
            Piece::Flag(known) => {
                let value = value_as_word(&known);
                let as_word = value.map_or(0, |value| advance(words, unread, value));
                (unread | as_value | as_word, 0)
            }
            Piece::Unknown(Unknown { flag, .. }) => {
                is_unsure = true;
                let takes_next = if flag.contains(&b'=') { 0 } else { unread };
                (unread | as_value, takes_next)
            }
        };
    }
    match unread & complete != 0 {
        false if is_unsure => Err(Unsure),
        may_lead => Ok(may_lead),
    }
}

/// A flag that no table knows makes the call one that can be read in other ways too.
#[derive(Debug)]
pub(crate) struct Unsure;

/// The readings of `unread` whose next word is `argument`, with that word seen.
pub(crate) fn advance(words: &[Term], unread: u64, argument: &[u8]) -> u64 {
    words
        .iter()
        .enumerate()
        .filter(|(seen, word)| unread & (1 << seen) != 0 && word.may_mean(argument))
        .fold(0, |readings, (seen, _)| readings | 2 << seen)
}

/// Whether the call has `flag`.
pub(crate) fn has<'a>(
    flag: &Flag,
    pieces: impl Iterator<Item = Piece<'a>> + Clone,
    reading: Reading,
) -> bool {
    let is_it = |piece: Piece<'a>| match piece {
        Piece::Flag(known) => flag.is(&known, reading),
        Piece::Unknown(unknown) => covers(flag, &unknown, reading),
        Piece::Operand(_) => false,
    };
    let letters = flag.letters();
    let has_letter = |letter: &u8| {
        pieces.clone().any(|piece| match piece {
            Piece::Flag(known) => known.has_letter(*letter),
            Piece::Unknown(unknown) => {
                reading == Reading::Doubtful && unknown.flag.contains(letter)
            }
            Piece::Operand(_) => false,
        })
    };
    if reading == Reading::Strict && may_be_taken_back(flag, pieces.clone()) {
        return false;
    }
    pieces.clone().any(is_it) || letters.len() > 1 && letters.iter().all(has_letter)
}

/// Whether something in the call may take `flag` back: `--no-name`, `--name=false`, or a second value,
/// of which the command takes which it likes.
fn may_be_taken_back<'a>(flag: &Flag, mut pieces: impl Iterator<Item = Piece<'a>>) -> bool {
    let mut values = 0;
    let takes_back = |piece: Piece<'a>| match piece {
        Piece::Flag(known) => {
            let is_named = flag.is_named_by(&known);
            values += usize::from(is_named && known.option.takes != Takes::Nothing);
            let mut names = known.option.names.iter();
            names.any(|name| flag.is_undone_by(name.as_bytes()))
                || is_named && (values > 1 || !flag.is(&known, Reading::Strict))
        }
        Piece::Unknown(unknown) => flag.is_undone_by(unknown.flag),
        Piece::Operand(_) => false,
    };
    pieces.any(takes_back)
}

/// Whether an allow of a command covers every flag of the call: those that are dangerous must be
/// named by `command` or `flags`, the others be on `flags` if it is there.
pub(crate) fn are_permitted<'a>(
    list: Option<&List<Flag>>,
    named: &[Flag],
    mut pieces: impl Iterator<Item = Piece<'a>>,
) -> bool {
    let listed = || list.into_iter().flat_map(|list| &list.wanted);
    let is_open = list.is_none_or(|list| list.wanted.is_empty());
    pieces.all(|piece| {
        let is_it = |flag: &Flag, reading| match piece {
            Piece::Flag(known) => flag.is_or_holds(&known, reading),
            Piece::Unknown(unknown) => covers(flag, &unknown, reading),
            Piece::Operand(_) => false,
        };
        let (is_dangerous, is_harmless) = match piece {
            Piece::Operand(_) => return true,
            Piece::Flag(known) if known.hides_dangerous => return false,
            Piece::Flag(known) => (known.option.is_dangerous, known.option.is_harmless),
            Piece::Unknown(unknown) => (unknown.may_be_dangerous, false),
        };
        let is_named = |flag: &Flag| !flag.is_any() && is_it(flag, Reading::Strict);
        let is_wanted = named.iter().chain(listed()).any(is_named)
            || !is_dangerous && (is_open || is_harmless || listed().any(Flag::is_any));
        let mut exceptions = list.into_iter().flat_map(|list| &list.exceptions);
        is_wanted && !exceptions.any(|flag| is_it(flag, Reading::Doubtful))
    })
}

/// Whether some flag of the call may be on the list of a deny or an ask.
pub(crate) fn may_be_on<'a>(
    list: &List<Flag>,
    pieces: impl Iterator<Item = Piece<'a>> + Clone,
) -> bool {
    let is_excepted = |piece: Piece<'a>| {
        list.exceptions.iter().any(|flag| match piece {
            Piece::Flag(known) => flag.is_or_holds(&known, Reading::Strict),
            Piece::Unknown(unknown) => covers(flag, &unknown, Reading::Strict),
            Piece::Operand(_) => false,
        })
    };
    let counted =
        pieces.filter(|piece| !matches!(piece, Piece::Operand(_)) && !is_excepted(*piece));
    if list.wanted.is_empty() {
        return counted.clone().next().is_some();
    }
    let mut wanted = list.wanted.iter();
    wanted.any(|flag| match flag.is_any() {
        true => counted.clone().next().is_some(),
        false => has(flag, counted.clone(), Reading::Doubtful),
    })
}

/// The operands of a call behind its first `words`, which an option's value may be too.
///
/// Without a grammar whatever is no flag is one, and so is the value of a flag behind a blank.
pub(crate) fn operands<'a>(
    grammar: Option<&'static Grammar>,
    arguments: impl Iterator<Item = &'a [u8]> + Clone,
    words: usize,
) -> impl Iterator<Item = &'a [u8]> {
    let tabled = grammar.map(|grammar| grammar.read(arguments.clone()));
    let tabled = tabled
        .into_iter()
        .flatten()
        .filter_map(|piece| match piece {
            Piece::Operand(operand) => Some((operand, true)),
            Piece::Flag(known) => value_as_word(&known).map(|value| (value, false)),
            Piece::Unknown(_) => None,
        });
    let mut has_ended = false;
    let plain = arguments.filter(move |argument| {
        let is_end = !has_ended && *argument == b"--";
        has_ended |= is_end;
        !is_end && (has_ended || argument.len() < 2 || !argument.starts_with(b"-"))
    });
    let plain = grammar.is_none().then_some(plain).into_iter().flatten();
    let all = tabled.chain(plain.map(|operand| (operand, true)));
    let behind = all.skip(words);
    behind.filter_map(|(text, is_operand)| is_operand.then_some(text))
}

fn is_among(flags: &[Flag], known: &Known<'_>) -> bool {
    let mut flags = flags.iter();
    flags.any(|flag| flag.is_or_holds(known, Reading::Strict))
}

fn are_among(flags: &[Flag], unknown: &Unknown<'_>) -> bool {
    let mut flags = flags.iter();
    flags.any(|flag| covers(flag, unknown, Reading::Strict))
}

fn covers(flag: &Flag, unknown: &Unknown<'_>, reading: Reading) -> bool {
    flag.covers(unknown.flag, unknown.next, reading)
}

/// The value of an option that counts as words of the command.
fn value_as_word<'a>(known: &Known<'a>) -> Option<&'a [u8]> {
    let [value, _] = known.values;
    value.filter(|_| known.option.is_word)
}
