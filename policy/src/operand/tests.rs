use super::*;
use crate::request::ExecRequest;
use crate::request::ProgramFile;
use crate::trust::Trust;

/// What a call in `/w` names, shortened.
fn named(call: &str) -> String {
    let argv: Vec<Vec<u8>> = call.split(' ').map(Into::into).collect();
    let program = call.split(' ').next().unwrap();
    let mut request = ExecRequest::new(ProgramFile::at(format!("/usr/bin/{program}")), argv);
    request.cwd = Some(b"/w".to_vec());
    let trust = Trust::default();
    let image = Image::of_program(&request, &trust);
    let files = files(&image).into_iter().map(|file| {
        let accesses = file.accesses.iter().map(|access| format!("{access:?}"));
        let access = accesses.collect::<Vec<_>>().join("+");
        let walk = if file.is_walked { "/**" } else { "" };
        format!(
            "{access}:{}{walk}",
            String::from_utf8(file.written).unwrap()
        )
    });
    let hosts = hosts(&image)
        .into_iter()
        .map(|host| if host.is_some() { "host" } else { "host?" }.to_owned());
    files.chain(hosts).collect::<Vec<_>>().join(" ")
}

#[test]
fn the_files_of_a_call_are_absolute_and_say_what_becomes_of_them() {
    for (call, files) in [
        ("cat a ../b /c/./d", "Read:/w/a Read:/b Read:/c/d"),
        ("cp -r a /tmp", "Read:/w/a/** Write:/tmp/**"),
        ("ls", "List:/w"),
        ("grep -r x", "Read:/w/**"),
        ("sort -o x y", "Write:/w/x Read:/w/y"),
        ("echo a b", ""),
        ("cat --unheard=x", "Read+Write+Delete+List:/w/x"),
        ("mv a b", "Read+Write+Delete:/w/a/** Write:/w/b/**"),
        (
            "curl -d @x -F a=@y;z -T u https://h/",
            "Read:/w/x Read:/w/x Read:/w/y;z Read:/w/y Read:/w/z Read:/w/u host",
        ),
        ("git show HEAD:x", "Read:/w/HEAD:x Read:/w/x"),
        ("git clone ../x", "Read:/x Write:/w host?"),
    ] {
        assert_eq!(named(call), files, "{call}");
    }
}

#[test]
fn a_directory_that_an_option_names_is_another_place_to_start_from() {
    assert_eq!(
        named("make -C sub -f x"),
        "Read:/w/sub Read:/w/x Read:/w/sub/x Read+Write:/w Read+Write:/w/sub"
    );
}

#[test]
fn of_what_has_no_table_every_text_may_be_a_file() {
    assert_eq!(
        named("unheard-of a -fb --c=d e:f"),
        ":/w/a :/w/b :/w/d :/w/e:f :/w/f"
    );
}

#[test]
fn what_the_kernel_takes_for_no_path_is_none() {
    let long = "x".repeat(300);
    assert_eq!(named(&format!("cat {long} a")), "Read:/w/a");
}
