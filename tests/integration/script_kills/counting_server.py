"""An MCP server on stdio that counts each call in a file before it answers: `counting_server.py FILE`."""

import json
import os
import sys

TOOLS = {
    "add": {"readOnlyHint": False, "destructiveHint": False, "idempotentHint": False},
    "put": {"readOnlyHint": False, "destructiveHint": False, "idempotentHint": True},
    "look": {"readOnlyHint": True},
    "remove": {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": False},
}
SCHEMA = {"type": "object", "properties": {"key": {"type": "integer"}}, "required": ["key"]}


def main() -> None:
    log = os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    for line in sys.stdin:
        request = json.loads(line)
        if "id" in request:
            answer = {"jsonrpc": "2.0", "id": request["id"], **_answer(request, log)}
            sys.stdout.write(json.dumps(answer) + "\n")
            sys.stdout.flush()


def _answer(request: dict[str, object], log: int) -> dict[str, object]:
    params = request.get("params")
    match request["method"], params:
        case "initialize", {"protocolVersion": version}:
            info = {"name": "counting", "version": "1"}
            return {"result": {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}}
        case "tools/list", _:
            tools = [{"name": name, "inputSchema": SCHEMA, "annotations": hints} for name, hints in TOOLS.items()]
            return {"result": {"tools": tools}}
        case "tools/call", {"name": name, "arguments": {"key": key}}:
            os.write(log, f"{name} {key}\n".encode())
            found = {"doubled": key * 2}
            return {"result": {"content": [{"type": "text", "text": json.dumps(found)}], "structuredContent": found}}
        case "ping", _:
            return {"result": {}}
        case _:
            return {"error": {"code": -32601, "message": "unknown method"}}


if __name__ == "__main__":
    main()
