"""Ports that a test's server can take, lose and take again."""

import random
import socket
from contextlib import suppress


def free_ports(count: int) -> list[int]:
    """Return free ports that no outgoing connection is given.

    Otherwise a client that tries again while its server is down could be connected to itself, and hold the port
    against the next server.
    """
    found: list[int] = []
    for port in random.sample(range(12000, 30000), 500):
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            found.append(port)
        if len(found) == count:
            return found
    raise AssertionError("no free ports")
