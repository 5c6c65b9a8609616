//! Every method, and the eras in which it exists.
//!
//! This module does not decide whether a caller may use a method.

use crate::era::Era;

macro_rules! methods {
    ($($name:ident = $word:literal, $eras:ident;)*) => {
        /// One method of the protocol.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Method {
            $(#[doc = concat!("`", $word, "`")] $name,)*
        }

        impl Method {
            /// Every method, for tests and the generated reference.
            pub const ALL: &'static [Method] = &[$(Method::$name,)*];

            /// The method as requests name it.
            pub const fn name(self) -> &'static str {
                match self { $(Method::$name => $word,)* }
            }

            /// The method called `name`, if requests of `era` have it.
            pub fn find(name: &str, era: Era) -> Option<Self> {
                let method = match name {
                    $($word => Method::$name,)*
                    _ => return None,
                };
                method.exists_in(era).then_some(method)
            }

            /// Whether the method exists in `era`.
            pub const fn exists_in(self, era: Era) -> bool {
                match self { $(Method::$name => methods!(@ $eras era),)* }
            }
        }
    };
    (@ both $era:ident) => { true };
    (@ legacy $era:ident) => { matches!($era, Era::Legacy) };
    (@ modern $era:ident) => { matches!($era, Era::Modern) };
}

methods! {
    Initialize = "initialize", legacy;
    Discover = "server/discover", modern;
    Ping = "ping", legacy;
    ToolsList = "tools/list", both;
    ToolsCall = "tools/call", both;
    ResourcesList = "resources/list", both;
    ResourcesTemplatesList = "resources/templates/list", both;
    ResourcesRead = "resources/read", both;
    ResourcesSubscribe = "resources/subscribe", legacy;
    ResourcesUnsubscribe = "resources/unsubscribe", legacy;
    PromptsList = "prompts/list", both;
    PromptsGet = "prompts/get", both;
    CompletionComplete = "completion/complete", both;
    LoggingSetLevel = "logging/setLevel", legacy;
    SubscriptionsListen = "subscriptions/listen", modern;
}

impl Method {
    /// The member of `params` that the `Mcp-Name` header repeats, if the method has one.
    pub const fn named_by(self) -> Option<&'static str> {
        match self {
            Method::ToolsCall | Method::PromptsGet => Some("name"),
            Method::ResourcesRead => Some("uri"),
            _ => None,
        }
    }

    /// Whether a modern result says how long it may be cached (`ttlMs`, `cacheScope`).
    pub const fn cacheable(self) -> bool {
        matches!(
            self,
            Method::Discover
                | Method::ToolsList
                | Method::ResourcesList
                | Method::ResourcesTemplatesList
                | Method::ResourcesRead
                | Method::PromptsList
        )
    }

    /// Whether a modern result may ask the caller for more input. Other methods must not.
    pub const fn may_require_input(self) -> bool {
        matches!(self, Method::ToolsCall | Method::PromptsGet | Method::ResourcesRead)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_exist_in_their_eras() {
        let names = |era| -> Vec<_> { Method::ALL.iter().filter(|m| m.exists_in(era)).map(|m| m.name()).collect() };
        assert_eq!(names(Era::Legacy).len(), 13);
        assert!(!names(Era::Modern).contains(&"ping") && !names(Era::Modern).contains(&"initialize"));
        assert_eq!(Method::find("server/discover", Era::Legacy), None);
        assert_eq!(Method::find("tools/call", Era::Modern), Some(Method::ToolsCall));
        assert_eq!(Method::find("TOOLS/CALL", Era::Modern), None);
        assert!(Method::ALL.iter().all(|m| Method::find(m.name(), Era::Modern).is_some() || m.exists_in(Era::Legacy)));
    }
}
