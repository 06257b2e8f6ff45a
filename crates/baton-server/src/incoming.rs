//! What comes in: JSON bodies, and documents inside them. What cannot be used is a problem that says where.

use std::fmt;
use std::marker::PhantomData;

use axum::body::Bytes;
use axum::extract::rejection::{BytesRejection, PathRejection, QueryRejection};
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::{HeaderMap, StatusCode, header, request::Parts};
use baton_engine::engine::{IncomingDocument, JudgedDocument, ValidDocument, Yardstick};
use baton_protocol::Dialect;
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::problem_json::ProblemJson;
use crate::server::Server;

/// The most bytes that a body may have. A document has at most 8 MiB, and JSON may need two bytes for one of them.
pub(crate) const BODY_BYTES_MAX: usize = 20 * 1024 * 1024;

/// A JSON body. Without any it is an empty object.
pub(crate) struct JsonBody<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequest<Server> for JsonBody<T> {
    type Rejection = ProblemJson;

    async fn from_request(request: Request, server: &Server) -> Result<JsonBody<T>, ProblemJson> {
        let content_type = request.headers().get(header::CONTENT_TYPE).cloned();
        // Whoever says so before need not send it all.
        let announced =
            request.headers().get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
        if announced.is_some_and(|length: usize| length > BODY_BYTES_MAX) {
            return Err(too_large());
        }
        let bytes = in_time(server, Bytes::from_request(request, server)).await?.map_err(not_read)?;
        if bytes.is_empty() {
            return parse(b"{}").map(JsonBody);
        }
        let media_type = content_type.as_ref().and_then(|value| value.to_str().ok()).unwrap_or_default();
        let media_type = media_type.split(';').next().unwrap_or_default().trim();
        if !media_type.eq_ignore_ascii_case("application/json") {
            let detail = "only application/json is understood";
            return Err(ProblemJson::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "not_json", detail));
        }
        parse(&bytes).map(JsonBody)
    }
}

/// Refuses a condition that nobody looks at: it was sent so that nothing happens to what has changed meanwhile.
pub(crate) fn refuse_conditions(request: &Request) -> Result<(), ProblemJson> {
    if !request.headers().contains_key(header::IF_MATCH) {
        return Ok(());
    }
    let detail = "nothing was done: `If-Match` is not supported";
    Err(ProblemJson::new(StatusCode::BAD_REQUEST, "bad_request", detail)
        .hint("leave it out; a decision passes `shown`, and whoever works on a handoff passes `fence`"))
}

/// Waits for the body of a request, as long as is allowed.
pub(crate) async fn in_time<T>(server: &Server, body: impl Future<Output = T>) -> Result<T, ProblemJson> {
    let limit = server.limits.body;
    tokio::time::timeout(limit, body).await.map_err(|_| {
        let detail = format!("the body did not arrive within {} s", limit.as_secs_f64());
        ProblemJson::new(StatusCode::REQUEST_TIMEOUT, "too_slow", detail)
    })
}

fn not_read(rejection: BytesRejection) -> ProblemJson {
    match rejection.status() {
        StatusCode::PAYLOAD_TOO_LARGE => too_large(),
        status => ProblemJson::new(status, "unreadable_body", rejection.body_text()),
    }
}

fn too_large() -> ProblemJson {
    let detail = format!("a body has at most {BODY_BYTES_MAX} bytes");
    ProblemJson::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", detail)
}

fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ProblemJson> {
    // Only of what is wrong the place is told, and finding it takes as long as reading it twice.
    let read = serde_json::from_slice(bytes).or_else(|_| parse_telling_place(bytes));
    read.map(|JsonObject(value)| value)
}

/// A value that is written as a JSON object. What is read from one could also be read from a list, by the order of its members,
/// which nobody promises.
struct JsonObject<T>(T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for JsonObject<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<JsonObject<T>, D::Error> {
        deserializer.deserialize_map(JsonObjectVisitor(PhantomData))
    }
}

struct JsonObjectVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for JsonObjectVisitor<T> {
    type Value = JsonObject<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<JsonObject<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(members)).map(JsonObject)
    }
}

/// Reads a list of JSON objects.
pub(crate) fn json_objects<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    let objects = Vec::<JsonObject<T>>::deserialize(deserializer)?;
    Ok(objects.into_iter().map(|JsonObject(value)| value).collect())
}

fn parse_telling_place<T: DeserializeOwned>(bytes: &[u8]) -> Result<JsonObject<T>, ProblemJson> {
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let value: JsonObject<T> = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let pointer = pointer(error.path());
        let error = error.into_inner();
        if error.is_data() {
            ProblemJson::bad_value(pointer, error)
        } else {
            ProblemJson::new(StatusCode::BAD_REQUEST, "not_json", format!("this is not JSON: {error}"))
        }
    })?;
    reader.end().map_err(|error| ProblemJson::new(StatusCode::BAD_REQUEST, "not_json", error.to_string()))?;
    Ok(value)
}

fn pointer(path: &serde_path_to_error::Path) -> String {
    use serde_path_to_error::Segment;
    let word = |segment: &Segment| match segment {
        Segment::Seq { index } => format!("/{index}"),
        Segment::Map { key } => format!("/{}", key.replace('~', "~0").replace('/', "~1")),
        Segment::Enum { variant } => format!("/{variant}"),
        Segment::Unknown => String::new(),
    };
    path.iter().map(word).collect()
}

/// The part of the address behind the question mark.
pub(crate) struct Search<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequestParts<Server> for Search<T> {
    type Rejection = ProblemJson;

    async fn from_request_parts(parts: &mut Parts, server: &Server) -> Result<Search<T>, ProblemJson> {
        let bad = |why: QueryRejection| ProblemJson::new(StatusCode::BAD_REQUEST, "bad_query", why.body_text());
        Query::from_request_parts(parts, server).await.map(|Query(search)| Search(search)).map_err(bad)
    }
}

/// The parts of the address that name something.
pub(crate) struct InPath<T>(pub(crate) T);

impl<T: DeserializeOwned + Send> FromRequestParts<Server> for InPath<T> {
    type Rejection = ProblemJson;

    async fn from_request_parts(parts: &mut Parts, server: &Server) -> Result<InPath<T>, ProblemJson> {
        let bad = |why: PathRejection| ProblemJson::new(StatusCode::NOT_FOUND, "unknown", why.body_text());
        Path::from_request_parts(parts, server).await.map(|Path(named)| InPath(named)).map_err(bad)
    }
}

/// Reads the key under which a request is remembered, if it has one.
pub(crate) fn idempotency_key(headers: &HeaderMap) -> Result<Option<&str>, ProblemJson> {
    let key = headers.get("idempotency-key").map(|key| std::str::from_utf8(key.as_bytes()));
    key.transpose().map_err(|_| ProblemJson::bad_value("/key", "an `Idempotency-Key` is text in UTF-8"))
}

/// Reads a value of the request; what is wrong with it is told with its place.
pub(crate) fn value<T, E: std::fmt::Display>(pointer: &str, read: Result<T, E>) -> Result<T, ProblemJson> {
    read.map_err(|why| ProblemJson::bad_value(pointer, why))
}

/// Reads a value that need not be there.
pub(crate) fn optional<T, E: std::fmt::Display>(
    pointer: &str,
    text: Option<&str>,
    read: impl FnOnce(&str) -> Result<T, E>,
) -> Result<Option<T>, ProblemJson> {
    text.map(|text| value(pointer, read(text))).transpose()
}

/// Reads the name of a dialect.
pub(crate) fn dialect(word: &str) -> Result<Dialect, String> {
    let known: Vec<&str> = Dialect::ALL.iter().map(|dialect| dialect.as_str()).collect();
    Dialect::parse(word).ok_or_else(|| baton_protocol::wire::suggest(word, &known))
}

/// A document inside a request: text as it was written, or a JSON object.
pub(crate) struct GivenDocument {
    text: String,
    dialect: Option<Dialect>,
}

impl GivenDocument {
    /// Takes a document from a body.
    pub(crate) fn of(document: &Value, dialect_word: Option<&str>) -> Result<GivenDocument, ProblemJson> {
        let text = match document {
            Value::String(text) => text.clone(),
            Value::Object(_) => document.to_string(),
            _ => return Err(ProblemJson::bad_value("/document", "a document is an object, or text")),
        };
        Ok(GivenDocument { text, dialect: optional("/dialect", dialect_word, dialect)? })
    }

    /// Reads and judges it.
    pub(crate) fn judge(&self, yardstick: &Yardstick) -> JudgedDocument {
        let incoming = IncomingDocument { dialect: self.dialect, ..IncomingDocument::of(self.text.as_bytes()) };
        yardstick.judge(&incoming)
    }

    /// Lets only a valid document pass.
    pub(crate) fn valid(&self, yardstick: &Yardstick) -> Result<ValidDocument, ProblemJson> {
        let mut judged = self.judge(yardstick);
        judged.valid.take().ok_or_else(|| ProblemJson::invalid_document(judged))
    }
}
