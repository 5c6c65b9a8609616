//! `toolcrib code`: browses, searches and restores a project's code.

mod lines;
mod undo;

use anyhow::Result;
use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Value, json};

use super::{Author, ListArgs, request_body};
use crate::client::encode;
use crate::output::{self, Column};
use crate::workplace::{ClientArgs, ProjectArg, Workplace};

const TREE_COLUMNS: [Column; 6] = [
    ("TYPE", "/type"),
    ("PATH", "/path"),
    ("FILES", "/files"),
    ("SIZE", "/size"),
    ("LANGUAGE", "/language"),
    ("SYMBOLS", "/symbols"),
];
const CHANGE_COLUMNS: [Column; 9] = [
    ("TIME", "/at"),
    ("CHANGE", "/changeType"),
    ("FILE", "/entity"),
    ("VERSION", "/version"),
    ("SOURCE", "/source"),
    ("AGENT", "/agentId"),
    ("ADDED", "/linesAdded"),
    ("REMOVED", "/linesRemoved"),
    ("REASON", "/reason"),
];
const HIT_COLUMNS: [Column; 5] =
    [("SCORE", "/score"), ("FILE", "/path"), ("FROM", "/startLine"), ("TO", "/endLine"), ("SYMBOL", "/symbol")];
const SYMBOL_COLUMNS: [Column; 5] =
    [("FROM", "/startLine"), ("TO", "/endLine"), ("KIND", "/kind"), ("SYMBOL", "/name"), ("EXPORTED", "/exported")];
const EDGE_COLUMNS: [Column; 4] =
    [("FROM", "/from"), ("RELATIONSHIP", "/relationship"), ("TO", "/to"), ("RESOLUTION", "/resolution")];
const FAR_COLUMNS: [Column; 2] = [("DISTANCE", "/distance"), ("FILE", "/path")];

/// Lists, shows and searches a project's files, says who wrote them, and undoes what agents wrote.
#[derive(Args, Debug)]
pub(crate) struct CodeArgs {
    #[command(flatten)]
    client: ClientArgs,
    #[command(flatten)]
    project: ProjectArg,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand, Debug)]
enum Verb {
    /// List the folders and files in a folder
    Tree {
        /// Folder, relative to the project's root
        #[arg(default_value = "")]
        path: String,
        #[command(flatten)]
        list: ListArgs,
    },
    /// Print a file, as it is now or as it was
    Show {
        /// File, relative to the project's root
        path: String,
        #[command(flatten)]
        when: When,
    },
    /// List changes of a file or of the project, newest first
    History {
        /// File, relative to the project's root [default: all files]
        path: Option<String>,
        /// Only changes of this symbol in the file, such as Class.method
        #[arg(long, value_name = "NAME", requires = "path")]
        symbol: Option<String>,
        /// Only changes since this RFC 3339 time
        #[arg(long, value_name = "TIME")]
        since: Option<String>,
        /// Only changes before this RFC 3339 time
        #[arg(long, value_name = "TIME")]
        until: Option<String>,
        /// Only changes of this type
        #[arg(long = "type", value_name = "TYPE")]
        kind: Option<ChangeType>,
        /// Show what each change did
        #[arg(long)]
        diff: bool,
        /// Maximum number of changes
        #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
        limit: u64,
    },
    /// Print a file with the author of each line
    Blame {
        /// File, relative to the project's root
        path: String,
    },
    /// Give a file the content of an earlier version
    Restore {
        /// File, relative to the project's root
        path: String,
        /// Number of the version, as `toolcrib code history` lists it
        #[arg(long, value_name = "N")]
        version: u64,
        /// Why; kept in the history
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
    /// Undo everything that an agent or a session wrote
    Rollback {
        #[command(flatten)]
        author: Author,
        /// Why; kept in the history
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
        /// Confirm the rollback
        #[arg(long)]
        yes: bool,
    },
    /// Show what a file imports and exports, and its import cycles
    Deps {
        /// File, relative to the project's root
        path: String,
        #[command(flatten)]
        far: Far,
        /// Include packages outside the project
        #[arg(long)]
        external: bool,
    },
    /// List the files that a change of a file may affect
    Impact {
        /// File, relative to the project's root
        path: String,
        #[command(flatten)]
        far: Far,
    },
    /// Search the code by words, names and meaning
    Search {
        /// Query in plain words, identifiers or both
        query: String,
        /// Maximum number of hits
        #[arg(long, value_name = "N", default_value_t = 10)]
        limit: u32,
        /// Only files changed since this RFC 3339 time
        #[arg(long, value_name = "TIME")]
        since: Option<String>,
    },
    /// List the symbols of a file
    Symbols {
        /// File, relative to the project's root
        path: String,
    },
}

/// Selects an earlier state of a file.
#[derive(Args, Debug)]
#[group(multiple = false)]
struct When {
    /// Show this version of the history
    #[arg(long, value_name = "N")]
    version: Option<u64>,
    /// Show the file as it was at this RFC 3339 time
    #[arg(long, value_name = "TIME")]
    as_of: Option<String>,
    /// Show the file in this git commit, by its full id
    #[arg(long, value_name = "ID")]
    commit: Option<String>,
}

/// Limits how far dependencies are followed.
#[derive(Args, Debug)]
struct Far {
    /// Imports to follow
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=64))]
    depth: u32,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ChangeType {
    /// The file is new
    Create,
    /// The content changed
    Update,
    /// The file is gone
    Delete,
    /// The file came from another folder
    Move,
    /// The file got another name
    Rename,
}

impl ChangeType {
    fn word(self) -> String {
        let word = match self {
            Self::Create => "create",
            Self::Update => "update",
            Self::Delete => "delete",
            Self::Move => "move",
            Self::Rename => "rename",
        };
        word.to_owned()
    }
}

pub(crate) async fn run(args: CodeArgs) -> Result<()> {
    let place = args.client.workplace().await?;
    let base = place.path(&format!("/projects/{}/code", encode(&place.project(&args.project).await?.id)));
    match args.verb {
        Verb::Tree { path, list } => {
            let asked = query([("path", Some(path).filter(|path| !path.is_empty()))]);
            let answer = place.api.list(&format!("{base}/tree{asked}"), "entries", list.limit).await?;
            place.print_list(&answer, "entries", &TREE_COLUMNS)?;
            tell_if_incomplete(&place, &answer);
            Ok(())
        }
        Verb::Show { path, when } => {
            let When { version, as_of, commit } = when;
            let version = version.map(|version| version.to_string());
            let asked = query([("path", Some(path)), ("version", version), ("asOf", as_of), ("commit", commit)]);
            lines::show(&place, &place.api.get(&format!("{base}/file{asked}")).await?)
        }
        Verb::History { path, symbol, since, until, kind, diff, limit } => {
            let asked = query([
                ("path", path),
                ("symbol", symbol),
                ("since", since),
                ("until", until),
                ("changeType", kind.map(ChangeType::word)),
                ("diff", diff.then(|| "true".to_owned())),
            ]);
            let answer = place.api.list(&format!("{base}/history{asked}"), "changes", limit).await?;
            if diff { lines::diffs(&place, &answer) } else { place.print_list(&answer, "changes", &CHANGE_COLUMNS) }
        }
        Verb::Blame { path } => {
            let asked = query([("path", Some(path))]);
            let answer = place.api.get(&format!("{base}/blame{asked}")).await?;
            let file = if place.is_json() { Value::Null } else { place.api.get(&format!("{base}/file{asked}")).await? };
            lines::blame(&place, &answer, &file)
        }
        Verb::Restore { path, version, reason } => undo::restore(&place, &base, &path, version, reason).await,
        Verb::Rollback { author, reason, yes } => undo::roll_back(&place, &base, author, reason, yes).await,
        Verb::Deps { path, far, external } => {
            let (depth, external) = (far.depth.to_string(), external.to_string());
            let asked = query([("path", Some(path)), ("depth", Some(depth)), ("external", Some(external))]);
            let answer = place.api.get(&format!("{base}/dependencies{asked}")).await?;
            dependencies(&place, &answer)
        }
        Verb::Impact { path, far } => {
            let impact = Some("impact".to_owned());
            let asked = query([("path", Some(path)), ("analysis", impact), ("depth", Some(far.depth.to_string()))]);
            let answer = place.api.get(&format!("{base}/dependencies{asked}")).await?;
            place.print_list(&answer, "impact", &FAR_COLUMNS)?;
            tell_if_incomplete(&place, &answer);
            Ok(())
        }
        Verb::Search { query, limit, since } => {
            let body = request_body([
                ("query", Some(json!(query))),
                ("limit", Some(json!(limit))),
                ("changedSince", since.map(|since| json!(since))),
            ]);
            let answer = place.api.post(&format!("{base}/search"), &body).await?;
            place.print_list(&answer, "hits", &HIT_COLUMNS)?;
            tell_if_incomplete(&place, &answer);
            Ok(())
        }
        Verb::Symbols { path } => {
            let answer = place.api.get(&format!("{base}/symbols{}", query([("path", Some(path))]))).await?;
            place.print_list(&answer, "symbols", &SYMBOL_COLUMNS)
        }
    }
}

/// A query string with the parameters that are set.
fn query<const N: usize>(parameters: [(&str, Option<String>); N]) -> String {
    let set = parameters.into_iter().filter_map(|(name, value)| Some(format!("{name}={}", encode(&value?))));
    let set = set.collect::<Vec<_>>();
    if set.is_empty() { String::new() } else { format!("?{}", set.join("&")) }
}

/// Prints the parts of an answer about dependencies that have something in them.
fn dependencies(place: &Workplace, answer: &Value) -> Result<()> {
    let list = |member: &str| answer.get(member).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    place.print_as(answer, || {
        let mut parts = vec![
            format!("imports\n{}", output::table(list("imports"), &FAR_COLUMNS, "none")),
            format!("imported by\n{}", output::table(list("impact"), &FAR_COLUMNS, "none")),
            format!("exports\n{}", output::cell(&Value::from(list("exports")))),
        ];
        let cycles = list("circular").iter().map(output::cell).collect::<Vec<_>>();
        if !cycles.is_empty() {
            parts.push(format!("import cycles\n{}", cycles.join("\n")));
        }
        parts.push(format!("edges\n{}", output::table(list("edges"), &EDGE_COLUMNS, "none")));
        parts.join("\n\n")
    })?;
    tell_if_incomplete(place, answer);
    Ok(())
}

/// Says so if the index is not complete yet, because the answer may then miss files.
fn tell_if_incomplete(place: &Workplace, answer: &Value) {
    let number = |member: &str| answer.pointer(&format!("/coverage/{member}")).and_then(Value::as_u64).unwrap_or(0);
    if !place.is_json() && answer.pointer("/coverage/complete") == Some(&Value::Bool(false)) {
        output::tell(&format!(
            "the index is not complete yet ({} of {} files); run `toolcrib index` to wait for it",
            number("indexed"),
            number("files")
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_set_parameters_are_in_the_query() {
        assert_eq!(query([("path", None), ("asOf", None)]), "");
        assert_eq!(query([("path", Some("a b/ü.rs".to_owned())), ("depth", Some("5".to_owned()))]), "?path=a%20b%2F%C3%BC.rs&depth=5");
    }
}
