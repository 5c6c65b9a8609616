//! Lists, files as they were, differences and blame.

use base::{Kind, Timestamp};

use super::super::{At, ChangeType, Diff, Past, Within};
use super::*;

testkit::both_engines! {
    async fn lists_are_filtered_and_paged(engine: Engine) {
        let project = Project::in_rows(engine).await;
        for (who, file) in [("one", "src/a"), ("two", "src/b/c"), ("one", "srcx"), ("two", "src/a"), ("one", "é/x")] {
            project.write(who, file, &format!("{who} {file}")).await;
        }
        let found = async |filter: HistoryFilter| {
            let page = project.history.list(&filter, &page(100)).await.unwrap();
            page.items.iter().map(|version| format!("{}@{}", version.path, version.number)).collect::<Vec<_>>().join(" ")
        };
        let filter = HistoryFilter::default;
        assert_eq!(found(filter()).await, "é/x@1 src/a@2 srcx@1 src/b/c@1 src/a@1");
        assert_eq!(found(HistoryFilter { within: Some(Within::Folder(path("src"))), ..filter() }).await, "src/a@2 src/b/c@1 src/a@1");
        assert_eq!(found(HistoryFilter { within: Some(Within::Folder(path("é"))), ..filter() }).await, "é/x@1");
        assert_eq!(found(HistoryFilter { within: Some(Within::File(path("src/a"))), ..filter() }).await, "src/a@2 src/a@1");
        assert_eq!(found(HistoryFilter { within: Some(Within::File(path("src"))), ..filter() }).await, "");
        assert_eq!(found(HistoryFilter { session: Some("two".to_owned()), ..filter() }).await, "src/a@2 src/b/c@1");
        assert_eq!(found(HistoryFilter { agent: Some("agent of one".to_owned()), ..filter() }).await, "é/x@1 srcx@1 src/a@1");
        assert_eq!(found(HistoryFilter { changes: vec![ChangeType::Update, ChangeType::Move], ..filter() }).await, "src/a@2");
        let all = project.versions(None).await;
        let (from, until) = (Some(all[3].created_at), Some(all[1].created_at));
        assert_eq!(found(HistoryFilter { from, until, ..filter() }).await, "srcx@1 src/b/c@1");
        let (mut after, mut paged) = (None, Vec::new());
        loop {
            let page = project.history.list(&filter(), &PageRequest { rows: 2, after }).await.unwrap();
            assert!(page.items.len() <= 2);
            paged.extend(page.items);
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        assert_eq!(paged, all);
    }

    async fn a_file_is_read_as_it_was(engine: Engine) {
        let project = Project::in_rows(engine).await;
        let first = project.write("one", "a", "1").await.version;
        let second = project.write("one", "a", "2").await.version;
        let at = async |time: Timestamp| project.history.text_at(&path("a"), At::Time(time)).await.unwrap();
        assert_eq!(at(first.created_at).await, Past::Content(first.clone(), b"1".to_vec()));
        assert_eq!(at(Timestamp::from_ms(second.created_at.ms() - 1)).await, Past::Content(first.clone(), b"1".to_vec()));
        assert_eq!(at(Timestamp::from_ms(second.created_at.ms() + 9)).await, Past::Content(second, b"2".to_vec()));
        assert_eq!(at(Timestamp::from_ms(first.created_at.ms() - 1)).await, Past::Unknown);
        assert_eq!(project.history.text_at(&path("a"), At::Number(3)).await.unwrap_err().kind(), Kind::NotFound);
        assert_eq!(project.history.text_at(&path("b"), At::Number(1)).await.unwrap_err().kind(), Kind::NotFound);
        // Another project and another org have nothing of it.
        let other = History { project: ProjectId::new(project.clock().now()), ..project.history.clone() };
        assert_eq!(other.version(&first.id).await.unwrap_err().kind(), Kind::NotFound);
        let foreign = History { rows: project.store.new_org(), ..project.history.clone() };
        assert_eq!(foreign.version(&first.id).await.unwrap_err().kind(), Kind::NotFound);
        assert_eq!(foreign.text_at(&path("a"), At::Time(first.created_at)).await.unwrap(), Past::Unknown);
        assert!(foreign.list(&HistoryFilter::default(), &page(9)).await.unwrap().items.is_empty());
    }

    async fn differences_are_shown(engine: Engine) {
        let project = Project::in_rows(engine).await;
        let versions = [project.write("one", "a", "1\n2\n").await.version, project.write("one", "a", "1\n3\n").await.version];
        let diff = async |version| project.history.diff(version, 1_000).await.unwrap();
        let text = |text: &str| Diff::Text { text: text.to_owned(), is_cut: false };
        assert_eq!(diff(&versions[0]).await, text("--- /dev/null\n+++ b/a\n@@ -0,0 +1,2 @@\n+1\n+2\n"));
        assert_eq!(diff(&versions[1]).await, text("--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n 1\n-2\n+3\n"));
        let hasty = NewContent { keeps_content: false, ..new("a", "4") };
        let hasty = project.history.write(&author("one"), hasty, |_| Ok(())).await.unwrap().version;
        assert_eq!(diff(&hasty).await, Diff::NotKept);
    }

    async fn every_line_has_its_author(engine: Engine) {
        let project = Project::in_rows(engine).await;
        assert_eq!(project.history.blame(&path("a")).await.unwrap(), None);
        let mut lines: Vec<String> = (0..30).map(|line| format!("line {line}")).collect();
        project.write("start", "a", &(lines.join("\n") + "\n")).await;
        // Over more than twenty versions, so that whole contents lie between.
        let mut owners = vec!["start".to_owned(); 30];
        for edit in 0..50 {
            let (who, place) = (format!("session {edit}"), (edit * 7) % lines.len());
            if edit % 5 == 0 {
                lines.insert(place, format!("new {edit}"));
                owners.insert(place, who.clone());
            } else {
                lines[place] = format!("edited {edit}");
                owners[place] = who.clone();
            }
            project.write(&who, "a", &(lines.join("\n") + "\n")).await;
        }
        let blame = project.history.blame(&path("a")).await.unwrap().unwrap();
        assert_eq!(blame.version.number, 51);
        let mut found = Vec::new();
        for span in &blame.spans {
            assert_eq!(span.start_line as usize, found.len() + 1);
            found.extend((0..span.lines).map(|_| span.version.author.session.clone()));
        }
        assert_eq!(found, owners);
    }
}
