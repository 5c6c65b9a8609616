"""Helpers over urllib that the examples share."""

import json
import os
import urllib.error
import urllib.request

URL = os.environ.get("TOOLCRIB_URL", "http://127.0.0.1:7420")
KEY = os.environ["TOOLCRIB_KEY"]


def send(method, path, body=None, key=KEY):
    """Sends JSON and returns the JSON of the answer. Prints an HTTP error and exits."""
    url = path if path.startswith("http") else URL + path
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Authorization": f"Bearer {key}"}, method=method)
    try:
        with urllib.request.urlopen(request) as answer:
            return json.loads(answer.read() or b"null")
    except urllib.error.HTTPError as refused:
        raise SystemExit(f"{method} {path}: {refused.code} {refused.read().decode()}")


def rpc(url, key, method, **params):
    """Sends one JSON-RPC request to a door. Returns (result, error)."""
    answer = send("POST", url, {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}, key)
    return answer.get("result"), answer.get("error")


def call(url, key, tool, **arguments):
    """Calls a tool. Prints an error and exits."""
    result, error = rpc(url, key, "tools/call", name=tool, arguments=arguments)
    if error:
        raise SystemExit(f"{tool}: {error}")
    return result["structuredContent"]


def org_and_project():
    """Returns the key's org and its first project."""
    org = send("GET", "/api/orgs")["orgs"][0]["id"]
    projects = send("GET", f"/api/org/{org}/projects")["projects"]
    project = projects[0] if projects else send("POST", f"/api/org/{org}/projects", {"name": "example"})["project"]
    return org, project["id"]
