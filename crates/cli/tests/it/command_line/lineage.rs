//! What a key made is told when it is revoked, and goes with `--cascade`.

use serde_json::json;

use crate::support::{Engine, Place, Terminal, both_engines};

both_engines! {
    async fn revoking_a_key_tells_what_lives_on(engine: Engine) {
        let place = Place::new(engine);
        let server = place.start().await;
        let terminal = Terminal::at(&place);
        let add = async |terminal: &Terminal, name: &str| {
            let key = terminal.json(&format!("key add {name}")).await["key"].clone();
            let text = |member: &str| key[member].as_str().unwrap().to_owned();
            (text("id"), terminal.with("TOOLCRIB_URL", &server.url).with("TOOLCRIB_KEY", &text("fullKey")))
        };
        let (parent, with_parent) = add(&terminal, "parent").await;
        let (child, with_child) = add(&with_parent, "child").await;
        let (grandchild, _) = add(&with_child, "grandchild").await;
        assert_eq!(terminal.json("key show child").await["key"]["createdBy"], json!(parent));

        let said = terminal.run("key revoke parent").await;
        let lines: Vec<_> = said.ok().lines().collect();
        assert_eq!(lines[0], format!("revoked {parent}"), "{said:?}");
        assert!(lines[1].contains("live on") && lines[1].contains("--cascade"), "{said:?}");
        assert_eq!(lines[2..], [format!("  {child}  child"), format!("  {grandchild}  grandchild")], "{said:?}");
        let said = terminal.run(&format!("key revoke {child} --cascade")).await;
        assert_eq!(said.ok(), format!("revoked {child} and 1 key that it made\n"));
        let said = terminal.json(&format!("key revoke {parent} --cascade")).await;
        assert_eq!((&said["revoked"], &said["mintedRevoked"], &said["minted"]), (&json!(parent), &json!(0), &json!([])));
    }

    async fn pruning_is_not_for_keys(engine: Engine) {
        let place = Place::new(engine);
        let server = place.start().await;
        let terminal = Terminal::at(&place);
        let key = terminal.json("key add everything").await["key"]["fullKey"].as_str().unwrap().to_owned();
        let with_key = terminal.with("TOOLCRIB_URL", &server.url).with("TOOLCRIB_KEY", &key);
        let said = with_key.run("audit prune --before 31d --yes").await;
        assert!(said.refused(1).contains("only an owner who is logged in, or the instance admin"), "{said:?}");
        let mut serve = place.serve();
        serve.args(["--audit-keep-days", "7"]);
        let refused = crate::support::Said::by(serve).await;
        assert!(refused.refused(1).contains("--audit-keep-days is `7`, which is less than --audit-keep-days-min (`30`)"), "{refused:?}");
    }
}
