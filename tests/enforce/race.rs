//! Arguments that change between the gate's look and the kernel's.

use execward_tests::{Ground, Ran, binary};

/// Rounds of one race; scripts/check sets more.
fn rounds() -> String {
    std::env::var("EXECWARD_TEST_ROUNDS").unwrap_or_else(|_| "5000".into())
}

fn count(ran: &Ran, name: &str) -> u32 {
    let found = ran
        .stdout
        .split_whitespace()
        .find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
    found
        .and_then(|number| number.parse().ok())
        .unwrap_or_else(|| panic!("no {name}: {} {}", ran.stdout, ran.stderr))
}

#[test]
fn a_denied_program_never_runs_by_a_path_that_is_rewritten() {
    let ground =
        Ground::full("[[deny]]\nid = \"evil\"\nprogram = \"DIR/prog-b\"\n").option("--no-notice");
    let good = ground.copy(binary("fixture-flip"), "prog-a");
    let _evil = ground.copy(binary("fixture-flip"), "prog-b");
    let flip = binary("fixture-flip").display().to_string();
    let ran = ground.run(&[&flip, &rounds(), &good, "b"]);
    assert_eq!(count(&ran, "other"), 0, "escapes: {}", ran.stdout);
    assert!(count(&ran, "ran") > 0, "{}", ran.stdout);
    let (killed, rounds) = (count(&ran, "killed"), rounds().parse::<u32>().unwrap());
    // A race that is never lost proves nothing.
    assert!(
        killed * 100 >= rounds,
        "blind: {killed} of {rounds} flips seen at the stop"
    );
    assert_eq!(ran.results("killed"), killed as usize);
}

#[test]
fn a_denied_argument_never_arrives_by_being_rewritten() {
    let ground = Ground::full("[[deny]]\nid = \"evil\"\ncommand = \"prog-a argument-b\"\n")
        .option("--no-notice");
    let good = ground.copy(binary("fixture-flip"), "prog-a");
    let flip = binary("fixture-flip").display().to_string();
    let ran = ground.run(&[&flip, &rounds(), &good, "b", "argv"]);
    assert_eq!(count(&ran, "other"), 0, "escapes: {}", ran.stdout);
    assert!(
        count(&ran, "ran") > 0 && count(&ran, "killed") > 0,
        "{}",
        ran.stdout
    );
}

#[test]
fn a_path_that_flips_to_a_missing_file_is_no_way_in() {
    let ground =
        Ground::full("[[deny]]\nid = \"evil\"\nprogram = \"DIR/prog-b\"\n").option("--no-notice");
    let _evil = ground.copy(binary("fixture-flip"), "prog-b");
    let missing = ground.path("prog-a").display().to_string();
    let flip = binary("fixture-flip").display().to_string();
    let ran = ground.run(&[&flip, "1000", &missing, "b"]);
    assert_eq!(
        (count(&ran, "other"), count(&ran, "ran")),
        (0, 0),
        "{}",
        ran.stdout
    );
}

#[test]
fn the_twin_without_a_flip_runs_every_time() {
    let ground = Ground::full("[[deny]]\nid = \"evil\"\nprogram = \"DIR/prog-b\"\n");
    let good = ground.copy(binary("fixture-flip"), "prog-a");
    let flip = binary("fixture-flip").display().to_string();
    let ran = ground.run(&[&flip, "500", &good, "a"]);
    assert_eq!(count(&ran, "ran"), 500, "{}", ran.stdout);
    assert_eq!(ran.results("verified"), 501);
}
