//! `toolcrib brick` and `toolcrib kit`: building blocks that agents draft and people publish. Every change needs a person's login
//! instead of a key.

use anyhow::{Context, Result, bail};
use base::{BrickId, KitId};
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::{ListArgs, request_body};
use crate::client::encode;
use crate::output::Column;
use crate::person::PersonArgs;
use crate::workplace::{ClientArgs, Workplace};

/// The differences between bricks and kits.
struct Noun {
    one: &'static str,
    many: &'static str,
    prefix: &'static str,
    /// The fields that can name one, besides its id.
    labels: [&'static str; 2],
    columns: [Column; 5],
}

const BRICK: Noun = Noun {
    one: "brick",
    many: "bricks",
    prefix: BrickId::PREFIX,
    labels: ["brick_key", "brick_name"],
    columns: [
        ("ID", "/brick_id"),
        ("KEY", "/brick_key"),
        ("NAME", "/brick_name"),
        ("STATUS", "/status"),
        ("UPDATED", "/updated_at"),
    ],
};

const KIT: Noun = Noun {
    one: "kit",
    many: "kits",
    prefix: KitId::PREFIX,
    labels: ["kit_code", "name"],
    columns: [("ID", "/kit_id"), ("CODE", "/kit_code"), ("NAME", "/name"), ("STATUS", "/status"), ("UPDATED", "/updated_at")],
};

/// Manages bricks: building blocks that agents draft and people publish.
#[derive(Args, Debug)]
pub(crate) struct BrickArgs {
    #[command(flatten)]
    client: ClientArgs,
    #[command(subcommand)]
    verb: BrickVerb,
}

/// Manages kits: sets of bricks that agents draft and people publish.
#[derive(Args, Debug)]
pub(crate) struct KitArgs {
    #[command(flatten)]
    client: ClientArgs,
    #[command(subcommand)]
    verb: KitVerb,
}

#[derive(Subcommand, Debug)]
enum BrickVerb {
    /// List bricks, newest first
    List(ListArgs),
    /// Show a brick with its versions
    Show {
        /// Brick, by id, key or name
        brick: String,
    },
    /// Draft a new version (needs a login)
    #[command(after_help = "Example:\n  toolcrib brick version tone --rule 'Is the reply friendly and short?'")]
    Version {
        /// Brick, by id, key or name
        brick: String,
        /// Rule of the new version; @FILE reads it from a file
        #[arg(long, value_name = "TEXT")]
        rule: String,
        /// Description of the new version
        #[arg(long, value_name = "TEXT")]
        description: Option<String>,
        #[command(flatten)]
        person: PersonArgs,
    },
    /// Publish the newest version (needs a login)
    #[command(after_help = "Examples:\n  toolcrib brick publish tone\n  pass show crib | toolcrib brick publish tone --email \
                            ada@acme.example \\\n    --password-stdin")]
    Publish {
        /// Brick, by id, key or name
        brick: String,
        #[command(flatten)]
        person: PersonArgs,
    },
    /// Deprecate a brick permanently (needs a login)
    Deprecate {
        /// Brick, by id, key or name
        brick: String,
        #[command(flatten)]
        person: PersonArgs,
    },
}

#[derive(Subcommand, Debug)]
enum KitVerb {
    /// List kits, newest first
    List(ListArgs),
    /// Show a kit with its versions, and whether it can be published
    Show {
        /// Kit, by id, code or name
        kit: String,
    },
    /// Draft a new version, which pins each brick's current version (needs a login)
    #[command(after_help = "Example:\n  toolcrib kit version Replies --brick tone --brick length")]
    Version {
        /// Kit, by id, code or name
        kit: String,
        /// Brick of the new version, by id, key or name (repeatable, in order)
        #[arg(long = "brick", value_name = "BRICK", required = true)]
        bricks: Vec<String>,
        /// Release notes
        #[arg(long, value_name = "TEXT")]
        notes: Option<String>,
        #[command(flatten)]
        person: PersonArgs,
    },
    /// Publish the newest version and its draft bricks (needs a login)
    #[command(after_help = "Examples:\n  toolcrib kit publish Replies\n  pass show crib | toolcrib kit publish Replies --email \
                            ada@acme.example \\\n    --password-stdin")]
    Publish {
        /// Kit, by id, code or name
        kit: String,
        #[command(flatten)]
        person: PersonArgs,
    },
    /// Deprecate a kit permanently (needs a login)
    Deprecate {
        /// Kit, by id, code or name
        kit: String,
        #[command(flatten)]
        person: PersonArgs,
    },
}

pub(crate) async fn run_brick(args: BrickArgs) -> Result<()> {
    let client = &args.client;
    match args.verb {
        BrickVerb::List(rows) => list(client, &BRICK, rows).await,
        BrickVerb::Show { brick } => show(client, &BRICK, &brick).await,
        BrickVerb::Version { brick, rule, description, person } => {
            let rule = read_text(&rule)?;
            let body = request_body([("evaluation_prompt", Some(json!(rule))), ("description", description.map(Value::from))]);
            decide(client, &person, &BRICK, &brick, "versions", async |_| Ok(body)).await
        }
        BrickVerb::Publish { brick, person } => {
            decide(client, &person, &BRICK, &brick, "publish", async |_| Ok(Value::Null)).await
        }
        BrickVerb::Deprecate { brick, person } => {
            decide(client, &person, &BRICK, &brick, "deprecate", async |_| Ok(Value::Null)).await
        }
    }
}

pub(crate) async fn run_kit(args: KitArgs) -> Result<()> {
    let client = &args.client;
    match args.verb {
        KitVerb::List(rows) => list(client, &KIT, rows).await,
        KitVerb::Show { kit } => show(client, &KIT, &kit).await,
        KitVerb::Version { kit, bricks, notes, person } => {
            let body = async |place: &Workplace| {
                let mut ids = Vec::new();
                for brick in &bricks {
                    ids.push(json!(id_of(place, &BRICK, brick).await?));
                }
                Ok(request_body([("brick_ids", Some(json!(ids))), ("notes", notes.map(Value::from))]))
            };
            decide(client, &person, &KIT, &kit, "versions", body).await
        }
        KitVerb::Publish { kit, person } => decide(client, &person, &KIT, &kit, "publish", async |_| Ok(Value::Null)).await,
        KitVerb::Deprecate { kit, person } => decide(client, &person, &KIT, &kit, "deprecate", async |_| Ok(Value::Null)).await,
    }
}

async fn list(client: &ClientArgs, noun: &Noun, rows: ListArgs) -> Result<()> {
    let place = client.workplace().await?;
    let answer = place.api.list(&place.query(&format!("/api/{}", noun.many)), noun.many, rows.limit).await?;
    place.print_list(&answer, noun.many, &noun.columns)
}

async fn show(client: &ClientArgs, noun: &Noun, named: &str) -> Result<()> {
    let place = client.workplace().await?;
    let id = id_of(&place, noun, named).await?;
    place.print(&place.api.get(&place.query(&format!("/api/{}/{}", noun.many, encode(&id)))).await?)
}

/// Changes a brick or kit with a person's login. `verb` is the last part of the route.
async fn decide(
    client: &ClientArgs,
    person: &PersonArgs,
    noun: &Noun,
    named: &str,
    verb: &str,
    body: impl AsyncFnOnce(&Workplace) -> Result<Value>,
) -> Result<()> {
    let person = person.person(&client.server.find_url()?).await?;
    let decided = async {
        let place = Workplace::at(person.api.clone(), client.org.as_deref(), client.json).await?;
        let id = id_of(&place, noun, named).await?;
        let path = place.query(&format!("/api/{}/{}/{verb}", noun.many, encode(&id)));
        let answer = match body(&place).await? {
            Value::Null => place.api.post_nothing(&path).await?,
            body => place.api.post(&path, &body).await?,
        };
        let version = answer.pointer(&format!("/{}/versions/0/version", noun.one)).and_then(Value::as_u64).unwrap_or_default();
        let one = noun.one;
        place.print_as(&answer, || match verb {
            "publish" if noun.one == KIT.one => format!("published {one} {id} and its draft bricks"),
            "publish" => format!("published {one} {id}"),
            "deprecate" => format!("deprecated {one} {id}"),
            _ => format!("drafted version {version} of {one} {id}; publish it with `toolcrib {one} publish {id}`"),
        })
    };
    let outcome = decided.await;
    person.leave().await;
    outcome
}

async fn id_of(place: &Workplace, noun: &Noun, named: &str) -> Result<String> {
    place.id_in(&place.query(&format!("/api/{}", noun.many)), noun.many, noun.prefix, &noun.labels, named).await
}

/// Returns the argument, or the contents of the file for `@FILE`.
fn read_text(argument: &str) -> Result<String> {
    let Some(file) = argument.strip_prefix('@') else { return Ok(argument.to_owned()) };
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read `{file}`"))?;
    if text.trim().is_empty() {
        bail!("`{file}` is empty; write the rule into it");
    }
    Ok(text)
}
