//! The Gemini API, which Gemini CLI speaks.

use serde_json::{Value, json};

use super::http::Response;
use super::model::{Turn, Usage};
use super::script::{Answer, Fault};
use super::vendor::Vendor;

/// Returns what was asked: the first prompt, and how often the assistant has spoken.
pub(crate) fn turn(body: &Value) -> Turn {
    let contents = body["contents"].as_array().map(Vec::as_slice).unwrap_or_default();
    let spoken = |content: &Value| content["role"] == "model";
    let first = contents
        .iter()
        .take_while(|content| !spoken(content))
        .flat_map(|content| content["parts"].as_array().into_iter().flatten());
    let prompt: Vec<&str> = first.filter_map(|part| part["text"].as_str()).collect();
    Turn { prompt: prompt.join("\n"), position: super::model::speeches(contents.iter().map(spoken)) }
}

/// Returns whether this is the question which model should work, and not work itself.
pub(crate) fn is_routing(body: &Value) -> bool {
    body["generationConfig"]["responseJsonSchema"].to_string().contains("complexity_score")
        || body["systemInstruction"].to_string().contains("complexity_score")
}

/// Returns the answer to the question which model should work.
pub(crate) fn routing(stream: bool) -> Response {
    let choice = json!({"complexity_reasoning": "A small task.", "complexity_score": 20});
    whole(stream, json!([{"text": choice.to_string()}]), Usage { input: 0, cached: 0, output: 0 })
}

/// Returns the answer as the API gives it.
pub(crate) fn response(stream: bool, answer: &Answer, usage: Usage, number: usize) -> Response {
    let parts = match answer {
        Answer::Text(text) => json!([{"text": text}]),
        Answer::Calls(calls) => calls
            .iter()
            .enumerate()
            .map(|(index, call)| {
                let (name, input) = Vendor::Gemini.tool(call);
                json!({"functionCall": {"id": format!("call_{number}_{index}"), "name": name, "args": input}})
            })
            .collect(),
        Answer::Cut(text) => {
            let chunk = json!({"candidates": [{"content": {"role": "model", "parts": [{"text": text}]}, "index": 0}]});
            return Response::events(format!("data: {chunk}\n\n"));
        }
        Answer::Fault(fault) => return error(*fault),
        Answer::Hang => json!([]),
    };
    whole(stream, parts, usage)
}

fn whole(stream: bool, parts: Value, usage: Usage) -> Response {
    let body = json!({
        "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {
            "promptTokenCount": usage.input + usage.cached, "cachedContentTokenCount": usage.cached, "candidatesTokenCount": usage.output,
            "totalTokenCount": usage.input + usage.cached + usage.output,
        },
        "modelVersion": "gemini-9-pro",
    });
    if stream { Response::events(format!("data: {body}\n\n")) } else { Response::json(200, &body) }
}

fn error(fault: Fault) -> Response {
    let (code, status, message) = match fault {
        Fault::Unauthorized => (401, "UNAUTHENTICATED", "Request had invalid authentication credentials."),
        Fault::Forbidden => (403, "PERMISSION_DENIED", "Your API key doesn't have the required permissions."),
        Fault::RateLimited | Fault::LimitWithReset => {
            (429, "RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota).")
        }
        Fault::Overloaded => (503, "UNAVAILABLE", "The model is overloaded. Please try again later."),
        Fault::ServerError => (500, "INTERNAL", "An internal error has occurred."),
        Fault::OutOfCredit => {
            (429, "RESOURCE_EXHAUSTED", "You exceeded your current quota, please check your plan and billing details.")
        }
        Fault::ModelNotFound => (
            404,
            "NOT_FOUND",
            "models/gemini-9 is not found for API version v1beta, or is not supported for generateContent.",
        ),
        Fault::ContextTooLong => (
            400,
            "INVALID_ARGUMENT",
            "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        ),
    };
    let mut body = json!({"error": {"code": code, "message": message, "status": status}});
    if fault == Fault::LimitWithReset {
        body["error"]["details"] = json!([
            {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel"}]},
            {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "3600s"},
        ]);
    }
    Response::json(code, &body)
}
