//! Arithmetic on paths of a tree: relative, separated by `/`, with `""` as the root folder. A result never leaves the tree.

/// The longest path that is looked up.
const PATH_BYTES_MAX: usize = 1024;

/// The folder of a file or folder.
pub(super) fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The last part of a path.
pub(super) fn base(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// The last part of a path without its extension.
pub(super) fn stem(path: &str) -> &str {
    let name = base(path);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

/// The extension of a path, without the dot.
pub(super) fn extension(path: &str) -> &str {
    base(path).rsplit_once('.').map_or("", |(_, extension)| extension)
}

/// A name in a folder.
pub(super) fn child(folder: &str, name: &str) -> String {
    if folder.is_empty() {
        return name.to_owned();
    }
    if name.is_empty() {
        return folder.to_owned();
    }
    let mut path = String::with_capacity(folder.len() + 1 + name.len());
    path.push_str(folder);
    path.push('/');
    path.push_str(name);
    path
}

/// A path as seen from a folder. Nothing if it is absolute, leaves the tree or is too long.
pub(super) fn join(folder: &str, relative: &str) -> Option<String> {
    if relative.starts_with('/') || folder.len() + relative.len() >= PATH_BYTES_MAX {
        return None;
    }
    let mut path = String::with_capacity(folder.len() + 1 + relative.len());
    path.push_str(folder);
    for part in relative.split('/') {
        match part {
            "" | "." => {}
            ".." if path.is_empty() => return None,
            ".." => path.truncate(path.rfind('/').unwrap_or(0)),
            part => {
                if !path.is_empty() {
                    path.push('/');
                }
                path.push_str(part);
            }
        }
    }
    Some(path)
}

/// The folders around a file or folder, from the nearest to the root.
pub(super) fn folders(path: &str) -> impl Iterator<Item = &str> {
    let mut next = (!path.is_empty()).then(|| parent(path));
    std::iter::from_fn(move || {
        let current = next?;
        next = (!current.is_empty()).then(|| parent(current));
        Some(current)
    })
}

/// A folder and the folders around it.
pub(super) fn folder_and_above(folder: &str) -> impl Iterator<Item = &str> {
    std::iter::once(folder).chain(folders(folder))
}

/// What remains of a path below a folder. Nothing if it is not below it.
pub(super) fn below<'a>(path: &'a str, folder: &str) -> Option<&'a str> {
    if folder.is_empty() {
        return Some(path);
    }
    path.strip_prefix(folder)?.strip_prefix('/')
}

/// Whether a path ends with these whole parts.
pub(super) fn ends_with(path: &str, parts: &str) -> bool {
    path.strip_suffix(parts).is_some_and(|before| before.is_empty() || before.ends_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joins_stay_in_the_tree() {
        for (folder, relative, joined) in [
            ("a/b", "./c", Some("a/b/c")),
            ("a/b", "../c", Some("a/c")),
            ("a/b", "../../c/.", Some("c")),
            ("a", "../..", None),
            ("", "..", None),
            ("a", "/etc", None),
            ("a", "..", Some("")),
        ] {
            assert_eq!(join(folder, relative).as_deref(), joined, "{folder} {relative}");
        }
        assert_eq!(join("a", &"b/".repeat(600)), None);
    }

    #[test]
    fn folders_go_up_to_the_root() {
        assert_eq!(folders("a/b/c.py").collect::<Vec<_>>(), ["a/b", "a", ""]);
        assert_eq!(folders("c.py").collect::<Vec<_>>(), [""]);
        assert_eq!(folder_and_above("").collect::<Vec<_>>(), [""]);
        assert!(ends_with("a/b/c.h", "b/c.h") && ends_with("c.h", "c.h") && !ends_with("ab/c.h", "b/c.h"));
    }
}
