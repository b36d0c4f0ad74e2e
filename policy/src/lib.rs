//! The policy of execward: which execs may happen.
//!
//! This crate is a function. It turns the text of policy files into a [`Ruleset`], and an
//! [`ExecRequest`] into a [`Verdict`]. It does no I/O and knows no clock, environment,
//! process or descriptor, so that every answer it gives can be had again from its
//! arguments. The language is described in `LANGUAGE.md`, beside this crate's sources.
//! Policies of the two engines that execward continues are translated into it by [`seed`].
//!
//! # Terms
//!
//! - A **policy** is one or more **sources**, each of a **layer**: on whose behalf it speaks.
//! - A **rule** has an **action** (allow, ask, deny) and **selectors**, all of which must
//!   hold. The order of rules means nothing.
//! - The **mode** says what a call gets, once it is known which rules hold.
//! - A **ruleset** is a policy without a fault. A policy with a **fault** is not loaded.
//! - A call loads one or more **images**: the file passed to execve(2), and the `#!`
//!   interpreters that the kernel adds.
//! - A **decision** is allow, ask or deny; a **verdict** is a decision with its **basis**.
//!
//! # What holds in doubt
//!
//! A deny or an ask holds if it *may* hold; an allow, only if it *must*.
//!
//! | | deny, ask | allow |
//! |---|---|---|
//! | images | any of the call | the program; see below for interpreters |
//! | names of a file | given, links, resolved, and the given path with `..` taken as text | the same without any that has `..` |
//! | the same file under another name (`ProgramFile::aliases`) | by whatever the rules call it | never |
//! | files without a provable name ([`Origin`]) | by whatever names they have | never |
//! | bare name | that name anywhere, and its versions | that name in a trusted directory, of a file that the session had no hand in |
//! | `command` | flags, with or without a value, may stand between the words | the words lead the arguments, nothing between, and are the command's whole name |
//! | `flags` | some flag may be on the list | every flag is on it |
//! | history ([`Lineage`]) with a gap | `via` holds | `via` does not, and no `children` run |
//! | what a call names ([`ExecRequest::destinations`]) | some file, as written and where it leads | every file, where it leads |
//! | a path of which nobody can tell where it leads | `path` holds | it does not |
//! | an environment that nobody read | `env` holds | |
//! | a digest that nobody took, of the file or beside `script` of the script | `sha256` holds | it does not |
//!
//! An entry with `!` is read as the opposite action reads its entries.
//!
//! An allowed `#!` file brings its interpreters along if they lie in a trusted directory.
//! Any other interpreter must itself be allowed, by a rule with `program` and nothing that
//! looks at arguments. The trusted directories are `bin` and `sbin` of `/`, `/usr` and
//! `/usr/local`, and those that `trusted_dirs` names.
//!
//! # Example
//!
//! ```
//! use execward_policy::{
//!     Decision, ExecRequest, Layer, NoIncludes, Places, ProgramFile, Ruleset, Source,
//! };
//! use jiff::Timestamp;
//!
//! let text = br#"
//! version = 1
//!
//! [mode]
//! security = "allowlist"
//!
//! [[allow]]
//! id = "git"
//! program = "git"
//!
//! [[deny]]
//! id = "no-push"
//! command = "git push"
//! reason = "a person publishes"
//! "#;
//! let places = Places {
//!     home: b"/home/ada".to_vec(),
//!     workspace: b"/home/ada/engine".to_vec(),
//!     tmp: b"/tmp".to_vec(),
//! };
//! let source = Source { name: "policy.toml", text, layer: Layer::User };
//! let ruleset = Ruleset::load(&[source], &places, &NoIncludes)?;
//!
//! let now = Timestamp::UNIX_EPOCH;
//! let call = |argv: &[&str]| {
//!     let argv = argv.iter().map(|argument| argument.as_bytes().to_vec()).collect();
//!     ExecRequest::new(ProgramFile::at("/usr/bin/git"), argv)
//! };
//! assert_eq!(ruleset.decide(&call(&["git", "status"]), now).decision(), Decision::Allow);
//!
//! let request = call(&["git", "-C", "sub", "push"]);
//! let verdict = ruleset.decide(&request, now);
//! assert_eq!(verdict.decision(), Decision::Deny);
//! assert_eq!(verdict.rule().and_then(|rule| rule.reason()), Some("a person publishes"));
//! # Ok::<(), execward_policy::Diagnostics>(())
//! ```

#![forbid(unsafe_code)]

// The drawing of the properties is of use in the unit tests too.
#[cfg(test)]
extern crate self as execward_policy;

mod amendment;
mod approval;
mod arity;
mod case;
mod charter;
mod charter_reader;
mod class;
mod command;
mod diagnostic;
mod digest;
mod dispatch;
mod doubt;
mod duration;
mod escape;
mod exact;
mod example;
mod explain;
mod fields;
mod flag;
mod form;
mod grammar;
mod grant;
mod guise;
mod host;
mod image;
mod inline;
mod keys;
mod kind;
mod lint;
mod load;
mod mode;
mod module;
mod name_map;
mod operand;
mod outlet_reader;
mod outlets;
mod path;
mod pattern;
mod places;
mod preset;
mod program;
mod reader;
mod redaction;
mod request;
mod rule;
mod rule_reader;
mod ruleset;
mod safe_bin;
mod safe_bin_reader;
mod schema;
pub mod seed;
mod selector;
mod settings;
mod shell_command;
mod source;
mod synonym;
mod syntax;
mod table;
mod tabled;
mod tool;
mod tool_call;
mod tool_mode;
mod tool_reader;
mod trust;
mod variable;
mod verdict;
mod version;
mod watch;
mod word;
mod wrapper;
mod written;

pub use amendment::{Amendment, Content, Evidence, Lesson, Lessons, NoRule, Scope, exact_rule};
pub use approval::Approval;
pub use class::{OPEN_CLASSES, classes};
pub use diagnostic::{Diagnostics, Fault, Place, Style};
pub use digest::Digest;
pub use doubt::{Doubt, Gaps};
pub use explain::{Explanation, Hit, Miss, Objection};
pub use grammar::command_table;
pub use grant::subtree_rule;
pub use lint::{Machine, Warning};
pub use mode::{Ask, Mode, Security};
pub use outlets::Notify;
pub use places::Places;
pub use preset::{BUILTIN, PRESETS, builtin, is_builtin, preset};
pub use redaction::{MASK, Masked, Redaction};
pub use request::{
    Ancestor, Destination, ExecRequest, FileKind, Interpreter, Lineage, Origin, ProgramFile,
    RuleKey, Stream,
};
pub use rule::{Action, Rule};
pub use ruleset::{Ruleset, Variables};
pub use schema::schema;
pub use shell_command::ShellCommand;
pub use source::{Included, Includes, Layer, NoIncludes, SOURCE_MAX_BYTES, Source};
pub use tool_call::ToolCall;
pub use trust::SYSTEM_DIRS;
pub use verdict::{Basis, Decision, Verdict};
