"""Gives introspection access to this server's open page and to the pages of its own browser."""

import os
from contextlib import suppress
from functools import partial

from ui_mcp.errors import NotFoundError, SessionGoneError
from ui_mcp.introspection.backends.open_page import OpenPage
from ui_mcp.introspection.targets import ServedUi
from ui_mcp.introspection.tree import uid_prefix
from ui_mcp.ui.sessions.session import Session
from ui_mcp.ui.states import Configured, Running


def served_ui(state: Configured | Running) -> ServedUi | None:
    """Return the UI that is served in this state, or None."""
    if not isinstance(state, Running):
        return None
    try:
        session = state.sessions.get("1")
    except NotFoundError:
        return ServedUi(state.url, state.entry_url, None, 0.0, _nothing_rendered)
    return ServedUi(
        state.url, state.entry_url, _open_page(session, state.url), session.touched, partial(wait_rendered, session)
    )


def _open_page(session: Session, url: str) -> OpenPage | None:
    connection = session.pages.latest()
    if connection is None:
        return None
    ask = partial(connection.queries.ask, prefix=uid_prefix(connection.number))
    return OpenPage(ask, url, os.getpid(), partial(session.wait_rendered, connection), connection.acted_in)


async def wait_rendered(session: Session) -> None:
    """Wait until the pages in our own browsers show what a session has changed."""
    with suppress(SessionGoneError):
        for page in session.pages.driven():
            await session.wait_rendered(page)


async def _nothing_rendered() -> None:
    return
