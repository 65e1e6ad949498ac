"""Actions of `ui-mcp phone`."""

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from ui_mcp import config as settings
from ui_mcp.app.terminal import has_terminal, open_terminal
from ui_mcp.discovery import lazy
from ui_mcp.errors import InvalidArgumentsError, NotFoundError, RefusedError
from ui_mcp.inbox.phone.devices import Device, Devices
from ui_mcp.person import CODE_SECONDS
from ui_mcp.workspace import Workspace

# Pairing needs packages that the extra `phone` brings; listing and revoking do not.
if TYPE_CHECKING:
    from ui_mcp.app.phone_listener import require_packages
    from ui_mcp.inbox.phone.pairing import new_pairing
else:
    require_packages = lazy("ui_mcp.app.phone_listener:require_packages")
    new_pairing = lazy("ui_mcp.inbox.phone.pairing:new_pairing")

OFF = (
    "Phones are off: no phone can reach this server\n"
    "Set phone.url in config.toml to the HTTPS address of a tunnel; docs/howto/phone.md says how."
)


def pair_phone(directory: str) -> Sequence[str]:
    """Show a code on the terminal that pairs one phone.

    Raises:
        InvalidArgumentsError: phones are off in this directory.
        ConfigError: a package is missing.
        RefusedError: there is no terminal; codes are shown nowhere else.
    """
    _require_terminal()
    phone = settings.load(Workspace.at(directory).config_file).phone
    if not phone.url:
        raise InvalidArgumentsError(OFF)
    require_packages()
    made = new_pairing(Devices(), phone.origin)
    with open_terminal("A code") as terminal:
        terminal.write(f"{made.for_terminal()}\n{made.link}\n\n")
        terminal.write(f"Scan it with the phone, or open {phone.origin} there and type {made.code}\n")
        terminal.write(f"It pairs one phone, once, within {CODE_SECONDS / 60:.0f} minutes, while the server runs.\n")
        terminal.flush()
    return ()


def list_phones() -> Sequence[str]:
    """Return a line for each paired phone."""
    _require_terminal()
    return [_line(one) for one in Devices().listed()] or ["No phone is paired."]


def revoke_phones(ids: Sequence[str], *, every: bool) -> Sequence[str]:
    """Revoke phones by the beginnings of their ids.

    Raises:
        InvalidArgumentsError: none is named.
        NotFoundError: an id fits none, or several.
    """
    _require_terminal()
    devices = Devices()
    known = devices.listed()
    if not ids and not every:
        raise InvalidArgumentsError("Which phone? `ui-mcp phone list` shows them; then revoke ID, or --all")
    chosen = known if every else [_one(known, prefix) for prefix in ids]
    gone = [one for one in chosen if devices.revoke(one.id)]
    return [f"Revoked: {one.name} ({one.id})" for one in gone] or ["No phone is paired."]


def _one(known: Sequence[Device], prefix: str) -> Device:
    found = [one for one in known if one.id.startswith(prefix)]
    if len(found) != 1:
        count = f"{len(found)} phones begin" if found else "No phone begins"
        raise NotFoundError(f"{count} with {prefix!r}; `ui-mcp phone list` shows them")
    return found[0]


def _line(one: Device) -> str:
    paired, used = (datetime.fromtimestamp(at).astimezone().date().isoformat() for at in (one.paired_at, one.used_at))
    push = "push on" if one.push else "push off"
    return f"{one.id}  {one.name}  {one.listener}  paired {paired}  last used {used}  {push}"


def _require_terminal() -> None:
    if not has_terminal():
        raise RefusedError("`ui-mcp phone` acts for the person and needs a terminal\nRun it in one.")
