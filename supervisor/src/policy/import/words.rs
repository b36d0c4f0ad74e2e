//! The text of one command, as a shell splits it into words.

/// A word of a command, with the wildcards that the configuration knows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Word(pub(super) Vec<Unit>);

/// One element of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    /// This character.
    Char(char),
    /// Any run of characters.
    Star,
    /// The home directory: `~` at the beginning.
    Home,
}

/// Whether `*` is a wildcard of the configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stars {
    /// Wherever it stands.
    Wild,
    /// It is the shell's.
    Shell,
}

impl Word {
    /// A word without wildcards.
    pub(super) fn of(text: &str) -> Self {
        Self(text.chars().map(Unit::Char).collect())
    }

    /// Its text, if it has no wildcard and names no place.
    pub(super) fn literal(&self) -> Option<String> {
        let characters = self.0.iter().map(|unit| match unit {
            Unit::Char(character) => Some(*character),
            Unit::Star | Unit::Home => None,
        });
        characters.collect()
    }

    /// Whether it is an option of a command.
    pub(super) fn is_flag(&self) -> bool {
        self.0.len() > 1 && self.0.first() == Some(&Unit::Char('-'))
    }

    /// Whether it is a wildcard and nothing else.
    pub(super) fn is_star(&self) -> bool {
        !self.0.is_empty() && self.0.iter().all(|unit| *unit == Unit::Star)
    }

    /// Whether it has a wildcard.
    pub(super) fn has_star(&self) -> bool {
        self.0.contains(&Unit::Star)
    }

    /// Whether it has a character that is `wanted`.
    pub(super) fn has(&self, wanted: char) -> bool {
        self.0.contains(&Unit::Char(wanted))
    }
}

/// The words of one simple command.
///
/// # Errors
/// For whatever a shell would do beyond starting a program with these words.
pub(super) fn split(text: &str, stars: Stars) -> Result<Vec<Word>, String> {
    let mut splitter = Splitter {
        rest: text.chars().peekable(),
        stars,
        words: Vec::new(),
        word: None,
    };
    splitter.run()?;
    splitter.end_word();
    if let Some(name) = splitter.words.first().and_then(assigned) {
        return Err(format!("it sets the variable `{name}`, which no rule says"));
    }
    Ok(splitter.words)
}

/// The variable that a first word sets.
fn assigned(word: &Word) -> Option<String> {
    let characters = word.0.iter().map_while(|unit| match unit {
        Unit::Char(character) => Some(*character),
        Unit::Star | Unit::Home => None,
    });
    let text: String = characters.collect();
    let (name, _) = text.split_once('=')?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_variable = !name.is_empty() && name.trim_end_matches('+').chars().all(is_name);
    is_variable.then(|| name.to_owned())
}

struct Splitter<'t> {
    rest: std::iter::Peekable<std::str::Chars<'t>>,
    stars: Stars,
    words: Vec<Word>,
    /// What is begun; a quote begins a word that may stay empty.
    word: Option<Word>,
}

impl Splitter<'_> {
    fn run(&mut self) -> Result<(), String> {
        while let Some(character) = self.rest.next() {
            match character {
                ' ' | '\t' => self.end_word(),
                '\'' => self.quoted('\'')?,
                '"' => self.quoted('"')?,
                '\\' => match self.rest.next() {
                    Some('\n') | None => return Err("it ends in a backslash".to_owned()),
                    Some(escaped) => self.push(Unit::Char(escaped)),
                },
                '*' => self.star()?,
                '~' if self.word.is_none() => self.home()?,
                '{' if self.rest.next_if_eq(&'}').is_some() => {
                    self.push(Unit::Char('{'));
                    self.push(Unit::Char('}'));
                }
                '#' | '!' if self.word.is_none() => return Err(shell(character)),
                '|' | '&' | ';' | '<' | '>' | '(' | ')' | '`' | '$' | '\n' | '?' | '[' | '{'
                | '}' => return Err(shell(character)),
                other => self.push(Unit::Char(other)),
            }
        }
        Ok(())
    }

    fn quoted(&mut self, quote: char) -> Result<(), String> {
        self.word.get_or_insert_default();
        loop {
            match self.rest.next() {
                None => return Err("a quote is left open".to_owned()),
                Some(end) if end == quote => return Ok(()),
                Some('*') if self.stars == Stars::Wild => self.push(Unit::Star),
                Some('\\') if quote == '"' => match self.rest.next() {
                    Some(escaped @ ('"' | '\\' | '$' | '`')) => self.push(Unit::Char(escaped)),
                    Some('*') if self.stars == Stars::Wild => self.push(Unit::Char('*')),
                    Some(other) => {
                        self.push(Unit::Char('\\'));
                        self.push(Unit::Char(other));
                    }
                    None => return Err("a quote is left open".to_owned()),
                },
                Some(special @ ('$' | '`')) if quote == '"' => return Err(shell(special)),
                Some(other) => self.push(Unit::Char(other)),
            }
        }
    }

    fn star(&mut self) -> Result<(), String> {
        match self.stars {
            Stars::Wild => self.push(Unit::Star),
            Stars::Shell => return Err(shell('*')),
        }
        Ok(())
    }

    fn home(&mut self) -> Result<(), String> {
        match self.rest.peek() {
            None | Some('/' | ' ' | '\t') => self.push(Unit::Home),
            Some(_) => return Err("`~` names another user's directory".to_owned()),
        }
        Ok(())
    }

    fn push(&mut self, unit: Unit) {
        self.word.get_or_insert_default().0.push(unit);
    }

    fn end_word(&mut self) {
        self.words.extend(self.word.take());
    }
}

fn shell(character: char) -> String {
    format!(
        "it needs a shell (`{}`), and a rule sees one program at a time",
        character.escape_debug()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_as_a_shell_does() {
        let shown = |text: &str| {
            let words = split(text, Stars::Wild).unwrap();
            let unit = |unit: &Unit| match unit {
                Unit::Char(character) => *character,
                Unit::Star => '∗',
                Unit::Home => '⌂',
            };
            let words = words.iter().map(|word| word.0.iter().map(unit).collect());
            words.collect::<Vec<String>>()
        };
        assert_eq!(shown(" git  log "), ["git", "log"]);
        assert_eq!(shown("a 'b c' \"d $\""[..8].trim()), ["a", "b c"]);
        assert_eq!(
            shown(r#"a "b\"c" d\ e '' f\*"#),
            ["a", "b\"c", "d e", "", "f*"]
        );
        assert_eq!(
            shown("~/x a~ {} *.ts 'x*'"),
            ["⌂/x", "a~", "{}", "∗.ts", "x∗"]
        );
        assert_eq!(shown("a --x=1 b!"), ["a", "--x=1", "b!"]);
    }

    #[test]
    fn what_a_shell_would_do_besides_is_refused() {
        for text in [
            "a && b",
            "a; b",
            "a | b",
            "a > f",
            "a $(b)",
            "a $B",
            "a `b`",
            "a 'b",
            "a \"$b\"",
            "X=1 a",
            "a b?",
            "a [b]",
            "a {b,c}",
            "# a",
            "! a",
            "a ~root/x",
            "a\nb",
            "a \\",
            "(a)",
        ] {
            assert!(split(text, Stars::Wild).is_err(), "{text:?}");
        }
        assert!(split("a *", Stars::Shell).is_err());
    }
}
