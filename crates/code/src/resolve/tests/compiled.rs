//! Go, Rust, Java, Kotlin, Scala, C#, Swift, C, C++ and Zig.

use super::check;

#[test]
fn go_modules_workspaces_and_replacements() {
    check(
        &[
            ("go.work", "go 1.22\nuse (\n\t./a\n\t./b // second\n)\n"),
            ("a/go.mod", "module example.com/a\n\nreplace example.com/old v1.0.0 => ../old\n"),
            (
                "a/main.go",
                "package main\nimport (\n\t\"fmt\"\n\tx \"example.com/a/pkg\"\n\t\"example.com/b\"\n\t\"example.com/old/deep\"\n\t\
                 \"example.com/c\"\n\t\"github.com/x/y\"\n\t\"example.com/a/none\"\n\t\"vendored.org/z\"\n)\n",
            ),
            ("a/pkg/one.go", "package pkg\n"),
            ("a/pkg/two.go", "package pkg\n"),
            ("a/pkg/two_test.go", "package pkg\nimport \"example.com/a\"\n"),
            ("a/vendor/vendored.org/z/z.go", "package z\n"),
            ("b/go.mod", "module \"example.com/b\"\n"),
            ("b/b.go", "package b\n"),
            ("c/go.mod", "module example.com/c\n"),
            ("c/c.go", "package c\n"),
            ("old/deep/d.go", "package deep\n"),
        ],
        &[
            "a/main.go -> [fmt] (external)",
            "a/main.go -> a/pkg/one.go (exact)",
            "a/main.go -> a/pkg/two.go (exact)",
            "a/main.go -> b/b.go (exact)",
            "a/main.go -> old/deep/d.go (exact)",
            "a/main.go -> c/c.go (heuristic)",
            "a/main.go -> [github.com/x/y] (external)",
            "a/main.go -> ?example.com/a/none (unresolved)",
            "a/main.go -> a/vendor/vendored.org/z/z.go (exact)",
            "a/pkg/two_test.go -> a/main.go (exact)",
        ],
    );
}

#[test]
fn rust_modules_and_members() {
    check(
        &[
            (
                "Cargo.toml",
                "[workspace]\nmembers = [\"app\", \"my-lib\"]\n[workspace.dependencies]\nmy-lib = { path = \"my-lib\" }\nserde = \"1\"\n",
            ),
            ("my-lib/Cargo.toml", "[package]\nname = \"my-lib\"\n"),
            ("my-lib/src/lib.rs", "pub mod text;\n"),
            ("my-lib/src/text.rs", "pub struct Text;\n"),
            (
                "app/Cargo.toml",
                "[package]\nname = \"app\"\n[dependencies]\nmy-lib = { workspace = true }\nserde = { workspace = true }\n",
            ),
            (
                "app/src/main.rs",
                "mod shop;\n#[path = \"odd/name.rs\"]\nmod named;\nmod gone;\nuse my_lib::text::Text;\nuse serde::Serialize;\nuse std::fmt;\nuse app::thing;\nuse what::ever;\n",
            ),
            ("app/src/odd/name.rs", "use crate::shop::cart::{self, Cart};\n"),
            (
                "app/src/shop/mod.rs",
                "pub mod cart;\nmod tax;\nuse self::tax::Rate;\nuse Kind::*;\nenum Kind { A }\nmod inner {\n    use super::cart::Cart;\n    mod deep;\n}\n",
            ),
            ("app/src/shop/inner/deep.rs", "use super::super::tax;\n"),
            ("app/src/shop/cart.rs", "use super::tax::Rate;\nuse super::*;\nfn f() { crate::named::g(); }\n"),
            ("app/src/shop/tax.rs", "pub mod rates;\n"),
            ("app/src/shop/tax/rates.rs", ""),
            ("app/src/lib.rs", "pub fn thing() {}\n"),
            ("app/tests/it.rs", "use app::thing;\n"),
            ("app/src/orphan.rs", "use my_lib::text;\n"),
        ],
        &[
            "my-lib/src/lib.rs -> my-lib/src/text.rs (exact)",
            "app/src/main.rs -> app/src/shop/mod.rs (exact)",
            "app/src/main.rs -> app/src/odd/name.rs (exact)",
            "app/src/main.rs -> ?gone (unresolved)",
            "app/src/main.rs -> my-lib/src/text.rs (exact)",
            "app/src/main.rs -> [serde] (external)",
            "app/src/main.rs -> [std] (external)",
            "app/src/main.rs -> app/src/lib.rs (exact)",
            "app/src/main.rs -> ?what::ever (unresolved)",
            "app/src/odd/name.rs -> app/src/shop/cart.rs (exact)",
            "app/src/shop/mod.rs -> app/src/shop/cart.rs (exact)",
            "app/src/shop/mod.rs -> app/src/shop/tax.rs (exact)",
            "app/src/shop/mod.rs -> app/src/shop/inner/deep.rs (exact)",
            "app/src/shop/inner/deep.rs -> app/src/shop/tax.rs (exact)",
            "app/src/shop/cart.rs -> app/src/shop/tax.rs (exact)",
            "app/src/shop/cart.rs -> app/src/shop/mod.rs (exact)",
            "app/src/shop/cart.rs ~> app/src/odd/name.rs (exact)",
            "app/src/shop/tax.rs -> app/src/shop/tax/rates.rs (exact)",
            "app/tests/it.rs -> app/src/lib.rs (exact)",
            "app/src/orphan.rs -> my-lib/src/text.rs (heuristic)",
        ],
    );
}

#[test]
fn rust_modules_that_contain_themselves_end() {
    check(
        &[
            ("Cargo.toml", "[package]\nname = \"a\"\n"),
            ("src/lib.rs", "mod b;\n"),
            ("src/b.rs", "#[path = \"lib.rs\"]\nmod again;\nuse crate::b::b::b;\n"),
        ],
        &["src/lib.rs -> src/b.rs (exact)", "src/b.rs -> src/lib.rs (exact)"],
    );
}

#[test]
fn java_kotlin_and_scala_share_their_types() {
    check(
        &[
            (
                "src/com/acme/app/Main.java",
                "package com.acme.app;\nimport java.util.List;\nimport com.acme.app.data.*;\nimport com.acme.app.data.Store.Inner;\n\
                 import static com.acme.app.Tools.help;\nimport com.acme.app.gone.Gone;\n\
                 class Main extends Base { void f() { new Item(); Tools.help(); } }\n",
            ),
            ("src/com/acme/app/Base.java", "package com.acme.app;\nclass Base {}\n"),
            (
                "src/com/acme/app/Tools.kt",
                "package com.acme.app\nimport com.acme.app.data.Store as S\nobject Tools { fun help() {} }\n",
            ),
            ("src/com/acme/app/data/Store.java", "package com.acme.app.data;\npublic class Store { class Inner {} }\n"),
            (
                "src/com/acme/app/data/Item.scala",
                "package com.acme.app.data\nimport com.acme.app.{Base, Tools => T}\nimport app.data.Unused\nclass Item\n",
            ),
            ("src/com/acme/app/data/Unused.java", "package com.acme.app.data;\nclass Unused {}\n"),
        ],
        &[
            "src/com/acme/app/Main.java -> [java.util] (external)",
            "src/com/acme/app/Main.java -> src/com/acme/app/data/Item.scala (heuristic)",
            "src/com/acme/app/Main.java -> src/com/acme/app/data/Store.java (exact)",
            "src/com/acme/app/Main.java -> src/com/acme/app/Tools.kt (exact)",
            "src/com/acme/app/Main.java -> ?com.acme.app.gone.Gone (unresolved)",
            "src/com/acme/app/Main.java ~> src/com/acme/app/Base.java (heuristic)",
            "src/com/acme/app/Main.java ~> src/com/acme/app/Tools.kt (heuristic)",
            "src/com/acme/app/Tools.kt -> src/com/acme/app/data/Store.java (exact)",
            "src/com/acme/app/data/Item.scala -> src/com/acme/app/Base.java (exact)",
            "src/com/acme/app/data/Item.scala -> src/com/acme/app/Tools.kt (exact)",
            "src/com/acme/app/data/Item.scala -> src/com/acme/app/data/Unused.java (exact)",
        ],
    );
}

#[test]
fn c_sharp_namespaces() {
    check(
        &[
            (
                "Main.cs",
                "using System.Text;\nusing Acme.Data;\nusing static Acme.Data.Tools;\nnamespace Acme.App;\nclass Main : Base { void F() { new Store(); } }\n",
            ),
            ("Base.cs", "namespace Acme\n{\n    class Base {}\n}\n"),
            ("Data.cs", "namespace Acme.Data\n{\n    class Store {}\n}\n"),
            ("Tools.cs", "namespace Acme.Data;\nstatic class Tools {}\n"),
        ],
        &[
            "Main.cs -> [System.Text] (external)",
            "Main.cs -> Data.cs (heuristic)",
            "Main.cs -> Tools.cs (exact)",
            "Main.cs ~> Base.cs (heuristic)",
        ],
    );
}

#[test]
fn swift_modules_are_folders() {
    check(
        &[
            ("Sources/App/main.swift", "import Foundation\nimport Core\nlet a = Store()\nhelp()\n"),
            ("Sources/App/help.swift", "func help() {}\n"),
            ("Sources/Core/Store.swift", "class Store {}\n"),
            ("Sources/Core/Other.swift", "class Other {}\n"),
        ],
        &[
            "Sources/App/main.swift -> [Foundation] (external)",
            "Sources/App/main.swift -> Sources/Core/Store.swift (heuristic)",
            "Sources/App/main.swift ~> Sources/App/help.swift (heuristic)",
        ],
    );
}

#[test]
fn c_includes() {
    check(
        &[
            (
                "build/compile_commands.json",
                r#"[{"directory": "/home/me/p/build", "file": "../src/a.c", "command": "cc -I../include -isystem /usr/include -c ../src/a.c"}]"#,
            ),
            ("build/made.c", ""),
            (
                "src/a.c",
                "#include \"b.h\"\n#include \"../include/p/p.h\"\n#include <p/p.h>\n#include <stdio.h>\n#include <vector>\n\
                 #include \"far.h\"\n#include \"twice.h\"\n#include <zlib.h>\n#include \"none.h\"\n",
            ),
            ("src/b.h", "#include \"p/p.h\"\n"),
            ("include/p/p.h", ""),
            ("third/far.h", ""),
            ("x/twice.h", ""),
            ("y/twice.h", ""),
            ("compat/stdio.h", ""),
        ],
        &[
            "src/a.c -> src/b.h (exact)",
            "src/a.c -> include/p/p.h (exact)",
            "src/a.c -> [stdio.h] (external)",
            "src/a.c -> [vector] (external)",
            "src/a.c -> third/far.h (heuristic)",
            "src/a.c -> x/twice.h (heuristic)",
            "src/a.c -> y/twice.h (heuristic)",
            "src/a.c -> [zlib.h] (external)",
            "src/a.c -> ?none.h (unresolved)",
            "src/b.h -> include/p/p.h (exact)",
        ],
    );
}

#[test]
fn zig_files_and_modules() {
    check(
        &[
            ("build.zig", "const m = b.addModule(\"core\", .{ .root_source_file = b.path(\"src/core.zig\") });\n"),
            (
                "src/main.zig",
                "const std = @import(\"std\");\nconst a = @import(\"a.zig\");\nconst c = @import(\"core\");\nconst n = @import(\"none.zig\");\nconst h = @cImport(@cInclude(\"stdio.h\"));\n",
            ),
            ("src/a.zig", ""),
            ("src/core.zig", ""),
        ],
        &[
            "src/main.zig -> [std] (external)",
            "src/main.zig -> [stdio.h] (external)",
            "src/main.zig -> src/a.zig (exact)",
            "src/main.zig -> src/core.zig (heuristic)",
            "src/main.zig -> ?none.zig (unresolved)",
        ],
    );
}
