//! Values that SQLite holds as text.

use std::collections::BTreeMap;

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};

/// A value as JSON, which SQLite's own functions take apart.
pub struct Json<T>(pub T);

impl ToSql for Json<&Vec<f64>> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(serde_json::Value::from(self.0.as_slice()).to_string().into())
    }
}

impl ToSql for Json<&BTreeMap<String, u64>> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let object: serde_json::Map<_, _> =
            self.0.iter().map(|(name, &count)| (name.clone(), count.into())).collect();
        Ok(serde_json::Value::Object(object).to_string().into())
    }
}

impl ToSql for Json<&BTreeMap<String, f64>> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let object: serde_json::Map<_, _> =
            self.0.iter().map(|(name, &number)| (name.clone(), number.into())).collect();
        Ok(serde_json::Value::Object(object).to_string().into())
    }
}

impl FromSql for Json<Vec<f64>> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        serde_json::from_str(value.as_str()?).map(Json).map_err(FromSqlError::other)
    }
}

impl FromSql for Json<BTreeMap<String, u64>> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        serde_json::from_str(value.as_str()?).map(Json).map_err(FromSqlError::other)
    }
}

impl FromSql for Json<BTreeMap<String, f64>> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        serde_json::from_str(value.as_str()?).map(Json).map_err(FromSqlError::other)
    }
}

/// A seed as digits: SQLite's integers end at 2^63 - 1.
pub struct Seed(pub u64);

impl ToSql for Seed {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.0.to_string().into())
    }
}

impl FromSql for Seed {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Seed> {
        value.as_str()?.parse().map(Seed).map_err(FromSqlError::other)
    }
}
