"""Keeps the person's sign-ins: the secrets in the system's keyring, or in a private file where there is none.

All processes of the account share them. A process that renews a token holds a lock from reading to writing, because
servers that rotate refresh tokens take a second use of the same one for theft and end the sign-in.
"""

import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import anyio
from anyio import to_thread

from ui_mcp.errors import DiskError, UpstreamError
from ui_mcp.files import PRIVATE, make_private, try_lock, write_atomic
from ui_mcp.jsontypes import dumps
from ui_mcp.lazy_dataclass import dataclass
from ui_mcp.log import logger
from ui_mcp.oauth.grants import Client, TokenSet
from ui_mcp.oauth.metadata import AuthorizationServer
from ui_mcp.person import state_folder
from ui_mcp.validation import InvalidDataError, read, read_json, to_json

SERVICE = "ui-mcp sign-ins"
"""The name under which the keyring lists what is ours."""
LOCK_SECONDS = 60.0
_LOCK_PAUSE = 0.05
_log = logger("oauth")


@dataclass(frozen=True, slots=True)
class Secrets:
    """What only the keyring, or a file of mode 0600, may hold."""

    client_secret: str = ""
    access: str = ""
    refresh: str = ""


@dataclass(frozen=True, slots=True)
class SignIn:
    """The person's sign-in to one resource; without an access token they are signed out."""

    url: str
    server: AuthorizationServer
    client: Client
    resource: str = ""
    scopes: tuple[str, ...] = ()
    tokens: TokenSet = field(default_factory=lambda: TokenSet(""))
    since: float = 0.0
    problem: str = ""
    """Why the person has to sign in again."""

    @property
    def secrets(self) -> Secrets:
        return Secrets(self.client.secret, self.tokens.access, self.tokens.refresh)

    def with_secrets(self, held: Secrets) -> "SignIn":
        client = replace(self.client, secret=held.client_secret)
        return replace(self, client=client, tokens=replace(self.tokens, access=held.access, refresh=held.refresh))


@dataclass(frozen=True, slots=True)
class _File:
    sign_in: dict[str, Any]
    secrets: dict[str, Any] | None = None
    """None if the keyring has them."""


class TokenStore:
    """One file per sign-in below the account's state folder, which app code and MCP tools cannot read."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder or state_folder() / "sign-ins"

    async def load(self, key: str) -> SignIn | None:
        """Return a sign-in; None if there is none or its file is damaged."""
        return await to_thread.run_sync(self._load, key)

    async def save(self, key: str, sign_in: SignIn) -> None:
        """Replace a sign-in.

        Raises:
            DiskError: it cannot be written.
        """
        await to_thread.run_sync(self._save, key, sign_in)

    async def delete(self, key: str) -> None:
        await to_thread.run_sync(self._delete, key)

    async def place(self, key: str) -> str:
        """Return where the secrets of a sign-in are: `keyring` or `file`."""
        held = await to_thread.run_sync(self._read, key)
        return "keyring" if held is not None and held.secrets is None else "file"

    @asynccontextmanager
    async def lock(self, key: str) -> AsyncIterator[None]:
        """Hold the right to change a sign-in, against every process of the account.

        Raises:
            UpstreamError: another process has held it for a minute.
        """
        descriptor = await to_thread.run_sync(self._open_lock, key)
        with os.fdopen(descriptor, "r+b") as file:
            with anyio.move_on_after(LOCK_SECONDS) as waiting:
                while not _locked(file):  # noqa: ASYNC110 - another process releases it
                    await anyio.sleep(_LOCK_PAUSE)
            if waiting.cancelled_caught:
                raise UpstreamError("Another process has been signing in for a minute; try again")
            yield  # released when the file is closed, also by a kill

    @contextmanager
    def asking(self, key: str) -> Iterator[bool]:
        """Yield whether no other process asks the person about this sign-in while the block runs."""
        with os.fdopen(self._open_lock(f"{key}.asking"), "r+b") as file:
            yield _locked(file)

    def _open_lock(self, key: str) -> int:
        self._make_folder()
        return os.open(self._folder / f"{key}.lock", os.O_CREAT | os.O_RDWR | getattr(os, "O_NOFOLLOW", 0), PRIVATE)

    def _make_folder(self) -> None:
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            make_private(self._folder)
        except OSError as error:
            raise DiskError(f"Cannot keep sign-ins in {self._folder}", error) from error

    def _load(self, key: str) -> SignIn | None:
        held = self._read(key)
        if held is None:
            return None
        try:
            sign_in = read(SignIn, held.sign_in)
            secrets = _from_keyring(key) if held.secrets is None else read(Secrets, held.secrets)
        except InvalidDataError as error:
            _log.warning("a sign-in in %s cannot be read: %s", self._folder, error)
            return None
        return sign_in.with_secrets(secrets) if secrets is not None else _without_secrets(sign_in)

    def _read(self, key: str) -> _File | None:
        try:
            return read_json(_File, (self._folder / f"{key}.json").read_bytes())
        except (OSError, InvalidDataError):
            return None

    def _save(self, key: str, sign_in: SignIn) -> None:
        secrets = to_json(sign_in.secrets)
        # The keyring first: if this process is killed in between, the file still leads to whole secrets.
        in_keyring = _to_keyring(key, dumps(secrets))
        public = to_json(sign_in.with_secrets(Secrets()))
        content = {"sign_in": public} if in_keyring else {"sign_in": public, "secrets": secrets}
        self._make_folder()
        try:
            write_atomic(self._folder / f"{key}.json", dumps(content).encode(), mode=PRIVATE)
        except OSError as error:
            raise DiskError(f"Cannot keep the sign-in in {self._folder}", error) from error
        if not in_keyring:
            _delete_from_keyring(key)

    def _delete(self, key: str) -> None:
        (self._folder / f"{key}.json").unlink(missing_ok=True)
        _delete_from_keyring(key)


def _without_secrets(sign_in: SignIn) -> SignIn:
    """Return a sign-in whose keyring is locked or away; one with a secret of its client has to register again."""
    client = replace(sign_in.client, registered=False)
    return replace(sign_in, client=client, problem="Its tokens are in the keyring, which is locked or not there")


def key_of(*parts: str) -> str:
    """Return the name of a sign-in: a digest of what it is for, so that another address never gets its tokens."""
    return sha256("\0".join(parts).encode()).hexdigest()[:32]


def _locked(file: Any) -> bool:
    try:
        try_lock(file)
    except OSError:
        return False
    return True


def _keyrings() -> Iterator[Any]:
    """Yield the system's keyring, if the package is there and knows a safe one."""
    with suppress(Exception):  # backends raise exceptions of any type
        import keyring  # type: ignore[import-not-found, unused-ignore]

        # Backends that store nothing, or store plain text, have a priority below 1.
        if keyring.get_keyring().priority >= 1:
            yield keyring


def _from_keyring(key: str) -> Secrets | None:
    for ring in _keyrings():
        with suppress(Exception):
            found = ring.get_password(SERVICE, key)
            return read_json(Secrets, found) if found else None
    return None


def _to_keyring(key: str, secrets: str) -> bool:
    for ring in _keyrings():
        try:
            ring.set_password(SERVICE, key, secrets)
        except Exception as error:  # noqa: BLE001 - locked, too long, no session: the file is there for that
            _log.info("the keyring does not take a sign-in, a private file does: %s", error)
            return False
        return True
    return False


def _delete_from_keyring(key: str) -> None:
    for ring in _keyrings():
        with suppress(Exception):
            ring.delete_password(SERVICE, key)
