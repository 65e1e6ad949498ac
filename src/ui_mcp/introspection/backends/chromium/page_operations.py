"""Operations on one page beside snapshots and actions: its logs, looks, storage, scripts and tools."""

import base64
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from ui_mcp.errors import UiActionFailedError, UiArgumentError
from ui_mcp.introspection.backend import BrowserRequest
from ui_mcp.introspection.backends.chromium import network
from ui_mcp.introspection.backends.chromium.devtools import DevToolsError
from ui_mcp.introspection.backends.chromium.page import DialogOpenError, DrivenPage
from ui_mcp.jsontypes import Json, JsonObject, dumps

LINES = 50
"""Lines of a log that one answer holds."""


class _Line(Protocol):
    @property
    def number(self) -> int: ...

    def line(self) -> str: ...


async def operate(driven: DrivenPage, request: BrowserRequest) -> str:
    """Perform an operation and return its answer.

    Raises:
        UiActionFailedError: the browser refused it, or a native dialog is open.
        UiArgumentError: an argument is missing or wrong.
    """
    await driven.require_allowed()
    try:
        answer = await driven.unless_dialog(OPERATIONS[request.op](driven, request))
    except DialogOpenError as error:
        raise UiActionFailedError("A native dialog is open\nAnswer it first.", reason="BEHIND_MODAL") from error
    except DevToolsError as error:
        raise UiActionFailedError(f"The browser refused {request.op}: {error}", reason="REFUSED") from error
    await driven.require_allowed()  # again: the page may have navigated meanwhile
    return answer


async def _network(driven: DrivenPage, request: BrowserRequest) -> str:
    if request.id:
        return await network.details(driven.activity.requests.get(_number(request.id)))
    return _page_of(driven.activity.requests.listed(request.text or ""), request, "requests")


async def _console(driven: DrivenPage, request: BrowserRequest) -> str:
    wanted = (request.text or "").casefold()
    found = [message for message in driven.activity.console if wanted in message.line().casefold()]
    return _page_of(found, request, "messages")


def _page_of(found: Sequence[_Line], request: BrowserRequest, what: str) -> str:
    """Return the newest lines, or those before the number `options.before`."""
    before = request.options.get("before")
    older = [entry for entry in found if before is None or entry.number < int(before)]
    shown = older[-LINES:]
    rest = len(older) - len(shown)
    more = [f'… {rest} older ones: options {{"before": {shown[0].number}}}'] if rest else []
    return "\n".join([f"{len(found)} {what}", *more, *(entry.line() for entry in shown)])


async def _emulate(driven: DrivenPage, request: BrowserRequest) -> str:
    return await driven.emulation.set(request.options)


async def _cookies(driven: DrivenPage, request: BrowserRequest) -> str:
    session, options = driven.tab.session, request.options
    if options.get("clear"):
        for cookie in (await session.send("Network.getCookies"))["cookies"]:
            await session.send("Network.deleteCookies", {key: cookie[key] for key in ("name", "domain", "path")})
    for cookie in _entries(options.get("set", [])):
        await session.send("Network.setCookie", {"url": driven.tab.url, **cookie})
    found = (await session.send("Network.getCookies"))["cookies"]
    cookies = [cookie for cookie in found if cookie_key(cookie) not in driven.private_cookies]
    lines = [f"{cookie['name']}={cookie['value']} ({cookie['domain']}{cookie['path']})" for cookie in cookies]
    return "\n".join([f"{len(lines)} cookies", *lines])


def cookie_key(cookie: JsonObject) -> str:
    """Return what names a cookie, whatever its value."""
    return f"{cookie['name']} {cookie['domain']}{cookie['path']}"


async def _storage(driven: DrivenPage, request: BrowserRequest) -> str:
    options = request.options
    place = "sessionStorage" if options.get("session") else "localStorage"
    script = f"""((given, clear) => {{
      if (clear) {place}.clear();
      for (const [key, value] of Object.entries(given))
        {place}.setItem(key, typeof value === "string" ? value : JSON.stringify(value));
      return Object.fromEntries(Object.entries({place}));
    }})({dumps(dict(options.get("set", {})))}, {dumps(bool(options.get("clear")))})"""
    return f"{place} {dumps(await driven.tab.evaluate(script))}"


async def _evaluate(driven: DrivenPage, request: BrowserRequest) -> str:
    if not request.text:
        raise UiArgumentError("evaluate needs `text`, an expression such as document.title")
    try:
        value: Json = await driven.tab.evaluate(request.text)
    except DevToolsError as error:
        raise UiActionFailedError(f"The expression failed: {error}", reason="SCRIPT") from error
    return dumps(value)


async def _pdf(driven: DrivenPage, request: BrowserRequest) -> str:
    options: JsonObject = {"printBackground": True, "preferCSSPageSize": True, **request.options}
    answer = await driven.tab.session.send("Page.printToPDF", options)
    file = driven.new_file("page.pdf")
    file.write_bytes(base64.b64decode(answer["data"]))
    return f"saved as {file}"


async def _webmcp(driven: DrivenPage, request: BrowserRequest) -> str:
    if not request.id:
        return driven.tools.listed()
    return dumps(await driven.tools.call(request.id, request.options))


def _number(text: str) -> int:
    if not text.isdecimal():
        raise UiArgumentError(f"`id` is the number of a request, not {text!r}")
    return int(text)


def _entries(given: Json) -> list[JsonObject]:
    """Return cookies that are given as a list, or as names with values."""
    if isinstance(given, dict):
        return [{"name": name, "value": str(value)} for name, value in given.items()]
    return list(given)


OPERATIONS: dict[str, Callable[[DrivenPage, BrowserRequest], Awaitable[str]]] = {
    "network": _network,
    "console": _console,
    "emulate": _emulate,
    "cookies": _cookies,
    "storage": _storage,
    "evaluate": _evaluate,
    "pdf": _pdf,
    "webmcp": _webmcp,
}
