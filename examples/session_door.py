"""One session from opening to outcome, through the door for launched agents."""

from toolcrib_http import call, org_and_project, rpc, send

org, project = org_and_project()
opened = send("POST", f"/api/org/{org}/sessions", {"projectId": project, "agentLabel": "example", "workType": "feature"})
entry = opened["mcpConfig"]["mcpServers"]["toolcrib"]
door, key = entry["url"], entry["headers"]["Authorization"].removeprefix("Bearer ")

hello, _ = rpc(door, key, "initialize", protocolVersion="2025-11-25")
print("server:", hello["serverInfo"]["name"], hello["protocolVersion"])
listed, _ = rpc(door, key, "tools/list")
print("tools:", ", ".join(tool["name"] for tool in listed["tools"]))

brick = call(door, key, "bricks.create_draft", name="Tone is friendly", type="boolean",
             evaluation_prompt="Is the reply friendly? Answer true or false.")
kit = call(door, key, "kits.create_draft", name="Support replies", brick_ids=[brick["brick_id"]])
shown = call(door, key, "kits.get", kit_id=kit["kit_id"], include_publish_readiness=True)
print("kit:", shown["name"], shown["kit_code"], "-", shown["publish_readiness"]["status_badge"])

send("POST", f"/api/org/{org}/sessions/{opened['sessionId']}/end", {"outcome": "accepted"})
print("ended with outcome accepted")
