//! Reads what programs report about what they spent. A figure that makes no sense is left out: it is neither zero nor
//! counted.

use baton_engine::session::Spent;
use serde_json::Value;

/// The most that a count can be: numbers of JSON are exact up to here.
const COUNT_MAX: u64 = 1 << 53;

/// How much is shown of a figure that makes no sense.
const SHOWN_CHARS_MAX: usize = 40;

/// A figure that makes no sense, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SenselessFigure(pub(super) String);

/// Returns the sum of some counts, by their JSON pointers. What is not there is 0.
pub(super) fn count(value: &Value, pointers: &[&str]) -> Result<u64, SenselessFigure> {
    pointers.iter().try_fold(0, |sum: u64, pointer| match value.pointer(pointer) {
        None | Some(Value::Null) => Ok(sum),
        Some(number) => {
            let count = number.as_u64().filter(|count| *count <= COUNT_MAX);
            Ok(sum.saturating_add(count.ok_or_else(|| senseless(pointer, number))?))
        }
    })
}

/// Returns a price in US dollars by its JSON pointer, in millionths; `None` if there is none.
pub(super) fn price(value: &Value, pointer: &str) -> Result<Option<u64>, SenselessFigure> {
    match value.pointer(pointer) {
        None | Some(Value::Null) => Ok(None),
        Some(number) => {
            let micros = number.as_f64().and_then(Spent::micros);
            Ok(Some(micros.ok_or_else(|| senseless(pointer, number))?))
        }
    }
}

fn senseless(pointer: &str, figure: &Value) -> SenselessFigure {
    let figure: String = figure.to_string().chars().take(SHOWN_CHARS_MAX).collect();
    SenselessFigure(format!("`{}` is {figure}", pointer.rsplit('/').next().unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn figures_that_make_no_sense_are_not_taken_for_nothing() {
        let told =
            json!({"a": 3, "b": 4, "none": null, "below": -1, "text": "12", "huge": 18_446_744_073_709_551_615_u64});
        assert_eq!(count(&told, &["/a", "/b", "/none", "/missing"]), Ok(7));
        for (pointer, shown) in [("/below", "`below` is -1"), ("/text", "`text` is \"12\"")] {
            assert_eq!(count(&told, &["/a", pointer]), Err(SenselessFigure(shown.to_owned())));
        }
        assert!(count(&told, &["/huge"]).is_err());
        let told = json!({"cents": 0.42, "below": -5, "huge": 1e308, "text": "0.5"});
        assert_eq!((price(&told, "/cents"), price(&told, "/missing")), (Ok(Some(420_000)), Ok(None)));
        assert!(["/below", "/huge", "/text"].iter().all(|pointer| price(&told, pointer).is_err()));
    }
}
