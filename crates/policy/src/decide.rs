//! Decisions: Cedar evaluates the statements that apply, and the answer is no unless they permit it.

use std::sync::Arc;

use base::{Principal, Timestamp};
use cedar_policy::{Context, Entities, EvalResult, EvaluationError, Expression, Request, RestrictedExpression, eval_expression};
use serde_json::Value;

use crate::compiled::{Compiled, Part};
use crate::decision::{Decision, Evaluation, Failure, WouldBe};
use crate::model::{Model, Peer, Target, Verb};
use crate::reads::{InputReads, Reads};
use crate::set::{self, Set};
use crate::who::PrincipalEntity;

/// The arguments of a call.
#[derive(Clone, Copy, Debug)]
pub enum Input<'a> {
    /// Unknown, as in a listing: a condition on `context.input` counts as favourable.
    Any,
    /// Known, as in a call.
    These(&'a Value),
}

impl Compiled {
    /// Whether `principal` may call the tool or skill `action` with these arguments or, for a listing, with some arguments.
    /// Documents in `log_only` mode are evaluated only for calls, because a listing has no effect.
    pub fn decide(&self, principal: &Principal, now: Timestamp, action: &str, input: Input<'_>) -> Decision {
        self.answer(principal, now, self.model.call(action), input)
    }

    /// Whether `principal` may see a peer or a skill in a list.
    pub fn discover(&self, principal: &Principal, now: Timestamp, peer: Peer<'_>) -> Decision {
        self.answer(principal, now, self.model.other(Verb::Discover, peer), Input::These(&Value::Null))
    }

    /// Whether `principal` may cancel a task of a peer or a skill.
    pub fn cancel(&self, principal: &Principal, now: Timestamp, peer: Peer<'_>) -> Decision {
        self.answer(principal, now, self.model.other(Verb::Cancel, peer), Input::These(&Value::Null))
    }

    fn answer(&self, principal: &Principal, now: Timestamp, target: Option<usize>, input: Input<'_>) -> Decision {
        let Some((number, target)) = target.and_then(|number| Some((number, self.model.target(number)?))) else {
            return Decision::unknown_action();
        };
        let who = PrincipalEntity::new(&self.model, principal);
        let question = Question { model: &self.model, who, door: principal.door().word(), now, number, target, input };
        let enforced = question.outcome(&self.enforced);
        let mut decision = Decision::of(&enforced);
        if let Input::These(_) = input
            && !self.tried.is_empty()
        {
            decision.log_only = WouldBe::of(&enforced, &question.outcome(&self.tried));
        }
        decision
    }
}

/// The input of a decision.
struct Question<'a> {
    model: &'a Model,
    who: PrincipalEntity,
    door: &'static str,
    now: Timestamp,
    number: usize,
    target: &'a Target,
    input: Input<'a>,
}

impl Question<'_> {
    /// The result of the statements of one mode.
    fn outcome(&self, part: &Part) -> Evaluation {
        if let Some(broken) = &part.broken {
            return Evaluation { broken: true, errors: broken.clone(), ..Evaluation::default() };
        }
        self.evaluate(&part.set).unwrap_or_else(Evaluation::failed)
    }

    fn evaluate(&self, set: &Set) -> Result<Evaluation, String> {
        let listing = matches!(self.input, Input::Any);
        let slices = set.slices(self.model, &self.who, (self.number, self.target), listing);
        if slices.is_empty() {
            return Ok(Evaluation::default());
        }
        let reads = set::reads(&slices);
        let entities = set.entities(self.model, &self.who, (self.number, self.target), &reads)?;
        let request = self.request(&reads)?;
        let mut outcome = Evaluation::default();
        for statement in set.statements(&slices) {
            if !statement.covers(&self.who) {
                continue;
            }
            let satisfied = match holds(statement.condition(listing).expression.as_ref(), &request, &entities) {
                Ok(holds) => holds,
                // A condition that was rewritten for listing may fail although the call would not, so a failure is favourable
                // too.
                Err(_) if listing && statement.listing.is_some() => statement.permits,
                Err(message) => {
                    outcome.errors.push(Failure { policy: Some(Arc::clone(&statement.id)), message });
                    false
                }
            };
            if satisfied {
                let satisfied = if statement.permits { &mut outcome.permits } else { &mut outcome.forbids };
                satisfied.push(Arc::clone(&statement.id));
            }
        }
        Ok(outcome)
    }

    /// The request, with only the context that is read.
    fn request(&self, reads: &Reads) -> Result<Request, String> {
        let mut context = Vec::new();
        if let (Input::These(arguments), Some(shape)) = (self.input, &self.target.input)
            && reads.input != InputReads::Nothing
        {
            let input = shape.input(arguments, &reads.input).map_err(|misfit| misfit.to_string())?;
            context.push(("input".to_owned(), input));
        }
        if reads.now || reads.door {
            context.push(("call".to_owned(), self.call(reads)?));
        }
        let context = Context::from_pairs(context).map_err(|error| error.to_string())?;
        let (action, resource) = (self.target.action.clone(), self.target.resource.clone());
        Request::new(self.who.uid().clone(), action, resource, context, None).map_err(|error| error.to_string())
    }

    fn call(&self, reads: &Reads) -> Result<RestrictedExpression, String> {
        let mut members = Vec::new();
        if reads.now {
            members.push(("now".to_owned(), RestrictedExpression::new_datetime(self.now.rfc3339())));
        }
        if reads.door {
            members.push(("door".to_owned(), RestrictedExpression::new_string(self.door.to_owned())));
        }
        RestrictedExpression::new_record(members).map_err(|error| error.to_string())
    }
}

/// Whether a condition holds. A statement without a condition always applies.
fn holds(condition: Option<&Expression>, request: &Request, entities: &Entities) -> Result<bool, String> {
    let Some(condition) = condition else {
        return Ok(true);
    };
    match eval_expression(request, entities, condition) {
        Ok(EvalResult::Bool(holds)) => Ok(holds),
        Ok(_) => Err("the condition is neither true nor false".to_owned()),
        Err(error) => Err(in_words(&error)),
    }
}

/// The error without the values: arguments may be secret, and this text is stored.
fn in_words(error: &EvaluationError) -> String {
    match error {
        EvaluationError::EntityDoesNotExist(_)
        | EvaluationError::EntityAttrDoesNotExist(_)
        | EvaluationError::RecordAttrDoesNotExist(_) => error.to_string(),
        EvaluationError::IntegerOverflow(_) => "a number in it overflowed".to_owned(),
        EvaluationError::TypeError(_) => "a value in it has the wrong type".to_owned(),
        EvaluationError::RecursionLimit(_) => "it nests too deeply".to_owned(),
        EvaluationError::FailedExtensionFunctionExecution(_) => "a function in it failed".to_owned(),
        _ => "it cannot be evaluated".to_owned(),
    }
}
