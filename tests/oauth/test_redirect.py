"""The address where the browser comes back to."""

import asyncio
import socket
from typing import Any
from urllib.parse import urlsplit

import anyio

from ui_mcp.oauth.redirect import Redirect


async def test_a_browser_that_connects_while_the_sign_in_is_given_up_breaks_nothing() -> None:
    loop, broken = asyncio.get_running_loop(), list[dict[str, Any]]()
    loop.set_exception_handler(lambda _, context: broken.append(context))
    redirect = Redirect()
    with socket.socket() as browser:
        browser.setblocking(False)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(redirect.answer, "state")
            await anyio.wait_all_tasks_blocked()
            browser.connect_ex(("127.0.0.1", urlsplit(redirect.url).port))
            # The loop looks for connections before it runs this, and handles them after it.
            loop.call_soon(tasks.cancel_scope.cancel)
        redirect.close()

    assert broken == []
