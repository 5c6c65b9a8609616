//! Which repository a root belongs to.

use super::*;

fn subjects(repository: &Repository) -> Vec<String> {
    whole_log(repository, 50).into_iter().map(|commit| commit.subject).collect()
}

#[test]
fn a_subfolder_sees_only_itself() {
    let fixture = Fixture::new();
    fixture.write("outside.txt", lines("outside", 10));
    fixture.write("deep/project/in.txt", lines("in", 10));
    fixture.commit("Start");
    fixture.write("outside.txt", lines("outside", 11));
    fixture.commit("Outside");
    fixture.write("deep/project/in.txt", lines("in", 12));
    fixture.commit("Inside");
    fixture.rename("outside.txt", "deep/project/came.txt");
    fixture.commit("Came in");
    fixture.rename("deep/project/in.txt", "deep/project/sub/in.txt");
    fixture.commit("Moved");
    let repository = Repository::discover(&fixture.tree.join("deep/project")).unwrap();
    let expected = git_shown(&fixture, &["--relative=deep/project", "--", "deep/project"]);
    assert_eq!(shown(&whole_log(&repository, 2)), expected);
    assert_eq!(subjects(&repository), ["Moved", "Came in", "Inside", "Start"]);
    let history = whole_history(&repository, "sub/in.txt", 50);
    assert_eq!(history.iter().map(|commit| commit.subject.as_str()).collect::<Vec<_>>(), ["Moved", "Inside", "Start"]);
    assert_eq!(history[0].changes[0].from.as_deref(), Some("in.txt"));
    assert!(whole_history(&repository, "outside.txt", 50).is_empty());
    let blame = repository.blame("sub/in.txt", &Bounds::default()).unwrap();
    assert_eq!(blame.lines.iter().map(|lines| lines.lines).collect::<Vec<_>>(), [10, 2]);
    assert!(matches!(repository.text_at("came.txt", &history[0].id).unwrap(), super::super::Content::Text(_)));
    assert_eq!(repository.diff("in.txt", &history[1].id).unwrap().unwrap().change.lines_added, Some(2));
}

#[test]
fn a_linked_worktree_has_its_own_head() {
    let fixture = Fixture::new();
    fixture.write("file", "1\n");
    fixture.commit("One");
    fixture.git(&["worktree", "add", "-q", "-b", "linked", "../linked"]);
    let linked = fixture.home.join("linked");
    fixture.now.set(fixture.now.get() + 60);
    fixture.git_in(&linked, &["commit", "-q", "--allow-empty", "-m", "Two"]);
    assert_eq!(subjects(&Repository::discover(&linked).unwrap()), ["Two", "One"]);
    assert_eq!(subjects(&fixture.open()), ["One"]);
    // A copy of the pointer elsewhere is not that worktree.
    let thief = fixture.home.join("thief");
    std::fs::create_dir(&thief).unwrap();
    std::fs::copy(linked.join(".git"), thief.join(".git")).unwrap();
    assert!(Repository::discover(&thief).is_none());
}

#[test]
fn a_submodule_is_its_own_repository() {
    let (fixture, module) = (Fixture::new(), Fixture::new());
    module.write("file", "1\n");
    module.commit("In the module");
    fixture.write("file", "1\n");
    fixture.commit("Around");
    let source = module.tree.to_str().unwrap();
    fixture.git(&["-c", "protocol.file.allow=always", "submodule", "add", "-q", source, "libs/module"]);
    fixture.commit("Add a module");
    assert_eq!(subjects(&Repository::discover(&fixture.tree.join("libs/module")).unwrap()), ["In the module"]);
    let repository = fixture.open();
    let commits = whole_log(&repository, 50);
    assert_eq!(shown(&commits), git_shown(&fixture, &[]));
    let module = commits[0].changes.iter().find(|change| change.path == "libs/module").unwrap();
    assert_eq!((module.change_type, module.lines_added), (ChangeType::Create, None));
    assert_eq!(repository.text_at("libs/module", &commits[0].id).unwrap(), super::super::Content::Missing);
}

#[test]
fn a_pointer_to_a_foreign_repository_is_refused() {
    let (fixture, foreign) = (Fixture::new(), Fixture::new());
    foreign.write("secret", "secret\n");
    foreign.commit("Secret");
    let foreign_git = foreign.tree.join(".git");
    let root = fixture.home.join("root");
    std::fs::create_dir(&root).unwrap();
    let dot_git = root.join(".git");
    assert!(Repository::discover(&root).is_none(), "there is none");
    std::fs::write(&dot_git, format!("gitdir: {}\n", foreign_git.display())).unwrap();
    assert!(Repository::discover(&root).is_none(), "a file");
    std::fs::write(&dot_git, "gitdir: ../tree/.git\n").unwrap();
    assert!(Repository::discover(&root).is_none(), "a relative file");
    std::fs::write(&dot_git, vec![b'x'; 100_000]).unwrap();
    assert!(Repository::discover(&root).is_none(), "a long file");
    std::fs::remove_file(&dot_git).unwrap();
    std::os::unix::fs::symlink(&foreign_git, &dot_git).unwrap();
    assert!(Repository::discover(&root).is_none(), "a link");
    std::fs::remove_file(&dot_git).unwrap();
    std::fs::create_dir(&dot_git).unwrap();
    std::fs::write(dot_git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    std::fs::write(dot_git.join("commondir"), foreign_git.to_str().unwrap()).unwrap();
    assert!(Repository::discover(&root).is_none(), "a folder that borrows");
    std::os::unix::fs::symlink(foreign_git.join("objects"), dot_git.join("objects")).unwrap();
    std::os::unix::fs::symlink(foreign_git.join("refs"), dot_git.join("refs")).unwrap();
    std::fs::remove_file(dot_git.join("commondir")).unwrap();
    assert!(Repository::discover(&root).is_none(), "a folder of links");
}

#[test]
fn a_root_inside_the_repository_folder_has_no_history() {
    let fixture = Fixture::new();
    fixture.write("file", "1\n");
    fixture.commit("One");
    assert!(Repository::discover(&fixture.tree.join(".git")).is_none());
    assert!(Repository::discover(&fixture.tree.join(".git/refs")).is_none());
    assert!(Repository::discover(&fixture.tree.join("missing")).is_none());
}

#[test]
fn a_repository_with_a_pipe_in_it_is_refused() {
    let fixture = Fixture::new();
    fixture.write("file", "1\n");
    fixture.commit("One");
    let git_dir = fixture.tree.join(".git");
    let elsewhere = fixture.home.join("elsewhere");
    std::fs::create_dir_all(elsewhere.join("pack")).unwrap();
    let places = ["refs/heads/pipe", "objects/pack/pack-1.idx", "objects/00", "packed-refs", "../../elsewhere/pack/pack-2.idx"];
    std::fs::write(git_dir.join("objects/info/alternates"), "../../../elsewhere\n").unwrap();
    assert!(Repository::discover(&fixture.tree).is_some(), "without a pipe");
    for place in places {
        let pipe = git_dir.join(place);
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        assert!(Repository::discover(&fixture.tree).is_none(), "{place}");
        std::fs::remove_file(pipe).unwrap();
    }
    std::os::unix::fs::symlink("/dev/zero", git_dir.join("refs/heads/device")).unwrap();
    assert!(Repository::discover(&fixture.tree).is_none(), "a link");
}
