"""Decides with cedarpy. Reads sets of policies with requests as JSON, writes one answer per request.

An error in any policy denies here, as it does in the server: Cedar itself would skip the policy.
"""

import json
import sys

import cedarpy


def decide(policies, request):
    question = {part: request[part] for part in ("principal", "action", "resource", "context")}
    result = cedarpy.is_authorized(question, policies, request["entities"])
    if result.decision is cedarpy.Decision.NoDecision:
        raise SystemExit(f"no decision: {result.diagnostics.errors}")
    failed = bool(result.diagnostics.errors)
    return {"allowed": result.allowed and not failed, "failed": failed}


def answer(asked):
    if "schema" in asked:
        return {"valid": cedarpy.validate_policies(asked["validate"], asked["schema"]).validation_passed}
    policies = cedarpy.PolicySet.from_str(asked["policies"])
    return [decide(policies, request) for request in asked["requests"]]


json.dump([answer(asked) for asked in json.load(sys.stdin)], sys.stdout)
