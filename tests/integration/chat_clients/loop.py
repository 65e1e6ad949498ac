"""What every driver does: take commands as JSON lines on stdin, print answers and notifications as JSON lines."""

import json
import os
import sys
from collections.abc import AsyncIterator
from typing import Any, Protocol

import anyio


class Connected(Protocol):
    """A client of one library, connected."""

    async def subscribe(self, uri: str) -> None: ...

    async def call(self, name: str, arguments: dict[str, Any]) -> tuple[bool, str, Any]: ...

    async def read(self, uri: str) -> tuple[str | None, str]: ...

    async def tools(self) -> list[str]: ...


def credentials() -> dict[str, str]:
    """Return the headers by which a client speaks for the human, if it does."""
    token = os.environ.get("CHAT_TOKEN")
    return {"Authorization": f"Bearer {token}"} if token else {}


def say(**line: Any) -> None:
    print(json.dumps(line), flush=True)


async def commands() -> AsyncIterator[dict[str, Any]]:
    while line := await anyio.to_thread.run_sync(sys.stdin.readline, abandon_on_cancel=True):
        yield json.loads(line)


async def drive(client: Connected) -> None:
    say(event="connected")
    async for command in commands():
        match command:
            case {"op": "subscribe", "uri": uri}:
                await client.subscribe(uri)
                say(answer="subscribed")
            case {"op": "call", "name": name, "arguments": arguments}:
                failed, text, structured = await client.call(name, arguments)
                say(answer=json.loads(text), failed=failed, same=structured is None or structured == json.loads(text))
            case {"op": "read", "uri": uri}:
                mime, text = await client.read(uri)
                say(answer=json.loads(text), mime=mime)
            case {"op": "tools"}:
                say(answer=await client.tools())
            case _:
                return
