//! Documents made at random from a JSON Schema, for properties that must hold for every document.

use serde_json::{Map, Value, json};

/// Makes values that satisfy a schema.
pub struct Maker<'s> {
    /// The schema that references point into.
    pub root: &'s Value,
    /// Draws a number below the given one.
    pub roll: &'s mut dyn FnMut(usize) -> usize,
    /// Gives the next text.
    pub text: &'s mut dyn FnMut() -> String,
}

impl Maker<'_> {
    /// Makes a value that satisfies a schema.
    pub fn value(&mut self, schema: &Value) -> Value {
        self.below(schema, 0)
    }

    fn roll(&mut self, sides: usize) -> usize {
        (self.roll)(sides)
    }

    fn number(&mut self) -> Value {
        [json!(0), json!(42), json!(4.5), json!(-7), json!(1e21), json!(18446744073709551615_u64)][self.roll(6)].clone()
    }

    fn anything(&mut self, depth: usize) -> Value {
        match self.roll(if depth > 2 { 4 } else { 7 }) {
            0 => Value::Null,
            1 => Value::Bool(self.roll(2) == 0),
            2 => self.number(),
            3 => Value::String((self.text)()),
            4 => (0..self.roll(3)).map(|_| self.anything(depth + 1)).collect(),
            _ => (0..self.roll(3)).map(|index| (format!("k/{index}~"), self.anything(depth + 1))).collect(),
        }
    }

    fn below(&mut self, schema: &Value, depth: usize) -> Value {
        if let Some(reference) = schema["$ref"].as_str() {
            let definition = self.root.pointer(&reference[1..]).expect("a definition").clone();
            return self.below(&definition, depth);
        }
        if let Some(one) = schema.get("const") {
            return one.clone();
        }
        if let Some(words) = schema["enum"].as_array() {
            return words[self.roll(words.len())].clone();
        }
        if let Some(options) = schema["anyOf"].as_array() {
            let option = options[self.roll(options.len())].clone();
            return self.below(&option, depth);
        }
        let types = match &schema["type"] {
            Value::Array(types) => types[self.roll(types.len())].as_str().map(str::to_owned),
            other => other.as_str().map(str::to_owned),
        };
        match types.as_deref() {
            Some("string") => Value::String((self.text)()),
            Some("boolean") => Value::Bool(self.roll(2) == 0),
            Some("integer") => json!(self.roll(1000)),
            Some("number") => self.number(),
            Some("null") => Value::Null,
            Some("array") => (0..self.roll(3)).map(|_| self.below(&schema["items"], depth + 1)).collect(),
            Some("object") if schema["properties"].is_object() => self.object(schema, depth),
            Some("object") => (0..self.roll(3)).map(|index| (format!("m{index}"), self.anything(depth + 1))).collect(),
            _ => self.anything(depth + 1),
        }
    }

    fn object(&mut self, schema: &Value, depth: usize) -> Value {
        let required = schema["required"].as_array().cloned().unwrap_or_default();
        let mut object = Map::new();
        for (name, property) in schema["properties"].as_object().expect("properties") {
            if required.contains(&json!(name)) || self.roll(2) == 0 {
                object.insert(name.clone(), self.below(property, depth + 1));
            }
        }
        if self.roll(3) == 0 {
            object.insert("x_unknown/~".to_owned(), self.anything(depth + 1));
        }
        Value::Object(object)
    }
}
