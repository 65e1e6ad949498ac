"""Keeps agents from reading and operating the person's own pages, where approvals are given."""

from collections.abc import Iterable
from ipaddress import ip_address
from urllib.parse import urlsplit

from ui_mcp.errors import UiNotEnabledError
from ui_mcp.jsontypes import dumps
from ui_mcp.person import RESERVED_PORTS, listener_ports

_DEFAULT_PORTS = {"http": 80, "ws": 80, "https": 443, "wss": 443}
_LOOPBACK_IN_PAGE = r"/^(.*\.)?localhost\.?$|^127\.|^0\.0\.0\.0$|^\[::1?\]$|^\[::ffff:(7f|0:0)/"
"""Matches loopback hosts in `location.hostname`, which browsers normalize."""
MARKER = 'meta[name="ui-nonce"]'
"""Element that every page of a person's listener contains, whatever host name it was opened with."""


def is_person_page(url: str, ports: Iterable[int] | None = None) -> bool:
    """Return whether a URL is on a person's listener of this machine; `ports` are by default all current ones."""
    try:
        parts = urlsplit(url.removeprefix("view-source:").removeprefix("blob:"))
        port = parts.port or _DEFAULT_PORTS.get(parts.scheme, 0)
    except ValueError:
        return False
    known = listener_ports() if ports is None else ports
    return port in known and _is_loopback(parts.hostname or "")


def refuse_person_pages(urls: Iterable[str]) -> None:
    """Check that no URL is a person's page.

    Raises:
        UiNotEnabledError: one is; the reason is `PERSON_PAGE`.
    """
    ports = listener_ports()
    if ports and any(is_person_page(url, ports) for url in urls):
        raise person_page_refused()


def person_page_refused() -> UiNotEnabledError:
    return UiNotEnabledError(
        "This page belongs to the person alone: approvals are given there\n"
        "Agents can neither look at it nor operate it. Choose another page, or ask the person.",
        reason="PERSON_PAGE",
    )


def guarded(expression: str) -> str:
    """Return a script that evaluates `expression`, or to null in a person's page."""
    # Check and expression are one script: the page may have navigated since its URL was read.
    ports = dumps([str(port) for port in listener_ports()])
    is_person = f"{ports}.includes(location.port) && {_LOOPBACK_IN_PAGE}.test(location.hostname)"
    return f"({is_person}) || document.querySelector({dumps(MARKER)}) ? null : {expression}"


def unreachable_ports() -> frozenset[int]:
    """Return the ports that our own browser is to be kept from: current listeners, and where new ones will be."""
    return listener_ports() | {*RESERVED_PORTS}


def reaches_person(unreachable: frozenset[int] | None) -> bool:
    """Return whether our own browser, kept from these ports, could connect to a listener opened since its start."""
    return unreachable is not None and not listener_ports() <= unreachable


def resolver_rules(ports: Iterable[int]) -> list[str]:
    """Return the command line option that keeps our own browser from connecting to these ports on any host."""
    rules = ",".join(f"MAP *:{port} ~NOTFOUND" for port in sorted(ports))
    return [f"--host-resolver-rules={rules}"] if rules else []


def _is_loopback(host: str) -> bool:
    name = host.lower().rstrip(".")
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        # Browsers accept 2130706433 for 127.0.0.1.
        address = ip_address(int(name)) if name.isdecimal() else ip_address(name)
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback or (mapped or address).is_unspecified
