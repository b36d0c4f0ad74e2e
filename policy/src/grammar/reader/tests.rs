use super::*;
use crate::grammar;

/// A call as a line: `-name`, or `-name=value`, of what is known; `?flag` of what is not; operands
/// in brackets.
fn read(call: &str) -> String {
    let mut words = call.split(' ');
    let name = words.next().unwrap();
    let grammar = grammar::of(name.as_bytes()).unwrap();
    let show = |bytes: &[u8]| bytes.escape_ascii().to_string();
    let pieces = grammar
        .read(words.map(str::as_bytes))
        .map(|piece| match piece {
            Piece::Flag(Known { option, values, .. }) => {
                let values = values.into_iter().flatten().map(show);
                let parts = std::iter::once(option.names[0].to_owned()).chain(values);
                parts.collect::<Vec<_>>().join("=")
            }
            Piece::Unknown(unknown) => format!("?{}", show(unknown.flag)),
            Piece::Operand(operand) => format!("[{}]", show(operand)),
        });
    pieces.collect::<Vec<_>>().join(" ")
}

#[test]
fn the_forms_of_getopt_long_are_one_option() {
    for call in [
        "sort -k2",
        "sort -k 2",
        "sort --key=2",
        "sort --key 2",
        "sort --ke=2",
        "sort -rk2",
    ] {
        assert!(read(call).ends_with("-k=2"), "{call}: {}", read(call));
    }
    assert_eq!(read("sort -o out in"), "-o=out [in]");
    assert_eq!(read("sort -nro out -- -x"), "-n -r -o=out [-x]");
    assert_eq!(read("rm -rf x"), "-r -f [x]".replace("-r", &read("rm -r")));
}

#[test]
fn what_cuts_two_options_short_is_neither() {
    assert_eq!(read("sort --r"), "?--r");
    assert_eq!(read("sort --nonsense x"), "?--nonsense [x]");
    assert_eq!(read("sort -n@ x"), "-n ?@ [x]");
    assert_eq!(read("sort -@n x"), "?-@n [x]");
}

#[test]
fn an_optional_value_is_attached() {
    assert_eq!(read("ls --color=always x"), "--color=always [x]");
    assert_eq!(read("ls --color always"), "--color [always]");
    assert_eq!(read("sed -i.bak s x"), "-i=.bak [s] [x]");
    assert_eq!(read("sed -i s x"), "-i [s] [x]");
}

#[test]
fn the_first_cluster_of_tar_needs_no_dash() {
    assert_eq!(read("tar xf a.tar b"), read("tar -x -f a.tar b"));
    assert_eq!(read("tar cfC a.tar d b"), read("tar -c -f a.tar -C d b"));
    assert_eq!(read("tar -xfa.tar"), read("tar -x -f a.tar"));
}

#[test]
fn find_has_one_dash_no_clusters_and_no_end() {
    assert_eq!(read("find . -name a -delete"), "[.] -name=a -delete");
    assert_eq!(read("find -- . -name a -delete"), "[.] -name=a -delete");
    assert_eq!(read("find . -nonsense"), "[.] ?-nonsense");
}

#[test]
fn options_stand_before_the_verb_or_behind_it() {
    let sides = |call: &str| {
        let grammar = grammar::of(b"git").unwrap();
        let pieces = grammar.read(call.split(' ').skip(1).map(str::as_bytes));
        let sides = pieces.filter_map(|piece| match piece {
            Piece::Flag(known) => Some(known.side),
            Piece::Unknown(_) | Piece::Operand(_) => None,
        });
        sides.collect::<Vec<_>>()
    };
    assert_eq!(
        sides("git -C d --no-pager log -p"),
        [Side::Before, Side::Before, Side::Behind]
    );
    assert_eq!(read("git -C d push -f"), "-C=d [push] -f");
    assert_eq!(
        read("git push origin +main :x"),
        "[push] [origin] -f [+main] -d [:x]"
    );
    assert_eq!(read("git no-such-verb -p"), "[no-such-verb] ?-p");
}

#[test]
fn what_follows_inline_code_is_the_programs() {
    assert_eq!(read("python3 -c code -m x"), "-c=code [-m] [x]");
    assert_eq!(read("python3 -m pytest -q"), "-m=pytest [-q]");
    assert_eq!(read("python3 x.py -c y"), "[x.py] [-c] [y]");
}

#[test]
fn a_flood_is_read_in_linear_time() {
    let flood = format!("sort {}", "-@ --nonsense -rn ".repeat(50_000));
    assert!(read(flood.trim_end()).len() > 100_000);
}

#[test]
fn no_number_of_arguments_is_too_deep() {
    let marks = std::iter::repeat_n(b"--".as_slice(), 1_000_000);
    let find = grammar::of(b"find").unwrap();
    assert_eq!(find.read(marks.clone()).count(), 0);
    let sort = grammar::of(b"sort").unwrap();
    assert_eq!(sort.read(marks).count(), 999_999);
}

#[test]
fn twice_the_arguments_are_twice_the_work() {
    let names = [
        "git", "find", "tar", "npm", "python3", "sort", "bash", "docker",
    ];
    let elements = [
        "",
        "-",
        "--",
        "a",
        "-x",
        "-m",
        "--no-such",
        "--a=b",
        "true",
        "push",
        "+x",
    ];
    for name in names {
        let grammar = grammar::of(name.as_bytes()).unwrap();
        for element in elements {
            // How often an argument is asked for, those included that are only looked ahead to.
            let steps = |count| {
                let steps = std::cell::Cell::new(0);
                let arguments = std::iter::repeat_n(element.as_bytes(), count);
                let arguments = arguments.inspect(|_| steps.set(steps.get() + 1));
                grammar.read(arguments).for_each(drop);
                steps.get()
            };
            assert!(steps(2000) <= 2 * steps(1000) + 2, "{name} {element}");
        }
    }
}
