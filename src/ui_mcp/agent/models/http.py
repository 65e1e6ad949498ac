"""HTTP for model vendors: streaming POST with retries, server-sent events, repair of JSON arguments."""

import json
import random
import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from time import monotonic, time

import anyio
import httpx2

from ui_mcp.agent.model import Retrying
from ui_mcp.agent.models.refusal import refused
from ui_mcp.errors import ContextOverflowError, ModelError
from ui_mcp.http_client import open_client
from ui_mcp.jsontypes import Json, JsonObject, dumps, loads
from ui_mcp.log import logger

_FENCE = re.compile(r"^```[a-zA-Z]*\s*\n?(.*?)\n?```$", re.DOTALL)
_TRAILING_COMMA = re.compile(r",(\s*[}\]])")


def read_arguments(text: str) -> tuple[JsonObject | None, str | None]:
    """Return the arguments, or None and the reason; empty text means no arguments."""
    stripped = text.strip()
    if not stripped:
        return {}, None
    problem = "not JSON"
    for attempt in _attempts(stripped):
        try:
            value: Json = loads(attempt)
        except ValueError as error:
            problem = f"not JSON: {error}"
            continue
        found, problem = checked_arguments(value)
        if found is not None:
            return found, None
    return None, problem


def checked_arguments(value: Json) -> tuple[JsonObject | None, str]:
    """Return arguments that can be stored and sent, or None and the reason."""
    if not isinstance(value, dict):
        return None, f"a JSON object is needed, not {type(value).__name__}"
    try:
        dumps([[[[[[value]]]]]])  # nested as deep as in the journal, where they must be encodable
    except (TypeError, ValueError) as error:
        return None, f"they cannot be used: {error}"
    return value, ""


def _attempts(text: str) -> list[str]:
    fenced = _FENCE.match(text)
    inner = fenced[1].strip() if fenced else text
    # Try the unchanged text first: a comma before a brace may be part of a string.
    return [text, inner, _TRAILING_COMMA.sub(r"\1", inner)]


RETRIED = frozenset({408, 409, 425, 429, *range(500, 600)})
LONGEST_WAIT = 60.0
RETRY_SECONDS = 150.0
"""Longest time for all attempts at one request together, until the answer begins."""
MAX_LINE = 16 * 1024 * 1024
MAX_ANSWER = 64 * 1024 * 1024
DRAIN_SECONDS = 0.25
"""How long a response may stay open after its last event; a response read to its end leaves a connection to reuse."""

BROKEN_OFF = "The model server broke off in the middle of its answer\nAsk again, or let it continue."

_log = logger("agent.model")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Address, headers, timeouts and retries of a vendor's API."""

    base_url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    connect_seconds: float = 10.0
    idle_seconds: float = 60.0
    """Longest time between two chunks of an answer."""
    attempts: int = 6
    """How often a request is sent at most."""
    first_wait: float = 0.5
    proxy: str | None = None


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """One server-sent event."""

    name: str
    data: str

    def json(self) -> Json:
        """Parse the data.

        Raises:
            ModelError: the data is not JSON.
        """
        try:
            return loads(self.data)
        except ValueError as error:
            raise ModelError(f"The model server sent something that is not JSON: {self.data[:200]}") from error


class ModelHttp:
    """Posts requests and yields the server-sent events of the response."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._client: httpx2.AsyncClient | None = None

    async def post(self, path: str, body: JsonObject, end: str = "") -> AsyncIterator[ServerEvent | Retrying]:
        """Send `body` and yield the events of the response, up to one whose data is `end`.

        It is sent again only until the first event of the response; each time a `Retrying` says so before.

        Raises:
            ModelError: the vendor refused, or all retries failed.
        """
        attempt = 1
        last_start = monotonic() + RETRY_SECONDS
        while True:
            begun = False
            try:
                async with self._answer(path, body) as lines:
                    async for event in server_events(lines):
                        begun = True
                        if end and event.data.strip() == end:
                            await _drain(lines)
                            return
                        yield event
                return
            except _RetryError as error:
                if begun:
                    raise ModelError(BROKEN_OFF) if error.interrupted else error.final from error
                wait = self._wait(error, attempt, last_start)
                reason = error.final.message.partition("\n")[0]
            attempt += 1
            _log.info("%s; trying again in %.1f s", reason, wait)
            yield Retrying(reason, wait, attempt, self._endpoint.attempts)
            await anyio.sleep(wait)

    async def close(self) -> None:
        if self._client is not None:
            await self._client.aclose()
            self._client = None

    def _wait(self, failed: "_RetryError", attempt: int, last_start: float) -> float:
        """Return the seconds until the next attempt.

        Raises:
            ModelError: there is none.
        """
        if (asked := failed.after) is not None and asked > LONGEST_WAIT:
            raise ModelError(f"{failed.final.message}\nIt asks for a pause of {asked:.0f} s.") from failed
        backoff: float = min(self._endpoint.first_wait * 2 ** (attempt - 1), LONGEST_WAIT)
        wait = backoff * random.uniform(0.5, 1.0) if asked is None else asked  # noqa: S311  (jitter, not a secret)
        if attempt >= self._endpoint.attempts or monotonic() + wait > last_start:
            raise failed.final from failed
        return wait

    @asynccontextmanager
    async def _answer(self, path: str, body: JsonObject) -> AsyncIterator[AsyncIterator[str]]:
        if self._client is None:
            limits = httpx2.Timeout(self._endpoint.idle_seconds, connect=self._endpoint.connect_seconds)
            self._client = open_client(proxy=self._endpoint.proxy, trust_env=True, limit=MAX_ANSWER, timeout=limits)
        url = self._endpoint.base_url.rstrip("/") + path
        headers = {"accept": "text/event-stream", "content-type": "application/json", **self._endpoint.headers}
        try:
            async with self._client.stream("POST", url, content=_encoded(body), headers=headers) as response:
                if response.status_code >= 400:
                    raise await _refused(response)
                yield lines_of(response.aiter_bytes())
        except httpx2.TimeoutException as error:
            silent = f"The model server at {self._endpoint.base_url} fell silent\nllm.timeout_s says how long it may."
            raise _RetryError(ModelError(silent)) from error
        except httpx2.TransportError as error:
            reason = str(error) or type(error).__name__
            away = f"Cannot reach the model server at {self._endpoint.base_url}: {reason}"
            hint = "Is it running, and is llm.api_base right?"
            raise _RetryError(ModelError(f"{away}\n{hint}"), interrupted=True) from error
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise ModelError(f"The answer of {self._endpoint.base_url} cannot be read: {error}") from error
        except UnicodeEncodeError as error:
            raise ModelError("llm.api_key holds a character that no key has; type it again") from error


async def read_all(urls: Sequence[str], seconds: float, limit: int) -> list[Json]:
    """Return the JSON at each address, asked for at the same time; None where there is none within `seconds`.

    No proxy is used, and no redirect is followed.
    """
    found: dict[str, Json] = {}
    async with open_client(limit=limit, trust_env=False, timeout=seconds) as client, anyio.create_task_group() as tasks:

        async def ask(url: str) -> None:
            with anyio.move_on_after(seconds), suppress(httpx2.HTTPError, ValueError):
                answer = await client.get(url)
                if answer.status_code == 200:
                    found[url] = loads(answer.content)

        for url in urls:
            tasks.start_soon(ask, url)
    return [found.get(url) for url in urls]


async def _drain(lines: AsyncIterator[str]) -> None:
    # The answer is complete, so that whatever happens to its connection now is no error.
    with suppress(ModelError, httpx2.HTTPError), anyio.move_on_after(DRAIN_SECONDS):
        async for _ in lines:
            pass


def _encoded(body: JsonObject) -> bytes:
    try:
        return dumps(body).encode()
    except TypeError:  # an integer of more than 64 bits, which a tool's schema may contain
        return json.dumps(body).encode()


class _RetryError(Exception):
    """A failure that may be retried after `after` seconds; `final` is raised after the last attempt."""

    def __init__(self, final: ModelError, after: float | None = None, *, interrupted: bool = False) -> None:
        super().__init__(final.message)
        self.final = final
        self.after = after
        self.interrupted = interrupted
        """Whether the connection failed, which means something else once the answer has begun."""


async def _refused(response: httpx2.Response) -> Exception:
    text = (await response.aread()).decode("utf-8", "replace")
    error = refused(response.status_code, text)
    if response.status_code in RETRIED and not isinstance(error, ContextOverflowError):
        return _RetryError(error, retry_after(response.headers.get("retry-after"), time))
    return error


def retry_after(header: str | None, clock: Callable[[], float]) -> float | None:
    """Return the seconds of a Retry-After header, which is a number or a date; None if it is invalid."""
    if not header:
        return None
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(header).timestamp() - clock())
    except (ValueError, OverflowError):
        return None


async def lines_of(chunks: AsyncIterator[bytes]) -> AsyncIterator[str]:
    """Split a stream into lines at CR, LF and CRLF only, as event streams require.

    Raises:
        ModelError: a line is longer than `MAX_LINE`, or the stream than `MAX_ANSWER`.
    """
    # bytes.splitlines, because str.splitlines also splits at other Unicode line breaks.
    begun: list[bytes] = []
    size = total = 0
    after_return = False
    async for received in chunks:
        # CR and LF of one line end may be in different chunks.
        chunk = received.removeprefix(b"\n") if after_return else received
        after_return = received.endswith(b"\r")
        total += len(chunk)
        for line in chunk.splitlines(keepends=True):
            begun.append(line)
            size += len(line)
            if size > MAX_LINE or total > MAX_ANSWER:
                raise ModelError(f"The model server sent a line or an answer of more than {MAX_LINE} bytes")
            if line.endswith((b"\n", b"\r")):
                yield b"".join(begun).rstrip(b"\r\n").decode("utf-8", "replace")
                begun, size = [], 0
    if begun:
        yield b"".join(begun).decode("utf-8", "replace")


async def server_events(lines: AsyncIterator[str]) -> AsyncIterator[ServerEvent]:
    """Parse the lines of an event stream; comments are skipped."""
    name, data = "", list[str]()
    async for line in lines:
        if not line:
            if data:
                yield ServerEvent(name, "\n".join(data))
            name, data = "", []
        elif not line.startswith(":"):
            field_name, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if field_name == "data":
                data.append(value)
            elif field_name == "event":
                name = value
    if data:
        yield ServerEvent(name, "\n".join(data))
