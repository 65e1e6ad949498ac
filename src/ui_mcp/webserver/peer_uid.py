"""Finds the account of a local TCP peer (Linux), so that listeners can refuse other accounts of this machine.

A netlink (sock_diag) query takes about ten microseconds, however many sockets there are. /proc/net/tcp takes
milliseconds and is the fallback where sock_diag is missing, as in some containers.
The uid only excludes other accounts. It never authenticates a caller as the person.
"""

import asyncio
import os
import socket
import struct
import sys
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path

from ui_mcp.errors import ConfigError
from ui_mcp.log import logger

ANY = "*"
"""In a list of allowed users: every account."""
ROOT = 0
_NETLINK_SOCK_DIAG = 4
_SOCK_DIAG_BY_FAMILY = 20
_NLM_F_REQUEST = 1
_ALL_STATES = 0xFFFFFFFF
_NO_COOKIE = (0xFFFFFFFF, 0xFFFFFFFF)
_HEADER = struct.Struct("=IHHII")
_REQUEST = struct.Struct("=BBBBI")
_ENDPOINTS = struct.Struct("!HH16s16s")
_REST_OF_ID = struct.Struct("=III")
_ANSWER = struct.Struct("=IIIII")
"""Fields after the socket id in an answer: expires, two queues, uid, inode."""
_PROC_TABLES = {4: ("/proc/net/tcp", "/proc/net/tcp6"), 6: ("/proc/net/tcp6",)}
_log = logger("http")
Address = IPv4Address | IPv6Address


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One end of a connection."""

    address: Address
    port: int
    scope: int = 0


class AllowedUsers:
    """The accounts of this machine that may connect: our own, root and those of `server.allowed_users`."""

    def __init__(self, listed: Iterable[str | int] = ()) -> None:
        names = list(listed)
        self._everyone = ANY in names or sys.platform != "linux"
        self._uids = {_uid(name) for name in names if name != ANY} | {ROOT}
        if hasattr(os, "geteuid"):
            self._uids.add(os.geteuid())
        self._reported: set[int | None] = set()

    def admit(self, transport: asyncio.BaseTransport) -> bool:
        """Return whether to accept a connection: the peer is on another machine or an allowed account of this one."""
        if self._everyone:
            return True
        peer, ours = _endpoint(transport, "peername"), _endpoint(transport, "sockname")
        if peer is None or ours is None or not is_local(peer.address):
            return True
        uid = peer_uid(peer, ours)
        if uid in self._uids:
            return True
        self._report(uid, ours.port)
        return False

    def _report(self, uid: int | None, port: int) -> None:
        if uid in self._reported:
            return
        self._reported.add(uid)
        if uid is None:
            _log.warning("Port %d: refused a local connection whose account is unknown; it was closed already", port)
            return
        _log.warning(
            "Port %d: refused a connection of the account with uid %d; server.allowed_users lets others in", port, uid
        )


def peer_uid(peer: Endpoint, ours: Endpoint) -> int | None:
    """Return the uid of the process at `peer`, or None if no process has that socket open any more."""
    with suppress(OSError):
        found = _by_netlink(peer, ours)
        if found is not None:
            # A socket that its owner has closed shows uid 0 and no inode: it must not count as root's.
            uid, inode = found
            return uid if inode else None
    return _by_proc(peer, ours)


def is_local(address: Address) -> bool:
    """Return whether an address is this machine's own."""
    if address.is_loopback:
        return True
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind((str(address), 0))
    except OSError:
        return False
    return True


def _by_netlink(peer: Endpoint, ours: Endpoint) -> tuple[int, int] | None:
    family = socket.AF_INET if peer.address.version == 4 else socket.AF_INET6
    ends = _ENDPOINTS.pack(peer.port, ours.port, _packed(peer.address), _packed(ours.address))
    request = _REQUEST.pack(family, socket.IPPROTO_TCP, 0, 0, _ALL_STATES)
    request += ends + _REST_OF_ID.pack(peer.scope, *_NO_COOKIE)
    size = _HEADER.size + len(request)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, _NETLINK_SOCK_DIAG) as kernel:
        kernel.settimeout(1)
        kernel.send(_HEADER.pack(size, _SOCK_DIAG_BY_FAMILY, _NLM_F_REQUEST, 1, 0) + request)
        answer = kernel.recv(8192)
    if _HEADER.unpack_from(answer)[1] != _SOCK_DIAG_BY_FAMILY:
        return None
    found = _HEADER.size + 4
    # Without an exact match the kernel answers with the listening socket of the port, which is not the peer's.
    if answer[found : found + 4] != ends[:4]:
        return None
    _, _, _, uid, inode = _ANSWER.unpack_from(answer, found + _ENDPOINTS.size + _REST_OF_ID.size)
    return uid, inode


def _by_proc(peer: Endpoint, ours: Endpoint) -> int | None:
    for table in _PROC_TABLES[peer.address.version]:
        wide = table.endswith("6")
        wanted = [_in_proc(peer, wide=wide), _in_proc(ours, wide=wide)]
        with suppress(OSError):
            for line in Path(table).read_bytes().splitlines()[1:]:
                columns = line.split()
                if columns[1:3] == wanted:
                    return int(columns[7]) if int(columns[9]) else None
    return None


def _in_proc(end: Endpoint, *, wide: bool) -> bytes:
    """Format an endpoint as /proc/net/tcp does: four-byte words in the machine's byte order."""
    packed = end.address.packed
    if wide and len(packed) == 4:
        packed = bytes(10) + b"\xff\xff" + packed
    words = struct.unpack(f"={len(packed) // 4}I", packed)
    return f"{''.join(f'{word:08X}' for word in words)}:{end.port:04X}".encode()


def _packed(address: Address) -> bytes:
    return address.packed.ljust(16, b"\0")


def _endpoint(transport: asyncio.BaseTransport, name: str) -> Endpoint | None:
    given = transport.get_extra_info(name)
    if not isinstance(given, tuple) or len(given) < 2:
        return None
    try:
        address = ip_address(given[0].partition("%")[0])
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return Endpoint(mapped or address, given[1], given[3] if len(given) > 3 and not mapped else 0)


def _uid(listed: str | int) -> int:
    if isinstance(listed, int) or listed.isdecimal():
        return int(listed)
    try:
        import pwd

        return pwd.getpwnam(listed).pw_uid
    except (ImportError, KeyError) as error:
        raise ConfigError(
            f"server.allowed_users: there is no account {listed!r} on this machine\nName one, or write its uid."
        ) from error
