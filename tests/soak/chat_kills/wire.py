"""Requests to the product, made of the standard library alone: the person's pages, and MCP of 2026-07-28."""

import http.client
import json
import re
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]
VERSION = "2026-07-28"
TASKS: Json = {"extensions": {"io.modelcontextprotocol/tasks": {}}}
_META = re.compile(r'<meta name="ui-nonce" content="([^"]+)">')


class CutError(Exception):
    """The answer did not arrive: whether the request took effect is not known."""


class NobodyThereError(CutError):
    """There was no listener: the request was not sent."""


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


def ask(
    port: int, method: str, path: str, headers: dict[str, str], body: bytes | None = None, seconds: float = 20.0
) -> Answer:
    """Send one request on a connection of its own.

    Raises:
        CutError: no whole answer came back.
    """
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=seconds)
    try:
        connect(connection)
        connection.request(method, path, body, headers)
        found = connection.getresponse()
        return Answer(found.status, found.read())
    except (OSError, http.client.HTTPException) as error:
        raise CutError(repr(error)) from error
    finally:
        connection.close()


def connect(connection: http.client.HTTPConnection) -> None:
    try:
        connection.connect()
    except OSError as error:
        raise NobodyThereError(repr(error)) from error


class RefusedError(Exception):
    """The server answered with an error of the protocol or of HTTP."""

    def __init__(self, text: str, code: int = 0) -> None:
        super().__init__(text)
        self.code = code


@dataclass
class Agent:
    """An MCP client; every request stands alone, so a restart of the server needs no handshake."""

    port: int
    name: str
    capabilities: Json = field(default_factory=lambda: TASKS)
    _count: int = 0

    def request(self, method: str, params: Json, seconds: float = 20.0) -> Json:
        """Return the result of a request.

        Raises:
            CutError: no whole answer came back.
            RefusedError: the answer is an error.
        """
        self._count += 1
        prefix = "io.modelcontextprotocol/"
        meta = {
            f"{prefix}protocolVersion": VERSION,
            f"{prefix}clientCapabilities": self.capabilities,
            f"{prefix}clientInfo": {"name": self.name, "version": "1"},
        }
        message = {"jsonrpc": "2.0", "id": self._count, "method": method, "params": {**params, "_meta": meta}}
        headers = {
            "content-type": "application/json",
            "accept": "application/json, text/event-stream",
            "mcp-protocol-version": VERSION,
            "mcp-method": method,
            **({"mcp-name": str(params["name"])} if "name" in params else {}),
            **({"mcp-name": str(params["taskId"])} if "taskId" in params else {}),
        }
        answer = ask(self.port, "POST", "/mcp", headers, json.dumps(message).encode(), seconds)
        found = _message(answer)
        if "error" in found:
            raise RefusedError(json.dumps(found["error"]), found["error"].get("code", 0))
        result: Json = found["result"]
        return result

    def call(self, tool: str, arguments: Json, seconds: float = 20.0) -> Json:
        return self.request("tools/call", {"name": tool, "arguments": arguments}, seconds)


def _message(answer: Answer) -> Json:
    text = answer.body.decode()
    if text.startswith(("event:", "data:", ":", "id:", "retry:")):
        lines = [line.removeprefix("data:").strip() for line in text.splitlines() if line.startswith("data:")]
        if not lines:
            raise CutError(text[:200])
        text = lines[-1]
    try:
        found: Json = json.loads(text)
    except ValueError as error:
        raise CutError(text[:200]) from error
    if "result" not in found and "error" not in found:
        raise CutError(text[:200])
    return found


@dataclass
class Person:
    """A browser that is signed in at one listener; it loads the page again after each restart."""

    port: int
    credential: str = ""
    _nonce: str = ""

    @property
    def _origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def enter(self, code: str) -> None:
        answer = self._send("POST", "/person/enter", {"code": code})
        if answer.status != 200:
            raise RefusedError(answer.body.decode(), answer.status)
        self.credential = answer.json()["credential"]

    def send(self, method: str, path: str, body: object = None, raw: bytes | None = None) -> Answer:
        """Send what the page would send; a page of an earlier run of the server is loaded again first.

        Raises:
            CutError: no whole answer came back.
        """
        answer = self._send(method, path, body, raw)
        if answer.status == 409 and b"stale_page" in answer.body:
            self._nonce = ""
            answer = self._send(method, path, body, raw)
        return answer

    def accepted(self, path: str, body: object) -> int:
        """Return the status with which a stream of events begins, then read it to its end, wherever that is.

        Raises:
            CutError: not even a status came back.
        """
        status = self._begun(path, body)
        if status == 409:  # of an earlier run of the server
            self._nonce = ""
            status = self._begun(path, body)
        return status

    def _begun(self, path: str, body: object) -> int:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            headers = {**self._headers(), "content-type": "application/json"}
            connect(connection)
            connection.request("POST", path, json.dumps(body).encode(), headers)
            found = connection.getresponse()
            with suppress(OSError, http.client.HTTPException):
                found.read()
            return found.status
        except (OSError, http.client.HTTPException) as error:
            raise CutError(repr(error)) from error
        finally:
            connection.close()

    def _send(self, method: str, path: str, body: object = None, raw: bytes | None = None) -> Answer:
        headers, content = self._headers(), raw
        if body is not None:
            headers["content-type"], content = "application/json", json.dumps(body).encode()
        return ask(self.port, method, path, headers, content)

    def _headers(self) -> dict[str, str]:
        if not self._nonce:
            page = ask(self.port, "GET", "/", {"accept": "text/html"})
            found = _META.search(page.body.decode(errors="replace"))
            if found is None:
                raise CutError("the page has no nonce")
            self._nonce = found[1]
        headers = {"origin": self._origin, "sec-fetch-site": "same-origin", "x-ui-nonce": self._nonce}
        if self.credential:
            headers["x-ui-person"] = self.credential
        return headers
