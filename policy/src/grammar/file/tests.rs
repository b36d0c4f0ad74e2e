use std::path::Path;

use super::*;

fn directory() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data/commands")
}

#[test]
fn every_file_is_read_and_has_no_fault() {
    let files = std::fs::read_dir(directory()).unwrap();
    let texts: Vec<String> = files
        .map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap())
        .collect();
    assert_eq!(texts.len(), FILES.len());
    assert!(texts.iter().all(|text| FILES.contains(&text.as_str())));
    let tables: Vec<Table> = FILES.iter().flat_map(|text| tables(text)).collect();
    let sources = texts.iter().flat_map(|text| text.lines());
    let sources = sources.filter(|line| line.starts_with("source ")).count();
    assert_eq!(tables.len(), sources);
    for table in &tables {
        let grammar = parse(table.text).unwrap_or_else(|why| panic!("{:?} {why}", table.names));
        check_names(&table.names.join(" "), &grammar, &grammar);
    }
    let mut names: Vec<_> = tables.iter().flat_map(|table| &table.names).collect();
    names.sort_unstable();
    let twice = names.windows(2).find(|pair| pair[0] == pair[1]);
    assert_eq!(twice, None, "a command has two tables");
}

fn check_names(path: &str, outer: &Grammar, grammar: &Grammar) {
    let names = grammar.options.iter().flat_map(|option| &option.names);
    let mut names: Vec<_> = names.collect();
    names.sort_unstable();
    let twice = names.windows(2).find(|pair| pair[0] == pair[1]);
    assert_eq!(twice, None, "{path}");
    for (_, name) in &grammar.prefixes {
        assert!(names.contains(&name), "{path}: {name}");
    }
    for alias in &grammar.aliases {
        let (words, verb) = (&alias.words, alias.verb);
        assert!(
            grammar.verbs.contains_key(verb),
            "{path}: {words:?} = {verb}"
        );
        let is_verb = alias
            .single()
            .is_some_and(|word| grammar.verbs.contains_key(word));
        assert!(!is_verb, "{path}: {words:?} has two meanings");
        let count = |other: &&Alias| &other.words == words;
        assert_eq!(
            grammar.aliases.iter().filter(count).count(),
            1,
            "{path}: {words:?}"
        );
    }
    for variant in &grammar.variants {
        let options = variant.grammar.options.iter();
        let named = options.flat_map(|option| &option.names);
        for name in variant.options.iter().chain(named) {
            let is_known = |grammar: &Grammar| grammar.option(name.as_bytes()).is_some();
            let is_option = is_known(grammar) || outer.is_everywhere && is_known(outer);
            assert!(is_option, "{path}: {name}");
        }
    }
    for (verb, grammar) in &grammar.verbs {
        check_names(&format!("{path} {verb}"), outer, grammar);
    }
}

#[test]
fn a_variant_is_of_the_command_or_of_the_verb_before_it() {
    let text = "source s\ncommand x\ncwd list\n-i\n-f=write cwd\noperands read*\nof=write\n\
                with -i\n-f=read\noperands change*\ncwd change\nwith -f\nhost-paths\n\
                verb v\n-c\nwith -c\nwalks";
    let grammar = parse(text).unwrap();
    assert_eq!(grammar.falls_back_to_cwd, Some(ValueKind::List));
    assert_eq!(grammar.keyed, [("of", ValueKind::Write)]);
    assert!(grammar.option(b"-f").unwrap().moves_cwd);
    let [in_place, other] = grammar.variants.as_slice() else {
        panic!("{:?}", grammar.variants)
    };
    assert_eq!(in_place.options, ["-i"]);
    assert_eq!(in_place.grammar.operands.rest, Some(ValueKind::Change));
    assert_eq!(in_place.grammar.falls_back_to_cwd, Some(ValueKind::Change));
    let takes = in_place.grammar.option(b"-f").unwrap().takes;
    assert_eq!(takes, Takes::One(ValueKind::Read));
    assert!(other.grammar.has_host_paths && !grammar.has_host_paths);
    let verb = grammar.verb(b"v").unwrap();
    assert!(verb.variants.first().unwrap().grammar.walks && !verb.walks);
}

/// Otherwise a rule of an allow with a wildcard would end before the name does.
#[test]
fn an_alias_names_as_many_words_as_its_verb() {
    let of = |name: &str, words: &[&str]| {
        crate::arity::of(name.as_bytes(), words.iter().map(|word| word.as_bytes()))
    };
    for table in FILES.iter().flat_map(|text| tables(text)) {
        let aliases = &table.grammar().unwrap().aliases;
        for (name, alias) in table
            .names
            .iter()
            .flat_map(|it| aliases.iter().map(move |a| (it, a)))
        {
            // What is not listed is its name alone, and nothing is left open by that.
            let (proper, other) = (of(name, &[alias.verb]), of(name, &alias.words));
            let expected = proper + alias.words.len() - 1;
            let is_same = proper == 1 || other == expected;
            assert!(is_same, "{name} {:?}: {other}, not {expected}", alias.words);
        }
    }
}

#[test]
fn a_verb_has_other_names() {
    let text = "source s\ncommand x\nalias rm, box rm = remove\nimplied remove\nverb remove\n-f";
    let grammar = parse(text).unwrap();
    let names: Vec<_> = grammar
        .aliases
        .iter()
        .map(|it| it.words.join(" "))
        .collect();
    assert_eq!(names, ["rm", "box rm"]);
    assert_eq!(grammar.implied_verb, Some("remove"));
    assert!(grammar.verb(b"rm").unwrap().option(b"-f").is_some());
    assert!(grammar.verb(b"box").is_none());
}

#[test]
fn what_is_not_of_the_form_is_refused_with_its_line() {
    for (text, fault) in [
        (
            "source s\ncommand x\ncommand y",
            "a source stands before each command",
        ),
        ("source s\ncommand x\nwalk", "line 3: no such word: `walk`"),
        (
            "source s\ncommand x\ncwd",
            "line 3: `` is no kind of value: `cwd`",
        ),
        (
            "source s\ncommand x\nof=file",
            "line 3: `file` is no kind of value: `of=file`",
        ),
        (
            "source s\ncommand x\n-x=file",
            "line 3: `file` is no kind of value: `-x=file`",
        ),
        (
            "source s\ncommand x\n-x=text --y",
            "line 3: `--y` is no mark: `-x=text --y`",
        ),
        (
            "source s\ncommand x\noperands read* read* read",
            "line 3: `read*` is one too many: `operands read* read* read`",
        ),
    ] {
        assert_eq!(parse(text).unwrap_err(), fault);
    }
}
