"""A page in a Chromium that we start."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from ui_mcp.discovery import lazy
from ui_mcp.introspection.backend import Attachment, AttachRequest, Backend, UiBackend
from ui_mcp.introspection.backends.chromium.launch import requested_url

if TYPE_CHECKING:
    from ui_mcp.introspection.backends.chromium.browser import launch_browser
else:
    launch_browser = lazy("ui_mcp.introspection.backends.chromium.browser:launch_browser")


async def attach(request: AttachRequest) -> Attachment:
    url = requested_url(request)
    return Attachment("url", "url", url, url=url)


async def open_browser(
    url: str,
    chromium: str | None = None,
    ready: str | None = None,
    wait_rendered: Callable[[], Awaitable[None]] | None = None,
) -> UiBackend:
    """Start a headless Chromium on a page, and wait up to 10 s for the CSS selector `ready`.

    `wait_rendered` waits until the page has rendered the server's replies to everything it sent.

    Raises:
        UiNotEnabledError: no browser is installed, or it does not start.
    """
    backend = await launch_browser(url, path=chromium, ready=ready)
    backend.wait_rendered = wait_rendered
    return backend


BACKEND = Backend("url", "URL", "a page to open", attach, open=lambda attached: open_browser(attached.url))
