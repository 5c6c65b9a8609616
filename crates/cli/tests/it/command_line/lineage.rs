//! Revoking a key lists the keys that it minted. `--cascade` revokes those too.

use serde_json::json;

use crate::support::{Engine, Place, Terminal, both_engines};

both_engines! {
    async fn revoking_a_key_lists_its_active_child_keys(engine: Engine) {
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
        assert!(lines[1].contains("still valid") && lines[1].contains("--cascade"), "{said:?}");
        assert_eq!(lines[2..], [format!("  {child}  child"), format!("  {grandchild}  grandchild")], "{said:?}");
        let said = terminal.run(&format!("key revoke {child} --cascade")).await;
        assert_eq!(said.ok(), format!("revoked {child} and 1 key created with it\n"));
        let said = terminal.json(&format!("key revoke {parent} --cascade")).await;
        assert_eq!((&said["revoked"], &said["mintedRevoked"], &said["minted"]), (&json!(parent), &json!(0), &json!([])));
    }

    async fn removing_a_user_lists_or_revokes_their_keys(engine: Engine) {
        let place = Place::new(engine);
        let server = place.start().await;
        let terminal = Terminal::at(&place);
        let http = crate::support::http();
        for (flag, verb) in [("", "remove"), (" --cascade", "remove"), ("", "set --disable"), (" --cascade", "set --disable")] {
            let email = "ada@acme.example";
            let add = format!("user add --email {email} --role admin --password-stdin");
            terminal.run_with_input(&add, "correct horse battery").await.ok();
            let login = json!({"email": email, "password": "correct horse battery"});
            let login = http.post(format!("{}/api/console/login", server.url)).json(&login).send().await.unwrap();
            let cookie = login.headers()["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
            let csrf = login.json::<serde_json::Value>().await.unwrap();
            let org = csrf["user"]["orgId"].as_str().unwrap();
            let mint = http.post(format!("{}/api/org/{org}/keys", server.url)).header("x-csrf-token", csrf["csrf"].as_str().unwrap());
            let mint = mint.header("cookie", cookie);
            let minted = mint.json(&json!({"name": "hers", "projects": "all"})).send().await.unwrap();
            let key = minted.json::<serde_json::Value>().await.unwrap()["key"]["id"].as_str().unwrap().to_owned();
            let said = terminal.run(&format!("user {verb} {email}{flag}")).await;
            let done = if verb == "remove" { "removed" } else { "disabled" };
            if flag.is_empty() {
                assert!(said.ok().contains("keys they created are still valid") && said.out.contains("--cascade"), "{said:?}");
                assert!(said.out.ends_with(&format!("\n  {key}  hers\n")), "{said:?}");
            } else {
                assert!(said.ok().ends_with(&format!("{done} {email} and 1 key they created\n")), "{said:?}");
            }
            let revoked = terminal.json(&format!("key show {key}")).await["key"]["revokedAt"].is_string();
            assert_eq!(revoked, !flag.is_empty());
            if verb != "remove" {
                terminal.run(&format!("user remove {email}")).await.ok();
            }
        }
    }

    async fn keys_cannot_prune_the_trail(engine: Engine) {
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
        assert!(refused.refused(1).contains("--audit-keep-days (`7`) is less than --audit-keep-days-min (`30`)"), "{refused:?}");
    }
}
