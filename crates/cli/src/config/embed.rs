//! The embedding endpoint: its settings, and the same flags for commands without a server.

use anyhow::{Result, bail};
use clap::{ArgMatches, Args, Command, FromArgMatches};
use server::{EmbedEndpoint, EmbedKey};

use super::settings::Settings;
use crate::environment;

/// The flags and variables of the embedding endpoint, as `toolcrib serve` has them.
#[derive(Debug)]
pub(crate) struct EmbedArgs(Box<Settings>);

impl EmbedArgs {
    /// The endpoint, if one is set.
    pub(crate) fn endpoint(&self) -> Result<Option<EmbedEndpoint>> {
        embed_endpoint(&self.0, embed_key(&self.0, &Settings::default(), environment::embed_key()))
    }
}

// Taken from the settings instead of a second definition, so that names, variables and help texts stay the same.
impl Args for EmbedArgs {
    fn augment_args(command: Command) -> Command {
        let settings = Settings::augment_args(Command::new("settings"));
        let is_ours = |argument: &&clap::Arg| argument.get_id().as_str().starts_with("embed_");
        command.args(settings.get_arguments().filter(is_ours).cloned())
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for EmbedArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        fn one<T: Clone + Send + Sync + 'static>(matches: &ArgMatches, name: &str) -> Option<T> {
            matches.get_one::<T>(name).cloned()
        }
        Ok(Self(Box::new(Settings {
            embed_url: one(matches, "embed_url"),
            embed_model: one(matches, "embed_model"),
            embed_dimension: one(matches, "embed_dimension"),
            embed_query_prefix: one(matches, "embed_query_prefix"),
            embed_text_prefix: one(matches, "embed_text_prefix"),
            embed_key_file: one(matches, "embed_key_file"),
            ..Settings::default()
        })))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The source of the endpoint's key: the flag or its variable, else the key in the environment, else the settings file.
pub(super) fn embed_key(flags: &Settings, written: &Settings, given: Option<String>) -> EmbedKey {
    match (&flags.embed_key_file, given, &written.embed_key_file) {
        (Some(file), _, _) | (None, None, Some(file)) => EmbedKey::File(file.clone()),
        (None, Some(key), _) => EmbedKey::Given(key),
        (None, None, None) => EmbedKey::None,
    }
}

/// The embedding endpoint, if it is set. An incomplete one is an error, because it would be ignored silently.
pub(super) fn embed_endpoint(settings: &Settings, key: EmbedKey) -> Result<Option<EmbedEndpoint>> {
    match (&settings.embed_url, &settings.embed_model) {
        (Some(url), Some(model)) => Ok(Some(EmbedEndpoint {
            url: url.clone(),
            model: model.clone(),
            dimension: settings.embed_dimension,
            query_prefix: settings.embed_query_prefix.clone().unwrap_or_default(),
            text_prefix: settings.embed_text_prefix.clone().unwrap_or_default(),
            key,
        })),
        (Some(_), None) => bail!("the embedding endpoint has no model; set --embed-model"),
        (None, Some(_)) => bail!("the embedding endpoint has no URL; set --embed-url"),
        (None, None) => {
            let others = [
                ("--embed-dimension", settings.embed_dimension.is_some()),
                ("--embed-query-prefix", settings.embed_query_prefix.is_some()),
                ("--embed-text-prefix", settings.embed_text_prefix.is_some()),
                ("--embed-key-file", settings.embed_key_file.is_some()),
            ];
            match others.iter().find(|(_, is_set)| *is_set) {
                Some((flag, _)) => bail!("{flag} needs --embed-url and --embed-model"),
                None => Ok(None),
            }
        }
    }
}
