"""Keeps agents' eyes and hands away from the person's own pages, where approvals are given."""

from collections.abc import Iterable
from ipaddress import ip_address
from urllib.parse import urlsplit

from ui_mcp.errors import UiNotEnabledError
from ui_mcp.jsontypes import dumps
from ui_mcp.person import listener_ports

_DEFAULT_PORTS = {"http": 80, "ws": 80, "https": 443, "wss": 443}
_LOOPBACK_IN_PAGE = r"/^(.*\.)?localhost\.?$|^127\.|^0\.0\.0\.0$|^\[::1?\]$|^\[::ffff:(7f|0:0)/"
"""Browsers write addresses in one way only."""
MARKER = 'meta[name="ui-nonce"]'
"""What every page of a person's listener carries, whatever address it was reached by."""


def is_person_page(url: str, ports: Iterable[int] | None = None) -> bool:
    """Say whether an address is that of a person's listener on this machine."""
    try:
        parts = urlsplit(url.removeprefix("view-source:").removeprefix("blob:"))
        port = parts.port or _DEFAULT_PORTS.get(parts.scheme, 0)
    except ValueError:
        return False
    known = listener_ports() if ports is None else ports
    return port in known and _is_loopback(parts.hostname or "")


def refuse_person_pages(urls: Iterable[str]) -> None:
    """Refuse a look or an action if one of these addresses is the person's.

    Raises:
        UiNotEnabledError: it is, with the reason `PERSON_PAGE`.
    """
    ports = listener_ports()
    if ports and any(is_person_page(url, ports) for url in urls):
        raise person_page_refused()


def person_page_refused() -> UiNotEnabledError:
    """Return the error that says why."""
    return UiNotEnabledError(
        "This page belongs to the person alone: approvals are given there\n"
        "Agents can neither look at it nor operate it. Choose another page, or ask the person.",
        reason="PERSON_PAGE",
    )


def guarded(expression: str) -> str:
    """Return a script that evaluates `expression` unless it runs in a person's page; then its value is null.

    Asked inside the page, in the same breath as the look: the page may have gone elsewhere since its address was read.
    """
    ports = dumps([str(port) for port in listener_ports()])
    here = f"{ports}.includes(location.port) && {_LOOPBACK_IN_PAGE}.test(location.hostname)"
    return f"({here}) || document.querySelector({dumps(MARKER)}) ? null : {expression}"


def resolver_rules(ports: Iterable[int]) -> list[str]:
    """Return the option by which a browser of our own cannot connect to these ports at all, by whatever name."""
    rules = ",".join(f"MAP *:{port} ~NOTFOUND" for port in sorted(ports))
    return [f"--host-resolver-rules={rules}"] if rules else []


def _is_loopback(host: str) -> bool:
    name = host.lower().rstrip(".")
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        address = ip_address(int(name)) if name.isdecimal() else ip_address(name)
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback or (mapped or address).is_unspecified
