"""Sockets by which clients of one account join a server."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from ui_mcp import local_socket
from ui_mcp.errors import ConfigError, RefusedError
from ui_mcp.local_socket import SocketPlace, peer_uid

pytestmark = pytest.mark.skipif(not local_socket.AVAILABLE, reason="no such sockets on this system")
NOBODY, STRANGER = 65534, 65533


def talks(place: SocketPlace) -> bool:
    """Return whether a client reaches the server of a place."""
    listener, _ = place.listen()
    with listener:
        client = place.connect()
        if client is None:
            return False
        with client:
            return peer_uid(client) == os.geteuid()


@pytest.mark.covers("UI-JOIN-1")
def test_a_client_reaches_the_server_of_its_place(tmp_path: Path) -> None:
    assert SocketPlace(tmp_path).connect() is None
    assert talks(SocketPlace(tmp_path))


@pytest.mark.covers("UI-JOIN-12")
def test_a_path_longer_than_a_socket_address_is_reached(tmp_path: Path) -> None:
    deep = tmp_path / ("d" * 100) / ("e" * 100)
    deep.mkdir(parents=True)

    assert talks(SocketPlace(deep))
    assert (deep / "server.sock").is_socket()


@pytest.mark.covers("UI-JOIN-12")
def test_where_the_folder_cannot_hold_a_socket_another_one_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / "here/server.sock").mkdir(parents=True)

    assert talks(SocketPlace(tmp_path / "here"))


@pytest.mark.covers("UI-JOIN-12")
def test_a_place_without_any_socket_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / f"ui-mcp-{os.geteuid()}").write_text("a file in the way")
    (tmp_path / "server.sock").mkdir()

    with pytest.raises(ConfigError, match="Cannot listen for other clients"):
        SocketPlace(tmp_path).listen()


@pytest.mark.covers("UI-JOIN-12")
def test_the_socket_of_a_killed_server_is_replaced(tmp_path: Path) -> None:
    stale, _ = SocketPlace(tmp_path).listen()
    stale.close()

    assert (tmp_path / "server.sock").is_socket()
    assert SocketPlace(tmp_path).connect() is None
    assert talks(SocketPlace(tmp_path))


@pytest.mark.covers("UI-JOIN-13")
def test_a_link_in_the_place_of_the_socket_is_not_followed(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    listener, path = SocketPlace(elsewhere).listen()
    with listener:
        (tmp_path / "server.sock").symlink_to(path)

        assert SocketPlace(tmp_path).connect() is None


AS_STRANGER = """
import os, sys
from pathlib import Path
from ui_mcp.errors import RefusedError
from ui_mcp.local_socket import SocketPlace
os.setuid({uid})
try:
    print(SocketPlace(Path(sys.argv[1])).connect())
except RefusedError as error:
    print(error.message)
"""


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can act as another account")
@pytest.mark.covers("UI-JOIN-13")
@pytest.mark.parametrize("mode", [0o700, 0o755])
def test_the_server_of_another_account_is_refused_with_the_reason(mode: int, tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    place = tmp_path / "place"
    place.mkdir()
    listener, path = SocketPlace(place).listen()
    with listener:
        path.chmod(0o777)
        for owned in (path, place):
            os.chown(owned, NOBODY, -1)
        place.chmod(mode)
        code = AS_STRANGER.format(uid=STRANGER)
        # From inside: the folders above are closed to others, and how many there are is up to pytest.
        done = subprocess.run(
            [sys.executable, "-c", code, place.name], cwd=tmp_path, capture_output=True, text=True, check=True
        )

    assert done.stdout.startswith(f"Another account (uid {NOBODY}) serves this directory")


@pytest.mark.covers("UI-JOIN-13")
def test_a_listener_of_another_account_behind_our_socket_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listener, _ = SocketPlace(tmp_path).listen()
    monkeypatch.setattr(local_socket, "peer_uid", lambda _: STRANGER)
    with listener, pytest.raises(RefusedError, match=f"uid {STRANGER}"):
        SocketPlace(tmp_path).connect()


def test_both_ends_of_a_pair_are_ours() -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX)
    with ours, theirs:
        assert peer_uid(ours) == peer_uid(theirs) == os.geteuid()
