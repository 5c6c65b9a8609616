//! The memory report: duplicates, misleading, unused and large notes.

use reqwest::Method;
use serde_json::{Value, json};

use super::{recall, remember};
use crate::support::{Crib, Engine, Place, Terminal, both_engines};

both_engines! {
    async fn report_shows_duplicates_misleading_and_large_notes(engine: Engine) {
        let crib = Crib::start(engine).await;
        let (tenant, other) = (crib.tenant().await, crib.tenant().await);
        let memory = |rest: &str| format!("projects/{}/memory{rest}", tenant.project);
        let empty = tenant.get(&memory("/report")).await.expect(200);
        assert_eq!((&empty["total"], &empty["largest"], &empty["misleading"]), (&json!(0), &json!([]), &json!({"count": 0, "observations": []})));

        remember(&other.session().await, "said by several").await;
        let sessions = [
            tenant.session_with(json!({"agentLabel": "a"})).await,
            tenant.session_with(json!({"agentLabel": "b"})).await,
            tenant.session_with(json!({"agentLabel": "c"})).await,
        ];
        for session in &sessions {
            remember(session, "said by several").await;
        }
        for session in &sessions[..2] {
            remember(session, "said by two").await;
        }
        let long = "the importer reads the price list from the supplier every morning and compares it with the list of the day before, \
                    then writes only what is different into the catalogue and leaves a report for the person on duty";
        for who in ["on duty", "on call", "on watch"] {
            remember(&sessions[0], &long.replace("on duty", who)).await;
        }
        let gone = remember(&sessions[0], "forgotten").await["id"].as_str().unwrap().to_owned();
        tenant.api(Method::DELETE, &memory(&format!("/{gone}")), None).await.expect(200);
        let lines = json!([
            {"content": "bad advice", "weight": 0.4, "type": "error"},
            {"content": "worse advice", "weight": 0.1, "type": "error", "createdAt": "2001-01-01T00:00:00Z"},
            {"content": format!("large {}", "é".repeat(5_000)), "weight": 0.5},
        ]);
        tenant.post(&memory("/import"), json!({"observations": lines})).await.expect(200);
        recall(&tenant.session().await, "price list importer", "bug_fix").await;

        let report = tenant.get(&memory("/report")).await.expect(200);
        let number = |pointer: &str| report.pointer(pointer).and_then(Value::as_u64).unwrap();
        let excerpts = |rows: &str, text: &str| -> Vec<String> {
            let rows = report.pointer(rows).unwrap().as_array().unwrap().iter();
            rows.map(|row| row.pointer(text).unwrap().as_str().unwrap().chars().take(20).collect()).collect()
        };
        assert_eq!([number("/total"), number("/examined"), number("/forgotten")], [11, 11, 1]);
        assert_eq!(number("/embedded") + number("/waiting"), 11);
        assert_eq!(report["types"], json!([{"type": "note", "count": 9}, {"type": "error_encountered", "count": 2}]));
        let agents = json!([{"agentId": "label:a", "count": 5}, {"agentId": "import", "count": 3}, {"agentId": "label:b", "count": 2},
            {"agentId": "label:c", "count": 1}]);
        assert_eq!(report["agents"], agents);
        assert_eq!((number("/duplicates/count"), number("/duplicates/texts/0/count"), number("/duplicates/texts/1/count")), (2, 3, 2));
        assert_eq!(excerpts("/duplicates/texts", "/observation/excerpt"), ["said by several", "said by two"]);
        assert_eq!((report["nearDuplicates"].as_array().unwrap().len(), number("/nearDuplicates/0/count")), (1, 3));
        assert_eq!(excerpts("/nearDuplicates", "/observation/excerpt"), ["the importer reads t"]);
        assert_eq!(number("/misleading/count"), 2);
        assert_eq!(excerpts("/misleading/observations", "/excerpt"), ["worse advice", "bad advice"]);
        assert_eq!(excerpts("/neverRecalled/observations", "/excerpt")[0], "worse advice", "the oldest note comes first");
        assert!(excerpts("/neverRecalled/observations", "/excerpt").iter().all(|text| !text.starts_with("the importer")));
        assert_eq!(number("/neverRecalled/count") as usize, report["neverRecalled"]["observations"].as_array().unwrap().len());
        let largest = &report["largest"][0];
        assert_eq!((&largest["characters"], largest["excerpt"].as_str().unwrap().chars().count()), (&json!(5_006), 200));
        assert_eq!(report["largest"].as_array().unwrap().len(), 10);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn report_is_printed_at_a_terminal() {
    let place = Place::new(Engine::Sqlite);
    let _server = place.start().await;
    let terminal = Terminal::at(&place);
    let notes = "{\"content\": \"bad\\nadvice\", \"weight\": 0.25, \"agentId\": \"ann\"}\n{\"content\": \"good\"}\n";
    terminal.run_with_input("memory import -", notes).await.ok();
    let report = terminal.run("memory report").await;
    let text = report.ok();
    for part in [
        "2 observations, ",
        "; 0 forgotten\n\ntypes\n",
        "\nimport:ann  1\n",
        "misleading, weight below 0.5 (worst first): 1\n",
        "bad advice\n",
    ] {
        assert!(text.contains(part), "`{part}` is not in {text}");
    }
    assert_eq!(terminal.json("memory report").await["misleading"]["observations"][0]["excerpt"], "bad\nadvice");
}
