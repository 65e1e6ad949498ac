"""What an agent's host does: speak MCP over pipes or over HTTP, raw, so that nothing is hidden."""

import itertools
import json
import subprocess
from typing import Any
from urllib.request import ProxyHandler, Request, build_opener

from journeys.story import Story

MODERN = "2026-07-28"


class StdioHost:
    """A host that starts the server itself and shakes hands."""

    def __init__(self, process: subprocess.Popen[str], version: str, name: str) -> None:
        self._process = process
        self._numbers = itertools.count(1)
        self.heard: list[dict[str, Any]] = []
        client = {"name": name, "version": "1"}
        self.hello = self.ask("initialize", protocolVersion=version, capabilities={}, clientInfo=client)
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def ask(self, method: str, **params: Any) -> Any:
        """Send a request and return its result; what is announced meanwhile is kept in `heard`."""
        number = next(self._numbers)
        self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        while (answer := self._receive()).get("id") != number:
            self.heard.append(answer)
        assert "result" in answer, answer
        return answer["result"]

    def await_heard(self, method: str, **params: Any) -> None:
        """Wait until this was announced; announcements come when they come, before an answer or after it."""
        wanted = {"method": method, "params": params}
        while not any(wanted.items() <= message.items() for message in self.heard):
            self.heard.append(self._receive())

    def call(self, story: Story, tool: str, **arguments: Any) -> str:
        """Call a tool, tell it, and return the text of its answer."""
        result = self.ask("tools/call", name=tool, arguments=arguments)
        text: str = result["content"][0]["text"]
        assert not result.get("isError"), text
        story.call(tool, arguments, text)
        return text

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()

    def _receive(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the server ended"
        message: dict[str, Any] = json.loads(line)
        return message


class HttpHost:
    """A host that keeps nothing: every request carries all the server has to know."""

    def __init__(self, url: str, **headers: str) -> None:
        self._url = url
        self._headers = headers
        self._open = build_opener(ProxyHandler({})).open

    def curl(self, method: str, **params: Any) -> str:
        """Return the command that sends the same request as `ask`."""
        body, headers = self._request(method, params)
        words = [f"curl {self._url}", *(f"-H '{name}: {value}'" for name, value in headers.items()), f"-d '{body}'"]
        return " \\\n    ".join(words)

    def ask(self, method: str, **params: Any) -> Any:
        """Send one request and return its result."""
        body, headers = self._request(method, params)
        with self._open(Request(self._url, body.encode(), headers), timeout=240) as answer:
            text = answer.read().decode()
        found: dict[str, Any] = json.loads(text[text.index("{") :])
        assert "result" in found, found
        return found["result"]

    def _request(self, method: str, params: dict[str, Any]) -> tuple[str, dict[str, str]]:
        meta = {
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientInfo": {"name": "stateless", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
        headers = {
            **self._headers,
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": MODERN,
            "Mcp-Method": method,
        }
        return json.dumps(message), headers | ({"Mcp-Name": params["name"]} if "name" in params else {})
