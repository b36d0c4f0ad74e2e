use crate::grammar::of;

/// The texts of a call with their kinds, shortened.
fn named(call: &str) -> String {
    let mut words = call.split(' ');
    let grammar = of(words.next().unwrap().as_bytes()).unwrap();
    let words: Vec<&[u8]> = words.map(str::as_bytes).collect();
    let named = grammar.named(words.into_iter());
    let texts = named.texts.iter().map(|typed| {
        let text = str::from_utf8(typed.text).unwrap();
        let kind = typed
            .kind
            .map_or("?".to_owned(), |kind| format!("{kind:?}").to_lowercase());
        format!("{kind}:{text}")
    });
    let mut texts: Vec<String> = texts.collect();
    texts.extend(named.walks.then(|| "walks".to_owned()));
    texts.extend(named.is_on_cwd.then(|| "cwd".to_owned()));
    texts.join(" ")
}

#[test]
fn operands_are_what_their_place_says() {
    for (call, texts) in [
        ("cat a b", "read:a read:b"),
        ("cp a b c", "read:a read:b write:c"),
        ("cp -r a b", "read:a write:b walks"),
        ("grep x a b", "pattern:x read:a read:b"),
        ("grep -e x a", "pattern:x read:a"),
        ("grep --file=l a", "read:l read:a"),
        ("grep -rn x", "pattern:x walks cwd"),
        ("sort -o out in", "write:out read:in"),
        ("ls", "cwd"),
        ("git log -p x", "read:x"),
        ("nice -n 5 cat x", "number:5"),
    ] {
        assert_eq!(named(call), texts, "{call}");
    }
}

#[test]
fn what_no_table_knows_is_said_to_be_unknown() {
    for (call, texts) in [
        ("cat --frobnicate=x a", "?:x read:a"),
        ("grep --frobnicate x a", "?:x read:a"),
        ("git frobnicate x", "?:x"),
        ("python3 x.py y", "code:x.py ?:y"),
        ("python3 -c code y", "inline:code ?:y"),
    ] {
        assert_eq!(named(call), texts, "{call}");
    }
}
