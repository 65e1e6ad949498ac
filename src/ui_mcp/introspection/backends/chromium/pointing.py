"""Pointing at an element: the card in pages of an attached browser, and our own page shown as the person sees it."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

import anyio

from ui_mcp.errors import IntrospectError
from ui_mcp.introspection.backend import MarkedView
from ui_mcp.introspection.backends.chromium.emulation import MAX_SIDE
from ui_mcp.introspection.backends.chromium.frames import CONTEXT
from ui_mcp.introspection.backends.chromium.launch import script
from ui_mcp.introspection.backends.chromium.page import DialogOpenError, DrivenPage
from ui_mcp.introspection.backends.chromium.tab import Command
from ui_mcp.jsontypes import JsonObject, dumps

_BINDING = "uiMcpPointed"
MAX_WORDS = 4000


def card_commands() -> Sequence[Command]:
    """Return the commands that offer the card in every document, also in those that are open already."""
    source = f"{script()};uiMcpIntrospect.offerPointCard((words) => globalThis.{_BINDING}(words))"
    in_context = {"source": source, "worldName": CONTEXT, "runImmediately": True}
    # In our own context only: a script of the page cannot call it, and so cannot write in the person's name.
    return [
        ("Runtime.addBinding", {"name": _BINDING, "executionContextName": CONTEXT}),
        ("Page.addScriptToEvaluateOnNewDocument", in_context),
    ]


def words_of(event: JsonObject) -> str | None:
    """Return what the person wrote, from a `Runtime.bindingCalled` event; None if it is another's."""
    return str(event["payload"])[:MAX_WORDS] if event["name"] == _BINDING else None


async def enable_card(driven: DrivenPage, *, on: bool) -> None:
    """Close the card and offer it no longer, or offer it again: around what an agent does to the page."""
    with suppress(DialogOpenError, IntrospectError):
        await driven.call({"op": "pointing", "on": on})


SHOWN_SECONDS = 5.0
_CONTENT = "[ui-app] > *"


async def show_as(driven: DrivenPage, view: MarkedView, wait_rendered: Callable[[], Awaitable[None]] | None) -> None:
    """Size, colour and scroll the page as in `view`."""
    sides = {"width": min(MAX_SIDE, max(1, view.width)), "height": min(MAX_SIDE, max(1, view.height))}
    await driven.emulation.set({**sides, "dark": view.dark})
    with anyio.move_on_after(SHOWN_SECONDS), suppress(DialogOpenError):
        await driven.unless_dialog(driven.tab.wait_selector(_CONTENT))
    if wait_rendered is not None:
        await wait_rendered()
    with suppress(DialogOpenError):
        await driven.unless_dialog(driven.tab.evaluate(f"scrollTo({dumps(view.left)}, {dumps(view.top)})"))
    await driven.idle()
