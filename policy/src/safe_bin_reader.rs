//! From `[safe_bins]` of a source to its safe bins.

use std::collections::HashMap;

use toml::Spanned;
use toml::de::DeValue;

use crate::fields::Text;
use crate::keys::{Form, Section};
use crate::reader::Reader;
use crate::safe_bin::{Flag, FlagForm, Refusal, SafeBins};

impl Reader<'_> {
    pub(crate) fn safe_bins(&mut self, value: &Spanned<DeValue<'_>>) {
        let Some(table) = value.get_ref().as_table() else {
            return;
        };
        self.refuse_of_layer(value.span(), "`[safe_bins]`");
        let fields = self.checker.fields(Section::SafeBins, table, value.span());
        let is_named = fields.value("names").is_some();
        let names = fields.texts("names");
        let profiles = fields.value("profile").map(Spanned::get_ref);
        let profiles = profiles.and_then(DeValue::as_table).into_iter().flatten();
        let mut profiles: HashMap<&str, _> = profiles
            .map(|(name, value)| (name.get_ref().as_ref(), (name.span(), value)))
            .collect();
        let mut bins = if is_named {
            SafeBins::none()
        } else {
            SafeBins::default()
        };
        for name in names {
            match profiles.remove(name.text) {
                Some((_, profile)) => self.own_profile(&mut bins, &name, profile),
                None => {
                    if let Err(refusal) = bins.add(name.text) {
                        self.refuse_bin(&name, &refusal);
                    }
                }
            }
        }
        for (name, (span, profile)) in profiles {
            let text = Text {
                text: name,
                span: span.clone(),
            };
            self.own_profile(&mut SafeBins::none(), &text, profile);
            let message = format!("`{}` is no safe bin of this policy", name.escape_debug());
            let help = "add it to `names`".to_owned();
            self.checker.fault(span, message, Some(help));
        }
        self.part.safe_bins = Some(bins);
    }

    fn own_profile(
        &mut self,
        bins: &mut SafeBins,
        name: &Text<'_>,
        profile: &Spanned<DeValue<'_>>,
    ) {
        let Some(table) = profile.get_ref().as_table() else {
            let message = "a profile is a table";
            return self.checker.fault(profile.span(), message, None);
        };
        let fields = self.checker.fields(Section::Profile, table, profile.span());
        let operands = fields.number("operands");
        let flags = fields.value("flags");
        if let Some(flags) = flags {
            self.checker.check_content(Form::FlagForms, flags);
        }
        let (Some(operands), Some(flags)) = (operands, flags) else {
            return;
        };
        let Ok(most) = operands.text.parse::<usize>() else {
            let message = "`operands` is how many there may be at most";
            return self.checker.fault(operands.span, message, None);
        };
        let written = flags.get_ref().as_table().into_iter().flatten();
        let mut read = Vec::new();
        let mut places = Vec::new();
        for (flag, form) in written {
            let form = form.get_ref().as_str().and_then(FlagForm::parse);
            let name = flag.get_ref().as_ref();
            if let Some(form) = form.filter(|_| name.starts_with('-')) {
                read.push(Flag { name, form });
                places.push(flag.span());
            }
        }
        // Without each flag that is at fault, so that every fault is found.
        while let Err((at, refusal)) = bins.add_own(name.text, most, &read) {
            let Some(at) = at.filter(|at| *at < read.len()) else {
                return self.refuse_bin(name, &refusal);
            };
            read.remove(at);
            let span = places.remove(at);
            self.checker.fault(span, refusal.to_string(), None);
        }
    }

    fn refuse_bin(&mut self, name: &Text<'_>, refusal: &Refusal) {
        let message = format!("`{}` is no safe bin: {refusal}", name.text.escape_debug());
        let help = match refusal {
            Refusal::Class(_) => Some("write an `[[allow]]` that says how it may run".to_owned()),
            Refusal::NoProfile
            | Refusal::Name
            | Refusal::Flag
            | Refusal::UnknownFlag
            | Refusal::Form
            | Refusal::Dangerous => None,
        };
        self.checker.fault(name.span.clone(), message, help);
    }
}
