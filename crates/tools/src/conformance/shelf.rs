//! The suite's resources, prompts and completions.

use base::{Error, Scope};
use mcp::Fault;
use mcp::model::{
    CompleteParams, Content, GetPromptParams, GetPromptResult, InputRequired, Prompt, PromptArgument, PromptMessage, Reference,
    Resource, ResourceContents, ResourceTemplate, Role, Text,
};
use serde_json::json;

use super::PNG;
use super::fixtures::picture;
use super::questions::{field, form};
use crate::reply::Reply;
use crate::shelf::Shelf;

/// The suite's shelf.
pub(crate) struct Fixtures;

/// URI, name, media type and description.
const RESOURCES: [[&str; 4]; 3] = [
    ["test://static-text", "static-text", "text/plain", "A text that never changes."],
    ["test://static-binary", "static-binary", "image/png", "An image that never changes."],
    ["test://watched-resource", "watched-resource", "text/plain", "A text to subscribe to."],
];
const TEMPLATE: &str = "test://template/{id}/data";

/// Name, description and arguments. All arguments are required.
const PROMPTS: [(&str, &str, &[&str]); 5] = [
    ("test_simple_prompt", "A prompt without arguments.", &[]),
    ("test_prompt_with_arguments", "A prompt that repeats its arguments.", &["arg1", "arg2"]),
    ("test_prompt_with_embedded_resource", "A prompt with an embedded resource.", &["resourceUri"]),
    ("test_prompt_with_image", "A prompt with an image.", &[]),
    ("test_input_required_result_prompt", "A prompt that asks the user first.", &[]),
];

impl Shelf for Fixtures {
    fn scope(&self) -> Option<Scope> {
        Some(Scope::ConformanceRun)
    }

    fn resources(&self) -> Vec<Resource> {
        let listed = RESOURCES.map(|[uri, name, mime_type, description]| Resource {
            uri: uri.into(),
            name: name.into(),
            title: None,
            description: Some(description.into()),
            mime_type: Some(mime_type.into()),
            size: None,
        });
        listed.into()
    }

    fn resource_templates(&self) -> Vec<ResourceTemplate> {
        vec![ResourceTemplate {
            uri_template: TEMPLATE.into(),
            name: "template".into(),
            title: None,
            description: Some("Data for an id.".into()),
            mime_type: Some("application/json".into()),
        }]
    }

    fn read(&self, uri: &str) -> Option<ResourceContents> {
        let address = || Text::Owned(uri.to_owned());
        let text = |mime_type: &'static str, text: Text| ResourceContents::Text {
            uri: address(),
            mime_type: Some(mime_type.into()),
            text,
        };
        match uri {
            "test://static-text" => Some(text("text/plain", "This is the content of the static text resource.".into())),
            "test://static-binary" => {
                Some(ResourceContents::Blob { uri: address(), mime_type: Some("image/png".into()), blob: PNG.into() })
            }
            "test://watched-resource" => Some(text("text/plain", "This is the content of the watched resource.".into())),
            _ => {
                let id = uri
                    .strip_prefix("test://template/")?
                    .strip_suffix("/data")
                    .filter(|id| !id.is_empty() && !id.contains('/'))?;
                let data = json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")});
                Some(text("application/json", data.to_string().into()))
            }
        }
    }

    fn prompts(&self) -> Vec<Prompt> {
        let argument =
            |name: &&'static str| PromptArgument { name: (*name).into(), description: "A text.".into(), required: true };
        let listed = PROMPTS.map(|(name, description, arguments)| Prompt {
            name: name.into(),
            title: None,
            description: description.into(),
            arguments: arguments.iter().map(argument).collect(),
        });
        listed.into()
    }

    fn prompt(&self, asked: &GetPromptParams<'_>) -> Result<Option<Reply<GetPromptResult>>, Fault> {
        let contents = match &*asked.name {
            "test_simple_prompt" => vec![Content::text("This is a simple prompt for testing.")],
            "test_prompt_with_arguments" => {
                let (first, second) = (argument(asked, "arg1")?, argument(asked, "arg2")?);
                vec![Content::text(format!("Prompt with arguments: arg1='{first}', arg2='{second}'"))]
            }
            "test_prompt_with_embedded_resource" => {
                let uri = argument(asked, "resourceUri")?.to_owned().into();
                let text = "Embedded resource content for testing.".into();
                let resource = ResourceContents::Text { uri, mime_type: Some("text/plain".into()), text };
                vec![Content::Resource { resource }, Content::text("Please process the embedded resource above.")]
            }
            "test_prompt_with_image" => vec![picture(), Content::text("Please analyze the image above.")],
            "test_input_required_result_prompt" => match asked.responses.elicited("user_context")? {
                Some(answer) => vec![Content::text(format!("The context is: {}", field(&answer, "context")))],
                None => {
                    let requests = vec![form("user_context", "In what context do you ask?", "context", "string")];
                    return Ok(Some(Reply::InputRequired(InputRequired { requests, request_state: None })));
                }
            },
            _ => return Ok(None),
        };
        let messages = contents.into_iter().map(|content| PromptMessage { role: Role::User, content }).collect();
        Ok(Some(Reply::Complete(GetPromptResult { description: None, messages })))
    }

    fn complete(&self, wanted: &CompleteParams<'_>) -> Result<Option<Vec<String>>, Error> {
        let known = match &wanted.reference {
            Reference::Prompt(name) => {
                PROMPTS.iter().find(|prompt| prompt.0 == name).map(|prompt| prompt.2.contains(&&*wanted.argument))
            }
            Reference::ResourceTemplate(uri) => (uri == TEMPLATE).then_some(wanted.argument == "id"),
        };
        match known {
            None => Ok(None),
            Some(false) => Err(Error::invalid("argument.name", "unknown argument")),
            Some(true) => Ok(Some(
                ["test-1", "test-2"].map(str::to_owned).into_iter().filter(|word| word.starts_with(&*wanted.typed)).collect(),
            )),
        }
    }
}

fn argument<'p>(asked: &'p GetPromptParams<'_>, name: &str) -> Result<&'p str, Error> {
    let given = asked.arguments.get(name).map(String::as_str);
    given.ok_or_else(|| Error::invalid(&format!("arguments.{name}"), format!("`{name}` is required")))
}
