"""Servers that take notices: an HTTP listener for ntfy and webhooks, and the mail server of aiosmtpd with TLS."""

import asyncio
import ssl
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path

import anyio
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

MAIL_HOST = "127.0.0.2"
"""This machine by an address that is not taken for it, so that mail is sent as to any other server."""


@dataclass
class HttpTaker:
    """An HTTP service that keeps what is posted to it and answers with the next of `statuses`, at last with 200."""

    url: str = ""
    statuses: list[int] = field(default_factory=list)
    got: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)


@contextmanager
def http_taker(*statuses: int) -> Iterator[HttpTaker]:
    """Run an HTTP service on this machine."""
    taker = HttpTaker(statuses=list(statuses))

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            taker.got.append((self.path, {name.lower(): value for name, value in self.headers.items()}, body))
            self.send_response(taker.statuses.pop(0) if taker.statuses else 200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    taker.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield taker
    finally:
        server.shutdown()
        server.server_close()


def certified(folder: Path, host: str) -> tuple[Path, Path]:
    """Write a key and a certificate for an address that is its own authority."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number(), now, now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address(host))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    files = folder / "mail.pem", folder / "mail-key.pem"
    files[0].write_bytes(certificate.public_bytes(Encoding.PEM))
    files[1].write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return files


@dataclass
class MailServer:
    """What a mail server took, who signed in to it, and what it says instead of taking a message."""

    port: int = 0
    answers: list[str] = field(default_factory=list)
    logins: list[tuple[str, str]] = field(default_factory=list)
    encrypted: list[bool] = field(default_factory=list)
    letters: list[Envelope] = field(default_factory=list)

    async def handle_DATA(self, server: SMTP, _: Session, envelope: Envelope) -> str:
        if self.answers:
            return self.answers.pop(0)
        assert server.transport is not None
        self.encrypted.append(server.transport.get_extra_info("ssl_object") is not None)
        self.letters.append(envelope)
        return "250 OK"

    def authenticate(self, _: SMTP, __: Session, ___: Envelope, how: str, data: object) -> AuthResult:
        assert isinstance(data, LoginPassword)
        self.logins.append((data.login.decode(), data.password.decode()))
        return AuthResult(success=data.password == b"right", handled=False)


@asynccontextmanager
async def mail_server(files: tuple[Path, Path], host: str, *, tls_first: bool) -> AsyncIterator[MailServer]:
    """Run a mail server that wants TLS from the first byte on, or by STARTTLS, and a login."""
    taken, context = MailServer(), ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(*files)

    def protocol() -> SMTP:
        return SMTP(
            taken,
            hostname="mail.example",
            tls_context=None if tls_first else context,
            require_starttls=not tls_first,
            auth_required=True,
            auth_require_tls=not tls_first,
            authenticator=taken.authenticate,
        )

    loop = asyncio.get_running_loop()
    server = await loop.create_server(protocol, host, 0, ssl=context if tls_first else None)
    taken.port = server.sockets[0].getsockname()[1]
    try:
        yield taken
    finally:
        server.close()
        await anyio.lowlevel.checkpoint()
