//! A call, taken apart by its command's grammar.
//!
//! Nothing is allocated, and each argument is looked at once.

use super::table::{Grammar, NUMBER, Opt, Takes};

/// One part of a call.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Piece<'a> {
    /// An option that the grammar knows.
    Flag(Known<'a>),
    /// A flag that it does not.
    Unknown(Unknown<'a>),
    /// Anything else.
    Operand(&'a [u8]),
}

/// An option of a grammar, as a call has it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Known<'a> {
    pub(crate) option: &'static Opt,
    /// Its values; none where it takes none, or the call ends before.
    pub(crate) values: [Option<&'a [u8]>; 2],
    pub(crate) side: Side,
    /// Whether a value that is an argument of its own is a dangerous option by its looks: another
    /// version of the command, or another of its parsers, may take it for one.
    pub(crate) hides_dangerous: bool,
}

impl Known<'_> {
    /// Whether the option has a name of one dash and that letter.
    pub(crate) fn has_letter(&self, letter: u8) -> bool {
        let mut names = self.option.names.iter();
        names.any(|name| name.as_bytes() == [b'-', letter])
    }
}

/// A flag that a grammar does not know, as it is written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Unknown<'a> {
    pub(crate) flag: &'a [u8],
    /// The argument behind it, which may be its value or not.
    pub(crate) next: Option<&'a [u8]>,
    /// Whether a dangerous option may be meant: it is cut too short, or a letter among others.
    pub(crate) may_be_dangerous: bool,
}

/// On which side of its verb an option stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// Before it, or there is no verb.
    Before,
    /// Behind it.
    Behind,
    /// It means the same on both.
    Either,
}

/// The parts of a call, in order.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one thing that the rest of the reading hangs on"
)]
#[derive(Debug, Clone)]
pub(crate) struct Pieces<'a, I> {
    arguments: I,
    /// The command's grammar.
    outer: &'static Grammar,
    /// The verb's, once it was read; else the command's.
    inner: &'static Grammar,
    /// Letters of a cluster that are still to be read.
    letters: &'a [u8],
    /// Whether their values are the next arguments, whatever follows them in the cluster.
    is_old_style: bool,
    /// An operand that was announced by its prefix.
    announced: Option<&'a [u8]>,
    is_first: bool,
    is_behind_verb: bool,
    /// Whether what follows are operands, whatever they look like.
    has_ended: bool,
}

impl Grammar {
    /// Takes `arguments`, those after the first, apart.
    pub(crate) fn read<'a, I>(&'static self, arguments: I) -> Pieces<'a, I>
    where
        I: Iterator<Item = &'a [u8]> + Clone,
    {
        Pieces {
            arguments,
            outer: self,
            inner: self,
            letters: b"",
            is_old_style: false,
            announced: None,
            is_first: true,
            is_behind_verb: false,
            has_ended: false,
        }
    }

    /// The long option that `written`, with its dashes, is or cuts short.
    fn long(&'static self, written: &[u8]) -> Option<&'static Opt> {
        let exact = self.option(written);
        if exact.is_some() || !self.abbreviates {
            return exact;
        }
        let is_short_of = |option: &&Opt| {
            let mut names = option.names.iter();
            names.any(|name| name.len() > 2 && name.as_bytes().starts_with(written))
        };
        let mut found = self.options.iter().filter(is_short_of);
        let first = found.next();
        first.filter(|_| found.next().is_none() && written.len() > 2)
    }
}

impl<'a, I: Iterator<Item = &'a [u8]> + Clone> Iterator for Pieces<'a, I> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        if let Some(operand) = self.announced.take() {
            return Some(self.operand(operand));
        }
        if !self.letters.is_empty() {
            return Some(self.letter());
        }
        let mut is_first = std::mem::take(&mut self.is_first);
        let mut argument = self.arguments.next()?;
        while !self.has_ended && argument == b"--" {
            self.has_ended = !self.inner.has_no_end;
            (argument, is_first) = (self.arguments.next()?, false);
        }
        if self.has_ended {
            return Some(Piece::Operand(argument));
        }
        let is_dashed = argument.len() > 1 && argument.starts_with(b"-");
        if is_first && self.outer.is_old_style && !is_dashed {
            (self.letters, self.is_old_style) = (argument, true);
            return self.next();
        }
        if is_dashed {
            return Some(self.flag(argument));
        }
        if argument.starts_with(b"+") {
            if let Some((option, side)) = self.lookup(|it| it.option(argument)) {
                return Some(self.known(option, side, None));
            }
            if let Some((option, side)) = self.lookup(|it| it.option(b"+")) {
                return Some(self.known(option, side, argument.get(1..)));
            }
        }
        let mut prefixes = self.inner.prefixes.iter();
        let meant = prefixes.find(|(byte, _)| argument.first() == Some(byte));
        let option = meant.and_then(|(_, name)| self.inner.option(name.as_bytes()));
        if let Some(option) = option {
            self.announced = Some(argument);
            let (values, side) = ([None; 2], Side::Behind);
            return Some(Piece::Flag(Known {
                option,
                values,
                side,
                hides_dangerous: false,
            }));
        }
        Some(self.operand(argument))
    }
}

impl<'a, I: Iterator<Item = &'a [u8]> + Clone> Pieces<'a, I> {
    /// An operand; one that is a verb changes the grammar.
    fn operand(&mut self, argument: &'a [u8]) -> Piece<'a> {
        if !self.inner.verbs.is_empty() {
            match self.inner.verb(argument) {
                Some(grammar) => self.inner = grammar,
                // The options of a verb that nobody described, of which nothing is known.
                None if !self.is_behind_verb => self.inner = Grammar::unknown(),
                None => {}
            }
            self.is_behind_verb = true;
        } else if self.inner.stops_at_operand {
            self.has_ended = true;
        }
        Piece::Operand(argument)
    }

    /// Looks in the verb's grammar, then in the command's, if its options stand behind verbs too.
    fn lookup(
        &self,
        look: impl Fn(&'static Grammar) -> Option<&'static Opt>,
    ) -> Option<(&'static Opt, Side)> {
        if !self.is_behind_verb {
            let side = if self.outer.is_everywhere {
                Side::Either
            } else {
                Side::Before
            };
            return look(self.outer).map(|option| (option, side));
        }
        let inner = look(self.inner).map(|option| (option, Side::Behind));
        inner.or_else(|| {
            let outer = self.outer.is_everywhere.then(|| look(self.outer));
            outer.flatten().map(|option| (option, Side::Either))
        })
    }

    fn flag(&mut self, argument: &'a [u8]) -> Piece<'a> {
        let at = argument.iter().position(|byte| *byte == b'=');
        let (name, value) = match at.and_then(|at| argument.split_at_checked(at)) {
            Some((name, value)) => (name, value.get(1..)),
            None => (argument, None),
        };
        if let Some((option, side)) = self.lookup(|grammar| grammar.long(name)) {
            return self.known(option, side, value);
        }
        let is_number = argument.iter().skip(1).all(u8::is_ascii_digit);
        if is_number && let Some((option, side)) = self.lookup(|it| it.option(NUMBER.as_bytes())) {
            let values = [argument.get(1..), None];
            return Piece::Flag(Known {
                option,
                values,
                side,
                hides_dangerous: false,
            });
        }
        let letters = argument.get(1..).unwrap_or_default();
        if letters.starts_with(b"-") || self.inner.has_single_dashes {
            return self.unknown(argument, |option_name| option_name.starts_with(name));
        }
        self.letters = letters;
        match self.letter() {
            // The whole of it, so that whoever reads it in doubt sees what stood there.
            Piece::Unknown(unknown) => Piece::Unknown(Unknown {
                flag: argument,
                ..unknown
            }),
            known @ (Piece::Flag(_) | Piece::Operand(_)) => known,
        }
    }

    /// A flag that no grammar knows, and may mean what `may_be` says of.
    fn unknown(&self, flag: &'a [u8], may_be: impl Fn(&[u8]) -> bool) -> Piece<'a> {
        Piece::Unknown(Unknown {
            flag,
            next: self.arguments.clone().next(),
            may_be_dangerous: self.may_be_dangerous(may_be),
        })
    }

    /// The next letter of a cluster.
    fn letter(&mut self) -> Piece<'a> {
        let (first, rest) = self.letters.split_at_checked(1).unwrap_or((b"", b""));
        let name = [b'-', first.first().copied().unwrap_or_default()];
        let found = self.lookup(|grammar| grammar.option(&name));
        let Some((option, side)) = found else {
            let letters = std::mem::take(&mut self.letters);
            let is_among = |name: &[u8]| match name {
                [b'-', letter] => letters.contains(letter),
                _ => false,
            };
            return self.unknown(letters, is_among);
        };
        let is_separate = self.is_old_style || self.outer.has_separate_values;
        if option.takes == Takes::Nothing || is_separate {
            self.letters = rest;
            return self.known(option, side, None);
        }
        self.letters = b"";
        self.known(option, side, Some(rest).filter(|rest| !rest.is_empty()))
    }

    /// The option with its values, `attached` and those that follow.
    fn known(&mut self, option: &'static Opt, side: Side, attached: Option<&'a [u8]>) -> Piece<'a> {
        let mut next = || self.arguments.next();
        let values = match option.takes {
            Takes::Nothing if attached.is_none() => [self.boolean_word(), None],
            Takes::Nothing | Takes::Attached(_) => [attached, None],
            Takes::One(_) => [attached.or_else(next), None],
            Takes::Two(..) => [attached.or_else(&mut next), next()],
        };
        self.has_ended |= option.ends_options;
        let own = values.into_iter().flatten().filter(|_| attached.is_none());
        let hides_dangerous =
            !option.ends_options && { own }.any(|value| self.looks_dangerous(value));
        Piece::Flag(Known {
            option,
            values,
            side,
            hides_dangerous,
        })
    }

    /// The word behind a switch that says whether it is on, where the command takes one.
    fn boolean_word(&mut self) -> Option<&'a [u8]> {
        let next = self.arguments.clone().next()?;
        let is_one = matches!(next, b"true" | b"false" | b"null");
        if !self.outer.has_boolean_words || !is_one {
            return None;
        }
        self.arguments.next()
    }

    /// Whether `argument`, if it were an option, would be a dangerous one.
    fn looks_dangerous(&self, argument: &[u8]) -> bool {
        let Some(letters) = argument.strip_prefix(b"-").filter(|rest| !rest.is_empty()) else {
            return false;
        };
        let name = argument
            .split(|byte| *byte == b'=')
            .next()
            .unwrap_or(argument);
        if letters.starts_with(b"-") || self.inner.has_single_dashes {
            return self.may_be_dangerous(|option| option.starts_with(name) && name.len() > 2);
        }
        for letter in letters {
            let name = [b'-', *letter];
            match self.lookup(|grammar| grammar.option(&name)) {
                Some((option, _)) if option.is_dangerous => return true,
                Some((option, _)) if option.takes == Takes::Nothing => {}
                Some(_) | None => return false,
            }
        }
        false
    }

    /// Whether a dangerous option has a name that `may_be` says so of.
    fn may_be_dangerous(&self, may_be: impl Fn(&[u8]) -> bool) -> bool {
        let dangerous = |grammar: &'static Grammar| {
            let mut options = grammar.options.iter().filter(|option| option.is_dangerous);
            options.find(|option| option.names.iter().any(|name| may_be(name.as_bytes())))
        };
        self.lookup(dangerous).is_some()
    }
}

#[cfg(test)]
mod tests;
