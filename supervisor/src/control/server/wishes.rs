//! What clients wish for.

use super::{Event, Server};
use crate::audit::Approver;
use crate::control::channel::{ClientId, Report};
use crate::control::tool_check::ToolCheck;
use crate::control::wire::{BUNDLE_MAX_BYTES, FromClient, FromGate};
use crate::policy::Bundle;

impl Server {
    /// Does what a client that may wish for it wishes for.
    pub(super) fn obey(&mut self, client: ClientId, message: FromClient, sender: Approver) {
        let Some(known) = self.clients.get_mut(&client) else {
            return;
        };
        match message {
            FromClient::Hello { .. } => {}
            FromClient::List => self.list(client, &FromGate::Listed),
            FromClient::Subscribe => self.subscribe(client),
            FromClient::ApprovalResponse(response) => self.report(
                client,
                Report::Answer {
                    response: Box::new(response),
                    approver: sender,
                    client,
                },
            ),
            FromClient::PolicyPart { part } => self.take_part(client, &part),
            FromClient::PolicyLoad => {
                let bundle = std::mem::take(&mut known.bundle);
                self.compile(client, bundle, sender);
            }
            FromClient::Grants => self.report(client, Report::Grants(client)),
            FromClient::Grant(grant) => self.report(
                client,
                Report::Grant {
                    grant,
                    sender,
                    client,
                },
            ),
            FromClient::Revoke { id } => {
                self.report(client, Report::Revoke { id, sender, client });
            }
            FromClient::Status => self.report(client, Report::Status(client)),
            FromClient::Stop { kills } => self.report(
                client,
                Report::Stop {
                    kills,
                    sender,
                    client,
                },
            ),
            FromClient::Escalate(question) => {
                known.has_escalated = true;
                self.report(
                    client,
                    Report::Escalated {
                        question,
                        sender,
                        client,
                    },
                );
            }
            FromClient::EscalationWithdrawn { request_id } => {
                self.report(client, Report::EscalationWithdrawn { request_id, client });
            }
            FromClient::ToolCheck(check) => self.check_tool(client, check, sender),
        }
    }

    fn subscribe(&mut self, client: ClientId) {
        if let Some(known) = self.clients.get_mut(&client) {
            // From here on asks count on it: before it is told so.
            known.is_subscribed = true;
            self.count_subscribers();
            self.list(client, &FromGate::Subscribed);
        }
    }

    fn take_part(&mut self, client: ClientId, part: &str) {
        let Some(known) = self.clients.get_mut(&client) else {
            return;
        };
        if known.bundle.len() + part.len() > BUNDLE_MAX_BYTES {
            known.bundle = String::new();
            self.refuse(client, "the policy is too long".into());
            return self.close(client);
        }
        known.bundle.push_str(part);
    }

    fn check_tool(&mut self, client: ClientId, check: ToolCheck, sender: Approver) {
        if let Err(why) = check.check() {
            return self.refuse(client, format!("tool_check: {why}"));
        }
        let check = Box::new(check);
        let report = Report::Tool {
            check,
            sender,
            client,
        };
        self.report(client, report);
    }

    /// Compiles what the client sent, on a thread that nothing waits for: its paths may lead to a
    /// file system that does not answer.
    fn compile(&mut self, client: ClientId, bundle: String, sender: Approver) {
        if self.is_compiling {
            let why = "another policy is being looked at; try again when that is loaded or refused";
            return self.refuse(client, why.into());
        }
        self.is_compiling = true;
        let (scene, events) = (self.desk.scene.clone(), self.events.clone());
        let compiled = tokio::task::spawn_blocking(move || Bundle::read(&bundle, &scene));
        tokio::spawn(async move {
            let failed = |error| Err(format!("execward failed on the policy: {error}"));
            let offered = compiled.await.unwrap_or_else(failed);
            let offered = Event::Offered(client, offered, sender);
            if events.send(offered).await.is_err() {
                tracing::debug!("a policy came after the session's end");
            }
        });
    }
}
