//! What the operands and values of a call are, by its command's grammar.

use super::reader::{Known, Piece};
use super::table::{Grammar, NUMBER, Opt, Takes, ValueKind};

/// A text of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Typed<'a> {
    pub(crate) text: &'a [u8],
    pub(crate) kind: ValueKind,
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
    /// Whether it may speak to a host that it does not name: none is given, or a file or an option
    /// may give others.
    pub(crate) hides_host: bool,
    /// Whether a host that is a mere word is the name of something else.
    pub(crate) names_remotes: bool,
}

impl Grammar {
    /// Takes `arguments`, those after the first, for what they name. The time is linear in them.
    pub(crate) fn named<'a, I>(&'static self, arguments: I) -> Named<'a>
    where
        I: Iterator<Item = &'a [u8]> + Clone,
    {
        let mut call = Call {
            outer: self,
            grammar: self,
            options: Vec::new(),
            operands: Vec::new(),
            unknown: Vec::new(),
            is_unsure: false,
        };
        for piece in self.read(arguments) {
            match piece {
                Piece::Flag(known) => call.options.push(known),
                Piece::Unknown(unknown) => call.unknown(unknown.flag),
                Piece::Operand(operand) => call.operand(operand),
            }
        }
        call.named()
    }
}

/// A call, sorted.
struct Call<'a> {
    outer: &'static Grammar,
    /// The command's, or that of the verb which was read.
    grammar: &'static Grammar,
    options: Vec<Known<'a>>,
    /// Those behind the verb.
    operands: Vec<&'a [u8]>,
    /// What may be the value of a flag that no table knows.
    unknown: Vec<&'a [u8]>,
    /// Whether such a flag may have taken an operand.
    is_unsure: bool,
}

impl<'a> Call<'a> {
    fn unknown(&mut self, flag: &'a [u8]) {
        let at = flag.iter().position(|byte| *byte == b'=');
        let value = match at {
            Some(at) => flag.get(at + 1..),
            None if flag.starts_with(b"--") => None,
            None => flag.strip_prefix(b"-").and_then(|letters| letters.get(1..)),
        };
        self.unknown.extend(value.filter(|value| !value.is_empty()));
        self.is_unsure |= at.is_none();
    }

    fn operand(&mut self, operand: &'a [u8]) {
        if self.grammar.verbs.is_empty() || !self.operands.is_empty() {
            return self.operands.push(operand);
        }
        match self.grammar.verb(operand) {
            Some(verb) => self.grammar = verb,
            // What follows a verb that nobody described is not known.
            None if std::ptr::eq(self.grammar, self.outer) => self.grammar = Grammar::unknown(),
            None => self.operands.push(operand),
        }
    }

    fn named(&self) -> Named<'a> {
        let variants = self.grammar.variants.iter();
        let mut met = variants.filter(|variant| variant.options.iter().any(|name| self.has(name)));
        let variant = met.next().map(|variant| &variant.grammar);
        let in_force = variant.unwrap_or(self.grammar);
        let mut named = Named::default();
        let mut is_behind_code = false;
        for known in &self.options {
            named.walks |= known.option.walks;
            named.hides_host |= known.option.redirects;
            let typed = values(known, variant);
            named.texts.extend(typed.clone());
            let is_code =
                |typed: Typed<'_>| matches!(typed.kind, ValueKind::Code | ValueKind::Inline);
            is_behind_code |= known.option.ends_options && { typed }.any(is_code);
        }
        let unknown = self.unknown.iter();
        named.texts.extend(unknown.map(|text| Typed {
            text,
            kind: ValueKind::Any,
            role: Role::Value,
        }));
        self.add_operands(in_force, is_behind_code, &mut named);
        named.walks |= in_force.walks;
        let has = |kind| named.texts.iter().any(|typed| typed.kind == kind);
        let cwd = in_force.falls_back_to_cwd.filter(|kind| !has(*kind));
        let is_configured = |typed: &Typed<'_>| {
            typed.role == Role::Value && typed.kind == ValueKind::Code && may_name_host(typed.text)
        };
        let is_of_hosts = in_force.operands.has(ValueKind::Host);
        named.hides_host |=
            is_of_hosts && (!has(ValueKind::Host) || named.texts.iter().any(is_configured));
        named.names_remotes = self.outer.names_remotes;
        named.texts.extend(cwd.map(here));
        named
    }

    /// Whether the call has the option of that name.
    fn has(&self, name: &str) -> bool {
        let option = self.grammar.option(name.as_bytes());
        let option = option.or_else(|| self.outer.option(name.as_bytes()));
        let mut options = self.options.iter();
        options.any(|known| option.is_some_and(|option| std::ptr::eq(option, known.option)))
    }

    fn add_operands(&self, grammar: &Grammar, is_behind_code: bool, named: &mut Named<'a>) {
        let operands = &grammar.operands;
        let replaced = self.options.iter().any(|known| known.option.replaces_first);
        let mut is_behind_code = is_behind_code;
        for (at, text) in self.operands.iter().enumerate() {
            let place = at + usize::from(replaced);
            let is_first = place < operands.first.len();
            if operands.are_command && !is_first {
                break;
            }
            if let Some(typed) = keyed(grammar, text) {
                named.texts.push(typed);
                continue;
            }
            let is_last = at > 0 && at + 1 == self.operands.len() && !is_first;
            let last = operands.last.filter(|_| is_last);
            let first = operands.first.get(place).copied();
            let kind = last.or(first).or(operands.rest).unwrap_or(ValueKind::Any);
            // A flag may have taken one for its value, and then they stand elsewhere.
            let is_displaced = self.is_unsure && is_first;
            // The arguments of a script no table describes.
            let is_of_script = is_behind_code && matches!(kind, ValueKind::Text | ValueKind::Code);
            let kind = if is_displaced || is_of_script {
                ValueKind::Any
            } else if grammar.has_host_paths && is_host_path(text) {
                ValueKind::Host
            } else {
                kind
            };
            is_behind_code |= kind == ValueKind::Code;
            named.texts.push(Typed {
                text,
                kind,
                role: Role::Operand,
            });
        }
        // With one operand, the last is the directory here.
        if self.operands.len() == 1 {
            named.texts.extend(operands.last.map(here));
        }
    }
}

/// The values of an option, of the kinds that `variant` gives them, if it does.
fn values<'a>(
    known: &Known<'a>,
    variant: Option<&Grammar>,
) -> impl Iterator<Item = Typed<'a>> + Clone {
    let option = known.option;
    let named_again = |name: &&str| variant?.option(name.as_bytes());
    let again: Option<&Opt> = option.names.iter().find_map(named_again);
    let kinds = match again.unwrap_or(option).takes {
        Takes::Nothing if option.names.contains(&NUMBER) => [ValueKind::Number; 2],
        // What is attached all the same, nobody knows.
        Takes::Nothing => [ValueKind::Any; 2],
        Takes::One(kind) | Takes::Attached(kind) => [kind, ValueKind::Any],
        Takes::Two(one, other) => [one, other],
    };
    let role = if option.moves_cwd {
        Role::Place
    } else {
        Role::Value
    };
    let values = known.values.into_iter().zip(kinds);
    values.filter_map(move |(text, kind)| text.map(|text| Typed { text, kind, role }))
}

/// An operand that says itself what it is.
fn keyed<'a>(grammar: &Grammar, text: &'a [u8]) -> Option<Typed<'a>> {
    let mut keys = grammar.keyed.iter();
    keys.find_map(|(key, kind)| {
        let rest = text.strip_prefix(key.as_bytes())?.strip_prefix(b"=")?;
        Some(Typed {
            text: rest,
            kind: *kind,
            role: Role::Operand,
        })
    })
}

/// The working directory, to which that is done.
fn here<'a>(kind: ValueKind) -> Typed<'a> {
    Typed {
        text: b".",
        kind,
        role: Role::Operand,
    }
}

/// Whether configuration of that name, or that text (`ssh -o KEY=VALUE`), may name a host.
fn may_name_host(configuration: &[u8]) -> bool {
    let mut parts = configuration.split(|byte| *byte == b'=');
    let key = parts.next().unwrap_or_default().to_ascii_lowercase();
    parts.next().is_none() || key.starts_with(b"hostname") || key.starts_with(b"proxy")
}

/// Whether a colon comes before any slash: `host:path`.
fn is_host_path(text: &[u8]) -> bool {
    let mut marks = text.iter().filter(|byte| b":/".contains(byte));
    marks.next() == Some(&b':') && !text.starts_with(b":")
}

#[cfg(test)]
mod tests;
