//! Another build of Cedar, in Python, makes the same decisions on a few hundred random sets with several requests each.

use std::io::Write;
use std::path::Path;
use std::process::Stdio;

use policy::{Input, Model};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};
use testkit::python::PythonPackages;

use crate::random::{arguments, asked, plain, statements};
use crate::support::{NOW, document, model};

const SETS: usize = 400;
const REQUESTS_PER_SET: usize = 4;

fn one<S: Strategy>(runner: &mut TestRunner, strategy: &S) -> S::Value {
    strategy.new_tree(runner).unwrap().current()
}

/// Sends all sets to the Python script at once.
fn ask_python(sets: &Value) -> Value {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python");
    let packages = PythonPackages::install(&tests.join("cedarpy.txt"));
    let mut python = packages.program("python");
    let mut child = python.arg(tests.join("decide.py")).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let asked = sets.to_string();
    let writer = std::thread::spawn(move || stdin.write_all(asked.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.success(), "decide.py failed");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn cedarpy_decides_the_same() {
    let mut runner = TestRunner::deterministic();
    let (mut sets, mut expected) = (Vec::new(), Vec::new());
    for _ in 0..SETS {
        let text = one(&mut runner, &statements()).join("\n");
        let compiled = model().compile(&[document("p", text.clone())]);
        let (mut requests, mut answers) = (Vec::new(), Vec::new());
        for _ in 0..REQUESTS_PER_SET {
            let ((principal, action), arguments) = one(&mut runner, &(asked(), arguments()));
            requests.push(plain(&principal, action, &arguments));
            let answer = compiled.decide(&principal, NOW, action, Input::These(&arguments));
            answers.push(json!({"allowed": answer.allowed, "failed": !answer.errors.is_empty()}));
        }
        sets.push(json!({"policies": text, "requests": requests}));
        expected.push(answers);
    }
    let said = ask_python(&Value::Array(sets.clone()));
    let mut tally = [0_usize; 3];
    for ((set, expected), said) in sets.iter().zip(&expected).zip(said.as_array().unwrap()) {
        for (ours, theirs) in expected.iter().zip(said.as_array().unwrap()) {
            assert_eq!(ours, theirs, "{}", set["policies"].as_str().unwrap());
            tally[usize::from(ours["allowed"] == true) + 2 * usize::from(ours["failed"] == true)] += 1;
        }
    }
    assert!(tally.iter().all(|count| *count > SETS / 10), "denied, allowed and failed must all occur: {tally:?}");
}

#[test]
fn cedarpy_reads_the_schema() {
    let said = ask_python(&json!([{"schema": Model::schema_text(&model()), "validate": policy::STARTER}]));
    assert_eq!(said, json!([{"valid": true}]));
}
