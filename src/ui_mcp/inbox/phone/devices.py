"""Paired phones: one-time codes, a credential for each device, its push subscription, and links of notifications.

Like the keys of the person's browsers, these are files of the account, in no project; secrets are kept as SHA-256.
"""

import hashlib
import os
import re
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from ui_mcp.files import PRIVATE, write_atomic
from ui_mcp.jsontypes import JsonObject, dumps
from ui_mcp.lazy_dataclass import dataclass
from ui_mcp.person import IDLE_SECONDS, PersonKeys, state_folder
from ui_mcp.validation import InvalidDataError, read_json, to_json

LINK_SECONDS = 86_400.0
ID_LENGTH = 12
_TOUCH_SECONDS = 3600.0
_SYSTEMS = ("iPhone", "iPad", "Android", "Windows", "Macintosh", "Linux")
_BROWSERS = {
    "Edg": "Edge",
    "FxiOS": "Firefox",
    "CriOS": "Chrome",
    "Firefox": "Firefox",
    "Chrome": "Chrome",
    "Safari": "Safari",
}


@dataclass(frozen=True, slots=True)
class Subscription:
    """Where a browser gets its push messages, and its keys, as base64url."""

    endpoint: str
    p256dh: str
    auth: str


@dataclass(frozen=True, slots=True)
class Device:
    """A paired phone; times are seconds since the epoch."""

    name: str
    listener: str
    """The origin at which its credential is valid."""
    paired_at: float
    push: Subscription | None = None
    id: str = ""
    used_at: float = 0.0

    def to_json(self) -> JsonObject:
        """Return what the person sees."""
        return {
            "id": self.id,
            "name": self.name,
            "url": self.listener,
            "paired_at": self.paired_at,
            "used_at": self.used_at,
            "push": self.push is not None,
        }


class Devices:
    """The phones of this account."""

    def __init__(self, folder: Path | None = None, clock: Callable[[], float] = time.time) -> None:
        self.folder = folder or state_folder() / "phone"
        self._codes = PersonKeys(self.folder, clock)
        self._clock = clock

    def new_code(self) -> str:
        """Return a code that pairs one phone, once, within ten minutes; it opens nothing else."""
        return self._codes.new_code()

    def exchange(self, code: str, listener: str, client: str = "") -> str | None:
        """Redeem a code for the credential of a new device; None if it is unknown, redeemed or expired."""
        if not self._codes.redeem(code):
            return None
        credential = secrets.token_urlsafe(32)
        made = Device(device_name(client), listener, self._clock())
        _write(self._file(credential), to_json(made))
        return credential

    def recognises(self, credential: str | None, listener: str) -> bool:
        """Return whether a credential is one of a paired device at `listener`."""
        return self._used(credential, listener) is not None

    def forget(self, credential: str) -> None:
        """Unpair the device with this credential."""
        self._file(credential).unlink(missing_ok=True)

    def listed(self) -> Sequence[Device]:
        """Return all paired devices, oldest first."""
        return sorted((device for _, device in self._all()), key=lambda one: one.paired_at)

    def revoke(self, device_id: str) -> Device | None:
        """Unpair a device by its id; return it, or None if there is none."""
        for file, device in self._all():
            if device.id == device_id:
                file.unlink(missing_ok=True)
                self._push_file(device_id).unlink(missing_ok=True)
                return device
        return None

    def of(self, credential: str | None, listener: str) -> Device | None:
        """Return the device of a credential."""
        return self._used(credential, listener)

    def subscribe(self, device_id: str, push: Subscription | None) -> None:
        """Keep where a device gets push messages; None ends them."""
        # In a file of its own: written beside a revocation, it cannot bring the device back.
        file = self._push_file(device_id)
        if push is None:
            file.unlink(missing_ok=True)
        else:
            _write(file, to_json(push))

    def _used(self, credential: str | None, listener: str) -> Device | None:
        if not credential:
            return None
        file = self._file(credential)
        device = self._read(file)
        if device is None or device.listener != listener:
            return None
        idle = self._clock() - device.used_at
        if idle > IDLE_SECONDS:
            file.unlink(missing_ok=True)
            return None
        if idle > _TOUCH_SECONDS:  # the time of last use, hourly at most to save writes
            with suppress(OSError):
                os.utime(file)
        return device

    def _all(self) -> Iterator[tuple[Path, Device]]:
        for file in (self.folder / "devices").glob("*"):
            if (device := self._read(file)) is not None:
                yield file, device

    def _file(self, credential: str) -> Path:
        return self.folder / "devices" / hashlib.sha256(credential.encode("utf-8", "replace")).hexdigest()

    def _push_file(self, device_id: str) -> Path:
        return self.folder / "push" / device_id

    def _read(self, file: Path) -> Device | None:
        try:
            kept, used_at = read_json(Device, file.read_bytes()), file.stat().st_mtime
        except (OSError, InvalidDataError):
            return None
        push, name = None, file.name[:ID_LENGTH]
        with suppress(OSError, InvalidDataError):
            push = read_json(Subscription, self._push_file(name).read_bytes())
        return replace(kept, id=name, used_at=used_at, push=push)


class NoticeLinks:
    """Links in notifications: each leads to one question, once, until it expires, and grants no rights."""

    def __init__(self, folder: Path | None = None, clock: Callable[[], float] = time.time) -> None:
        self._folder = (folder or state_folder() / "phone") / "links"
        self._clock = clock

    def new(self, question_id: str, expires_at: float) -> str:
        """Return the secret part of a link to a question that expires at `expires_at`."""
        self._drop_expired()
        token = secrets.token_urlsafe(16)
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        until = min(expires_at, self._clock() + LINK_SECONDS)
        write_atomic(self._file(token), f"{until} {question_id}".encode(), mode=PRIVATE)
        return token

    def redeem(self, token: str) -> str | None:
        """Return the question of a link; None if it was used, is too old or unknown."""
        file = self._file(token)
        try:
            until, _, question_id = file.read_text().partition(" ")
            file.unlink()  # succeeds in one process only
        except (OSError, ValueError):
            return None
        return question_id if float(until) > self._clock() else None

    def _file(self, token: str) -> Path:
        return self._folder / hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()

    def _drop_expired(self) -> None:
        for file in self._folder.glob("*"):
            with suppress(OSError, ValueError):
                if float(file.read_text().partition(" ")[0]) < self._clock():
                    file.unlink()


def _write(file: Path, contents: JsonObject) -> None:
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_atomic(file, dumps(contents).encode(), mode=PRIVATE)


def device_name(client: str) -> str:
    """Return the name of a device by what its browser says about itself, such as "Firefox on Android"; pure."""
    system = next((name for name in _SYSTEMS if name in client), "")
    browser = next((name for mark, name in _BROWSERS.items() if re.search(rf"\b{mark}/", client)), "")
    return " on ".join(filter(None, (browser, system.replace("Macintosh", "Mac")))) or "A device"
