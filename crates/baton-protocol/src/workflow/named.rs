//! Things with names: an object whose member names are chosen by the author, in the order of the file.

use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value};

use crate::tree::Node;
use crate::wire::{Member, Reader, Wire};

/// Things with names, in the order of the file.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedList<T>(Vec<(String, T)>);

impl<T> Default for NamedList<T> {
    fn default() -> Self {
        NamedList(Vec::new())
    }
}

impl<T> NamedList<T> {
    /// Finds a thing by its name.
    pub fn get(&self, name: &str) -> Option<&T> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, thing)| thing)
    }

    /// Returns the things with their names, in the order of the file.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &T)> {
        self.0.iter().map(|(name, thing)| (name.as_str(), thing))
    }

    /// Returns the names, in the order of the file.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }

    /// Returns whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<T> FromIterator<(String, T)> for NamedList<T> {
    fn from_iter<I: IntoIterator<Item = (String, T)>>(named: I) -> NamedList<T> {
        NamedList(named.into_iter().collect())
    }
}

impl<T: Wire + Default> Member for NamedList<T> {
    fn fill(&mut self, node: Node<'_>, reader: &mut Reader) {
        let Node::Object(members) = node else {
            return reader.wrong_type("an object", node);
        };
        let read = |(name, node): (std::borrow::Cow<'_, str>, Node<'_>)| {
            let thing = match node {
                // `name:` alone has nothing to say about it.
                Node::Null => T::default(),
                node => reader.named(&name, |reader| T::read(node, reader)).unwrap_or_default(),
            };
            (name.into_owned(), thing)
        };
        self.0 = members.into_iter().map(read).collect();
    }

    fn write_member(&self) -> Option<Value> {
        let write =
            || -> Map<String, Value> { self.0.iter().map(|(name, thing)| (name.clone(), thing.write())).collect() };
        (!self.0.is_empty()).then(|| Value::Object(write()))
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        let things = generator.subschema_for::<T>();
        json_schema!({ "type": "object", "additionalProperties": { "anyOf": [things, { "type": "null" }] } })
    }
}
