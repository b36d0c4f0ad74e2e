use super::*;

const SECTIONS: [Section; 15] = [
    Section::Top,
    Section::Mode,
    Section::Reject,
    Section::Allow,
    Section::Ask,
    Section::Deny,
    Section::Tool,
    Section::SafeBins,
    Section::Profile,
    Section::Charter,
    Section::Env,
    Section::Audit,
    Section::Grants,
    Section::Subtree,
    Section::Grant,
];

#[test]
fn no_section_has_two_rows_of_one_name() {
    for section in SECTIONS {
        let mut names: Vec<_> = of(section).map(|key| key.name).collect();
        let rows = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), rows, "{section:?}");
    }
}

#[test]
fn a_name_is_found_in_its_own_section_first() {
    assert!(matches!(find(Section::Mode, "ask"), Lookup::Here(key)
        if key.form == ASK));
    assert!(matches!(find(Section::Top, "ask"), Lookup::Here(key)
        if key.form == Form::Tables(Section::Ask)));
    assert!(matches!(
        find(Section::Allow, "version"),
        Lookup::Elsewhere([Section::Top, ..])
    ));
    assert!(matches!(
        find(Section::Allow, "instead"),
        Lookup::Elsewhere([Section::Deny])
    ));
}

#[test]
fn the_nearest_spelling_is_one_that_works() {
    for (section, written, meant) in [
        (Section::Top, "verison", Some("version")),
        (Section::Top, "allows", Some("allow")),
        (Section::Deny, "Instaed", Some("instead")),
        (Section::Deny, "flag", Some("flags")),
        (Section::Deny, "paht", Some("path")),
        (Section::Deny, "ignore_cas", Some("ignore_case")),
        (Section::Top, "chartr", Some("charter")),
        (Section::Audit, "env_value", None),
        (Section::Allow, "priority", None),
    ] {
        assert!(
            matches!(find(section, written), Lookup::Unknown(nearest) if nearest == meant),
            "{written}"
        );
    }
}
