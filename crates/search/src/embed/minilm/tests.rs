use base::secret::hex;
use sha2::{Digest, Sha256};

use super::*;

const TEXTS: &str = include_str!("../../../model/texts.json");
const VECTORS: &[u8] = include_bytes!("../../../model/texts.i16");

/// The 500 texts with the vectors of the original f32 weights.
fn references() -> Vec<(String, Embedding)> {
    let texts: Vec<String> = serde_json::from_str(TEXTS).unwrap();
    let numbers = VECTORS.as_chunks().0.iter().map(|bytes| f32::from(i16::from_le_bytes(*bytes))).collect::<Vec<_>>();
    let vectors = numbers.chunks_exact(384).map(|vector| Embedding::new(vector.to_vec()));
    let references: Vec<_> = texts.into_iter().zip(vectors).collect();
    assert_eq!(references.len(), 500);
    references
}

#[test]
fn vectors_are_close_to_the_original() {
    let model = MiniLm::bundled().unwrap();
    let cosines = references().into_iter().map(|(text, original)| (model.vector(&text).cosine(&original), text));
    let mut cosines: Vec<_> = cosines.collect();
    cosines.sort_by(|(left, _), (right, _)| left.total_cmp(right));
    let mean = cosines.iter().map(|(cosine, _)| cosine).sum::<f32>() / 500.0;
    println!("mean {mean}, lowest {:?}", &cosines[..3]);
    let (lowest, text) = &cosines[0];
    assert!(*lowest >= 0.99, "cosine {lowest} for {text:?}");
    assert!(mean >= 0.999, "mean cosine {mean}");
}

#[test]
fn similarities_match_the_model_card() {
    let model = MiniLm::bundled().unwrap();
    let person = model.vector("That is a happy person");
    for (text, known) in [("That is a happy dog", 0.695), ("That is a very happy person", 0.943), ("Today is a sunny day", 0.257)]
    {
        let cosine = person.cosine(&model.vector(text));
        assert!((cosine - known).abs() < 0.01, "{text}: {cosine}");
    }
}

#[test]
fn vectors_do_not_depend_on_earlier_texts() {
    let model = MiniLm::bundled().unwrap();
    let texts = ["short", &"a much longer text than the others ".repeat(60), "", "of medium length, with punctuation"];
    let alone: Vec<_> = texts.iter().map(|text| Some(MiniLm::bundled().unwrap().vector(text))).collect();
    assert_eq!(model.embed_texts(&texts).unwrap(), alone);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| model.embed_texts(&texts).unwrap())).collect();
        threads.into_iter().for_each(|thread| assert_eq!(thread.join().unwrap(), alone));
    });
}

/// Vectors are stored and compared with vectors from other machines, so a change of these bits needs a new [`MODEL`].
#[test]
fn vectors_are_the_same_on_every_machine() {
    let model = MiniLm::bundled().unwrap();
    let mut hash = Sha256::new();
    for (text, _) in references().iter().step_by(10) {
        model.vector(text).iter().for_each(|number| hash.update(number.to_le_bytes()));
    }
    assert_eq!(hex(&hash.finalize()), "4a15358c1d8678321872948d17d5914fa0777bf56476414243511c4a141d9a9d");
}

#[test]
fn vectors_have_length_one_and_the_right_dimension() {
    let model = MiniLm::bundled().unwrap();
    for text in ["", " ", "\0", "[CLS]", "😀", &"x".repeat(100_000), &"word ".repeat(20_000), &"\u{301}".repeat(50_000)] {
        let vector = model.vector(text);
        assert_eq!(vector.len(), model.dimension());
        assert!((vector.cosine(&vector) - 1.0).abs() < 1e-5);
    }
    assert_eq!(model.model(), "all-MiniLM-L6-v2/q8-1");
    assert_eq!(model.pieces("index"), 3);
}
