//! OpenTelemetry: OTLP/HTTP with JSON, to a collector. <https://opentelemetry.io/docs/specs/otlp/#otlphttp>
//!
//! Records are taken once it answers that they are. It is spoken to without TLS: one on this machine relays.

mod answer;
mod endpoint;
mod log_record;

use std::time::Duration;

use serde_json::{Value, json};
use ureq::Agent;

use crate::batch::BYTES_MAX;
use crate::receiver::{Delivery, Receiver, Refusal};
use crate::record::Record;
use crate::said::{escaped, printable};
use crate::ship::PATIENCE;

use answer::Answer;
pub(crate) use endpoint::Endpoint;
use log_record::{log_record, text};

/// Most bytes that are read of an answer.
const ANSWER_MAX: u64 = 64 * 1024;

/// A collector.
#[derive(Debug)]
pub(crate) struct Collector {
    agent: Agent,
    endpoint: Endpoint,
    /// Of all records: whose they are.
    resource: Value,
}

impl Collector {
    /// The one there.
    pub(crate) fn at(endpoint: Endpoint) -> Self {
        let config = Agent::config_builder()
            .timeout_global(Some(PATIENCE))
            .http_status_as_error(false)
            .max_redirects(0)
            // What the environment names is for others.
            .proxy(None)
            .user_agent(concat!("execward-ship/", env!("CARGO_PKG_VERSION")))
            .build();
        let name = rustix::system::uname();
        let host = printable(name.nodename().to_bytes());
        let attributes = [text("service.name", "execward"), text("host.name", &host)];
        Self {
            agent: config.into(),
            endpoint,
            resource: json!({"attributes": attributes}),
        }
    }

    fn request(&self, records: &[Value]) -> Value {
        let scope = json!({"name": "execward", "version": env!("CARGO_PKG_VERSION")});
        let logs = json!([{"scope": scope, "logRecords": records}]);
        json!({"resourceLogs": [{"resource": self.resource, "scopeLogs": logs}]})
    }

    fn post(&self, request: &Value) -> Result<Answer, ureq::Error> {
        let post = self.agent.post(self.endpoint.logs());
        let post = post.content_type("application/json");
        let mut response = post.send(&request.to_string())?;
        let after = response.headers().get("retry-after");
        let after = after.and_then(|after| after.to_str().ok());
        let after = after.and_then(|after| answer::retry_after(after, jiff::Timestamp::now()));
        let status = response.status().as_u16();
        let body = response.body_mut().with_config().limit(ANSWER_MAX);
        // What it says beside its status may be too long.
        let body = body.read_to_vec().unwrap_or_default();
        Ok(Answer::of(status, &body, after))
    }
}

impl Receiver for Collector {
    fn deliver(&mut self, records: &[Record]) -> Delivery {
        let mut encoded = fitting(records);
        loop {
            if encoded.is_empty() {
                return Delivery::all(&[]);
            }
            let taken = encoded.len();
            let refused = |why: String, after: Option<Duration>| {
                let why = format!("the collector at {} {why}", self.endpoint);
                Delivery::only(0, Refusal { why, after })
            };
            let rejected = match self.post(&self.request(&encoded)) {
                Ok(Answer::Taken) => None,
                Ok(Answer::Partly(count, why)) => Some((count, why)),
                // Not the same again, but the one that it means is found so.
                Ok(Answer::Bad(_)) if taken > 1 => {
                    encoded.truncate(taken / 2);
                    continue;
                }
                Ok(Answer::Bad(why)) => Some((1, why)),
                Ok(Answer::NotNow(why, after)) => return refused(why, after),
                Err(error) => {
                    let why = format!("cannot be asked: {}", escaped(&error.to_string()));
                    return refused(why, None);
                }
            };
            return Delivery {
                taken,
                rejected,
                refusal: None,
            };
        }
    }
}

/// The first records, as many as fit into a request, at least one.
fn fitting(records: &[Record]) -> Vec<Value> {
    let now = jiff::Timestamp::now();
    let mut encoded = Vec::new();
    let mut bytes = 0;
    for record in records {
        let one = log_record(record, now);
        bytes += one.to_string().len();
        if bytes > BYTES_MAX && !encoded.is_empty() {
            break;
        }
        encoded.push(one);
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_has_as_many_records_as_fit_and_at_least_one() {
        let large = json!({"type": "x".repeat(100 * 1024)});
        let records: Vec<_> = (0..5).map(|seq| Record::test(seq, &large)).collect();
        // Each is in it twice: as it is, and its type.
        assert_eq!(fitting(&records).len(), 1);
        let huge = json!({"type": "x".repeat(300 * 1024)});
        assert_eq!(fitting(&[Record::test(0, &huge)]).len(), 1);
        let small = json!({"type": "exec.outcome"});
        let records: Vec<_> = (0..5).map(|seq| Record::test(seq, &small)).collect();
        assert_eq!(fitting(&records).len(), 5);
    }

    #[test]
    fn a_request_says_whose_records_they_are() {
        let collector = Collector::at(Endpoint::default());
        let request = collector.request(&[json!(1)]);
        let of = &request["resourceLogs"][0];
        assert_eq!(
            of["resource"]["attributes"][0]["value"]["stringValue"],
            "execward"
        );
        assert_eq!(of["resource"]["attributes"][1]["key"], "host.name");
        assert_eq!(of["scopeLogs"][0]["logRecords"], json!([1]));
    }
}
