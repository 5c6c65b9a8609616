//! Parses and validates the answers of an embeddings endpoint.

use search::embed::Embedding;
use serde::Deserialize;

#[derive(Deserialize)]
struct Answer {
    data: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    /// The index of its text. Without one, the order counts.
    index: Option<usize>,
    embedding: Vec<f64>,
}

/// Returns the vectors in the order of the texts, or what is wrong with the answer. Vectors with another length than `dimension` are
/// refused, because they cannot be compared with the stored ones.
pub(super) fn parse(body: &[u8], count: usize, dimension: Option<usize>) -> Result<Vec<Embedding>, String> {
    let answer: Answer = serde_json::from_slice(body).map_err(|error| {
        // The parser's own message may quote what was sent.
        format!(
            "its answer does not have the form {{\"data\": [{{\"index\", \"embedding\": […]}}]}} (line {}, column {})",
            error.line(),
            error.column()
        )
    })?;
    if answer.data.len() != count {
        return Err(format!("it returned {} vector(s) for {count} text(s)", answer.data.len()));
    }
    let mut vectors: Vec<Option<Embedding>> = vec![None; count];
    for (place, item) in answer.data.into_iter().enumerate() {
        let index = item.index.unwrap_or(place);
        match vectors.get_mut(index) {
            Some(vector @ None) => *vector = Some(checked(&item.embedding, dimension)?),
            Some(_) => return Err(format!("it returned two vectors for text {index}")),
            None => return Err(format!("it returned a vector for text {index} of {count}")),
        }
    }
    Ok(vectors.into_iter().flatten().collect())
}

fn checked(numbers: &[f64], dimension: Option<usize>) -> Result<Embedding, String> {
    let found = numbers.len();
    if let Some(dimension) = dimension.filter(|dimension| *dimension != found) {
        return Err(format!(
            "its vectors have {found} numbers instead of {dimension}; correct --embed-dimension or --embed-model"
        ));
    }
    // In 64 bits, so that large numbers do not overflow to infinity.
    let length = numbers.iter().map(|number| number * number).sum::<f64>().sqrt();
    if !length.is_normal() {
        return Err("it returned a vector of zero or infinite length".to_owned());
    }
    Ok(Embedding::new(numbers.iter().map(|number| (number / length) as f32).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the result for two texts with vectors of length two.
    fn check(body: &str, expected: Result<&[[f32; 2]], &str>) {
        match (parse(body.as_bytes(), 2, Some(2)), expected) {
            (Ok(vectors), Ok(expected)) => {
                assert_eq!(vectors.len(), expected.len(), "{body}");
                for (vector, expected) in vectors.iter().zip(expected) {
                    assert!(vector.iter().zip(expected).all(|(found, known)| (found - known).abs() < 1e-6), "{body}");
                }
            }
            (Err(error), Err(expected)) => assert!(error.contains(expected), "{body}: {error}"),
            (found, _) => panic!("{body}: {found:?}"),
        }
    }

    #[test]
    fn vectors_are_sorted_by_text_and_normalized() {
        for body in [
            r#"{"data": [{"index": 0, "embedding": [3, 4]}, {"index": 1, "embedding": [0, 2]}]}"#,
            r#"{"data": [{"index": 1, "embedding": [0, 1e100]}, {"index": 0, "embedding": [0.6, 0.8]}]}"#,
            r#"{"data": [{"embedding": [0.0003, 0.0004]}, {"embedding": [0, 1e-30]}], "object": "list", "usage": {"total_tokens": 3}}"#,
            r#"{"model": "m", "data": [{"object": "embedding", "index": null, "embedding": [3, 4]}, {"embedding": [0, 1]}]}"#,
        ] {
            check(body, Ok(&[[0.6, 0.8], [0.0, 1.0]]));
        }
    }

    #[test]
    fn invalid_answer_names_the_problem() {
        for (body, why) in [
            ("", "its answer does not"),
            ("<html>Bad Gateway</html>", "line 1, column 1"),
            ("[]", "its answer does not"),
            ("{}", "its answer does not"),
            (r#"{"data": null}"#, "its answer does not"),
            (r#"{"data": [{"index": 0}, {"index": 1}]}"#, "its answer does not"),
            (r#"{"data": [{"embedding": "AACAPw=="}, {"embedding": "AACAPw=="}]}"#, "its answer does not"),
            (r#"{"data": [{"embedding": [1, null]}, {"embedding": [1, 2]}]}"#, "its answer does not"),
            (r#"{"data": [{"embedding": [1, NaN]}, {"embedding": [1, 2]}]}"#, "its answer does not"),
            (r#"{"data": [{"embedding": [1, 1e999]}, {"embedding": [1, 2]}]}"#, "its answer does not"),
            (r#"{"data": [{"index": -1, "embedding": [1, 2]}, {"embedding": [1, 2]}]}"#, "its answer does not"),
            (r#"{"data": []}"#, "0 vector(s) for 2 text(s)"),
            (r#"{"data": [{"index": 0, "embedding": [1, 2]}]}"#, "1 vector(s) for 2 text(s)"),
            (r#"{"data": [{"index": 1, "embedding": [1, 2]}, {"index": 1, "embedding": [1, 2]}]}"#, "two vectors for text 1"),
            (r#"{"data": [{"index": 1, "embedding": [1, 2]}, {"index": 2, "embedding": [1, 2]}]}"#, "text 2 of 2"),
            (r#"{"data": [{"embedding": [1, 2]}, {"embedding": [1, 2, 3]}]}"#, "have 3 numbers instead of 2"),
            (r#"{"data": [{"embedding": []}, {"embedding": [1, 2]}]}"#, "have 0 numbers instead of 2"),
            (r#"{"data": [{"embedding": [0, 0]}, {"embedding": [1, 2]}]}"#, "zero or infinite length"),
            (r#"{"data": [{"embedding": [1e300, 1e300]}, {"embedding": [1, 2]}]}"#, "zero or infinite length"),
        ] {
            check(body, Err(why));
        }
    }

    #[test]
    fn error_does_not_quote_the_answer() {
        let error = parse(br#"{"data": "the secret of the text"}"#, 1, None).unwrap_err();
        assert!(!error.contains("secret"), "{error}");
    }

    #[test]
    fn unknown_dimension_accepts_any_length() {
        assert_eq!(parse(br#"{"data": [{"embedding": [1, 2, 2]}]}"#, 1, None).unwrap()[0].len(), 3);
        assert!(parse(br#"{"data": [{"embedding": []}]}"#, 1, None).is_err());
    }
}
