//! A mapping as a table: the name of each field there, and what makes it of a record.

use serde_json::{Map, Value};

use super::event::Event;

/// A field of another schema.
#[derive(Debug)]
pub(super) struct Field {
    /// Its name there; a point separates objects.
    name: &'static str,
    /// Its value; none where the record does not say it.
    of: fn(&Event<'_>) -> Option<Value>,
}

impl Field {
    pub(super) const fn new(name: &'static str, of: fn(&Event<'_>) -> Option<Value>) -> Self {
        Self { name, of }
    }
}

/// What the fields of a table make of a record.
pub(super) fn mapped(table: &[Field], event: &Event<'_>) -> Value {
    let mut object = Map::new();
    for field in table {
        if let Some(value) = (field.of)(event) {
            put(&mut object, field.name, value);
        }
    }
    Value::Object(object)
}

/// Puts a value where a name with points stands; nothing if something else stands on its way.
fn put(object: &mut Map<String, Value>, name: &str, value: Value) {
    match name.split_once('.') {
        None => drop(object.insert(name.to_owned(), value)),
        Some((first, rest)) => {
            let inner = object
                .entry(first)
                .or_insert_with(|| Value::Object(Map::new()));
            if let Some(inner) = inner.as_object_mut() {
                put(inner, rest, value);
            }
        }
    }
}

/// The text at a pointer.
pub(super) fn text(event: &Event<'_>, pointer: &str) -> Option<Value> {
    event.text(pointer).map(Value::from)
}

/// The number at a pointer.
pub(super) fn number(event: &Event<'_>, pointer: &str) -> Option<Value> {
    event.number(pointer).map(Value::from)
}

/// The number, or whatever it is, at a pointer, as text.
pub(super) fn keyword(event: &Event<'_>, pointer: &str) -> Option<Value> {
    match event.at(pointer)? {
        Value::String(text) => Some(text.as_str().into()),
        Value::Null => None,
        other @ (Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
            Some(other.to_string().into())
        }
    }
}

/// The last step of the path at a pointer.
pub(super) fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Nanoseconds since the epoch as a time.
pub(super) fn time_of_ns(event: &Event<'_>, pointer: &str) -> Option<jiff::Timestamp> {
    let nanoseconds = event.at(pointer)?.as_number()?.as_i128()?;
    jiff::Timestamp::from_nanosecond(nanoseconds).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_name_with_points_is_an_object_in_another() {
        let mut object = Map::new();
        put(&mut object, "a.b.c", json!(1));
        put(&mut object, "a.d", json!("x"));
        put(&mut object, "a.d.e", json!(2));
        assert_eq!(
            Value::Object(object),
            json!({"a": {"b": {"c": 1}, "d": "x"}})
        );
    }
}
