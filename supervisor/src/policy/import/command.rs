//! The words of a command, as keys of a rule.

use execward_policy::{Action, command_table};

use super::draft::{Keys, Translated};
use super::programs::{check_breadth, has_twin, is_builtin, is_module, may_start_others};
use super::toml_text::literal;
use super::words::{Unit, Word};

/// What may follow the words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// Nothing: this is the whole call.
    Here,
    /// Further words, or none.
    Open,
    /// The rest of the last word, and further words.
    Glued,
}

/// Most words of what is no whole call. The language takes half of that.
const WORDS_MAX: usize = 64;

const ANYTHING: &str = "it allows every command, and an allow here says which";

/// The keys that say of a rule what its command is.
///
/// # Errors
/// If no key says it.
pub(super) fn translate(words: &[Word], end: End, action: Action) -> Result<Translated, String> {
    if words
        .iter()
        .flat_map(|word| &word.0)
        .any(|unit| *unit == Unit::Char('\0'))
    {
        return Err("a NUL byte can be in no argument".to_owned());
    }
    match action {
        Action::Allow => allow(words, end),
        Action::Ask | Action::Deny => restrict(words, end),
    }
}

fn allow(words: &[Word], end: End) -> Result<Translated, String> {
    let first = words.first().ok_or(ANYTHING)?;
    let name = name_of(first);
    if name.is_empty() {
        return Err(ANYTHING.to_owned());
    }
    if is_builtin(&name) {
        return Err("the shell does this by itself, and nothing judges it".to_owned());
    }
    let has_star = words.iter().any(Word::has_star);
    if end == End::Here && !has_star {
        return exact(words, Relative::Workspace);
    }
    check_breadth(&name, words)?;
    if end == End::Open && has_star {
        return Err("it has several `*`, and the last wants a word to stand for".to_owned());
    }
    let is_module = is_module(&name, words);
    let mut behind = words.iter().skip_while(|word| !word.is_flag());
    if !is_module && behind.any(|word| !word.is_flag()) {
        return Err("a word follows an option; that it is its value no `command` says".to_owned());
    }
    if !is_module && words.iter().any(Word::is_flag) && command_table(&name).is_none() {
        return Err(
            "of this command's options nothing is known, nor whose an option is".to_owned(),
        );
    }
    let text = command_text(words, Relative::Workspace)?;
    let narrowed = |text: String| Translated {
        keys: Keys::default().with("command", vec![text]),
        narrower: Some("only where the `*` begins a word".to_owned()),
        ..Translated::default()
    };
    let last_is_flag = words.last().is_some_and(Word::is_flag);
    Ok(match end {
        End::Open => open(format!("{text} *")),
        End::Glued if words.len() == 1 && text.ends_with('/') => open(format!("{text}* *")),
        End::Glued if words.len() == 1 || last_is_flag => narrowed(format!("{text} *")),
        End::Glued => {
            let mut texts = vec![format!("{text}*")];
            // `npm run*` means `npm run test` too; `aws ec2 describe-*` has no such other meaning.
            if text.ends_with(|last: char| last.is_ascii_alphanumeric()) {
                texts.push(format!("{text} *"));
            }
            Keys::default().with("command", texts).into()
        }
        End::Here => closed(words, text)?,
    })
}

fn open(text: String) -> Translated {
    Keys::default().with("command", vec![text]).into()
}

/// Words with wildcards and nothing behind them: no other operand, no other option.
fn closed(words: &[Word], text: String) -> Result<Translated, String> {
    let flags = words.iter().filter(|word| word.is_flag());
    let mut flags: Vec<String> = flags
        .map(|word| written(word, None))
        .collect::<Result<_, _>>()?;
    if flags.is_empty() {
        flags.push("!*".to_owned());
    }
    let keys = Keys::default()
        .with("command", vec![text])
        .with("args", vec!["!*".to_owned()])
        .with("flags", flags);
    Ok(Translated {
        keys,
        narrower: Some("a `*` stands for one word, and for no option".to_owned()),
        ..Translated::default()
    })
}

fn restrict(words: &[Word], end: End) -> Result<Translated, String> {
    let Some(first) = words.first() else {
        return Ok(every_exec());
    };
    if words.iter().all(Word::is_star) {
        return Ok(every_exec());
    }
    if first.is_star() {
        return flags_anywhere(words.get(1..).unwrap_or_default());
    }
    let name = name_of(first);
    if is_builtin(&name) {
        return Err("the shell does this by itself, and no exec shows it".to_owned());
    }
    let by_shell = has_twin(&name)
        .then(|| "the shell does this by itself too, and no exec shows that".to_owned());
    let has_places = words
        .iter()
        .skip(1)
        .any(|word| word.0.contains(&Unit::Home));
    let is_whole = end == End::Here && !words.iter().any(Word::has_star) && !has_places;
    // `*--force` is taken as `* --force`, which is what people mean by it.
    let is_loose = |word: &Word| {
        word.0.first() == Some(&Unit::Star) && word.0.get(1) == Some(&Unit::Char('-'))
    };
    let has_loose = words.iter().any(is_loose);
    let words: Vec<Word> = words
        .iter()
        .flat_map(|word| match word.0.split_first() {
            Some((star, flag)) if is_loose(word) => vec![Word(vec![*star]), Word(flag.to_vec())],
            _ => vec![word.clone()],
        })
        .collect();
    let words = words.as_slice();
    let translated = match (is_whole, end) {
        (true, _) => exact(words, Relative::Anywhere)?,
        (false, End::Glued) if words.len() == 1 && !first.has('/') => {
            let text = written(first, None)?;
            let keys = Keys::default().with("program", vec![format!("**/{text}*")]);
            Translated {
                keys,
                wider: first.has_star().then(|| {
                    "the rule is there, but says nothing of it behind the first word".to_owned()
                }),
                ..Translated::default()
            }
        }
        (false, End::Glued) if words.len() == 1 => {
            return Err("no key says a path that goes on in any way".to_owned());
        }
        (false, _) => family(&name, words, end)?,
    };
    Ok(Translated {
        wider: translated.wider.or(by_shell).or(has_loose.then(|| {
            "the rule is there, for the option alone and not for what ends in it".to_owned()
        })),
        ..translated
    })
}

/// What a deny keeps of the words.
#[derive(Default)]
struct Kept<'w> {
    words: Vec<&'w Word>,
    /// Words behind are left out, and more is meant by that.
    is_cut: bool,
    /// What the words that are kept leave out.
    wider: Option<String>,
    /// The first option may stand behind a verb that a `*` stands for.
    may_follow_verb: bool,
}

impl<'w> Kept<'w> {
    fn of(name: &str, words: &'w [Word]) -> Self {
        let is_module = is_module(name, words);
        let mut kept = Self::default();
        let mut stars: Vec<&Word> = Vec::new();
        for word in words {
            let has_flag = kept.words.iter().any(|word| word.is_flag());
            let last_is_wild = kept.words.last().is_some_and(|last| last.has_star());
            // Of a word behind an option only the program knows whether it is the option's value; of
            // options on both sides of a `*`, whether a verb is between. The first alone is more.
            let is_unsure = match word.is_flag() {
                true => !stars.is_empty() || last_is_wild,
                false => !is_module,
            };
            if word.is_star() {
                stars.push(word);
            } else if has_flag && is_unsure {
                kept.is_cut = true;
                break;
            } else if word.is_flag() {
                kept.may_follow_verb |= !stars.is_empty() && kept.words.len() == 1;
                if !stars.is_empty() && may_start_others(name) {
                    kept.wider.get_or_insert_with(|| {
                        format!(
                            "the rule is there, but says nothing of options that `{name}` hands on"
                        )
                    });
                }
                kept.words.push(word);
            } else {
                if !stars.is_empty() || word.has_star() {
                    let why = "the rule is there, but a `*` stands for one word in it";
                    kept.wider = Some(why.to_owned());
                }
                kept.words.append(&mut stars);
                kept.words.push(word);
            }
        }
        kept
    }
}

/// The command and all that begins like it: more than the text says, never less, but for what a `*`
/// between words covers.
fn family(name: &str, words: &[Word], end: End) -> Result<Translated, String> {
    if words.len() > WORDS_MAX {
        return Err("it has too many words".to_owned());
    }
    let kept = Kept::of(name, words);
    let is_glued = end == End::Glued && !words.last().is_some_and(Word::is_star);
    let glue = if is_glued && !kept.is_cut { "*" } else { "" };
    let mut own: Vec<Word> = kept.words.into_iter().cloned().collect();
    let mut example = own.iter().map(spelled_out).collect::<Option<Vec<_>>>();
    if let Some(last) = example.iter_mut().flatten().last()
        && !glue.is_empty()
    {
        last.push('x');
    }
    let mut texts = vec![command_text(&own, Relative::Anywhere)? + glue];
    if kept.may_follow_verb {
        own.insert(1, Word(vec![Unit::Star]));
        texts.push(command_text(&own, Relative::Anywhere)? + glue);
    }
    Ok(Translated {
        keys: Keys::default().with("command", texts),
        example: example.filter(|_| !has_path(words)),
        narrower: kept
            .is_cut
            .then(|| "whatever follows the option, for that may be its value".to_owned()),
        wider: kept.wider,
    })
}

/// Where a relative path leads that is the first word of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Relative {
    /// Below the workspace, where an allow means it.
    Workspace,
    /// Anywhere: a deny means it wherever the caller is.
    Anywhere,
}

/// A word of a call that is meant by this one, if it names no place.
fn spelled_out(word: &Word) -> Option<String> {
    let characters = word.0.iter().map(|unit| match unit {
        Unit::Char(character) => Some(*character),
        Unit::Star => Some('x'),
        Unit::Home => None,
    });
    characters.collect()
}

/// Any program with one of these options.
fn flags_anywhere(rest: &[Word]) -> Result<Translated, String> {
    let rest: Vec<&Word> = rest.iter().filter(|word| !word.is_star()).collect();
    if !rest.iter().all(|word| word.is_flag()) {
        return Err("no key says a word of any command, wherever it stands".to_owned());
    }
    let flags = rest.iter().map(|word| written(word, None));
    Ok(Translated {
        keys: Keys::default().with("flags", flags.collect::<Result<_, _>>()?),
        narrower: (rest.len() > 1).then(|| "one of the options is enough".to_owned()),
        ..Translated::default()
    })
}

fn every_exec() -> Translated {
    Keys::default()
        .with("tool", vec!["bash_execute".to_owned()])
        .into()
}

/// This call and no other.
fn exact(words: &[Word], relative: Relative) -> Result<Translated, String> {
    let mut argv = Vec::new();
    for (number, word) in words.iter().enumerate() {
        argv.push(match number {
            0 => written(word, Some(relative))?,
            _ => {
                let text = word
                    .literal()
                    .ok_or("the shell expands `~`, and `argv` does not")?;
                text.replace('\\', "\\\\")
            }
        });
    }
    Ok(Keys::default().with("argv", argv).into())
}

/// An entry of `command`.
fn command_text(words: &[Word], relative: Relative) -> Result<String, String> {
    let texts = words.iter().enumerate();
    let texts = texts.map(|(number, word)| written(word, (number == 0).then_some(relative)));
    Ok(texts.collect::<Result<Vec<_>, _>>()?.join(" "))
}

/// A word of `command`; of the first, which is a file, where it is if it is a relative path.
fn written(word: &Word, first: Option<Relative>) -> Result<String, String> {
    let mut units = word.0.as_slice();
    let mut text = String::new();
    if let Some(relative) = first
        && has_relative_path(word)
    {
        text += match relative {
            Relative::Workspace => "${workspace}/",
            Relative::Anywhere => "**/",
        };
        while let [Unit::Char('.'), Unit::Char('/'), rest @ ..] = units {
            units = rest;
        }
    }
    if units.is_empty() {
        return Err("an empty word is none of a command".to_owned());
    }
    for unit in units {
        match unit {
            Unit::Star => text.push('*'),
            Unit::Home => text += if first.is_some() { "~" } else { "${home}" },
            Unit::Char(character) => text += &character_text(*character),
        }
    }
    Ok(text)
}

/// A character in an entry of `command`, where shell syntax and blanks have a meaning too.
fn character_text(character: char) -> String {
    match character {
        ' ' | '\'' | '"' | '`' | ';' | '&' | '|' | '<' | '>' | '\x01'..='\x1f' | '\x7f' => {
            format!("\\x{:02x}", u32::from(character))
        }
        other => literal(other),
    }
}

/// Whether the word is a path that is neither absolute nor of the home directory.
fn has_relative_path(word: &Word) -> bool {
    word.has('/') && !matches!(word.0.first(), Some(Unit::Char('/') | Unit::Home))
}

fn has_path(words: &[Word]) -> bool {
    words.first().is_some_and(|word| word.has('/'))
}

/// The file name of a first word without wildcards; empty for others.
fn name_of(word: &Word) -> String {
    let text = word.0.iter().map(|unit| match unit {
        Unit::Char(character) => *character,
        Unit::Star => '*',
        Unit::Home => '~',
    });
    let text: String = text.collect();
    let name = text.rsplit('/').next().unwrap_or_default();
    match word.has_star() {
        true => String::new(),
        false if name.is_empty() => text,
        false => name.to_owned(),
    }
}
