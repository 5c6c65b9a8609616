//! Skipping statements that cannot match, and evaluating the rest one by one, changes no decision: plain Cedar decides the same
//! over the whole set.

use std::collections::BTreeSet;
use std::str::FromStr;

use cedar_policy::{AuthorizationError, Authorizer, Context, Decision, Entities, EntityUid, PolicySet, Request};
use policy::{Input, Reason};
use proptest::prelude::*;
use serde_json::Value;

use crate::random::{arguments, asked, plain, statements};
use crate::support::{NOW, document, model};

/// The result of plain Cedar: the decision, the determining policies, and the policies that failed.
fn plain_cedar(policies: &PolicySet, request: &Value) -> (Decision, BTreeSet<String>, BTreeSet<String>) {
    let uid = |part: &str| EntityUid::from_json(request[part].clone()).unwrap();
    let context = Context::from_json_value(request["context"].clone(), None).unwrap();
    let entities = Entities::from_json_value(request["entities"].clone(), None).unwrap();
    let asked = Request::new(uid("principal"), uid("action"), uid("resource"), context, None).unwrap();
    let response = Authorizer::new().is_authorized(&asked, policies, &entities);
    let reasons = response.diagnostics().reason().map(ToString::to_string).collect();
    let errors = response
        .diagnostics()
        .errors()
        .map(|AuthorizationError::PolicyEvaluationError(error)| error.policy_id().to_string())
        .collect();
    (response.decision(), reasons, errors)
}

/// Cedar counts policies from 0.
fn ours(ids: &BTreeSet<String>, count: usize) -> BTreeSet<String> {
    let number = |id: &String| id.trim_start_matches("policy").parse::<usize>().unwrap() + 1;
    ids.iter().map(|id| if count == 1 { "p".to_owned() } else { format!("p#{}", number(id)) }).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]
    #[test]
    fn plain_cedar_decides_the_same(
        statements in statements(),
        requests in prop::collection::vec((asked(), arguments()), 1..6),
    ) {
        let text = statements.join("\n");
        let policies = PolicySet::from_str(&text).unwrap();
        let compiled = model().compile(&[document("p", text.clone())]);
        for ((principal, action), arguments) in &requests {
            let (decision, reasons, errors) = plain_cedar(&policies, &plain(principal, action, arguments));
            let answer = compiled.decide(principal, NOW, action, Input::These(arguments));
            prop_assert_eq!(answer.allowed, decision == Decision::Allow && errors.is_empty(), "{}\n{:?}", text, answer);
            let failed = answer.errors.iter().map(|failure| failure.policy.as_deref().unwrap().to_owned());
            let failed: BTreeSet<String> = failed.collect();
            prop_assert_eq!(&failed, &ours(&errors, statements.len()), "{}", text);
            if answer.reason != Reason::Error {
                let determining: BTreeSet<String> = answer.policies.iter().map(|id| id.to_string()).collect();
                prop_assert_eq!(determining, ours(&reasons, statements.len()), "{}", text);
            }
        }
    }
}

#[test]
fn rules_for_other_agents_change_nothing() {
    let others: String =
        (0..2_000).map(|number| format!("forbid(principal in Agent::\"agt_x{number}\", action, resource);\n")).collect();
    let own = "permit(principal in Agent::\"agt_1\", action, resource);";
    let compiled = model().compile(&[document("others", others), document("own", own)]);
    for (principal, allowed) in crate::support::everyone().iter().zip([true, false, true, false]) {
        assert_eq!(compiled.decide(principal, NOW, "bricks.list", Input::Any).allowed, allowed);
    }
}
