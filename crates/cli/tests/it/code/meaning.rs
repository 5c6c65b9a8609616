//! `semantic_search`

use serde_json::{Value, json};

use super::{Workspace, each, gist};
use crate::support::{Crib, Engine, both_engines, members};

/// Functions about different things, described without the words of the questions below.
pub(super) const TOPICS: &[(&str, &str)] = &[
    (
        "billing/rounding.py",
        "def to_cents(amount):\n    \"\"\"Store prices as whole numbers of cents so that no fraction of a coin is lost.\"\"\"\n    return round(amount * 100)\n",
    ),
    (
        "accounts/sign_in.py",
        "def verify_password(user, password):\n    \"\"\"Check the login of a user against the stored hash of the password.\"\"\"\n    \
         return hash_of(password) == user.password_hash\n",
    ),
    (
        "images/thumbnail.py",
        "def shrink(picture, width):\n    \"\"\"Resize a photo to a small preview and keep its proportions.\"\"\"\n    \
         return picture.resize((width, picture.height * width // picture.width))\n",
    ),
    (
        "mailing/newsletter.py",
        "def send_newsletter(subscribers, letter):\n    \"\"\"Send the monthly email to everyone who subscribed.\"\"\"\n    \
         for subscriber in subscribers:\n        deliver(subscriber.address, letter)\n",
    ),
];

/// The model's own dimension.
const DIMENSION: u64 = 384;

async fn ask(workspace: &Workspace<'_>, query: &str, more: Value) -> Value {
    let mut arguments = json!({"query": query, "similarity_threshold": 0});
    for (name, value) in more.as_object().unwrap() {
        arguments[name] = value.clone();
    }
    workspace.ask("semantic_search", arguments).await
}

both_engines! {
    async fn questions_find_code_in_other_words(engine: Engine) {
        let crib = Crib::start(engine).await;
        for workspace in [Workspace::new(&crib, TOPICS).await, Workspace::stored(&crib, TOPICS).await] {
            workspace.embedded().await;
            for (query, path, symbol) in [
                ("how does authentication work", "accounts/sign_in.py", "verify_password"),
                ("make an image smaller", "images/thumbnail.py", "shrink"),
                ("money without floating point errors", "billing/rounding.py", "to_cents"),
            ] {
                let found = ask(&workspace, query, json!({})).await;
                let first = &found["results"][0];
                assert_eq!((&first["path"], &first["symbol"]), (&json!(path), &json!(symbol)), "{query}: {found}");
                assert_eq!(members(first), ["cosine", "end_line", "path", "similarity", "snippet", "start_line", "symbol"]);
                assert!(first["snippet"].as_str().unwrap().contains(&format!("def {symbol}")), "{first}");
                assert!(first["start_line"].as_u64() <= first["end_line"].as_u64() && first["start_line"] == 1, "{first}");
                let all = found["results"].as_array().unwrap();
                let similarities: Vec<f64> = all.iter().map(|hit| hit["similarity"].as_f64().unwrap()).collect();
                assert!(similarities.is_sorted_by(|one, other| one >= other), "{similarities:?}");
                assert!(similarities.iter().all(|similarity| (0.0..=1.0).contains(similarity)), "{similarities:?}");
                let default = workspace.ask("semantic_search", json!({"query": query})).await;
                let passing: Vec<_> = all.iter().filter(|hit| hit["similarity"].as_f64().unwrap() >= 0.7).cloned().collect();
                assert_eq!(default["results"], json!(passing), "{query}: the default threshold is 0.7");
            }
            let coverage = ask(&workspace, "login", json!({})).await["coverage"].clone();
            assert_eq!((&coverage["files"], &coverage["complete"]), (&json!(4), &json!(true)));
            assert_eq!(coverage["embedded"], coverage["passages"]);
        }
    }

    async fn dimensions_are_cut_at_the_models_own(engine: Engine) {
        let crib = Crib::start(engine).await;
        let workspace = Workspace::new(&crib, TOPICS).await;
        workspace.embedded().await;
        let cosine = |found: &Value| found["results"][0]["cosine"].as_f64().unwrap();
        let full = ask(&workspace, "make an image smaller", json!({})).await;
        assert_eq!((&full["requested_dimension"], &full["embedding_dimension"]), (&json!(1024), &json!(DIMENSION)), "the default");
        for requested in [64, 128, 256, 512, 1024, 2048, 3072] {
            let found = ask(&workspace, "make an image smaller", json!({"embedding_dimension": requested})).await;
            let expected = requested.min(DIMENSION);
            assert_eq!((&found["requested_dimension"], &found["embedding_dimension"]), (&json!(requested), &json!(expected)));
            assert_eq!(found["results"][0]["path"], "images/thumbnail.py", "{requested}");
            assert_eq!((cosine(&found) - cosine(&full)).abs() < 1e-6, requested >= DIMENSION, "{requested} dimensions are compared");
        }
        let error = workspace.refused("semantic_search", json!({"query": "q", "embedding_dimension": 100})).await;
        assert_eq!(gist(&error), ("invalid_params", -32602, Some("embedding_dimension")));
    }

    async fn an_unknown_model_is_refused_with_the_list(engine: Engine) {
        let crib = Crib::start(engine).await;
        let workspace = Workspace::new(&crib, TOPICS).await;
        workspace.embedded().await;
        let default = ask(&workspace, "login", json!({"embedding_model": "matryoshka"})).await;
        let own = default["embedding_model"].as_str().unwrap().to_owned();
        assert_eq!(ask(&workspace, "login", json!({"embedding_model": own})).await["results"], default["results"]);
        let error = workspace.refused("semantic_search", json!({"query": "login", "embedding_model": "ada-002"})).await;
        assert_eq!(gist(&error), ("invalid_params", -32602, Some("embedding_model")), "{error}");
        assert_eq!(error["data"]["models"], json!(["matryoshka", own]), "{error}");
        let words = error["message"].as_str().unwrap();
        assert!(words.contains("`ada-002`") && words.contains("`matryoshka`") && words.contains(&own), "{words}");
    }

    async fn results_are_paged(engine: Engine) {
        let crib = Crib::start(engine).await;
        let workspace = Workspace::new(&crib, TOPICS).await;
        workspace.embedded().await;
        let whole = ask(&workspace, "a user", json!({"max_results": 50})).await;
        let (mut found, mut more) = (Vec::new(), json!({"max_results": 1}));
        loop {
            let some = ask(&workspace, "a user", more.clone()).await;
            assert!(some["results"].as_array().unwrap().len() <= 1, "{some}");
            found.extend(some["results"].as_array().unwrap().clone());
            match some.get("next_cursor") {
                Some(cursor) => more["cursor"] = cursor.clone(),
                None => break,
            }
        }
        assert_eq!(json!(found), whole["results"]);
        assert!(each(&whole["results"], "path").len() >= TOPICS.len(), "{whole}");
        for (arguments, parameter) in [
            (json!({"query": ""}), "query"),
            (json!({"query": "q", "max_results": 0}), "max_results"),
            (json!({"query": "q", "similarity_threshold": 2}), "similarity_threshold"),
            (json!({"query": "q", "cursor": "x"}), "cursor"),
        ] {
            let error = workspace.refused("semantic_search", arguments).await;
            assert_eq!(gist(&error), ("invalid_params", -32602, Some(parameter)), "{error}");
        }
    }
}
