//! Lets the linker join functions with equal machine code, which makes the binary smaller and costs nothing at run time.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // Only where Rust links with its own lld: other linkers do not know the flag.
    #[expect(clippy::disallowed_methods, reason = "this is how cargo talks to a build script")]
    let target = std::env::var("TARGET");
    if target.is_ok_and(|target| target == "x86_64-unknown-linux-gnu") {
        println!("cargo:rustc-link-arg-bins=-Wl,--icf=all");
    }
}
