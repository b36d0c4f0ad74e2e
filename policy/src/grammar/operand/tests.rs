use crate::grammar::of;

/// The texts of a call with their kinds, shortened.
fn named(call: &str) -> String {
    let mut words = call.split(' ');
    let grammar = of(words.next().unwrap().as_bytes()).unwrap();
    let words: Vec<&[u8]> = words.map(str::as_bytes).collect();
    let named = grammar.named(words.into_iter());
    let texts = named.texts.iter().map(|typed| {
        let text = str::from_utf8(typed.text).unwrap();
        format!("{}:{text}", format!("{:?}", typed.kind).to_lowercase())
    });
    let mut texts: Vec<String> = texts.collect();
    texts.extend(named.walks.then(|| "walks".to_owned()));
    texts.join(" ")
}

#[test]
fn operands_are_what_their_place_says() {
    for (call, texts) in [
        ("cat a b", "read:a read:b"),
        ("cp a b c", "read:a read:b write:c"),
        ("cp -r a b", "read:a write:b walks"),
        ("mv a b", "move:a write:b walks"),
        ("ln -s x", "read:x write:."),
        ("grep x a b", "pattern:x read:a read:b"),
        ("grep -e x a", "pattern:x read:a"),
        ("grep --file=l a", "read:l read:a"),
        ("grep -rn x", "pattern:x read:. walks"),
        ("sort -o out in", "write:out read:in"),
        ("ls", "list:."),
        ("git log -p x", "revision:x"),
        ("git log -1 x", "number:1 revision:x"),
        ("nice -n 5 cat x", "number:5"),
        ("dd if=a of=b bs=1", "read:a write:b text:bs=1"),
        ("scp a host:b", "read:a host:host:b"),
        ("make -C sub", "read:sub change:."),
    ] {
        assert_eq!(named(call), texts, "{call}");
    }
}

#[test]
fn an_option_can_say_what_operands_are() {
    for (call, texts) in [
        ("sed s/a/b/ f", "inline:s/a/b/ read:f"),
        ("sed -i s/a/b/ f", "inline:s/a/b/ change:f"),
        ("tar cf a b", "write:a read:b walks"),
        ("tar -tf a", "read:a"),
    ] {
        assert_eq!(named(call), texts, "{call}");
    }
}

#[test]
fn what_no_table_knows_is_said_to_be_unknown() {
    for (call, texts) in [
        ("cat --frobnicate=x a", "any:x read:a"),
        ("grep --frobnicate x a", "any:x read:a"),
        ("git frobnicate x", "any:x"),
        ("python3 x.py y", "code:x.py any:y"),
        ("python3 -c code y", "inline:code any:y"),
    ] {
        assert_eq!(named(call), texts, "{call}");
    }
}
