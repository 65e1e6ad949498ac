"""An MCP server on stdio with an app, `app_server.py NAME`: `show` opens it, only the app may call `refresh`."""

import json
import sys
from pathlib import Path

ADDRESS = "ui://app/index.html"
PAGE = Path(__file__).with_name("app_page.html").read_text(encoding="utf-8")
TOOLS = [
    {"name": "show", "inputSchema": {"type": "object"}, "_meta": {"ui": {"resourceUri": ADDRESS}}},
    {"name": "refresh", "inputSchema": {"type": "object"}, "_meta": {"ui": {"visibility": ["app"]}}},
    {"name": "think", "inputSchema": {"type": "object"}, "_meta": {"ui": {"visibility": ["model"]}}},
]


def main() -> None:
    name = sys.argv[1]
    for line in sys.stdin:
        request = json.loads(line)
        if "id" in request:
            _send({"id": request["id"], "result": _result(name, request)})


def _result(name: str, request: dict[str, object]) -> dict[str, object]:
    match request["method"], request.get("params"):
        case "initialize", {"protocolVersion": version}:
            offered = {"tools": {}, "resources": {"subscribe": True}}
            return {"protocolVersion": version, "capabilities": offered, "serverInfo": {"name": name, "version": "1"}}
        case "tools/list", _:
            own = {"name": f"only_{name}", "inputSchema": {"type": "object"}}
            return {"tools": [*TOOLS, own]}
        case "tools/call", {"name": tool}:
            if tool == "think":  # tells everybody that the page has changed
                _send({"method": "notifications/resources/updated", "params": {"uri": ADDRESS}})
            link = {"type": "resource_link", "uri": ADDRESS, "name": "app"}
            return {"content": [{"type": "text", "text": f"{tool} of {name}"}, link]}
        case "resources/list", _:
            return {"resources": [{"uri": ADDRESS, "name": "app", "mimeType": "text/html;profile=mcp-app"}]}
        case "resources/read", {"uri": uri}:
            html = PAGE.replace("NAME", name)
            page = {"uri": uri, "mimeType": "text/html;profile=mcp-app", "text": html, "_meta": {"ui": {"csp": {}}}}
            return {"contents": [page]}
        case _:
            return {}


def _send(message: dict[str, object]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
