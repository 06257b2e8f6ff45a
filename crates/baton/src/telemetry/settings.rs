//! Where spans go: the variables that OpenTelemetry defines, or `[telemetry]` in `baton.toml`. The variables win.

use hyper::header::{HeaderName, HeaderValue};
use serde::Deserialize;

use crate::http_client::HttpAddress;

/// What the spans of Baton are listed under, unless somebody says otherwise.
const SERVICE: &str = "baton";

/// `[telemetry]` in the configuration.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TelemetryTable {
    /// The collector, such as `http://localhost:4318`.
    pub(crate) endpoint: Option<String>,
}

/// Where spans go, and whose they are.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TelemetrySettings {
    /// Where they are posted to.
    pub(crate) address: HttpAddress,
    /// Headers that the collector wants, such as a key.
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    /// What is said about whoever sends them.
    pub(crate) resource: Vec<(String, String)>,
}

impl TelemetrySettings {
    /// Reads them; `None` if nobody wants spans. The error says why they cannot be sent; a run does not depend on that.
    pub(crate) fn of(
        table: &TelemetryTable,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Option<TelemetrySettings>, String> {
        // An empty variable counts as one that is not set.
        let variable =
            |name: &str| variable(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
        let is_off = variable("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true"))
            || variable("OTEL_TRACES_EXPORTER").is_some_and(|exporter| exporter != "otlp");
        let whole = variable("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
        let base = variable("OTEL_EXPORTER_OTLP_ENDPOINT").or_else(|| table.endpoint.clone());
        let (Some(text), false) = (whole.as_ref().or(base.as_ref()), is_off) else { return Ok(None) };
        let protocol = variable("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL").or(variable("OTEL_EXPORTER_OTLP_PROTOCOL"));
        if protocol.is_some_and(|protocol| protocol == "grpc") {
            return Err("OTLP over gRPC is not supported; use http/json".to_owned());
        }
        let address: HttpAddress = text.parse().map_err(|fault| format!("the OTLP endpoint: {fault}"))?;
        let address = if whole.is_some() { address } else { address.below("v1/traces") };
        let headers = variable("OTEL_EXPORTER_OTLP_TRACES_HEADERS").or(variable("OTEL_EXPORTER_OTLP_HEADERS"));
        let header = |(name, value): (String, String)| {
            let header = name.parse::<HeaderName>().ok().zip(HeaderValue::from_str(&value).ok());
            // The value may be a key.
            header.ok_or_else(|| format!("the OTLP header `{name}` cannot be sent"))
        };
        let headers = pairs(&headers.unwrap_or_default()).into_iter().map(header).collect::<Result<_, _>>()?;
        let mut resource = pairs(&variable("OTEL_RESOURCE_ATTRIBUTES").unwrap_or_default());
        let named = resource.iter().position(|(key, _)| key == "service.name").map(|at| resource.remove(at).1);
        let service = variable("OTEL_SERVICE_NAME").or(named).unwrap_or_else(|| SERVICE.to_owned());
        resource.insert(0, ("service.name".to_owned(), service));
        resource.push(("service.version".to_owned(), env!("CARGO_PKG_VERSION").to_owned()));
        Ok(Some(TelemetrySettings { address, headers, resource }))
    }
}

/// Reads `name=value,name=value`, in which letters may be written as `%20`.
fn pairs(text: &str) -> Vec<(String, String)> {
    let parts = text.split(',').filter_map(|part| part.split_once('='));
    parts.map(|(name, value)| (name.trim().to_owned(), decoded(value.trim()))).collect()
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, behind @ ..] = rest {
        let digits = behind.get(..2).filter(|_| *first == b'%').and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &behind[2..];
            }
            None => {
                bytes.push(*first);
                rest = behind;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(variables: &[(&str, &str)], endpoint: Option<&str>) -> Result<Option<TelemetrySettings>, String> {
        let find = |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        TelemetrySettings::of(&TelemetryTable { endpoint: endpoint.map(str::to_owned) }, find)
    }

    #[test]
    fn nothing_is_sent_unless_somebody_says_where() {
        assert_eq!(settings(&[], None), Ok(None));
        assert_eq!(settings(&[("OTEL_EXPORTER_OTLP_ENDPOINT", "")], None), Ok(None));
        let off = [("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4318"), ("OTEL_SDK_DISABLED", "true")];
        assert_eq!(settings(&off, None), Ok(None));
    }

    #[test]
    fn variables_win_over_the_file_and_name_service_and_headers() {
        let variables = [
            ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "https://c/in"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "x-key=a%20b"),
            ("OTEL_RESOURCE_ATTRIBUTES", "service.name=other,team=x"),
            ("OTEL_SERVICE_NAME", "mine"),
        ];
        let found = settings(&variables, Some("http://file:4318")).expect("right").expect("wanted");
        assert_eq!(found.address, "https://c/in".parse().expect("a URL"));
        assert_eq!(found.headers[0].1, "a b");
        assert_eq!(found.resource[0], ("service.name".to_owned(), "mine".to_owned()));
        assert_eq!(found.resource[1], ("team".to_owned(), "x".to_owned()));
        let found = settings(&[], Some("http://file:4318/")).expect("right").expect("wanted");
        assert_eq!(found.address, "http://file:4318/v1/traces".parse().expect("a URL"));
    }

    #[test]
    fn what_cannot_be_sent_is_told_without_secrets() {
        let grpc = [("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c"), ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")];
        assert!(settings(&grpc, None).expect_err("refused").contains("gRPC"));
        let header = [("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c"), ("OTEL_EXPORTER_OTLP_HEADERS", "a b=secret")];
        assert!(!settings(&header, None).expect_err("refused").contains("secret"));
    }
}
