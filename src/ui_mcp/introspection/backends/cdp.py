"""The pages of a running Chromium with an open debugging port."""

from typing import TYPE_CHECKING

from ui_mcp.discovery import lazy
from ui_mcp.introspection.backend import Attachment, AttachRequest, Backend, UiBackend
from ui_mcp.introspection.backends.chromium.launch import requested_url

if TYPE_CHECKING:
    from ui_mcp.introspection.backends.chromium.browser import connect_browser
    from ui_mcp.introspection.backends.chromium.debugger import require_debugger
else:
    connect_browser = lazy("ui_mcp.introspection.backends.chromium.browser:connect_browser")
    require_debugger = lazy("ui_mcp.introspection.backends.chromium.debugger:require_debugger")


async def attach(request: AttachRequest) -> Attachment:
    """Check that a browser answers at the address.

    Raises:
        UiNotEnabledError: none does.
    """
    url = requested_url(request)
    await require_debugger(url)
    return Attachment("cdp", "cdp", url, url=url)


async def connect(attached: Attachment) -> UiBackend:
    return await connect_browser(attached.url)


BACKEND = Backend("cdp", "URL", "debugging address of a browser", attach, open=connect)
