"""The pages of a running Chromium with an open debugging port."""

from ui_mcp.introspection.backend import Attachment, AttachRequest, Backend, UiBackend
from ui_mcp.introspection.backends.chromium.launch import requested_url, require_debugger


async def attach(request: AttachRequest) -> Attachment:
    """Check that a browser answers at the address.

    Raises:
        UiNotEnabledError: none does.
    """
    url = requested_url(request)
    await require_debugger(url)
    return Attachment("cdp", "cdp", url, url=url)


async def connect(attached: Attachment) -> UiBackend:
    from ui_mcp.introspection.backends.chromium.browser import BrowserBackend  # needs Playwright, which is optional

    return await BrowserBackend.connect(attached.url)


BACKEND = Backend("cdp", "URL", "debugging address of a browser", attach, open=connect)
