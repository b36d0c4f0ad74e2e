//! What the operands and values of a call are, by its command's grammar.

use super::reader::{Known, Piece};
use super::table::{Grammar, Operands, Takes, ValueKind};

/// A text of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Typed<'a> {
    pub(crate) text: &'a [u8],
    /// What it is; `None` if nobody knows.
    pub(crate) kind: Option<ValueKind>,
    pub(crate) role: Role,
}

/// Where a text stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Operand,
    /// The value of an option.
    Value,
    /// The value of an option that says in which directory the command works.
    Place,
}

/// What a call names.
#[derive(Debug, Default)]
pub(crate) struct Named<'a> {
    /// Its operands and the values of its options, verbs and the parts of another command aside.
    pub(crate) texts: Vec<Typed<'a>>,
    /// Whether the command goes through directories.
    pub(crate) walks: bool,
    /// Whether it works on the working directory, for want of an operand.
    pub(crate) is_on_cwd: bool,
    /// Whether it speaks to a host that it does not name.
    pub(crate) lacks_host: bool,
}

impl Grammar {
    /// Takes `arguments`, those after the first, for what they name. The time is linear in them.
    pub(crate) fn named<'a, I>(&'static self, arguments: I) -> Named<'a>
    where
        I: Iterator<Item = &'a [u8]> + Clone,
    {
        let mut naming = Naming::new(self);
        for piece in self.read(arguments) {
            match piece {
                Piece::Flag(known) => naming.option(&known),
                Piece::Unknown(unknown) => naming.unknown(unknown.flag),
                Piece::Operand(operand) => {
                    if !naming.operand(operand) {
                        break;
                    }
                }
            }
        }
        naming.finish()
    }
}

/// The call so far.
struct Naming<'a> {
    named: Named<'a>,
    /// The command's grammar, or that of the verb which was read.
    current: &'static Grammar,
    /// How many operands there were behind the last verb.
    seen: usize,
    /// The operand that may be the last.
    held: Option<&'a [u8]>,
    /// Whether an option stands for the first operand.
    is_first_replaced: bool,
    /// Whether a flag that no table knows may have taken an operand for its value.
    is_unsure: bool,
    /// Whether what follows are the arguments of a script, which no table describes.
    is_behind_code: bool,
}

impl<'a> Naming<'a> {
    fn new(grammar: &'static Grammar) -> Self {
        Self {
            named: Named::default(),
            current: grammar,
            seen: 0,
            held: None,
            is_first_replaced: false,
            is_unsure: false,
            is_behind_code: false,
        }
    }

    fn option(&mut self, known: &Known<'a>) {
        let option = known.option;
        self.named.walks |= option.walks;
        self.is_first_replaced |= option.replaces_first;
        let kinds = match option.takes {
            // What is attached all the same, nobody knows.
            Takes::Nothing => [None; 2],
            Takes::One(kind) | Takes::Attached(kind) => [Some(kind), None],
            Takes::Two(one, other) => [Some(one), Some(other)],
        };
        for (text, kind) in known.values.into_iter().zip(kinds) {
            // A harmless option changes at most where.
            let role = match kind {
                Some(ValueKind::Read) if option.is_harmless => Role::Place,
                _ => Role::Value,
            };
            let typed = text.map(|text| Typed { text, kind, role });
            self.named.texts.extend(typed);
        }
        let is_code =
            |kind: &Option<ValueKind>| matches!(kind, Some(ValueKind::Code | ValueKind::Inline));
        self.is_behind_code |= option.ends_options && kinds.iter().any(is_code);
    }

    /// A flag that no table knows: what may be its value is a text that nobody knows.
    fn unknown(&mut self, flag: &'a [u8]) {
        let at = flag.iter().position(|byte| *byte == b'=');
        let value = match at {
            Some(at) => flag.get(at + 1..),
            None if flag.starts_with(b"--") => None,
            None => flag.strip_prefix(b"-").and_then(|letters| letters.get(1..)),
        };
        let value = value.filter(|value| !value.is_empty());
        self.named.texts.extend(value.map(|text| Typed {
            text,
            kind: None,
            role: Role::Value,
        }));
        self.is_unsure |= at.is_none();
    }

    /// Whether what follows is this command's too.
    fn operand(&mut self, operand: &'a [u8]) -> bool {
        if !self.current.verbs.is_empty() && self.seen == 0 {
            if let Some(grammar) = self.current.verb(operand) {
                self.current = grammar;
                return true;
            }
            // A verb that nobody described: the word itself, and what follows is not known.
            self.current = Grammar::unknown();
            return true;
        }
        let position = self.seen;
        self.seen += 1;
        if self.is_command(position) {
            return false;
        }
        if let Some(earlier) = self.held.replace(operand) {
            self.add(earlier, position - 1, false);
        }
        true
    }

    fn finish(mut self) -> Named<'a> {
        if let Some(last) = self.held.take() {
            self.add(last, self.seen.saturating_sub(1), true);
        }
        let is_worked_on = |typed: &Typed<'_>| {
            typed.role != Role::Place && typed.kind.is_none_or(ValueKind::is_file)
        };
        self.named.walks |= self.current.walks;
        self.named.is_on_cwd = (self.current.falls_back_to_cwd || self.named.walks)
            && !self.named.texts.iter().any(is_worked_on);
        let is_host = |typed: &Typed<'_>| typed.kind == Some(ValueKind::Host);
        self.named.lacks_host =
            self.current.operands.has(ValueKind::Host) && !self.named.texts.iter().any(is_host);
        self.named
    }

    /// Whether the operand at `position` is another command, with its own arguments.
    fn is_command(&self, position: usize) -> bool {
        let operands = &self.current.operands;
        operands.are_command && position >= operands.first.len()
    }

    fn add(&mut self, text: &'a [u8], position: usize, is_last: bool) {
        let kind = self.kind(position, is_last);
        self.named.texts.push(Typed {
            text,
            kind,
            role: Role::Operand,
        });
        self.is_behind_code |= matches!(kind, Some(ValueKind::Code));
    }

    fn kind(&self, position: usize, is_last: bool) -> Option<ValueKind> {
        let Operands {
            first, rest, last, ..
        } = &self.current.operands;
        let position = position + usize::from(self.is_first_replaced);
        let is_first = position < first.len();
        let kind = match last {
            Some(last) if is_last && !is_first => Some(*last),
            _ => first.get(position).copied().or(*rest),
        };
        // A flag may have taken one for its value, and then they stand elsewhere.
        if self.is_unsure && is_first {
            return None;
        }
        let is_of_script = |kind: &ValueKind| matches!(kind, ValueKind::Text | ValueKind::Code);
        kind.filter(|kind| !(self.is_behind_code && is_of_script(kind)))
    }
}

impl ValueKind {
    /// Whether it names a file or a directory.
    pub(crate) fn is_file(self) -> bool {
        match self {
            Self::Read | Self::Write | Self::Delete | Self::List | Self::Code => true,
            Self::Number
            | Self::Text
            | Self::Pattern
            | Self::Program
            | Self::Inline
            | Self::Host => false,
        }
    }
}

#[cfg(test)]
mod tests;
