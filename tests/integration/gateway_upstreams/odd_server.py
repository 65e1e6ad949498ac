"""An MCP server in plain Python that misbehaves as its argument says: crash N, hang, garbage, spoof, good."""

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

KIND = sys.argv[1]
calls: list[str] = []
ASKS = {"elicit": "elicitation/create", "sample": "sampling/createMessage", "roots": "roots/list", "strange": "odd/ask"}


def send(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def tool(name: str, **hints: bool) -> dict[str, Any]:
    return {"name": name, "description": name, "inputSchema": {"type": "object"}, "annotations": hints}


def note(method: str) -> None:
    """Append the method to the file that HEARD names."""
    if heard := os.environ.get("HEARD"):
        with Path(heard).open("a") as file:
            file.write(f"{method}\n")


def answer(request: dict[str, Any]) -> None:
    method, number = request["method"], request.get("id")
    note(method)
    if number is None:
        return
    if KIND == "modern" and answer_modern(request, method, number):
        return
    if method == "initialize":
        version = request["params"]["protocolVersion"]
        capabilities = {"tools": {"listChanged": True}, "resources": {"subscribe": True}}
        info = {"name": KIND, "version": "1"}
        result = {
            "protocolVersion": version,
            "capabilities": capabilities,
            "serverInfo": info,
            "instructions": "be kind",
        }
        send({"jsonrpc": "2.0", "id": number, "result": result})
    elif method == "tools/list":
        tools = [tool("pid", readOnlyHint=True), tool("write"), tool("spoof"), tool("grow"), tool("env"), tool("touch")]
        tools += [tool(name) for name in ASKS]
        if Path(os.environ.get("GROWN", "/nonexistent")).exists():
            tools.append(tool("more"))
        send({"jsonrpc": "2.0", "id": number, "result": {"tools": tools}})
    elif method == "resources/list":
        listed = [{"uri": "odd://thing", "name": "thing", "mimeType": "text/plain"}]
        send({"jsonrpc": "2.0", "id": number, "result": {"resources": listed}})
    elif method == "resources/read":
        contents = [{"uri": request["params"]["uri"], "mimeType": "text/plain", "text": f"from {KIND}"}]
        send({"jsonrpc": "2.0", "id": number, "result": {"contents": contents}})
    elif method in {"resources/subscribe", "resources/unsubscribe", "ping"}:
        send({"jsonrpc": "2.0", "id": number, "result": {}})
    elif method == "tools/call":
        calls.append(request["params"]["name"])
        call(request["params"]["name"], number)
    else:
        send({"jsonrpc": "2.0", "id": number, "error": {"code": -32601, "message": "Method not found"}})


def answer_modern(request: dict[str, Any], method: str, number: int) -> bool:
    if method == "initialize":
        send({"jsonrpc": "2.0", "id": number, "error": {"code": -32022, "message": "Only 2026-07-28"}})
    elif method == "server/discover":
        told = {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {"listChanged": True}}}
        send({"jsonrpc": "2.0", "id": number, "result": {"resultType": "complete", **told}})
    elif method == "tools/call" and request["params"]["name"] == "elicit":
        needs_input(request["params"], number)
    else:
        return method == "subscriptions/listen"
    return True


def needs_input(params: dict[str, Any], number: int) -> None:
    if "inputResponses" in params:
        told = json.dumps([params["inputResponses"], params["requestState"]])
        send({"jsonrpc": "2.0", "id": number, "result": {"content": [{"type": "text", "text": told}]}})
        return
    asked = {"sure": {"method": "elicitation/create", "params": {"message": "Sure?", "requestedSchema": {}}}}
    result = {"resultType": "input_required", "inputRequests": asked, "requestState": "sealed"}
    send({"jsonrpc": "2.0", "id": number, "result": result})


def call(name: str, number: int) -> None:
    if KIND == "crash" and len(calls) % 3 == 0:
        os._exit(1)
    if KIND == "garbage":
        print("this is not JSON {{{", flush=True)
    if name == "spoof":
        send({"jsonrpc": "2.0", "id": number, "error": {"code": -32950, "message": "policy_denied"}})
        return
    if name == "grow":
        Path(os.environ["GROWN"]).touch()
        send({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
    if name == "touch":
        send({"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": "odd://thing"}})
    if name in ASKS:
        send({"jsonrpc": "2.0", "id": f"ask-{number}", "method": ASKS[name], "params": {"message": "Sure?"}})
        reply = json.loads(sys.stdin.readline())
        told = json.dumps({"asked": reply["id"], **{key: reply[key] for key in ("result", "error") if key in reply}})
        send({"jsonrpc": "2.0", "id": number, "result": {"content": [{"type": "text", "text": told}]}})
        return
    text = os.environ.get("A_SECRET", "none") if name == "env" else str(os.getpid())
    send({"jsonrpc": "2.0", "id": number, "result": {"content": [{"type": "text", "text": text}]}})


if KIND == "hang":
    time.sleep(3600)
if KIND == "stubborn":  # answers, but does not end by itself
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if KIND == "broken":
    sys.exit("no such luck")
for line in sys.stdin:
    answer(json.loads(line))
if KIND == "stubborn":
    time.sleep(3600)
