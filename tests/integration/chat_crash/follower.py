"""Follows the inbox over MCP and keeps what it took together with its watermark: `follower.py URL FILE COUNT`.

Listen first, then read from the stored watermark; a hint or five seconds lead to the next read. Taken messages and
the watermark are written in one transaction, so being killed at any point repeats or loses nothing.
"""

import json
import os
import sqlite3
import sys
from typing import Any

import anyio
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

URL, FILE, COUNT = sys.argv[1], sys.argv[2], int(sys.argv[3])


def keep(file: sqlite3.Connection, page: dict[str, Any]) -> None:
    with file:
        for message in page["messages"]:
            file.execute("INSERT INTO taken (id, content) VALUES (?, ?)", (message["id"], message["content"]))
        file.execute("INSERT OR REPLACE INTO mark VALUES (1, ?)", (page["last_id"],))


async def follow(file: sqlite3.Connection) -> None:
    http = create_mcp_http_client(headers={"Authorization": f"Bearer {os.environ['CHAT_TOKEN']}"})
    where = streamable_http_client(URL, http_client=http)
    async with http, Client(where) as client, client.listen(resource_subscriptions=["ui://chat/inbox"]) as hints:
        while True:
            await drain(client, file)
            if file.execute("SELECT count(*) FROM taken").fetchone()[0] >= COUNT:
                return
            with anyio.move_on_after(5):
                await anext(hints)


async def drain(client: Client, file: sqlite3.Connection) -> None:
    while True:
        row = file.execute("SELECT id FROM mark").fetchone()
        arguments = {"after_id": row[0] if row else None, "limit": 50}
        page = json.loads((await client.call_tool("chat_read_since", arguments)).content[0].text)  # type: ignore[union-attr]
        if page["messages"]:
            keep(file, page)
        if not page["has_more"]:
            return


async def main() -> None:
    file = sqlite3.connect(FILE)
    file.execute("CREATE TABLE IF NOT EXISTS taken (n INTEGER PRIMARY KEY, id TEXT, content TEXT)")
    file.execute("CREATE TABLE IF NOT EXISTS mark (one INTEGER PRIMARY KEY, id TEXT)")
    while True:
        try:
            await follow(file)
            return
        except (Exception, BaseExceptionGroup) as error:
            if isinstance(error, BaseExceptionGroup) and error.subgroup(KeyboardInterrupt):
                raise
            await anyio.sleep(0.05)


anyio.run(main)
