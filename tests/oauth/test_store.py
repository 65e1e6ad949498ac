"""Sign-ins on disk and in the keyring."""

import stat
from pathlib import Path
from types import SimpleNamespace

import anyio
import anyio.lowlevel
import pytest

from ui_mcp.oauth.grants import Client, TokenSet
from ui_mcp.oauth.metadata import AuthorizationServer
from ui_mcp.oauth.store import SignIn, TokenStore

HELD = SignIn(
    "https://files.example/mcp",
    AuthorizationServer("https://id.example", token="https://id.example/token"),
    Client("c", "client-secret", "client_secret_basic", "http://127.0.0.1:1/callback", registered=True),
    scopes=("read",),
    tokens=TokenSet("access-secret", "refresh-secret", 5.0, "read", "ada"),
    since=4.0,
)


class Ring(SimpleNamespace):
    """A keyring package."""

    def __init__(self, priority: float = 5, full: bool = False) -> None:
        self.kept: dict[tuple[str, str], str] = {}
        self._priority, self._full = priority, full

    def get_keyring(self) -> SimpleNamespace:
        return SimpleNamespace(priority=self._priority)

    def get_password(self, service: str, user: str) -> str | None:
        return self.kept.get((service, user))

    def set_password(self, service: str, user: str, password: str) -> None:
        if self._full:
            raise RuntimeError("locked")
        self.kept[service, user] = password

    def delete_password(self, service: str, user: str) -> None:
        del self.kept[service, user]


def use(monkeypatch: pytest.MonkeyPatch, ring: Ring | None) -> None:
    monkeypatch.setitem(__import__("sys").modules, "keyring", ring)


@pytest.mark.covers("GW-SIGN-4")
async def test_secrets_are_in_the_keyring_and_nowhere_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ring = Ring()
    use(monkeypatch, ring)
    store = TokenStore(tmp_path)
    await store.save("k", HELD)
    text = (tmp_path / "k.json").read_text()

    assert await store.load("k") == HELD
    assert await store.place("k") == "keyring"
    assert not [secret for secret in ("access-secret", "refresh-secret", "client-secret") if secret in text]
    await store.delete("k")
    assert (ring.kept, await store.load("k")) == ({}, None)


@pytest.mark.covers("GW-SIGN-4")
@pytest.mark.parametrize("ring", [None, Ring(priority=0.5), Ring(full=True)], ids=["none", "plain", "locked"])
async def test_without_a_safe_keyring_a_private_file_holds_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ring: Ring | None
) -> None:
    use(monkeypatch, ring)
    store = TokenStore(tmp_path / "sign-ins")
    await store.save("k", HELD)
    modes = [stat.S_IMODE(one.stat().st_mode) for one in (tmp_path / "sign-ins", tmp_path / "sign-ins" / "k.json")]

    assert await store.load("k") == HELD
    assert (await store.place("k"), modes) == ("file", [0o700, 0o600])


@pytest.mark.covers("GW-SIGN-4")
async def test_a_keyring_that_is_away_is_named_as_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, Ring())
    await TokenStore(tmp_path).save("k", HELD)
    use(monkeypatch, None)
    found = await TokenStore(tmp_path).load("k")

    assert found is not None
    assert (found.tokens.access, found.problem) == ("", "Its tokens are in the keyring, which is locked or not there")


async def test_a_damaged_file_is_no_sign_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, None)
    for text in ("", "{", "[]", '{"sign_in": {"url": 5}, "secrets": {}}'):
        (tmp_path / "k.json").write_text(text)
        assert await TokenStore(tmp_path).load("k") is None


async def test_only_one_holds_the_lock(tmp_path: Path) -> None:
    order: list[str] = []
    first = anyio.Event()

    async def hold(name: str) -> None:
        async with TokenStore(tmp_path).lock("k"):
            order.append(f"{name} has it")
            first.set()
            await anyio.lowlevel.checkpoint()
            order.append(f"{name} is done")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(hold, "a")
        await first.wait()
        tasks.start_soon(hold, "b")

    assert order == ["a has it", "a is done", "b has it", "b is done"]


def test_one_process_at_a_time_asks_the_person(tmp_path: Path) -> None:
    with TokenStore(tmp_path).asking("k") as one, TokenStore(tmp_path).asking("k") as other:
        assert (one, other) == (True, False)


def test_secrets_are_in_no_representation() -> None:
    assert "secret" not in repr(HELD).replace("client_secret_basic", "")
