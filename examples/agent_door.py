"""An unattended agent: it exchanges key and secret for a token, and sees only its own tools."""

from toolcrib_http import URL, org_and_project, rpc, send

org, project = org_and_project()
agent = send("POST", f"/api/org/{org}/agents", {
    "name": "example agent", "projectId": project,
    "scopes": ["bricks:read", "kits:read"], "tools": ["bricks.list", "kits.list"],
})
token = send("POST", "/api/agents/authenticate", {"agent_key": agent["agent_key"], "agent_secret": agent["agent_secret"]})
door, key = URL + "/api/mcp", token["access_token"]
print("token until", token["expires_at"])

listed, _ = rpc(door, key, "tools/list")
print("sees:", ", ".join(tool["name"] for tool in listed["tools"]))
result, _ = rpc(door, key, "tools/call", name="bricks.list", arguments={})
print("calls bricks.list:", result["content"][0]["text"])
_, error = rpc(door, key, "tools/call", name="bricks.create_draft", arguments={})
print("is refused bricks.create_draft:", error["code"], error["message"])

send("DELETE", f"/api/org/{org}/agents/{agent['agent_id']}")
try:
    rpc(door, key, "ping")
except SystemExit as dead:
    print("after it was removed:", str(dead).split(": ", 1)[1])
