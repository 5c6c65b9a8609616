//! JavaScript and TypeScript.

use super::check;

#[test]
fn relative_paths_extensions_and_index_files() {
    check(
        &[
            (
                "src/a.ts",
                "import x from './b.js';\nimport './c';\nexport * from './folder';\nimport type { T } from './types';\nimport './none';",
            ),
            (
                "src/b.ts",
                "const a = require('./a');\nimport('./lazy.jsx');\nimport data from './data.json';\nimport raw from './b.css?inline';",
            ),
            ("src/b.css", ""),
            ("src/data.json", "{}"),
            ("src/c.tsx", "import '.';\nimport '../src/';"),
            ("src/index.ts", ""),
            ("src/lazy.tsx", ""),
            ("src/folder/index.tsx", "import '..';"),
            ("src/types.d.ts", ""),
            ("lib/a.js", "import './b.js';\nimport './pack';\nimport '../../outside';"),
            ("lib/b.js", ""),
            ("lib/b.ts", ""),
            ("lib/pack/package.json", r#"{"main": "./main.js"}"#),
            ("lib/pack/main.js", ""),
            ("lib/pack/index.js", ""),
        ],
        &[
            "src/a.ts -> src/b.ts (exact)",
            "src/a.ts -> src/c.tsx (exact)",
            "src/a.ts -> src/folder/index.tsx (exact)",
            "src/a.ts -> src/types.d.ts (exact)",
            "src/a.ts -> ?./none (unresolved)",
            "src/b.ts -> src/a.ts (exact)",
            "src/b.ts -> src/lazy.tsx (exact)",
            "src/b.ts -> src/data.json (exact)",
            "src/b.ts -> src/b.css (exact)",
            "src/c.tsx -> src/index.ts (exact)",
            "src/folder/index.tsx -> src/index.ts (exact)",
            "lib/a.js -> lib/b.js (exact)",
            "lib/a.js -> lib/pack/main.js (exact)",
            "lib/a.js -> ?../../outside (unresolved)",
        ],
    );
}

#[test]
fn tsconfig_paths_extends_and_circles() {
    check(
        &[
            (
                "tsconfig.base.json",
                "{ // shared\n \"compilerOptions\": { \"baseUrl\": \".\", \"paths\": { \"@/*\": [\"none/*\", \"src/*\"], \"one\": [\"src/one.ts\"], }, }, }",
            ),
            ("tsconfig.json", r#"{"extends": ["./missing", "./tsconfig.base"]}"#),
            (
                "src/main.ts",
                "import '@/deep/a';\nimport 'one';\nimport 'src/two';\nimport 'react';\nimport '@/none';\nimport 'node:fs';\nimport 'path';",
            ),
            ("src/deep/a.ts", ""),
            ("src/one.ts", ""),
            ("src/two.ts", ""),
            ("loop/tsconfig.json", r#"{"extends": "./other.json"}"#),
            ("loop/other.json", r#"{"extends": "./tsconfig.json", "compilerOptions": {"paths": {"~/*": ["./*"]}}}"#),
            ("loop/a.ts", "import '~/b';"),
            ("loop/b.ts", ""),
        ],
        &[
            "src/main.ts -> src/deep/a.ts (exact)",
            "src/main.ts -> src/one.ts (exact)",
            "src/main.ts -> src/two.ts (exact)",
            "src/main.ts -> [react] (external)",
            "src/main.ts -> ?@/none (unresolved)",
            "src/main.ts -> [node:fs] (external)",
            "src/main.ts -> [node:path] (external)",
            "loop/a.ts -> loop/b.ts (exact)",
        ],
    );
}

#[test]
fn tsconfig_references_and_the_outermost_folder() {
    check(
        &[
            (
                "tsconfig.json",
                r#"{"files": [], "references": [{"path": "./tsconfig.app.json"}, {"path": "./tsconfig.node.json"}]}"#,
            ),
            ("tsconfig.app.json", r##"{"include": ["src"], "compilerOptions": {"paths": {"#lib/*": ["./src/lib/*"]}}}"##),
            ("tsconfig.node.json", r##"{"include": ["*.config.ts"], "compilerOptions": {"paths": {"#lib/*": ["./node/*"]}}}"##),
            ("src/main.ts", "import '#lib/a';"),
            ("src/lib/a.ts", ""),
            ("vite.config.ts", "import '#lib/a';"),
            ("node/a.ts", ""),
            ("packages/config/package.json", r#"{"name": "@acme/config"}"#),
            ("packages/config/base.json", r#"{"compilerOptions": {"paths": {"$/*": ["${configDir}/src/*"]}}}"#),
            ("packages/web/package.json", r#"{"name": "@acme/web"}"#),
            ("packages/web/tsconfig.json", r#"{"extends": "@acme/config/base.json"}"#),
            ("packages/web/src/a.ts", "import '$/b';"),
            ("packages/web/src/b.ts", ""),
            ("pnpm-workspace.yaml", "packages:\n  - packages/*\n"),
        ],
        &[
            "src/main.ts -> src/lib/a.ts (exact)",
            "vite.config.ts -> node/a.ts (exact)",
            "packages/web/src/a.ts -> packages/web/src/b.ts (exact)",
        ],
    );
}

#[test]
fn packages_of_a_workspace_without_node_modules() {
    check(
        &[
            ("package.json", r#"{"name": "root", "workspaces": ["packages/*", "!packages/out"]}"#),
            (
                "packages/ui/package.json",
                r##"{"name": "@acme/ui", "imports": {"#internal/*": "./src/internal/*.ts", "#dep": "@acme/core"},
                    "exports": {".": {"types": "./dist/index.d.ts", "import": "./dist/index.js"},
                    "./icons/*": "./src/icons/*.tsx", "./private/*": null}}"##,
            ),
            ("packages/ui/src/index.ts", "import '#internal/x';\nimport '#dep';\nimport '@acme/ui/icons/star';"),
            ("packages/ui/src/internal/x.ts", ""),
            ("packages/ui/src/icons/star.tsx", ""),
            ("packages/core/package.json", r#"{"name": "@acme/core", "main": "lib/index.js", "types": "lib/index.d.ts"}"#),
            ("packages/core/src/index.ts", ""),
            ("packages/core/src/extra.ts", ""),
            ("packages/core/package.js", ""),
            ("packages/out/package.json", r#"{"name": "out"}"#),
            ("packages/out/index.js", ""),
            ("other/package.json", r#"{"name": "other", "dependencies": {"linked": "file:../linked"}}"#),
            ("other/a.ts", "import '@acme/core/extra';\nimport 'linked';\nimport 'out';"),
            ("linked/package.json", r#"{"name": "linked", "source": "./in.ts"}"#),
            ("linked/in.ts", ""),
            ("app.ts", "import '@acme/ui';\nimport '@acme/ui/private/x';\nimport '@acme/ui/icons/none';\nimport '@acme/gone/x';"),
        ],
        &[
            "packages/ui/src/index.ts -> packages/ui/src/internal/x.ts (exact)",
            "packages/ui/src/index.ts -> packages/core/src/index.ts (heuristic)",
            "packages/ui/src/index.ts -> packages/ui/src/icons/star.tsx (exact)",
            "other/a.ts -> packages/core/src/extra.ts (heuristic)",
            "other/a.ts -> linked/in.ts (exact)",
            "other/a.ts -> [out] (external)",
            "app.ts -> packages/ui/src/index.ts (heuristic)",
            "app.ts -> ?@acme/ui/private/x (unresolved)",
            "app.ts -> ?@acme/ui/icons/none (unresolved)",
            "app.ts -> [@acme/gone] (external)",
        ],
    );
}

#[test]
fn a_chain_of_configurations_is_bounded() {
    let mut files: Vec<(String, String)> = (0..100)
        .map(|number| {
            (format!("c{number}.json"), format!(r#"{{"extends": ["./c{}.json", "./c{}.json"]}}"#, number + 1, number + 2))
        })
        .collect();
    files.push(("tsconfig.json".to_owned(), r#"{"extends": "./c0.json"}"#.to_owned()));
    files.push(("a.ts".to_owned(), "import './b';".to_owned()));
    files.push(("b.ts".to_owned(), String::new()));
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    check(&files, &["a.ts -> b.ts (exact)"]);
}
