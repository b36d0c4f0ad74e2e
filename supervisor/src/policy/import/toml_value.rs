//! TOML configurations.

use serde_json::{Map, Value};
use toml::de::{DeTable, DeValue};

use super::lines::Lines;
use super::{ImportError, syntax_error};

/// A table, and the number of its line.
pub(super) type Placed = (usize, Map<String, Value>);

/// The table that a text is.
///
/// # Errors
/// If it is no TOML.
pub(super) fn table(text: &str) -> Result<Map<String, Value>, ImportError> {
    let table = parsed(text)?;
    Ok(object(table.get_ref()))
}

/// The tables at `[[name]]`, each with the number of its line; none if there are none.
///
/// # Errors
/// If it is no TOML, or something else is there.
pub(super) fn tables(text: &str, name: &str) -> Result<Vec<Placed>, ImportError> {
    let table = parsed(text)?;
    let Some(list) = table.get_ref().get(name) else {
        return Ok(Vec::new());
    };
    let other = || ImportError::Shape(format!("`{name}` is no list of tables"));
    let list = list.get_ref().as_array().ok_or_else(other)?;
    let lines = Lines::of(text);
    let tables = list.iter().map(|table| {
        let line = lines.number(table.span().start);
        let table = table.get_ref().as_table().ok_or_else(other)?;
        Ok((line, object(table)))
    });
    tables.collect()
}

fn parsed(text: &str) -> Result<toml::Spanned<DeTable<'_>>, ImportError> {
    DeTable::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        syntax_error(text, at, error.message().replace('\n', ", "))
    })
}

fn object(table: &DeTable<'_>) -> Map<String, Value> {
    let pairs = table.iter();
    pairs
        .map(|(key, value)| (key.get_ref().to_string(), value_of(value.get_ref())))
        .collect()
}

/// A value as JSON has it; what JSON has not, as text.
fn value_of(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => Value::from(text.as_ref()),
        DeValue::Boolean(boolean) => Value::Bool(*boolean),
        DeValue::Integer(integer) => {
            let number = i64::from_str_radix(integer.as_str(), integer.radix());
            number.map_or_else(|_| Value::from(integer.as_str()), Value::from)
        }
        DeValue::Float(float) => Value::from(float.as_str()),
        DeValue::Datetime(date) => Value::from(date.to_string()),
        DeValue::Array(values) => values
            .iter()
            .map(|value| value_of(value.get_ref()))
            .collect(),
        DeValue::Table(table) => Value::Object(object(table)),
    }
}
