"""A page in a Chromium that we start."""

from collections.abc import Awaitable, Callable

from ui_mcp.errors import UiNotEnabledError
from ui_mcp.introspection.backend import Attachment, AttachRequest, Backend, UiBackend
from ui_mcp.introspection.backends.chromium.launch import requested_url


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
        UiNotEnabledError: Playwright or Chromium is missing; the message says how to install it.
    """
    try:
        from ui_mcp.introspection.backends.chromium.browser import BrowserBackend
    except ImportError as error:
        raise UiNotEnabledError(
            "Playwright is required while no page is open\nInstall it with `pip install playwright`.",
            reason="NO_PLAYWRIGHT",
        ) from error
    backend = await BrowserBackend.launch(url, path=chromium, ready=ready)
    backend.wait_rendered = wait_rendered
    return backend


BACKEND = Backend("url", "URL", "a page to open", attach, open=lambda attached: open_browser(attached.url))
