"""Those who use the product all at once: tabs, writers, a follower, an agent, one who never reads, one who edits."""

import random
from dataclasses import dataclass, field
from typing import Any

import anyio
import httpx2
from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException
from websockets.typing import Origin

from person_client import HTML, let_in, nonce_of, page_headers
from soak.product import VIEW, Product
from ui_mcp.testing.browser import open_socket
from ui_mcp.testing.view import NotShownError

HELD_UP = (OSError, TimeoutError, httpx2.HTTPError, WebSocketException, NotShownError, ValueError, KeyError)
MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


@dataclass(slots=True)
class Seen:
    """What everybody did and saw."""

    clicks: int = 0
    edits: int = 0
    calls: int = 0
    refused: list[str] = field(default_factory=list)
    acknowledged: dict[str, str] = field(default_factory=dict)
    followed: list[tuple[str, str]] = field(default_factory=list)


class Crowd:
    """Everybody at work until the time is over."""

    def __init__(self, product: Product) -> None:
        self.product = product
        self.seen = Seen()
        self.over = anyio.Event()
        self._reading = anyio.Lock()
        self._credential = ""

    async def visitor(self, http: httpx2.AsyncClient) -> str:
        """Open the page as a new visitor and return what its cookie holds."""
        answer = await http.get(f"{self.product.ui}/", headers={"cookie": ""})
        return answer.headers["set-cookie"].partition("=")[2].partition(";")[0]

    async def tab(self) -> None:
        """Click, look, and open the page again when it is gone."""
        while not self.over.is_set():
            try:
                async with open_socket(f"{self.product.ui}/") as browser:
                    for _ in range(random.randrange(5, 60)):
                        if self.over.is_set():
                            return
                        await browser.click("press()")
                        self.seen.clicks += 1
                        await anyio.sleep(random.random() * 0.1)
            except HELD_UP:
                await anyio.sleep(0.2)

    async def never_reads(self) -> None:
        """Open pages and leave everything they are sent where it is."""
        while not self.over.is_set():
            try:
                async with httpx2.AsyncClient(timeout=60) as http:
                    cookie = {"Cookie": f"ui-visitor-{self.product.ui_port}={await self.visitor(http)}"}
                url, origin = f"ws://127.0.0.1:{self.product.ui_port}/ws/1", Origin(self.product.ui)
                async with connect(
                    url, origin=origin, max_queue=1, open_timeout=60, additional_headers=cookie
                ) as socket:
                    await socket.send('{"type":"watch","data":{"varId":1,"expand":true}}')
                    with anyio.move_on_after(15):
                        await self.over.wait()
            except HELD_UP:
                await anyio.sleep(0.2)

    async def edits(self) -> None:
        """Save the view again and again."""
        while not self.over.is_set():
            self.seen.edits += 1
            self.product.view.write_text(VIEW % self.seen.edits)
            await anyio.sleep(0.7)

    async def writes(self, name: str) -> None:
        """Post numbered messages, each until it is acknowledged."""
        number = 0
        async with httpx2.AsyncClient(timeout=60) as http:
            while not self.over.is_set():
                text = f"{name} {number}"
                if (answer := await self._post(http, text)) is None:
                    await anyio.sleep(0.3)
                    continue
                self.seen.acknowledged[text] = answer
                number += 1
                await anyio.sleep(random.random() * 0.2)

    async def _post(self, http: httpx2.AsyncClient, text: str) -> str | None:
        try:
            answer = await self.say(http, {"content": text, "client_id": text})
            return str(answer.json()["id"])
        except HELD_UP:
            return None

    async def say(self, http: httpx2.AsyncClient, body: dict[str, str]) -> httpx2.Response:
        """Write as the person, who was let in once, on a page that was opened just now."""
        url = self.product.person
        if not self._credential:
            self._credential = (await anyio.to_thread.run_sync(let_in, url))["x-ui-person"]
        headers = page_headers(url, nonce_of((await http.get(url, headers=HTML)).text), self._credential)
        return await http.post(f"{self.product.person}/chat/messages", json=body, headers=headers)

    async def follows(self) -> None:
        """Read what came since the last read."""
        async with httpx2.AsyncClient(timeout=60) as http:
            while not self.over.is_set():
                if not await self.catch_up(http):
                    await anyio.sleep(0.3)

    async def catch_up(self, http: httpx2.AsyncClient) -> bool:
        """Take one page of messages; tell whether there was any."""
        async with self._reading:  # two who read at once would both take what comes after the same message
            after = self.seen.followed[-1][0] if self.seen.followed else None
            try:
                page = await self.call(http, "chat_read_since", {"after_id": after, "limit": 50})
                messages = page["structuredContent"]["messages"]
            except HELD_UP:
                return False
            self.seen.followed += [(message["id"], message["content"]) for message in messages]
            return bool(messages)

    async def agent(self) -> None:
        """Call tools, our own and a mounted server's."""
        async with httpx2.AsyncClient(timeout=60) as http:
            while not self.over.is_set():
                try:
                    for tool, arguments in (("ui_status", {}), ("ui_run", {"code": "return 1"}), ("echo__echo", {})):
                        answer = await self.call(http, tool, arguments)
                        self.seen.calls += 1
                        if answer.get("isError"):
                            self.seen.refused.append(str(answer["content"][0]["text"]))
                except HELD_UP:
                    await anyio.sleep(0.2)
                await anyio.sleep(0.05)

    async def call(self, http: httpx2.AsyncClient, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Call one tool of the product."""
        return await call_tool(http, f"{self.product.mcp}/mcp", tool, arguments)


async def call_tool(http: httpx2.AsyncClient, url: str, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Call one tool as a client that keeps no session."""
    headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": tool}
    headers["accept"] = "application/json, text/event-stream"
    params = {"name": tool, "arguments": arguments, "_meta": MODERN}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    text = (await http.post(url, json=body, headers=headers)).text
    answer: dict[str, Any] = httpx2.Response(200, text=text[text.index("{") :]).json()
    result: dict[str, Any] = answer["result"]
    return result
