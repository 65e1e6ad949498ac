"""An MCP server on stdio whose tools are what a file says at the moment, `changing_server.py FILE`."""

import json
import sys
from pathlib import Path


def main() -> None:
    file, listed = Path(sys.argv[1]), ""
    for line in sys.stdin:
        request = json.loads(line)
        match request["method"], request.get("params"):
            case "initialize", {"protocolVersion": version}:
                info, offered = {"name": "changing", "version": "1"}, {"tools": {"listChanged": True}}
                _answer(request, {"protocolVersion": version, "capabilities": offered, "serverInfo": info})
            case "tools/list", _:
                listed = file.read_text()
                _answer(request, {"tools": json.loads(listed)})
            case "tools/call", _:
                if file.read_text() != listed:  # before the answer, so that a test can wait for it
                    _send({"method": "notifications/tools/list_changed"})
                _answer(request, {"content": [{"type": "text", "text": "done"}]})
            case _:
                if "id" in request:
                    _answer(request, {})


def _answer(request: dict[str, object], result: dict[str, object]) -> None:
    _send({"id": request["id"], "result": result})


def _send(message: dict[str, object]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
