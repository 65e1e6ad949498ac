"""A phone without a phone: pairs, subscribes and answers as its page would; a push service that reads its messages."""

import json
import os
import threading
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Queue
from typing import Any

import http_ece
import httpx2
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from person_client import HTML, nonce_of
from ui_mcp.inbox.phone.devices import Devices

ORIGIN = "https://phone.example"
AGENT = "Mozilla/5.0 (Linux; Android 16; Pixel 9) AppleWebKit/537.36 Chrome/150.0.0.0 Mobile Safari/537.36"


def phone_headers(origin: str = ORIGIN, nonce: str = "", credential: str = "") -> dict[str, str]:
    """Return what the page on a phone sends through a tunnel."""
    host = origin.partition("://")[2]
    own = {"host": host, "origin": origin, "sec-fetch-site": "same-origin", "x-ui-nonce": nonce, "user-agent": AGENT}
    return own | ({"x-ui-person": credential} if credential else {})


def paired_phone(port: int, origin: str = ORIGIN, **options: Any) -> httpx2.Client:
    """Return a client that is a newly paired phone at the listener for phones."""
    base = f"http://127.0.0.1:{port}"
    with httpx2.Client(base_url=base, timeout=60) as browser:
        nonce = nonce_of(browser.get("/inbox", headers=HTML | {"host": origin.partition("://")[2]}).text)
        code = {"code": Devices().new_code()}
        answer = browser.post("/person/enter", json=code, headers=phone_headers(origin, nonce))
        assert answer.status_code == 200, answer.text
    headers = phone_headers(origin, nonce, answer.json()["credential"])
    return httpx2.Client(base_url=base, headers=headers, timeout=60, **options)


class PushService:
    """What a browser's maker runs: takes encrypted messages; `received` has them as the browser reads them."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.status = 201
        self.headers: Queue[dict[str, str]] = Queue()
        self.sealed: Queue[bytes] = Queue()
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._auth = os.urandom(16)

    def subscription(self) -> dict[str, Any]:
        """Return what `pushManager.subscribe` gives to a page."""
        point = self._key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        return {"endpoint": f"{self.url}/phone", "keys": {"p256dh": _text(point), "auth": _text(self._auth)}}

    def received(self, seconds: float = 60) -> dict[str, Any]:
        """Wait for a message and decrypt it, by another implementation than ours."""
        sealed = self.sealed.get(timeout=seconds)
        message: dict[str, Any] = json.loads(http_ece.decrypt(sealed, private_key=self._key, auth_secret=self._auth))
        return message


@contextmanager
def push_service() -> Iterator[PushService]:
    """Run a push service on this machine."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            service.headers.put({name.lower(): value for name, value in self.headers.items()})
            service.sealed.put(body)
            self.send_response(service.status)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        service = PushService(f"http://127.0.0.1:{server.server_port}")
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield service
        finally:
            server.shutdown()
            thread.join()


def _text(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()
