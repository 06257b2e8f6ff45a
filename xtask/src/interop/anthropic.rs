//! The Messages API, which Claude Code speaks, and OpenCode with the provider of that name.

use serde_json::{Value, json};

use super::http::Response;
use super::model::{Turn, Usage};
use super::script::{Answer, Fault};
use super::vendor::Vendor;

/// Returns what was asked: the first prompt, and how often the assistant has spoken.
pub(crate) fn turn(body: &Value) -> Turn {
    let messages = body["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let role = |message: &Value| message["role"].as_str().unwrap_or_default().to_owned();
    let first = messages.iter().take_while(|message| role(message) == "user");
    let prompt: Vec<String> = first.map(|message| words(&message["content"])).collect();
    Turn {
        prompt: prompt.join("\n"),
        position: super::model::speeches(messages.iter().map(|message| role(message) == "assistant")),
    }
}

/// Returns the answer as the API gives it.
pub(crate) fn response(vendor: Vendor, body: &Value, answer: &Answer, usage: Usage, number: usize) -> Response {
    let (blocks, stop) = match answer {
        Answer::Text(text) | Answer::Cut(text) => (vec![json!({"type": "text", "text": text})], "end_turn"),
        Answer::Calls(calls) => (
            calls
                .iter()
                .enumerate()
                .map(|(index, call)| {
                    let (name, input) = vendor.tool(call);
                    json!({"type": "tool_use", "id": format!("toolu_{number}_{index}"), "name": name, "input": input})
                })
                .collect(),
            "tool_use",
        ),
        Answer::Fault(fault) => return error(*fault),
        Answer::Hang => (Vec::new(), "end_turn"),
    };
    let message = |content: Vec<Value>, stop: Option<&str>| {
        json!({
            "id": format!("msg_{number}"), "type": "message", "role": "assistant", "model": body["model"], "content": content,
            "stop_reason": stop, "stop_sequence": null, "usage": {
                "input_tokens": usage.input, "cache_creation_input_tokens": 0, "cache_read_input_tokens": usage.cached,
                "output_tokens": usage.output,
            },
        })
    };
    if body["stream"] != json!(true) {
        return Response::json(200, &message(blocks, Some(stop)));
    }
    let mut events = vec![json!({"type": "message_start", "message": message(Vec::new(), None)})];
    for (index, block) in blocks.iter().enumerate() {
        let (empty, delta) = match block["type"].as_str() {
            Some("text") => (json!({"type": "text", "text": ""}), json!({"type": "text_delta", "text": block["text"]})),
            _ => (
                json!({"type": "tool_use", "id": block["id"], "name": block["name"], "input": {}}),
                json!({"type": "input_json_delta", "partial_json": block["input"].to_string()}),
            ),
        };
        events.push(json!({"type": "content_block_start", "index": index, "content_block": empty}));
        events.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    events.push(json!({"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": null}, "usage": {"output_tokens": usage.output}}));
    events.push(json!({"type": "message_stop"}));
    if matches!(answer, Answer::Cut(_)) {
        events.truncate(3);
    }
    let event = |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default());
    Response::events(events.iter().map(event).collect())
}

fn words(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => blocks.iter().filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n"),
        _ => String::new(),
    }
}

fn error(fault: Fault) -> Response {
    let (status, kind, message) = match fault {
        Fault::Unauthorized => (401, "authentication_error", "invalid x-api-key"),
        Fault::Forbidden => {
            (403, "permission_error", "Your API key does not have permission to use the specified resource.")
        }
        Fault::RateLimited | Fault::LimitWithReset => {
            (429, "rate_limit_error", "This request would exceed your account's rate limit. Please try again later.")
        }
        Fault::Overloaded => (529, "overloaded_error", "Overloaded"),
        Fault::ServerError => (500, "api_error", "Internal server error"),
        Fault::OutOfCredit => (
            400,
            "invalid_request_error",
            "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.",
        ),
        Fault::ModelNotFound => (404, "not_found_error", "model: claude-sonnet-9"),
        Fault::ContextTooLong => (400, "invalid_request_error", "prompt is too long: 215000 tokens > 200000 maximum"),
    };
    let body = json!({"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"});
    let response = Response::json(status, &body);
    if fault != Fault::LimitWithReset {
        return response;
    }
    let reset = super::model::in_an_hour().to_string();
    response
        .header("anthropic-ratelimit-unified-status", "rejected")
        .header("anthropic-ratelimit-unified-reset", reset.clone())
        .header("anthropic-ratelimit-unified-5h-status", "rejected")
        .header("anthropic-ratelimit-unified-5h-reset", reset)
        .header("anthropic-ratelimit-unified-representative-claim", "five_hour")
        .header("retry-after", "3600")
}
