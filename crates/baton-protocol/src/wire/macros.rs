//! The two declarations of wire types: structures and vocabularies.

/// Declares a structure: its members, how it is read and written, and its schema.
macro_rules! wire {
    ($(
        $(#[doc = $doc:literal])*
        pub struct $name:ident {
            $( $(#[doc = $member_doc:literal])* $need:ident $member:ident: $type:ty, )*
        }
    )*) => { $(
        $(#[doc = $doc])*
        #[derive(Debug, Clone, Default, PartialEq)]
        pub struct $name { $( $(#[doc = $member_doc])* pub $member: $type, )* }

        impl $name {
            /// The names of all members.
            pub const MEMBERS: &'static [&'static str] = &[$( $crate::wire::unraw(stringify!($member)) ),*];

            /// The members that must be there, with what they mean.
            pub fn required() -> &'static [(&'static str, &'static str)] {
                const ALL: &[(bool, &str, &str)] = &[$((
                    matches!(stringify!($need).as_bytes(), b"required"),
                    $crate::wire::unraw(stringify!($member)),
                    concat!($($member_doc),*),
                )),*];
                static REQUIRED: std::sync::LazyLock<Vec<(&'static str, &'static str)>> =
                    std::sync::LazyLock::new(|| {
                        ALL.iter().filter(|(required, ..)| *required).map(|(_, name, doc)| (*name, *doc)).collect()
                    });
                &REQUIRED
            }

            /// Fills the member `name`; gives the value back if there is no such member.
            pub fn fill_member<'t>(
                &mut self,
                name: &str,
                node: $crate::tree::Node<'t>,
                reader: &mut $crate::wire::Reader,
            ) -> Option<$crate::tree::Node<'t>> {
                $(
                    if name == const { $crate::wire::unraw(stringify!($member)) } {
                        reader.member(const { $crate::wire::unraw(stringify!($member)) }, &mut self.$member, node);
                        return None;
                    }
                )*
                Some(node)
            }

            fn has_member(&self, name: &str) -> bool {
                let mut members = serde_json::Map::new();
                self.write_members(&mut members);
                members.contains_key(name)
            }

            /// Writes the members into a map, in their order.
            pub fn write_members(&self, map: &mut serde_json::Map<String, serde_json::Value>) {
                $(
                    if let Some(value) = $crate::wire::Member::write_member(&self.$member) {
                        map.insert($crate::wire::unraw(stringify!($member)).to_owned(), value);
                    }
                )*
            }
        }

        impl $crate::wire::Wire for $name {
            const EXPECTED: &'static str = "an object";

            fn read(node: $crate::tree::Node<'_>, reader: &mut $crate::wire::Reader) -> Option<Self> {
                let $crate::tree::Node::Object(members) = node else {
                    reader.wrong_structure(Self::EXPECTED, Self::required(), Self::MEMBERS, node);
                    return None;
                };
                reader.require_of(Self::required(), Self::MEMBERS, &members);
                let mut this = Self::default();
                if members.is_empty() {
                    reader.keep(serde_json::Value::Object(serde_json::Map::new()));
                }
                for (name, node) in members {
                    if let Some(node) = this.fill_member(&name, node, reader)
                        && let Some((meant, node)) = reader.unknown_member(&name, node, Self::MEMBERS)
                        && !this.has_member(meant)
                    {
                        reader.assume(meant, |reader| this.fill_member(meant, node, reader));
                    }
                }
                Some(this)
            }

            fn write(&self) -> serde_json::Value {
                let mut map = serde_json::Map::new();
                self.write_members(&mut map);
                serde_json::Value::Object(map)
            }
        }

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn schema_id() -> std::borrow::Cow<'static, str> {
                concat!(module_path!(), "::", stringify!($name)).into()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                let members = vec![$( $crate::wire::MemberSchema {
                    name: $crate::wire::unraw(stringify!($member)),
                    required: stringify!($need) == "required",
                    meaning: concat!($($member_doc),*),
                    schema: <$type as $crate::wire::Member>::schema(generator),
                } ),*];
                $crate::wire::object_schema(concat!($($doc),*), members)
            }
        }
    )* };
}
pub(crate) use wire;

/// Declares a closed set of words.
macro_rules! vocabulary {
    ($(
        $(#[doc = $doc:literal])*
        pub enum $name:ident, $what:literal, $rule:ident {
            $( $(#[doc = $word_doc:literal])* $variant:ident = $word:literal, )*
        }
    )*) => { $(
        $(#[doc = $doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $( $(#[doc = $word_doc])* $variant, )* }

        impl $name {
            /// All words, in their order.
            pub const ALL: &'static [$name] = &[$($name::$variant),*];
            /// All words as they are written.
            pub const WORDS: &'static [&'static str] = &[$($word),*];

            /// Returns the word as it is written.
            pub fn as_str(self) -> &'static str {
                match self { $($name::$variant => $word),* }
            }

            /// Finds a word without regard to case, `-` and `_`.
            pub fn parse(word: &str) -> Option<$name> {
                Self::ALL.iter().copied().find(|known| $crate::wire::same_word(known.as_str(), word))
            }
        }

        impl $crate::wire::Wire for $name {
            const EXPECTED: &'static str = $what;

            fn read(node: $crate::tree::Node<'_>, reader: &mut $crate::wire::Reader) -> Option<Self> {
                let $crate::tree::Node::Text(word) = node else {
                    reader.wrong_type("text", node);
                    return None;
                };
                let known = $name::parse(&word);
                if known.is_none() {
                    reader.unknown_word(&$crate::rules::$rule::RULE, $what, &word, $name::WORDS);
                }
                known
            }

            fn write(&self) -> serde_json::Value {
                serde_json::Value::String(self.as_str().to_owned())
            }
        }

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn schema_id() -> std::borrow::Cow<'static, str> {
                concat!(module_path!(), "::", stringify!($name)).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string", "enum": $name::WORDS, "description": concat!($($doc),*).trim() })
            }
        }
    )* };
}
pub(crate) use vocabulary;
