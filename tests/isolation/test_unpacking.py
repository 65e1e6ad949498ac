"""Answers that are small on the wire and large in memory, in every packing, against a process with little memory."""

import gzip
import sys
import zlib
from collections.abc import AsyncIterator
from functools import cache
from pathlib import Path
from subprocess import PIPE

import anyio
import brotli
import httpx2
import pytest

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

from gateway.conftest import Recorder, Reply
from ui_mcp.http_client import MAX_EVENT, Bounded, PackedError, TooLargeError

pytestmark = pytest.mark.slow
BLOCK = bytes(4 << 20)
BLOCKS = 256
WAYS = ["br", "zstd", "gzip", "deflate", "gzip, gzip", "br, gzip"]


@cache
def bomb(way: str) -> bytes:
    """A gibibyte of zeros."""
    match way:
        case "br":
            squeezed = brotli.Compressor(quality=1)
            return b"".join([*(squeezed.process(BLOCK) for _ in range(BLOCKS)), squeezed.finish()])
        case "zstd":
            packer = zstd.ZstdCompressor(level=1)
            return b"".join(packer.compress(BLOCK) for _ in range(BLOCKS)) + packer.flush()
        case "gzip" | "deflate":
            flat = zlib.compressobj(1, zlib.DEFLATED, 31 if way == "gzip" else 15)
            return b"".join(flat.compress(BLOCK) for _ in range(BLOCKS)) + flat.flush()
        case _:
            return gzip.compress(bomb(way.split(",", maxsplit=1)[0]))


@pytest.mark.skipif(sys.platform != "linux", reason="limits memory as Linux does")
@pytest.mark.covers("GW-ISO-3")
@pytest.mark.parametrize("way", WAYS)
async def test_a_small_answer_that_grows_beyond_all_limits_is_an_error_and_no_more(
    way: str, recorder: Recorder
) -> None:
    packed = Reply(200, bomb(way), {"Content-Encoding": way, "Content-Type": "application/json"})
    events = Reply(200, packed.body, {"Content-Encoding": way, "Content-Type": "text/event-stream"})
    recorder.default = Reply(404, b"", {})
    recorder.replies |= dict.fromkeys(("/", "/openapi.json", "/bomb", "/models"), packed)
    recorder.replies["/stream/chat/completions"] = events
    child = await anyio.run_process(
        [sys.executable, str(Path(__file__).with_name("limited.py")), recorder.url],
        stdout=PIPE,
        stderr=PIPE,
        check=False,
    )

    told = dict(line.split(": ", 1) for line in child.stdout.decode().splitlines())
    assert child.returncode == 0, child.stderr.decode()[-2000:]
    assert told["document"].endswith("sends more than 52428800 bytes")
    assert "No OpenAPI document found" in told["search for a document"]
    assert told["call"] == "The answer is larger than 209715200 bytes"
    assert "larger than 16777216 bytes" in told["model"] or "more than 16777216 bytes" in told["model"]
    assert told["list of models"] == "[]"


def answering(content: bytes, status: int = 200, *, events: bool = False, **headers: str) -> Bounded:
    async def body() -> AsyncIterator[bytes]:
        yield content

    given = {name.replace("_", "-"): value for name, value in headers.items()}
    replying = httpx2.MockTransport(lambda request: httpx2.Response(status, headers=given, content=body()))
    return Bounded(replying, 1000, events=events)


@pytest.mark.covers("GW-ISO-3")
@pytest.mark.parametrize("way", ["gzip", "x-gzip", "GZIP , identity"])
async def test_an_answer_within_the_limit_comes_unpacked(way: str) -> None:
    async with httpx2.AsyncClient(transport=answering(gzip.compress(b"a" * 999), content_encoding=way)) as client:
        answer = await client.get("http://x/")

    assert (answer.content, "content-encoding" in answer.headers) == (b"a" * 999, False)


@pytest.mark.covers("GW-ISO-3")
async def test_an_answer_beyond_the_limit_or_packed_strangely_is_refused() -> None:
    async with httpx2.AsyncClient(transport=answering(gzip.compress(b"a" * 1001), content_encoding="gzip")) as client:
        with pytest.raises(TooLargeError):
            await client.get("http://x/")
    async with httpx2.AsyncClient(transport=answering(b"", content_encoding="gzip, lzma")) as client:
        with pytest.raises(PackedError, match="lzma"):
            await client.get("http://x/")


@pytest.mark.covers("GW-ISO-3")
async def test_a_stream_of_events_has_no_end_but_each_event_has() -> None:
    event = b"data: " + bytes(5 << 20) + b"\r\n\r\n"
    many = answering(event * 8, events=True, content_type="text/event-stream; charset=utf-8")
    async with httpx2.AsyncClient(transport=many) as client, client.stream("GET", "http://x/") as answer:
        assert sum([len(chunk) async for chunk in answer.aiter_bytes()]) == len(event) * 8 > MAX_EVENT

    async def endless() -> AsyncIterator[bytes]:
        while True:
            yield bytes(1 << 20)

    kind = {"content-type": "text/event-stream"}
    replying = httpx2.MockTransport(lambda request: httpx2.Response(200, headers=kind, content=endless()))
    transport = Bounded(replying, events=True)
    async with httpx2.AsyncClient(transport=transport) as client, client.stream("GET", "http://x/") as answer:
        with pytest.raises(TooLargeError, match="An event"):
            [chunk async for chunk in answer.aiter_bytes()]


@pytest.mark.covers("GW-ISO-3")
async def test_calling_an_answer_a_stream_of_events_lifts_no_limit_where_it_is_gathered() -> None:
    events = b"data: x\n\n" * 200
    named = answering(events, content_type="text/event-stream")
    failing = answering(events, 500, events=True, content_type="text/event-stream")
    for transport in (named, failing):
        async with httpx2.AsyncClient(transport=transport) as client:
            with pytest.raises(TooLargeError, match="The answer"):
                await client.get("http://x/")
