use base::Timestamp;

use super::*;

const NOTES: [&str; 6] = [
    "Use pnpm, not npm: the lock file of npm breaks the build machine",
    "Login tokens expire after fifteen minutes. There is no refresh.",
    "The retry limit is 20 and the pause between two tries is 30 seconds",
    "Steps of a release:\n- drain the queue\n- run the migrations\nNever skip a step of it.",
    "x",
    "The job fails if a != b",
];

fn given() -> Vec<Given> {
    let one = |(number, content): (i64, &&str)| {
        let observation = Observation {
            id: ObservationId::from_row(&format!("obs_{number:026}")),
            number,
            agent: "label:builder".to_owned(),
            session: "ses_1".to_owned(),
            content: (*content).to_owned(),
            kind: "decision".to_owned(),
            confidence: Some(0.5),
            weight: 1.0,
            corroborations: 0,
            created_at: Timestamp::from_ms(1_800_000_000_000),
            forgotten_at: None,
        };
        Given { hash: text::hash_of(content), observation }
    };
    (1..).zip(NOTES.iter()).map(one).collect()
}

fn heading(observation: &Observation, score: impl std::fmt::Display) -> String {
    format!("[{}] {} by {}, score {score} (recency -{score})", observation.id, observation.kind, observation.agent)
}

fn shown() -> Shown {
    Shown {
        phrases: vec![format!("{NUMBER} observation(s) from memory. They are quoted."), format!("{NUMBER} tokens used.")],
        keys: &["observations", "id", "content", "type", "weight"],
        values: Vec::new(),
        facts: vec![("> a uses b [trp_1, uses]".to_owned(), None)],
        heading: |observation| vec![heading(observation, NUMBER)],
    }
}

fn answer() -> String {
    let mut text = format!("{} observation(s) from memory. They are quoted.", NOTES.len());
    for (number, Given { observation, .. }) in given().iter().enumerate() {
        text.push_str(&format!("\n\n{}", heading(observation, number as f32 / 10.0)));
        observation.content.lines().for_each(|line| text.push_str(&format!("\n> {line}")));
    }
    text + "\n\n> a uses b [trp_1, uses]\n\n99 tokens used."
}

fn is_echo(sent: &str) -> bool {
    find(&text::normalised(sent), &given(), Some(&shown())).is_some()
}

#[test]
fn the_whole_answer_and_its_parts_are_echoes() {
    let answer = answer();
    assert!(is_echo(&answer));
    assert!(is_echo(&answer.replace('\n', " ")));
    let lines: Vec<&str> = answer.lines().collect();
    for start in 0..lines.len() {
        for end in start + 1..=lines.len() {
            let part = lines[start..end].join("\n");
            // A fact alone names no observation, and a word or two may be anyone's.
            let is_known = part.contains("obs_") || part.split_whitespace().filter(|word| *word != ">").count() >= 9;
            if is_known && !part.starts_with("> a uses") {
                assert!(is_echo(&part), "{part}");
            }
        }
    }
    // Cut anywhere, as a client that shortens results does.
    for start in (0..answer.len()).step_by(7) {
        assert!(is_echo(&answer[start..(start + 200).min(answer.len())]) || start > answer.len() - 120, "{}", &answer[start..]);
    }
}

#[test]
fn joined_texts_are_echoes() {
    let [one, two, three, four, ..] = NOTES;
    for sent in [
        format!("{two}\n{one}"),
        format!("Recalled:\n- {one}\n- {three}\n- x"),
        format!("Notes: 1. {one} 2. {two} 3) {three}"),
        format!("{one}, {three}, {two}"),
        format!("{one}; and also {three}"),
        format!("Here is what I recalled from memory:\n\n* {}\n* {three}\n\n(recalled)", one.to_uppercase()),
        format!("{four}\n\n---\n\n{one}"),
        format!("```text\n{one}\n{two}\n```"),
        format!("[\"{one}\", \"{two}\"]"),
        format!("- {one} (obs_00000000000000000000000001)\n- decision: {three}"),
        format!("{three} | {one}"),
        "There is no refresh. Login tokens expire after fifteen minutes.".to_owned(),
        "run the migrations, drain the queue".to_owned(),
        "limit is 20 and the pause between two tries is 30 seconds".to_owned(),
    ] {
        assert!(is_echo(&sent), "{sent}");
    }
}

#[test]
fn json_of_the_answer_and_of_some_observations_is_an_echo() {
    let one = |Given { observation, .. }: &Given| serde_json::json!({"id": observation.id.to_string(), "content": observation.content, "type": "decision", "weight": 0.25});
    let all: Vec<_> = given().iter().map(one).collect();
    let whole = serde_json::json!({ "observations": all });
    let pretty = serde_json::to_string_pretty(&whole).unwrap();
    for sent in [
        whole.to_string(),
        pretty.clone(),
        serde_json::to_string(&all[1..3]).unwrap(),
        all[3].to_string(),
        format!("{}\n{}", all[0], all[3]),
        format!("Recalled: ```json\n{pretty}\n```"),
        pretty[60..pretty.len() - 90].to_owned(),
    ] {
        assert!(is_echo(&sent), "{sent}");
    }
    let mut changed = all.clone();
    changed[0]["content"] = "Use npm, not pnpm: the lock file of npm breaks the build machine".into();
    let mut retyped = all.clone();
    retyped[0]["type"] = "wrong".into();
    let mut more = all.clone();
    more[0]["conclusion"] = "x".into();
    for sent in [changed, retyped, more] {
        assert!(!is_echo(&serde_json::to_string(&sent).unwrap()), "{sent:?}");
    }
}

#[test]
fn texts_that_say_something_new_are_no_echoes() {
    let [one, two, three, ..] = NOTES;
    let answer = answer();
    for sent in [
        format!("{one}\n{two}\nSo the build needs a login."),
        format!("{one}, because {two}"),
        format!("Wrong: {one}\n{two}"),
        format!("{one} but {two}"),
        format!("{one} → {two}"),
        format!("Outdated:\n{answer}"),
        format!("{answer}\nNone of this holds since the last release."),
        answer.replace("fifteen", "sixty"),
        answer.replace("not npm", "npm"),
        answer.replace("decision by", "rumour by"),
        three.replace("20", "30").replace("is 30 seconds", "is 20 seconds"),
        format!("{two} {}", three.replace("20", "25")),
        "Use npm, not pnpm: the lock file of pnpm breaks the build machine".to_owned(),
        "the lock file breaks the build machine after fifteen minutes".to_owned(),
        "skip a step of it".to_owned(),
        "skip a step of it. Login tokens expire after fifteen minutes.".to_owned(),
        "Login tokens expire. The job fails if a == b and there is no refresh".to_owned(),
        "x y".to_owned(),
        "Notes from memory:".to_owned(),
        "There is no refresh.".to_owned(),
        format!("~~{two}~~ {one}"),
        format!("{two} {one} ❌"),
    ] {
        assert!(!is_echo(&sent), "{sent}");
    }
    assert!(find(one, &[], Some(&shown())).is_none());
}

#[test]
fn forgotten_texts_are_known_by_their_digests() {
    let mut given = given();
    given.iter_mut().for_each(|given| given.observation.content.clear());
    let answer = answer();
    for sent in [answer, format!("- {}\n- {}", NOTES[0], NOTES[2])] {
        assert!(find(&sent, &given, Some(&shown())).is_some(), "{sent}");
        assert!(find(&format!("{sent}\nmore"), &given, Some(&shown())).is_none());
    }
}

#[test]
fn long_texts_take_bounded_work() {
    let mut given = given();
    let word = "word ".repeat(20_000);
    given[0].observation.content = word.clone();
    given[1].observation.content = "word. ".repeat(16_000);
    find(&word, &given, Some(&shown()));
    find(&format!("{}new", "word. ".repeat(16_000)), &given, Some(&shown()));
    find(&"[obs_".repeat(20_000), &given, Some(&shown()));
    find(&"{\"content\":\"\\".repeat(8_000), &given, Some(&shown()));
}
