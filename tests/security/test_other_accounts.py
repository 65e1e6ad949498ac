"""Other accounts of the machine get no answer from any listener of ours; root, we and listed accounts do."""

import os
import socket
import subprocess
import sys
from ipaddress import ip_address
from pathlib import Path

import anyio
import pytest
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from security.test_listeners import opened
from servers import running_server
from ui_mcp.errors import ConfigError
from ui_mcp.webserver import peer_uid as lookup
from ui_mcp.webserver.peer_uid import AllowedUsers, Endpoint, is_local, peer_uid
from ui_mcp.webserver.server import bind, listening, port_of

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300), pytest.mark.skipif(sys.platform != "linux", reason="Linux")]
NOBODY = 65534
needs_root = pytest.mark.skipif(
    not os.environ.get("CI") and hasattr(os, "geteuid") and os.geteuid() != 0,
    reason="only root can act as another account",
)
ASK = """
import socket, sys
address, family = sys.argv[1].rsplit(":", 1), getattr(socket, sys.argv[2])
client = socket.socket(family)
client.settimeout(30)
try:
    client.connect((address[0], int(address[1])))
    client.sendall(f"GET /chat HTTP/1.1\\r\\nHost: 127.0.0.1:{address[1]}\\r\\nConnection: close\\r\\n\\r\\n".encode())
    print(len(client.recv(65536)))
except ConnectionError:
    print(0)
"""


async def heard(address: str, uid: int | None = None, family: str = "AF_INET") -> bool:
    """Say whether a process of the account gets any byte from `address`."""
    # The interpreter of the machine: other accounts may not be let into the folder of ours.
    command = ["/usr/bin/python3", "-c", ASK, address.removeprefix("http://"), family]
    done = await anyio.run_process(command, stderr=subprocess.PIPE, user=uid, cwd="/")
    return int(done.stdout) > 0


async def hello(scope: Scope, receive: Receive, send: Send) -> None:
    await PlainTextResponse("hello")(scope, receive, send)


@needs_root
@pytest.mark.covers("UI-PEER-1")
@pytest.mark.parametrize("kind", ["ui", "mcp", "nlui", "page"])
async def test_another_account_gets_no_byte_from_any_listener(kind: str, tmp_path: Path) -> None:
    async with opened(kind, tmp_path) as url:
        assert await heard(url)
        assert not await heard(url, NOBODY)


@needs_root
@pytest.mark.covers("UI-PEER-1")
@pytest.mark.parametrize("listed", ["nobody", NOBODY, str(NOBODY), "*"])
async def test_a_listed_account_is_let_in(listed: str | int, tmp_path: Path) -> None:
    async with running_server(tmp_path, server__allowed_users=[listed]) as running:
        assert await heard(running.url, NOBODY)


@needs_root
@pytest.mark.covers("UI-PEER-1")
@pytest.mark.parametrize(
    ("host", "target", "family"),
    [
        ("127.0.0.1", "127.0.0.1", "AF_INET"),
        ("127.0.0.1", "::ffff:127.0.0.1", "AF_INET6"),
        ("::1", "::1", "AF_INET6"),
        ("::", "::ffff:127.0.0.1", "AF_INET6"),
        ("::", "127.0.0.1", "AF_INET"),
        ("0.0.0.0", "127.0.0.2", "AF_INET"),
    ],
)
async def test_every_kind_of_local_address_is_looked_up(host: str, target: str, family: str) -> None:
    listener = bind(host, 0)
    async with listening(hello, listener):
        address = f"{target}:{port_of(listener)}"

        assert await heard(address, family=family)
        assert not await heard(address, NOBODY, family)


@needs_root
async def test_the_machines_own_outer_address_is_no_way_round() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # sends nothing
        except OSError:
            pytest.skip("this machine has no address but loopback")
        own = probe.getsockname()[0]
    listener = bind("0.0.0.0", 0)
    async with listening(hello, listener):
        assert await heard(f"{own}:{port_of(listener)}")
        assert not await heard(f"{own}:{port_of(listener)}", NOBODY)


@pytest.fixture(params=["netlink", "proc"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "proc":  # as on a kernel without sock_diag
        monkeypatch.setattr(lookup, "_NETLINK_SOCK_DIAG", 31)
    return str(request.param)


@pytest.mark.covers("UI-PEER-1")
@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_both_ways_of_asking_the_kernel_find_our_own_socket(way: str, host: str) -> None:
    with bind(host, 0) as listener, socket.create_connection(listener.getsockname()[:2]) as client:
        peer, ours = (Endpoint(ip_address(host), end[1]) for end in (client.getsockname(), client.getpeername()))

        assert peer_uid(peer, ours) == os.geteuid()


@pytest.mark.covers("UI-PEER-1")
def test_a_socket_that_is_closed_already_is_not_taken_for_roots(way: str) -> None:
    with bind("127.0.0.1", 0) as listener:
        client = socket.create_connection(listener.getsockname())
        with listener.accept()[0]:
            peer, ours = (Endpoint(ip_address(end[0]), end[1]) for end in (client.getsockname(), client.getpeername()))
            client.close()  # waits for us to close as well: uid 0 and inode 0 in the kernel's tables

            assert peer_uid(peer, ours) is None


@pytest.mark.covers("UI-PEER-1")
def test_a_listener_of_ours_on_the_peers_port_does_not_vouch_for_it(way: str) -> None:
    with bind("127.0.0.1", 0) as ours, bind("127.0.0.1", 0) as other:
        peer = Endpoint(ip_address("127.0.0.1"), port_of(other))

        assert peer_uid(peer, Endpoint(peer.address, port_of(ours))) is None


def test_other_machines_are_not_local() -> None:
    assert not is_local(ip_address("192.0.2.1"))
    assert not is_local(ip_address("2001:db8::1"))


def test_an_unknown_account_in_the_settings_is_named() -> None:
    with pytest.raises(ConfigError, match="there is no account 'no-such-user'"):
        AllowedUsers(["no-such-user"])
