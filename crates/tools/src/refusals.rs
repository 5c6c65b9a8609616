//! Converts refusals by memory and the graph for the tools' answers. An error about an argument names the parameter.

use base::Error;
use knowledge::{Asked, DecisionPart, EntityPart, Error as Refusal, Flaw, Part};

/// Converts a refusal for the tool's answer.
pub(crate) fn refused(refusal: Refusal) -> Error {
    let parameter = match &refusal {
        Refusal::Store(error) => return error.clone(),
        Refusal::BadTriplet { position, part, flaw } => return bad_triplet(*position, *part, *flaw),
        Refusal::BadDecision { part, flaw } => {
            let parameter = decision_member(*part);
            return Error::invalid(&parameter, format!("`{parameter}` {flaw}"));
        }
        Refusal::NoEntityCalled { asked, called, near } => {
            let error = Error::invalid(&place_of(*asked), refusal.to_string());
            return error.with("entity", called.as_str()).with("suggestions", near.clone());
        }
        Refusal::EmptyContent | Refusal::ContentTooLong { .. } | Refusal::ContentHoldsNul => "content".to_owned(),
        Refusal::BadType => "type".to_owned(),
        Refusal::BadConfidence => "confidence".to_owned(),
        Refusal::TripletCount => "triplets".to_owned(),
        Refusal::NotFunctional { position, .. } => format!("triplets[{position}].functional"),
        Refusal::TooManyMembers { .. } => "aliases".to_owned(),
        Refusal::BadScore => "score".to_owned(),
        Refusal::UnknownListedTriplet { position } | Refusal::UnknownFact { position, .. } => format!("triplets[{position}]"),
        // No tool imports, rolls back or takes an id of these.
        Refusal::BadWeight
        | Refusal::MadeInFuture { .. }
        | Refusal::BadOrigin { .. }
        | Refusal::TooManyLines
        | Refusal::InLine { .. }
        | Refusal::NobodyNamed { .. }
        | Refusal::UnknownDecision(_)
        | Refusal::UnknownObservation(_)
        | Refusal::UnknownTriplet(_)
        | Refusal::UnknownEntity(_)
        | Refusal::NotMerged { .. }
        | Refusal::AlreadyMerged { .. }
        | Refusal::SameEntity { .. } => return Error::new(refusal.kind(), refusal.to_string()),
    };
    Error::invalid(&parameter, refusal.to_string())
}

fn bad_triplet(position: usize, part: Part, flaw: Flaw) -> Error {
    let member = match part {
        Part::Source(part) => format!("source.{}", member_of(part)),
        Part::Relationship => "relationship".to_owned(),
        Part::Target(part) => format!("target.{}", member_of(part)),
        Part::Description => "description".to_owned(),
        Part::ValidFrom => "validFrom".to_owned(),
        Part::ValidTo => "validTo".to_owned(),
    };
    let parameter = format!("triplets[{position}].{member}");
    let message = match flaw {
        Flaw::AfterEnd => format!("`{parameter}` is after `validTo`"),
        flaw => format!("`{parameter}` {flaw}"),
    };
    Error::invalid(&parameter, message)
}

const fn member_of(part: EntityPart) -> &'static str {
    match part {
        EntityPart::Name => "name",
        EntityPart::Kind => "type",
        EntityPart::Aliases => "aliases",
    }
}

fn decision_member(part: DecisionPart) -> String {
    match part {
        DecisionPart::Decision => "decision".to_owned(),
        DecisionPart::Reasoning => "reasoning".to_owned(),
        DecisionPart::Alternatives => "alternatives".to_owned(),
        DecisionPart::Alternative(position) => format!("alternatives[{position}]"),
        DecisionPart::Context => "context".to_owned(),
    }
}

fn place_of(asked: Asked) -> String {
    match asked {
        Asked::Centre => "entity".to_owned(),
        Asked::From => "from".to_owned(),
        Asked::To => "to".to_owned(),
        Asked::InTriplet(position) => format!("triplets[{position}]"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Kind;
    use knowledge::DecisionFlaw;
    use serde_json::json;

    #[test]
    fn errors_about_arguments_name_the_parameter() {
        let bad = |part, flaw| Refusal::BadTriplet { position: 1, part, flaw };
        let too_long = Flaw::TooLong { chars: 201, most: 200 };
        for (refusal, parameter, message) in [
            (Refusal::EmptyContent, "content", "`content` is empty"),
            (Refusal::BadConfidence, "confidence", "`confidence` must be a number from 0 to 1"),
            (
                Refusal::BadDecision { part: DecisionPart::Alternative(2), flaw: DecisionFlaw::Blank },
                "alternatives[2]",
                "`alternatives[2]` is empty",
            ),
            (Refusal::TripletCount, "triplets", "send 1 to 100 triplets per call"),
            (
                bad(Part::Relationship, Flaw::NoLetters),
                "triplets[1].relationship",
                "`triplets[1].relationship` has no letters; name a relationship",
            ),
            (
                bad(Part::Source(EntityPart::Kind), too_long),
                "triplets[1].source.type",
                "`triplets[1].source.type` has 201 characters; the maximum is 200",
            ),
            (
                bad(Part::Target(EntityPart::Aliases), Flaw::NotAName),
                "triplets[1].target.aliases",
                "`triplets[1].target.aliases` is empty or has control characters",
            ),
            (bad(Part::ValidFrom, Flaw::AfterEnd), "triplets[1].validFrom", "`triplets[1].validFrom` is after `validTo`"),
            (
                bad(Part::ValidTo, Flaw::BeforeStart),
                "triplets[1].validTo",
                "`triplets[1].validTo` is before the time when the fact became true",
            ),
            (
                Refusal::NotFunctional { position: 2, relationship: "uses".to_owned() },
                "triplets[2].functional",
                "`uses` has more than 1000 targets here, so it is not functional",
            ),
            (
                Refusal::TooManyMembers { name: "shop".to_owned(), count: 17 },
                "aliases",
                "`shop` would combine 17 entities; the maximum is 16",
            ),
            (Refusal::UnknownListedTriplet { position: 0 }, "triplets[0]", "no triplet has this id"),
            (
                Refusal::UnknownFact { position: 3, fact: "shop hates redis".to_owned() },
                "triplets[3]",
                "there is no triplet `shop hates redis`",
            ),
        ] {
            let error = refused(refusal);
            let said = (error.kind(), error.data()["parameter"].as_str(), error.message());
            assert_eq!(said, (Kind::InvalidParams, Some(parameter), message));
        }
    }

    #[test]
    fn an_unknown_name_comes_with_suggestions() {
        let near = vec!["redis".to_owned(), "redis-2".to_owned()];
        for (asked, parameter) in
            [(Asked::Centre, "entity"), (Asked::From, "from"), (Asked::To, "to"), (Asked::InTriplet(4), "triplets[4]")]
        {
            let error = refused(Refusal::NoEntityCalled { asked, called: "rediss".to_owned(), near: near.clone() });
            assert_eq!(error.message(), "there is no entity called `rediss`: did you mean `redis`, `redis-2`?");
            let expected = json!({"parameter": parameter, "entity": "rediss", "suggestions": ["redis", "redis-2"]});
            assert_eq!(json!(error.data()), expected);
        }
    }

    #[test]
    fn failures_of_the_store_name_no_parameter() {
        let failed = refused(Refusal::Store(Error::unavailable("the disk is full")));
        assert_eq!((failed.kind(), failed.log()), (Kind::Unavailable, Some("the disk is full")));
    }
}
