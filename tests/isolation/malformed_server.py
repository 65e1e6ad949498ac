"""An MCP server that answers each request with what its command line says, well-formed or not."""

import json
import sys

GREETING = {
    "protocolVersion": "2025-06-18",
    "capabilities": {"tools": {}, "resources": {}, "prompts": {}},
    "serverInfo": {"name": "malformed", "version": "1"},
}

if __name__ == "__main__":
    answers = {"initialize": GREETING, **json.loads(sys.argv[1])}
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message:
            answer = {"jsonrpc": "2.0", "id": message["id"], "result": answers.get(message["method"], {})}
            print(json.dumps(answer), flush=True)
