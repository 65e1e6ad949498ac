"""Requests that others would have us make: to private addresses, by documents, redirects, names and arguments."""

import socket
from typing import Any

import anyio
import httpx2
import pytest

from gateway.conftest import MakeTarget, Recorder, Reply, document, json_reply
from ui_mcp.errors import RefusedError, UiMcpError
from ui_mcp.gateway.openapi import guarded, network
from ui_mcp.gateway.openapi.guarded import GuardedTransport
from ui_mcp.toolkit.tool import Call

METADATA = "http://169.254.169.254/latest/meta-data/"
PATHS = {"/x": {"get": {"operationId": "go", "responses": {}}}}


@pytest.mark.covers("GW-LOD-7", "GW-REQ-10")
@pytest.mark.parametrize("where", [METADATA, "http://[fe80::1]/", "http://10.0.0.1/admin", "http://metadata.internal/"])
async def test_an_api_cannot_send_a_call_to_a_private_address(
    where: str, recorder: Recorder, make_target: MakeTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolved(monkeypatch, {"metadata.internal": ["169.254.169.254"]})
    recorder.replies["/x"] = Reply(302, b"", {"Location": where})
    async with make_target(document(PATHS), base_url=recorder.url) as target:
        await target.refresh()
        with pytest.raises(RefusedError, match="private"):
            await target.source.call("api__go", {}, Call())

    assert [request.target for request in recorder.requests] == ["/x"]


@pytest.mark.covers("GW-LOD-7")
async def test_a_document_from_elsewhere_cannot_name_a_private_server(
    recorder: Recorder, make_target: MakeTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(network, "is_loopback", lambda host: False)  # the document's host stands for one far away
    port = recorder.url.rsplit(":", 1)[1]
    described = document(PATHS, servers=[{"url": f"http://127.0.0.1:{port}"}])
    recorder.replies["/openapi.json"] = json_reply(described)
    async with make_target(spec=f"http://localhost:{port}/openapi.json") as target:
        await target.refresh()
        with pytest.raises(RefusedError, match="private"):
            await target.source.call("api__go", {}, Call())

    assert [request.target for request in recorder.requests] == ["/openapi.json"]


async def test_a_file_argument_cannot_fetch_from_a_private_address(recorder: Recorder, make_target: MakeTarget) -> None:
    body = {"multipart/form-data": {"schema": {"properties": {"photo": {"type": "string", "format": "binary"}}}}}
    paths = {"/up": {"post": {"operationId": "up", "requestBody": {"content": body}, "responses": {}}}}
    async with make_target(document(paths), base_url=recorder.url) as target:
        await target.refresh()
        for url in (METADATA, "http://localhost:1/x", "file:///etc/passwd"):
            with pytest.raises(UiMcpError, match=r"private|does not resolve"):
                await target.source.call("api__up", {"body": {"photo": {"url": url}}}, Call())

    assert recorder.requests == []


@pytest.mark.covers("GW-LOD-7")
async def test_a_name_that_changes_its_address_is_asked_once_and_used_as_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = resolved(monkeypatch, {"rebind.example": ["93.184.216.34", "127.0.0.1"]})
    seen: list[str] = []

    def record(request: httpx2.Request) -> httpx2.Response:
        seen.append(f"{request.url.host} {request.headers['host']} {request.extensions['sni_hostname']}")
        return httpx2.Response(200)

    async with httpx2.AsyncClient(transport=GuardedTransport([], httpx2.MockTransport(record))) as client:
        await client.get("http://rebind.example/first")
        with pytest.raises(RefusedError, match=r"127\.0\.0\.1"):
            await client.get("http://rebind.example/second")

    assert asked == ["rebind.example", "rebind.example"]
    assert seen == ["93.184.216.34 rebind.example rebind.example"]


@pytest.mark.parametrize(
    "host",
    [
        *("0.0.0.0", "0", "127.1", "2130706433", "0x7f000001", "017700000001", "localhost", "localhost."),
        *("[::]", "[::1]", "[::ffff:7f00:1]", "[64:ff9b::7f00:1]", "[fd00::1]", "169.254.169.254", "metadata"),
    ],
)
async def test_every_spelling_of_an_inner_address_is_refused(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def reached(request: httpx2.Request) -> httpx2.Response:
        pytest.fail(f"{request.url} was reached")

    async with httpx2.AsyncClient(transport=GuardedTransport([], httpx2.MockTransport(reached))) as client:
        with pytest.raises((RefusedError, httpx2.InvalidURL, httpx2.UnsupportedProtocol)):
            await client.get(f"http://{host}/")


def resolved(monkeypatch: pytest.MonkeyPatch, names: dict[str, list[str]]) -> list[str]:
    """Let names resolve to one address after the other; return the list of names that were asked for."""
    asked: list[str] = []
    real = anyio.getaddrinfo

    async def answer(host: str, port: int, **more: Any) -> Any:
        if host not in names:
            return await real(host, port, **more)
        asked.append(host)
        left = names[host]
        address = left.pop(0) if len(left) > 1 else left[0]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]

    monkeypatch.setattr(guarded, "getaddrinfo", answer)
    return asked
