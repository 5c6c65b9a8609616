//! A repository whose configuration names commands: none of them runs.

use super::*;

#[test]
fn no_command_of_the_configuration_runs() {
    let fixture = Fixture::new();
    fixture.write("file.txt", lines("text", 20));
    fixture.write("empty.txt", "");
    fixture.commit("Start");
    fixture.write("file.txt", lines("text", 25));
    fixture.write(".gitattributes", "* diff=evil filter=evil merge=evil text=auto\n");
    fixture.commit("Edit");
    fixture.rename("file.txt", "renamed.txt");
    fixture.write("renamed.txt", lines("text", 26));
    let last = fixture.commit("Rename");

    let marker = fixture.home.join("marker");
    let command = format!("touch {}; cat", marker.display());
    let script = fixture.home.join("evil.sh");
    std::fs::write(&script, format!("#!/bin/sh\n{command}\n")).unwrap();
    fixture.git(&["update-index", "--chmod=+x", "renamed.txt"]);
    std::os::unix::fs::symlink(&script, fixture.tree.join("link")).unwrap();
    std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let hooks = fixture.home.join("hooks");
    std::fs::create_dir(&hooks).unwrap();
    for hook in ["post-checkout", "reference-transaction", "post-index-change", "fsmonitor-watchman", "pre-auto-gc"] {
        std::fs::copy(&script, hooks.join(hook)).unwrap();
    }
    let included = fixture.home.join("included");
    std::fs::write(&included, format!("[core]\n\tfsmonitor = {}\n", script.display())).unwrap();
    let (script, hooks, included) = (script.to_str().unwrap(), hooks.to_str().unwrap(), included.to_str().unwrap());
    for (key, value) in [
        ("core.fsmonitor", script),
        ("core.hooksPath", hooks),
        ("core.sshCommand", &command),
        ("core.pager", &command),
        ("core.editor", &command),
        ("core.alternateRefsCommand", &command),
        ("core.gitProxy", &command),
        ("core.askPass", script),
        ("credential.helper", &format!("!{command}")),
        ("diff.external", script),
        ("diff.evil.command", script),
        ("diff.evil.textconv", script),
        ("filter.evil.clean", &command),
        ("filter.evil.smudge", &command),
        ("filter.evil.process", &command),
        ("filter.evil.required", "true"),
        ("merge.evil.driver", &command),
        ("gpg.program", script),
        ("uploadpack.packObjectsHook", script),
        ("remote.origin.url", &format!("ext::{script}")),
        ("remote.origin.promisor", "true"),
        ("extensions.partialClone", "origin"),
        ("core.repositoryFormatVersion", "1"),
        ("gc.auto", "1"),
        ("include.path", included),
        ("core.worktree", "/"),
        ("gitoxide.objects.allocLimit", "1"),
        ("safe.directory", "*"),
    ] {
        fixture.git(&["config", "--local", key, value]);
    }
    // The marker may stem from the commands above, which run with the configuration as far as it was set by then.
    let _ = std::fs::remove_file(&marker);

    let repository = fixture.open();
    let log = whole_log(&repository, 50);
    assert_eq!(log.iter().map(|commit| commit.subject.as_str()).collect::<Vec<_>>(), ["Rename", "Edit", "Start"]);
    assert_eq!(log[0].changes[0].change_type, ChangeType::Rename);
    assert_eq!((log[0].changes[0].lines_added, log[0].changes[0].lines_removed), (Some(1), Some(0)));
    assert_eq!(whole_history(&repository, "renamed.txt", 50).len(), 3);
    assert!(repository.diff("renamed.txt", &last).unwrap().unwrap().text.contains("+text line 25 of this text"));
    assert!(matches!(repository.text_at("renamed.txt", &last).unwrap(), super::super::Content::Text(_)));
    assert_eq!(our_blame(&repository, "renamed.txt").len(), 26);
    assert!(!marker.exists());
    // A promised object that is not here is not fetched.
    let blob = fixture.git(&["rev-parse", "HEAD:renamed.txt"]);
    let (folder, name) = blob.trim().split_at(2);
    std::fs::remove_file(fixture.tree.join(".git/objects").join(folder).join(name)).unwrap();
    let _ = std::fs::remove_file(&marker);
    assert_eq!(fixture.open().text_at("renamed.txt", &last).unwrap_err().kind(), base::Kind::Unavailable);
    assert!(!marker.exists());

    // The trap works: git itself runs such a command.
    let trapped = fixture.command(&fixture.tree, &["status", "--no-ahead-behind"]).env("GIT_WORK_TREE", &fixture.tree).output();
    drop(trapped);
    assert!(marker.exists(), "the test sets no trap");
}
