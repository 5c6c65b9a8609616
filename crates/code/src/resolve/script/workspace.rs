//! Which packages belong to a workspace: `workspaces` of package.json, `packages` of pnpm-workspace.yaml and of lerna.json.

use std::collections::HashMap;

use serde_json::Value;

use crate::resolve::glob;
use crate::resolve::manifest::{Manifests, strings};
use crate::resolve::path::{below, child, folder_and_above};

/// The number of patterns of one workspace.
const PATTERNS_MAX: usize = 64;

/// The patterns of each folder that declares a workspace.
pub(super) struct Workspaces {
    patterns: HashMap<Box<str>, Vec<String>>,
}

impl Workspaces {
    pub(super) fn new(manifests: &Manifests<'_>) -> Self {
        let mut patterns: HashMap<Box<str>, Vec<String>> = HashMap::new();
        for folder in manifests.folders("pnpm-workspace.yaml") {
            let text = manifests.text(&child(folder, "pnpm-workspace.yaml")).unwrap_or_default();
            patterns.entry(folder.clone()).or_default().extend(yaml_packages(&text));
        }
        for folder in manifests.folders("lerna.json") {
            let value = manifests.json(&child(folder, "lerna.json")).unwrap_or_default();
            patterns.entry(folder.clone()).or_default().extend(strings(value.get("packages"), PATTERNS_MAX));
        }
        Self { patterns }
    }

    /// Adds the workspace that a package.json declares.
    pub(super) fn add(&mut self, folder: &str, package: &Value) {
        let Some(workspaces) = package.get("workspaces") else { return };
        let list = if workspaces.is_array() { Some(workspaces) } else { workspaces.get("packages") };
        self.patterns.entry(folder.into()).or_default().extend(strings(list, PATTERNS_MAX));
    }

    /// Whether a folder is a member of a workspace, or declares one.
    pub(super) fn has(&self, folder: &str) -> bool {
        folder_and_above(folder).any(|root| {
            let Some(patterns) = self.patterns.get(root) else { return false };
            let Some(rest) = below(folder, root) else { return folder == root };
            let is_listed = |pattern: &String| !pattern.starts_with('!') && glob::matches(pattern, rest);
            let is_excluded = |pattern: &String| pattern.strip_prefix('!').is_some_and(|pattern| glob::matches(pattern, rest));
            rest.is_empty() || patterns.iter().any(is_listed) && !patterns.iter().any(is_excluded)
        })
    }
}

/// The list `packages` of a YAML text: one item a line, or in brackets. Anything else of YAML is not used in these files.
fn yaml_packages(text: &str) -> Vec<String> {
    let plain = |item: &str| item.trim().trim_matches(['"', '\'']).to_owned();
    let mut lines = text.lines().skip_while(|line| !line.starts_with("packages:"));
    let head = lines.next().and_then(|line| line.strip_prefix("packages:")).unwrap_or_default().trim();
    if let Some(list) = head.strip_prefix('[').and_then(|list| list.split(']').next()) {
        return list.split(',').map(plain).filter(|item| !item.is_empty()).take(PATTERNS_MAX).collect();
    }
    let lines = lines.map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let items = lines.map_while(|line| line.strip_prefix('-'));
    let items = items.map(|item| plain(item.split(" #").next().unwrap_or_default()));
    items.filter(|item| !item.is_empty()).take(PATTERNS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::yaml_packages;

    #[test]
    fn the_packages_of_a_yaml_file_are_read() {
        let text = "catalog:\n  a: 1\npackages:\n  # ours\n  - 'packages/*' # all\n  - \"!**/x\"\nother:\n  - z\n";
        assert_eq!(yaml_packages(text), ["packages/*", "!**/x"]);
        assert_eq!(yaml_packages("packages: ['a', b]\n"), ["a", "b"]);
        assert_eq!(yaml_packages("other: 1"), [""; 0]);
    }
}
