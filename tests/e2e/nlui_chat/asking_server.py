"""An MCP server over stdio whose tool asks the person with a form and says what it heard."""

import json
import sys
from typing import Any

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "title": "Name on the parcel"},
        "size": {"type": "string", "title": "Size", "enum": ["s", "l"], "enumNames": ["Small", "Large"]},
        "gift": {"type": "boolean", "title": "Wrap as a gift"},
    },
    "required": ["name", "size"],
}


def send(message: dict[str, Any]) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def read() -> dict[str, Any]:
    message: dict[str, Any] = json.loads(sys.stdin.readline())
    return message


def heard() -> str:
    """Ask, and return the answer of the client; other requests wait."""
    params = {"message": "How shall the parcel be sent?", "requestedSchema": SCHEMA}
    send({"id": "form", "method": "elicitation/create", "params": params})
    while (answer := read()).get("id") != "form":
        pass
    return json.dumps(answer.get("result"), sort_keys=True)


def result(request: dict[str, Any]) -> dict[str, Any]:
    match request["method"]:
        case "initialize":
            version = request["params"]["protocolVersion"]
            info = {"name": "post", "version": "1"}
            return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
        case "tools/list":
            return {"tools": [{"name": "order", "description": "Order", "inputSchema": {"type": "object"}}]}
        case "tools/call":
            return {"content": [{"type": "text", "text": f"heard {heard()}"}]}
    return {}


while True:
    asked = read()
    if "id" in asked:
        send({"id": asked["id"], "result": result(asked)})
