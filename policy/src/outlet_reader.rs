//! `[mode] escalate_to` and `notify`: what runs or hears outside the session is the user's to name.

use toml::de::DeTable;

use crate::fields::Fields;
use crate::outlets::Notify;
use crate::reader::Reader;
use crate::source::Layer;

impl Reader<'_> {
    /// The socket of a higher supervisor.
    pub(crate) fn escalate_to(&mut self, fields: &Fields<'_>) {
        let Some(path) = fields.text("escalate_to") else {
            return;
        };
        // The operator of a machine may name one for all.
        if self.part.layer != Layer::Floor {
            self.refuse_of_layer(path.span.clone(), "`escalate_to`");
        }
        if path.text.starts_with('/') {
            self.part.outlets.escalate_to = Some(path.text.to_owned());
        } else {
            let help = "it is the control socket of another session";
            self.checker.fault(
                path.span,
                "the path of a higher supervisor's socket begins with `/`",
                Some(help.to_owned()),
            );
        }
    }

    /// The program that is told of questions.
    pub(crate) fn notify(&mut self, table: &DeTable<'_>, fields: &Fields<'_>) {
        let Some((name, _)) = table.iter().find(|(name, _)| name.get_ref() == "notify") else {
            return;
        };
        self.refuse_of_layer(name.span(), "`notify`");
        let argv = fields.texts("notify");
        let Some(program) = argv.first() else {
            return;
        };
        if program.text.starts_with('/') {
            self.part.outlets.notify = Some(Notify {
                argv: argv.iter().map(|text| text.text.to_owned()).collect(),
                source: self.checker.source.name().to_owned(),
            });
        } else {
            let span = program.span.clone();
            let help = "it is started as it stands, by no shell and through no PATH";
            let message = "the program of `notify` begins with `/`";
            self.checker.fault(span, message, Some(help.to_owned()));
        }
    }
}
