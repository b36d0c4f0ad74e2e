//! The rules by which an answer could be kept, and the grants that they make.

use execward_policy::{
    Action, Amendment, Content, Digest, ExecRequest, Ruleset, Scope, subtree_rule,
};

use crate::audit::{Approver, ExecId};
use crate::clock;
use crate::consent::Said;
use crate::grants::{Grant, Note, Span, Usage, fresh_name};

/// The rules by which an answer to one question could be kept.
#[derive(Clone, Debug)]
pub(crate) struct Offered {
    /// How all of them are called, but for their scope.
    name: String,
    allows: Vec<Amendment>,
    denies: Vec<Amendment>,
}

/// How an answer is to be kept.
#[derive(Clone, Debug)]
pub(crate) struct Lasting {
    id: String,
    rule: String,
    scope: &'static str,
    covers: String,
    content: Content,
}

/// What somebody says of an exec.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Word<'a> {
    pub(crate) said: Said,
    pub(crate) span: Span,
    pub(crate) reason: Option<&'a str>,
    pub(crate) by: Approver,
    /// What its session is called.
    pub(crate) session: &'a str,
    pub(crate) exec: ExecId,
}

impl Offered {
    /// What could be kept of the answer to a question about `request`.
    pub(crate) fn of(rules: &Ruleset, request: &ExecRequest) -> Self {
        let (name, now) = (fresh_name(), clock::now());
        Self {
            allows: rules.amendments(request, &name, now),
            denies: rules.refusals(request, &name, now),
            name,
        }
    }

    pub(crate) fn allows(&self) -> &[Amendment] {
        &self.allows
    }

    fn to_say(&self, said: Said) -> &[Amendment] {
        match said {
            Said::Allow => &self.allows,
            Said::Deny => &self.denies,
        }
    }

    /// How what was `said` would be kept.
    ///
    /// # Errors
    /// The scopes that could be.
    pub(crate) fn find(&self, said: Said, scope: Scope) -> Result<Lasting, String> {
        let amendments = self.to_say(said);
        let Some(found) = amendments.iter().find(|it| it.scope == scope) else {
            let scopes = amendments.iter().map(|it| it.scope.as_str());
            return Err(scopes.collect::<Vec<_>>().join(", "));
        };
        let Amendment {
            scope,
            rule,
            covers,
            content,
        } = found.clone();
        Ok(Lasting {
            id: format!("{}-{scope}", self.name),
            rule,
            scope: scope.as_str(),
            covers,
            content,
        })
    }

    /// How it would be kept that a process is allowed with all that it starts.
    pub(crate) fn with_all_below(&self) -> Lasting {
        let id = format!("{}-subtree", self.name);
        Lasting {
            rule: subtree_rule(&id),
            id,
            scope: "subtree",
            covers: "what this process starts, until it ends, but for what denies and asks are about, the \
                     network, and programs that are fed as text"
                .to_owned(),
            content: Content::Any,
        }
    }
}

impl Lasting {
    /// How it is called.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// What it is to be bound to.
    pub(crate) fn content(&self) -> &Content {
        &self.content
    }

    /// The grant that it is; `digest` is of its content, if it is bound to any. `None` for a time that no file
    /// can hold.
    pub(crate) fn grant(&self, word: Word<'_>, digest: Option<Digest>) -> Option<Grant> {
        let mut rule = self.rule.clone();
        let mut add = |key: &str, value: toml_edit::Value| rule += &format!("{key} = {value}\n");
        if let Some(digest) = digest {
            add("sha256", digest.to_string().into());
        }
        let expires = word.span.end();
        if let Some(end) = expires {
            let end = end.to_string().parse().ok()?;
            let end = toml_edit::Formatted::new(end);
            add("expires", toml_edit::Value::Datetime(end));
        }
        // Of an allow nobody is told why.
        if let (Said::Deny, Some(reason)) = (word.said, word.reason) {
            add("reason", reason.into());
        }
        let Approver { uid, pid } = word.by;
        Some(Grant {
            id: self.id.clone(),
            action: match word.said {
                Said::Allow => Action::Allow,
                Said::Deny => Action::Deny,
            },
            rule,
            expires,
            note: Note {
                scope: self.scope.to_owned(),
                covers: self.covers.clone(),
                by: format!("uid {uid} (process {pid})"),
                session: word.session.to_owned(),
                exec: word.exec.to_string(),
                at: clock::now(),
                reason: word.reason.map(str::to_owned),
                usage: Usage::default(),
            },
        })
    }
}
