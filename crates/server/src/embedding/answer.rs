//! What an embeddings endpoint answers, and what it must be to be believed.

use search::embed::Embedding;
use serde::Deserialize;

#[derive(Deserialize)]
struct Answer {
    data: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    /// Which of the texts it belongs to. Without one, the order counts.
    index: Option<usize>,
    embedding: Vec<f64>,
}

/// The vectors of `count` texts in the order of the texts, or what is wrong with the answer. Vectors of another dimension than the
/// known one are refused: they cannot be compared with those that are there.
pub(super) fn parse(body: &[u8], count: usize, dimension: Option<usize>) -> Result<Vec<Embedding>, String> {
    let answer: Answer = serde_json::from_slice(body).map_err(|error| {
        // Not the error's own words: they may quote what was sent.
        format!(
            "its answer is not {{\"data\": [{{\"index\", \"embedding\": […]}}]}} (line {}, column {})",
            error.line(),
            error.column()
        )
    })?;
    if answer.data.len() != count {
        return Err(format!("it answered {count} text(s) with {} vector(s)", answer.data.len()));
    }
    let mut vectors: Vec<Option<Embedding>> = vec![None; count];
    for (place, item) in answer.data.into_iter().enumerate() {
        let index = item.index.unwrap_or(place);
        match vectors.get_mut(index) {
            Some(vector @ None) => *vector = Some(checked(&item.embedding, dimension)?),
            Some(_) => return Err(format!("it answered with two vectors for text {index}")),
            None => return Err(format!("it answered with a vector for text {index} of {count}")),
        }
    }
    Ok(vectors.into_iter().flatten().collect())
}

fn checked(numbers: &[f64], dimension: Option<usize>) -> Result<Embedding, String> {
    let found = numbers.len();
    if let Some(dimension) = dimension.filter(|dimension| *dimension != found) {
        return Err(format!("its vectors have {found} numbers and not {dimension}: correct --embed-dimension or --embed-model"));
    }
    // In 64 bits, so that large numbers do not become infinite on the way.
    let length = numbers.iter().map(|number| number * number).sum::<f64>().sqrt();
    if !length.is_normal() {
        return Err("it answered with a vector that points nowhere".to_owned());
    }
    Ok(Embedding::new(numbers.iter().map(|number| (number / length) as f32).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How two texts with vectors of two numbers are answered.
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
    fn vectors_come_in_the_order_of_their_texts_and_with_length_one() {
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
    fn what_cannot_be_believed_says_why() {
        for (body, why) in [
            ("", "its answer is not"),
            ("<html>Bad Gateway</html>", "line 1, column 1"),
            ("[]", "its answer is not"),
            ("{}", "its answer is not"),
            (r#"{"data": null}"#, "its answer is not"),
            (r#"{"data": [{"index": 0}, {"index": 1}]}"#, "its answer is not"),
            (r#"{"data": [{"embedding": "AACAPw=="}, {"embedding": "AACAPw=="}]}"#, "its answer is not"),
            (r#"{"data": [{"embedding": [1, null]}, {"embedding": [1, 2]}]}"#, "its answer is not"),
            (r#"{"data": [{"embedding": [1, NaN]}, {"embedding": [1, 2]}]}"#, "its answer is not"),
            (r#"{"data": [{"embedding": [1, 1e999]}, {"embedding": [1, 2]}]}"#, "its answer is not"),
            (r#"{"data": [{"index": -1, "embedding": [1, 2]}, {"embedding": [1, 2]}]}"#, "its answer is not"),
            (r#"{"data": []}"#, "2 text(s) with 0 vector(s)"),
            (r#"{"data": [{"index": 0, "embedding": [1, 2]}]}"#, "2 text(s) with 1 vector(s)"),
            (r#"{"data": [{"index": 1, "embedding": [1, 2]}, {"index": 1, "embedding": [1, 2]}]}"#, "two vectors for text 1"),
            (r#"{"data": [{"index": 1, "embedding": [1, 2]}, {"index": 2, "embedding": [1, 2]}]}"#, "text 2 of 2"),
            (r#"{"data": [{"embedding": [1, 2]}, {"embedding": [1, 2, 3]}]}"#, "have 3 numbers and not 2"),
            (r#"{"data": [{"embedding": []}, {"embedding": [1, 2]}]}"#, "have 0 numbers and not 2"),
            (r#"{"data": [{"embedding": [0, 0]}, {"embedding": [1, 2]}]}"#, "points nowhere"),
            (r#"{"data": [{"embedding": [1e300, 1e300]}, {"embedding": [1, 2]}]}"#, "points nowhere"),
        ] {
            check(body, Err(why));
        }
    }

    #[test]
    fn what_was_sent_is_not_quoted() {
        let error = parse(br#"{"data": "the secret of the text"}"#, 1, None).unwrap_err();
        assert!(!error.contains("secret"), "{error}");
    }

    #[test]
    fn an_unknown_dimension_is_whatever_comes() {
        assert_eq!(parse(br#"{"data": [{"embedding": [1, 2, 2]}]}"#, 1, None).unwrap()[0].len(), 3);
        assert!(parse(br#"{"data": [{"embedding": []}]}"#, 1, None).is_err());
    }
}
