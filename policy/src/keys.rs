//! The table of keys: which key belongs where, what it holds, and whether it works yet.
//!
//! All of the language is here, also what this version refuses. A key that is known but not
//! supported is a fault of its own: taking such a rule without the key would make the rule
//! weaker than it reads.

/// A table of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Section {
    /// The file itself, before the first table.
    Top,
    /// `[mode]`.
    Mode,
    /// `mode.approval.reject`.
    Reject,
    /// `[[allow]]`.
    Allow,
    /// `[[ask]]`.
    Ask,
    /// `[[deny]]`.
    Deny,
    /// `[tools.NAME]`.
    Tool,
    /// `[safe_bins]`.
    SafeBins,
    /// `[safe_bins.profile.NAME]`.
    Profile,
    /// `[charter]`.
    Charter,
    /// `[env]`.
    Env,
    /// `[audit]`.
    Audit,
    /// A file of grants, before the first table.
    Grants,
    /// `[[subtree]]`, of grants.
    Subtree,
    /// `[grants.ID]`.
    Grant,
}

impl Section {
    /// The header that begins the section.
    pub(crate) fn header(self) -> &'static str {
        match self {
            Self::Top => "the top of the file",
            Self::Mode => "`[mode]`",
            Self::Reject => "`reject`",
            Self::Allow => "`[[allow]]`",
            Self::Ask => "`[[ask]]`",
            Self::Deny => "`[[deny]]`",
            Self::Tool => "`[tools.NAME]`",
            Self::SafeBins => "`[safe_bins]`",
            Self::Profile => "`[safe_bins.profile.NAME]`",
            Self::Charter => "`[charter]`",
            Self::Env => "`[env]`",
            Self::Audit => "`[audit]`",
            Self::Grants => "a file of grants",
            Self::Subtree => "`[[subtree]]`",
            Self::Grant => "`[grants.ID]`",
        }
    }
}

/// What a key holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// An integer.
    Number,
    /// `true` or `false`.
    Bool,
    /// A string.
    Text(Kind),
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A string, or a list of strings that is not empty.
    Texts(Kind),
    /// A list of strings that is not empty.
    List(Kind),
    /// A list of strings that may be empty.
    Names(Kind),
    /// A list, each of whose elements is a string or a list of strings.
    Examples,
    /// A date and time with an offset.
    Date,
    /// A word of the mode, or `{ reject = … }`.
    Approval,
    /// A table.
    Table(Section),
    /// A list of tables.
    Tables(Section),
    /// A table whose names are the author's, each a table.
    Map(Section),
    /// A table whose names are flags, each saying how it takes a value.
    FlagForms,
}

/// What the strings of a key are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Any text.
    Free,
    /// The id of a rule.
    Id,
    /// A path, a bare name or a class.
    Program,
    /// Words of a call.
    Command,
    /// An element of a vector, literal.
    Literal,
    /// A flag.
    Flag,
    /// A pattern of one argument.
    Word,
    /// A pattern of paths.
    Path,
    /// A host name or address, perhaps with a port.
    Host,
    /// `NAME` or `NAME=VALUE`.
    Env,
    /// The name of a variable, perhaps with `!`.
    EnvName,
    /// A SHA-256 digest.
    Digest,
    /// `preset:NAME` or a file.
    Include,
    /// A time, such as `5m`.
    Duration,
    /// The name of a tool or of a program.
    Name,
}

/// Whether this version reads a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Support {
    /// It must be there.
    Required,
    /// It may be there.
    Optional,
    /// A later version reads it; in this one it is a fault.
    Later,
}

/// One row of the table.
#[derive(Debug)]
pub(crate) struct Key {
    pub(crate) name: &'static str,
    sections: &'static [Section],
    pub(crate) support: Support,
    pub(crate) form: Form,
    /// Whether the key says for which calls a rule holds.
    pub(crate) selects: bool,
}

impl Key {
    const fn selecting(self) -> Self {
        Self {
            selects: true,
            ..self
        }
    }
}

const TOP: &[Section] = &[Section::Top];
const MODE: &[Section] = &[Section::Mode];
const REJECT: &[Section] = &[Section::Reject];
const ALLOW: &[Section] = &[Section::Allow];
const FILES: &[Section] = &[Section::Top, Section::Grants];
const NOTE: &[Section] = &[Section::Grant];
const RULES: &[Section] = &[Section::Allow, Section::Ask, Section::Deny];

const SECURITY: Form = Form::Choice(&["deny", "allowlist", "full"]);
const ASK: Form = Form::Choice(&["off", "on-miss", "always"]);

const fn required(name: &'static str, sections: &'static [Section], form: Form) -> Key {
    let support = Support::Required;
    Key {
        name,
        sections,
        support,
        form,
        selects: false,
    }
}

const fn optional(name: &'static str, sections: &'static [Section], form: Form) -> Key {
    let support = Support::Optional;
    Key {
        name,
        sections,
        support,
        form,
        selects: false,
    }
}

const fn later(name: &'static str, sections: &'static [Section], form: Form) -> Key {
    let support = Support::Later;
    Key {
        name,
        sections,
        support,
        form,
        selects: false,
    }
}

/// Every key of the language. A name that has a meaning in two sections has two rows.
#[rustfmt::skip]
const KEYS: &[Key] = &[
    required("version",          FILES, Form::Number),
    optional("layer",            TOP, Form::Choice(&["agent", "user", "floor"])),
    optional("include",          TOP, Form::List(Kind::Include)),
    optional("trusted_dirs",     TOP, Form::List(Kind::Path)),
    optional("notify",           TOP, Form::List(Kind::Free)),
    optional("mode",             TOP, Form::Table(Section::Mode)),
    optional("allow",            FILES, Form::Tables(Section::Allow)),
    optional("ask",              TOP, Form::Tables(Section::Ask)),
    optional("deny",             FILES, Form::Tables(Section::Deny)),
    optional("tools",            TOP, Form::Map(Section::Tool)),
    optional("safe_bins",        TOP, Form::Table(Section::SafeBins)),
    optional("charter",          TOP, Form::Table(Section::Charter)),
    optional("env",              TOP, Form::Table(Section::Env)),
    optional("audit",            TOP, Form::Table(Section::Audit)),

    optional("security",         MODE, SECURITY),
    optional("ask",              MODE, ASK),
    optional("ask_fallback",     MODE, SECURITY),
    optional("ask_timeout",      MODE, Form::Text(Kind::Duration)),
    optional("approval",         MODE, Form::Approval),
    optional("escalate_to",      MODE, Form::Text(Kind::Free)),
    optional("rules",            REJECT, Form::Bool),
    optional("sandbox_approval", REJECT, Form::Bool),
    optional("mcp_elicitations", REJECT, Form::Bool),

    required("id",               RULES, Form::Text(Kind::Id)),
    optional("program",          RULES, Form::Texts(Kind::Program)).selecting(),
    optional("command",          RULES, Form::Texts(Kind::Command)).selecting(),
    optional("argv",             RULES, Form::List(Kind::Literal)).selecting(),
    optional("flags",            RULES, Form::Texts(Kind::Flag)).selecting(),
    optional("args",             RULES, Form::Texts(Kind::Word)).selecting(),
    optional("tool",             RULES, Form::Texts(Kind::Word)).selecting(),
    optional("path",             RULES, Form::Texts(Kind::Path)).selecting(),
    optional("host",             RULES, Form::Texts(Kind::Host)).selecting(),
    optional("script",           RULES, Form::Texts(Kind::Path)).selecting(),
    optional("cwd",              RULES, Form::Texts(Kind::Path)).selecting(),
    optional("env",              RULES, Form::Texts(Kind::Env)).selecting(),
    optional("via",              RULES, Form::Texts(Kind::Program)).selecting(),
    optional("sha256",           RULES, Form::Texts(Kind::Digest)).selecting(),
    optional("ignore_case",      RULES, Form::Bool),
    optional("expires",          RULES, Form::Date),
    optional("reason",           RULES, Form::Text(Kind::Free)),
    optional("instead",          &[Section::Deny], Form::Text(Kind::Free)),
    optional("children",         ALLOW, Form::Texts(Kind::Program)),
    optional("escalate",         &[Section::Ask], Form::Bool),
    optional("match",            RULES, Form::Examples),
    optional("not_match",        RULES, Form::Examples),

    optional("security",         &[Section::Tool], SECURITY),
    optional("ask",              &[Section::Tool], ASK),
    optional("names",            &[Section::SafeBins], Form::Names(Kind::Name)),
    optional("profile",          &[Section::SafeBins], Form::Map(Section::Profile)),
    required("operands",         &[Section::Profile], Form::Number),
    required("flags",            &[Section::Profile], Form::FlagForms),
    optional("auto_approve",     &[Section::Charter], Form::List(Kind::Command)),
    optional("require_confirmation", &[Section::Charter], Form::List(Kind::Command)),
    optional("always_reject",    &[Section::Charter], Form::List(Kind::Command)),
    optional("escalate",         &[Section::Charter], Form::List(Kind::Command)),
    optional("untrusted",        &[Section::Env], Form::List(Kind::EnvName)),
    optional("grants",           &[Section::Grants], Form::Map(Section::Grant)),
    optional("subtree",          &[Section::Grants], Form::Tables(Section::Subtree)),
    required("id",               &[Section::Subtree], Form::Text(Kind::Id)),
    required("children",         &[Section::Subtree], Form::Texts(Kind::Program)),
    required("scope",            NOTE, Form::Choice(&["exact", "flags", "prefix", "program"])),
    required("covers",           NOTE, Form::Text(Kind::Free)),
    required("by",               NOTE, Form::Text(Kind::Free)),
    required("session",          NOTE, Form::Text(Kind::Free)),
    required("exec",             NOTE, Form::Text(Kind::Free)),
    required("at",               NOTE, Form::Date),
    optional("reason",           NOTE, Form::Text(Kind::Free)),
    optional("uses",             NOTE, Form::Number),
    optional("last_used",        NOTE, Form::Date),
    optional("last_command",     NOTE, Form::Text(Kind::Free)),
    optional("last_path",        NOTE, Form::Text(Kind::Free)),
    optional("redact",           &[Section::Audit], Form::List(Kind::Word)),
    later("env_values",          &[Section::Audit], Form::List(Kind::EnvName)),
];

/// The rows of one section.
pub(crate) fn of(section: Section) -> impl Iterator<Item = &'static Key> + Clone {
    KEYS.iter()
        .filter(move |key| key.sections.contains(&section))
}

/// The header that begins what the top-level key `name` holds, if that is a table or several.
pub(crate) fn header_of(name: &str) -> Option<&'static str> {
    let key = of(Section::Top).find(|key| key.name == name)?;
    let (Form::Table(section) | Form::Tables(section) | Form::Map(section)) = key.form else {
        return None;
    };
    Some(section.header())
}

/// What a name means in a section.
#[derive(Debug)]
pub(crate) enum Lookup {
    /// A key of the section.
    Here(&'static Key),
    /// A key of other sections only.
    Elsewhere(&'static [Section]),
    /// No key of the language. The nearest spelling that this version reads, if one is near.
    Unknown(Option<&'static str>),
}

/// Finds `name` in `section`.
pub(crate) fn find(section: Section, name: &str) -> Lookup {
    if let Some(key) = of(section).find(|key| key.name == name) {
        return Lookup::Here(key);
    }
    if let Some(key) = KEYS.iter().find(|key| key.name == name) {
        return Lookup::Elsewhere(key.sections);
    }
    let supported = of(section).filter(|key| key.support != Support::Later);
    Lookup::Unknown(nearest(name, supported.map(|key| key.name)))
}

/// Longest text that may be a slip of a known word.
const NEAREST_MAX_BYTES: usize = 64;

/// The word among `known` that `written` was probably meant to be.
pub(crate) fn nearest(
    written: &str,
    known: impl IntoIterator<Item = &'static str>,
) -> Option<&'static str> {
    // Distances take time and memory by the product of lengths, and no key is so long.
    if written.len() > NEAREST_MAX_BYTES {
        return None;
    }
    let distances = known.into_iter().map(|word| {
        let distance = strsim::damerau_levenshtein(&written.to_ascii_lowercase(), word);
        (distance, word)
    });
    // A third of the word may be wrong: enough for a slip of two keys, too little for another word.
    let near = distances.filter(|(distance, word)| *distance <= (word.len() / 3).max(1));
    near.min().map(|(_, word)| word)
}

#[cfg(test)]
mod tests;
