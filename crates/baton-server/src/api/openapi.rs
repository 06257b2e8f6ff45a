//! What all addresses have in common in the description: tokens, JSON, and problems.

use serde_json::json;
use utoipa::openapi::path::Operation;
use utoipa::openapi::request_body::RequestBody;
use utoipa::openapi::schema::{ArrayBuilder, SchemaType};
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa::openapi::{
    Components, ContentBuilder, ObjectBuilder, OpenApi, Ref, RefOr, Required, Response, ResponseBuilder, Schema, Type,
};

use super::answers;

/// Where the form of a problem is described.
const PROBLEM: &str = "Problem";

/// Adds what all addresses have in common, and writes the description.
pub(super) fn render(mut description: OpenApi) -> String {
    let components = description.components.get_or_insert_default();
    components.add_security_scheme("token", SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer)));
    components.schemas.insert(PROBLEM.to_owned(), RefOr::T(problem()));
    components.schemas.extend(answers::forms());
    let can_be_empty = bodies_without_required_members(components);
    for item in description.paths.paths.values_mut() {
        let operations =
            [&mut item.get, &mut item.put, &mut item.post, &mut item.delete, &mut item.patch, &mut item.head];
        for operation in operations.into_iter().flatten() {
            complete(operation);
            if let Some(RefOr::T(body)) = &mut operation.request_body
                && names_one_of(body, &can_be_empty)
            {
                body.required = Some(Required::False);
            }
        }
    }
    let text = description.to_pretty_json().unwrap_or_else(|error| json!({ "error": error.to_string() }).to_string());
    format!("{text}\n")
}

/// Returns where the forms of bodies are described that may be left out: everything in them has a default.
fn bodies_without_required_members(components: &Components) -> Vec<String> {
    let is_optional =
        |schema: &RefOr<Schema>| matches!(schema, RefOr::T(Schema::Object(object)) if object.required.is_empty());
    let names = components.schemas.iter().filter(|(_, schema)| is_optional(schema));
    names.map(|(name, _)| Ref::from_schema_name(name).ref_location).collect()
}

fn names_one_of(body: &RequestBody, places: &[String]) -> bool {
    body.content.values().any(|content| {
        let RefOr::T(content) = content else { return false };
        matches!(&content.schema, Some(RefOr::Ref(form)) if places.contains(&form.ref_location))
    })
}

fn complete(operation: &mut Operation) {
    // Functions are named alike in each module; an operation needs a name of its own.
    let tag = operation.tags.iter().flatten().next();
    operation.operation_id = tag.zip(operation.operation_id.as_ref()).map(|(tag, name)| format!("{tag}_{name}"));
    let form = operation.operation_id.as_deref().and_then(answers::of_operation);
    for (status, response) in &mut operation.responses.responses {
        if let RefOr::T(response) = response {
            complete_response(status, response, form.clone());
        }
    }
    let refused = ResponseBuilder::new().description("Why it had no effect").content(
        "application/problem+json",
        ContentBuilder::new().schema(Some(Ref::from_schema_name(PROBLEM))).build(),
    );
    operation.responses.responses.insert("default".to_owned(), RefOr::T(refused.build()));
}

/// Whatever says nothing else is an object of JSON, of this form if there is one, or a problem.
fn complete_response(status: &str, response: &mut Response, form: Option<Ref>) {
    if !response.content.is_empty() || status == "304" {
        return;
    }
    if status.starts_with('2') {
        let any = || RefOr::T(Schema::Object(ObjectBuilder::new().schema_type(Type::Object).build()));
        let object = ContentBuilder::new().schema(Some(form.map_or_else(any, RefOr::Ref)));
        response.content.insert("application/json".to_owned(), RefOr::T(object.build()));
    } else {
        let problem = ContentBuilder::new().schema(Some(Ref::from_schema_name(PROBLEM)));
        response.content.insert("application/problem+json".to_owned(), RefOr::T(problem.build()));
    }
}

/// A document: an object, or text as it was written.
pub(super) fn document() -> Schema {
    let kinds = SchemaType::from_iter([Type::Object, Type::String]);
    let about = "A document in any dialect: a JSON object, or text as it was written";
    Schema::Object(ObjectBuilder::new().schema_type(kinds).description(Some(about)).build())
}

fn problem() -> Schema {
    let diagnostics = || {
        let about = "what the rules say about a document that is not valid";
        ArrayBuilder::new().items(Ref::from_schema_name("Diagnostic")).description(Some(about))
    };
    let text = |about: &str| ObjectBuilder::new().schema_type(Type::String).description(Some(about));
    let object = ObjectBuilder::new()
        .schema_type(Type::Object)
        .description(Some("Why a request had no effect (RFC 9457)"))
        .property("type", text("always about:blank"))
        .required("type")
        .property("title", text("the name of the status"))
        .required("title")
        .property("status", ObjectBuilder::new().schema_type(Type::Integer))
        .required("status")
        .property("code", text("names the problem for programs"))
        .required("code")
        .property("detail", text("what happened, for people"))
        .required("detail")
        .property("hint", text("what to do"))
        .property("pointer", text("which value is wrong, as a JSON pointer into the body or the document"))
        .property("rule", text("the first rule that a document breaks"))
        .property("diagnostics", diagnostics());
    Schema::Object(object.build())
}
