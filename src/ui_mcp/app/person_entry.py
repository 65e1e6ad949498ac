"""`ui-mcp approvals open`: codes and links that let a browser in, shown on the controlling terminal alone."""

import time

from ui_mcp.app.terminal import has_terminal, open_terminal
from ui_mcp.default_browser import BrowserError, opened
from ui_mcp.errors import NotFoundError, RefusedError
from ui_mcp.person import CODE_SECONDS, PersonKeys, listener_ports

_POLL_SECONDS = 0.2


def let_in(*, browser: bool = True) -> int:
    """Show a link for every person's page that is served, and open the default browser if there is only one page.

    Raises:
        RefusedError: there is no terminal; a token does not stand in for it, since links are shown nowhere else.
        NotFoundError: no person's page is served.
    """
    if not has_terminal():
        raise RefusedError("`ui-mcp approvals open` shows its links on a terminal only\nRun it in one.")
    ports = sorted(listener_ports())
    if not ports:
        raise NotFoundError(
            "No server of this account has a page to let you in to\n"
            "Start one: ui-mcp serve, nlui, or ui_start in your agent's host."
        )
    keys = PersonKeys()
    with open_terminal("A link") as terminal:
        for port in ports:
            terminal.write(f"http://127.0.0.1:{port}/#code={keys.new_code()}\n")
        terminal.write(f"Each link lets one browser in, once, within {CODE_SECONDS / 60:.0f} minutes.\n")
        terminal.flush()
        if browser and len(ports) == 1:
            terminal.write(f"{_open(keys, ports[0])}\n")
    return 0


def _open(keys: PersonKeys, port: int) -> str:
    code = keys.new_code()
    try:
        with opened(f"http://127.0.0.1:{port}/#code={code}") as until:
            while keys.waits(code):
                if time.monotonic() > until:
                    return "The browser has not come; open the link yourself."
                time.sleep(_POLL_SECONDS)
    except BrowserError as error:
        return f"No browser could be opened ({error.message}); open the link yourself."
    except KeyboardInterrupt:
        return ""
    return "Your browser is let in."
