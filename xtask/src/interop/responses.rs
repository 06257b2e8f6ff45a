//! The Responses API, which Codex speaks.

use serde_json::{Value, json};

use super::http::Response;
use super::model::{Turn, Usage};
use super::script::{Answer, Fault};
use super::vendor::Vendor;

/// Returns what was asked: the first prompt, and how often the assistant has spoken.
pub(crate) fn turn(body: &Value) -> Turn {
    let items = body["input"].as_array().map(Vec::as_slice).unwrap_or_default();
    let spoken = |item: &Value| {
        matches!(item["type"].as_str(), Some("function_call" | "custom_tool_call" | "reasoning"))
            || item["role"] == "assistant"
    };
    let first =
        items.iter().take_while(|item| !spoken(item)).flat_map(|item| item["content"].as_array().into_iter().flatten());
    let prompt: Vec<&str> = first.filter_map(|part| part["text"].as_str()).collect();
    Turn { prompt: prompt.join("\n"), position: super::model::speeches(items.iter().map(spoken)) }
}

/// Returns the answer as the API gives it.
pub(crate) fn response(answer: &Answer, usage: Usage, number: usize) -> Response {
    let id = format!("resp_{number}");
    let mut events =
        vec![json!({"type": "response.created", "response": {"id": id, "status": "in_progress", "output": []}})];
    let items: Vec<Value> = match answer {
        Answer::Text(text) | Answer::Cut(text) => vec![json!({
            "type": "message", "id": format!("msg_{number}"), "role": "assistant", "content": [{"type": "output_text", "text": text, "annotations": []}],
        })],
        Answer::Calls(calls) => calls.iter().enumerate().map(|(index, call)| {
            let (tool, input) = Vendor::Codex.tool(call);
            let (namespace, name) = tool.split_once('.').map_or((None, tool), |(namespace, name)| (Some(namespace), name));
            json!({
                "type": "function_call", "id": format!("fc_{number}_{index}"), "call_id": format!("call_{number}_{index}"),
                "namespace": namespace, "name": name, "arguments": input.to_string(),
            })
        }).collect(),
        Answer::Fault(Fault::ContextTooLong) => {
            let error = json!({"code": "context_length_exceeded", "message": "Your input exceeds the context window of this model. Please adjust your input and try again."});
            events.push(json!({"type": "response.failed", "response": {"id": id, "status": "failed", "error": error}}));
            return stream(&events);
        }
        Answer::Fault(fault) => return error(*fault),
        Answer::Hang => Vec::new(),
    };
    for (index, item) in items.iter().enumerate() {
        events.push(json!({"type": "response.output_item.added", "output_index": index, "item": item}));
        events.push(json!({"type": "response.output_item.done", "output_index": index, "item": item}));
    }
    let spent = json!({
        "input_tokens": usage.input + usage.cached, "input_tokens_details": {"cached_tokens": usage.cached},
        "output_tokens": usage.output, "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": usage.input + usage.cached + usage.output,
    });
    events.push(json!({"type": "response.completed", "response": {"id": id, "status": "completed", "output": items, "usage": spent}}));
    if matches!(answer, Answer::Cut(_)) {
        events.truncate(2);
    }
    stream(&events)
}

fn stream(events: &[Value]) -> Response {
    let event = |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default());
    Response::events(events.iter().map(event).collect())
}

fn error(fault: Fault) -> Response {
    let (status, kind, code, message) = match fault {
        Fault::Unauthorized => (401, "invalid_request_error", "invalid_api_key", "Incorrect API key provided."),
        Fault::Forbidden => (
            403,
            "request_forbidden",
            "unsupported_country_region_territory",
            "Country, region, or territory not supported",
        ),
        Fault::RateLimited => (
            429,
            "tokens",
            "rate_limit_exceeded",
            "Rate limit reached for gpt-9 on tokens per min. Please try again in 20s.",
        ),
        Fault::LimitWithReset => {
            let body = json!({"error": {"type": "usage_limit_reached", "message": "The usage limit has been reached", "plan_type": "plus", "resets_at": super::model::in_an_hour(), "resets_in_seconds": 3600}});
            return Response::json(429, &body);
        }
        Fault::Overloaded => {
            (503, "server_error", "server_is_overloaded", "The server is currently overloaded. Please try again later.")
        }
        Fault::ServerError => {
            (500, "server_error", "server_error", "The server had an error while processing your request.")
        }
        Fault::OutOfCredit => (
            429,
            "insufficient_quota",
            "insufficient_quota",
            "You exceeded your current quota, please check your plan and billing details.",
        ),
        Fault::ModelNotFound => (
            404,
            "invalid_request_error",
            "model_not_found",
            "The model `gpt-9` does not exist or you do not have access to it.",
        ),
        Fault::ContextTooLong => (
            400,
            "invalid_request_error",
            "context_length_exceeded",
            "Your input exceeds the context window of this model.",
        ),
    };
    Response::json(status, &json!({"error": {"message": message, "type": kind, "param": null, "code": code}}))
}
