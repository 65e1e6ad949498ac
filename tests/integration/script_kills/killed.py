"""A gateway to be killed: `killed.py FOLDER STORE LOG [SCRIPT]` prints the id of the script, or `up`."""

import sys
from pathlib import Path

import anyio

from ui_mcp.gateway.config.settings import GatewaySettings
from ui_mcp.gateway.runner import connector
from ui_mcp.gateway.service import GatewayContext, running_gateway
from ui_mcp.jsontypes import JsonObject
from ui_mcp.validation import read

SERVER = Path(__file__).parent / "counting_server.py"


def settings_of(store: str, log: str) -> JsonObject:
    counting = {"name": "count", "command": sys.executable, "args": ["-I", "-S", str(SERVER), log]}
    allowed = [{"tool": name, "decision": "allow"} for name in ("add", "put", "look")]
    return {
        "policy": {"mode": "guard", "rules": allowed},
        "storage": {"url": store},
        "mcp": {"startup_wait_ms": 60_000, "servers": [{**counting, "start_timeout_s": 60}]},
    }


async def main(folder: Path, *words: str) -> None:
    store, log, *code = words
    context = GatewayContext(folder / "data", folder / "cache", connector(), mode="guard")
    async with running_gateway(read(GatewaySettings, settings_of(store, log)), context) as gateway:
        print(await (await gateway.scripts()).start(code[0], "local") if code else "up", flush=True)
        await anyio.sleep_forever()


if __name__ == "__main__":
    anyio.run(main, Path(sys.argv[1]), *sys.argv[2:])
