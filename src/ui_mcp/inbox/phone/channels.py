"""Ways to tell the person besides web push: an ntfy topic, a webhook, e-mail."""

import os
import smtplib
import socket
import ssl
from collections.abc import Mapping, Sequence
from email.message import EmailMessage
from functools import partial
from urllib.parse import unquote, urlsplit

import anyio
import httpx2
from anyio import to_thread

from ui_mcp.errors import ConfigError, UpstreamError
from ui_mcp.http_client import open_client
from ui_mcp.inbox.phone.notices import Channel, Notice
from ui_mcp.jsontypes import dumps
from ui_mcp.lazy_dataclass import dataclass
from ui_mcp.phone_settings import PhoneSettings

TIMEOUT_SECONDS = 20.0
ATTEMPTS = 3
PAUSE_SECONDS = 2.0
SUBJECT = "ui-mcp"
_MAX_ANSWER = 64 * 1024


async def pause(attempt: int) -> None:
    """Wait before an attempt after the first."""
    await anyio.sleep(PAUSE_SECONDS * 2**attempt)


async def posted(url: str, headers: Mapping[str, str], body: bytes) -> int:
    """Post to a service and return its status; one that is busy or cannot be connected is tried again.

    Raises:
        UpstreamError: it cannot be reached.
    """
    status = 0
    # Redirects are not followed: the person, or a check, named exactly this address.
    async with open_client(limit=_MAX_ANSWER, timeout=TIMEOUT_SECONDS, follow_redirects=False) as client:
        for attempt in range(ATTEMPTS):
            if attempt:
                await pause(attempt)
            try:
                status = (await client.post(url, headers=dict(headers), content=body)).status_code
            except httpx2.HTTPError as error:
                # Only what certainly has not arrived is sent again.
                if isinstance(error, httpx2.ConnectError) and attempt < ATTEMPTS - 1:
                    continue
                host = urlsplit(url).hostname
                raise UpstreamError(f"{host} cannot be reached: {type(error).__name__}") from error
            if status != 429 and status < 500:
                break
    return status


@dataclass(frozen=True, slots=True)
class Ntfy:
    """Publishes to an ntfy topic; anybody who knows its name can read what is sent."""

    url: str
    token: str = ""
    name: str = "ntfy"

    async def send(self, notice: Notice) -> None:
        headers = {"Title": SUBJECT, "Tags": "question"}
        if notice.link:
            headers["Click"] = notice.link
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        _require_success(self.name, await posted(self.url, headers, notice.text.encode()))


@dataclass(frozen=True, slots=True)
class Webhook:
    """Posts `{"text", "link", "kind", "expires_at"}`, which chat services also show as a message."""

    url: str
    name: str = "the webhook"

    async def send(self, notice: Notice) -> None:
        shown = {"text": notice.text, "link": notice.link, "kind": notice.kind, "expires_at": notice.expires_at}
        headers = {"Content-Type": "application/json"}
        _require_success(self.name, await posted(self.url, headers, dumps(shown).encode()))


@dataclass(frozen=True, slots=True)
class Email:
    """Sends mail, by TLS or STARTTLS only."""

    smtp: str
    to: str
    password: str = ""
    name: str = "e-mail"

    async def send(self, notice: Notice) -> None:
        for attempt in range(ATTEMPTS):
            if attempt:
                await pause(attempt)
            try:
                await to_thread.run_sync(partial(self._send, notice), abandon_on_cancel=True)
                break
            except (OSError, smtplib.SMTPException) as error:
                if not _is_passing(error) or attempt == ATTEMPTS - 1:
                    host = urlsplit(self.smtp).hostname
                    raise UpstreamError(f"The mail server {host} did not take it: {type(error).__name__}") from error

    def _send(self, notice: Notice) -> None:
        parts = urlsplit(self.smtp)
        user, host = unquote(parts.username or ""), parts.hostname or ""
        message = EmailMessage()
        message["Subject"] = f"{SUBJECT}: {notice.text}"
        message["From"] = user if "@" in user else f"{user or 'ui-mcp'}@{host}"
        message["To"] = self.to
        where = notice.link or "Open your page on the computer where the server runs."
        message.set_content(f"{notice.text}.\n\n{where}\n")
        context = ssl.create_default_context()
        with self._connected(parts.scheme, host, parts.port, context) as server:
            if user and self.password:
                server.login(user, self.password)
            server.send_message(message)

    def _connected(self, scheme: str, host: str, port: int | None, context: ssl.SSLContext) -> smtplib.SMTP:
        if scheme == "smtps":
            return smtplib.SMTP_SSL(host, port or 465, timeout=TIMEOUT_SECONDS, context=context)
        server = smtplib.SMTP(host, port or 587, timeout=TIMEOUT_SECONDS)
        if urlsplit(self.smtp).hostname not in {"127.0.0.1", "localhost", "::1"}:
            server.starttls(context=context)
        return server


def channels_of(settings: PhoneSettings) -> Sequence[Channel]:
    """Return the channels that the settings name.

    Raises:
        ConfigError: an address is none.
    """
    found: list[Channel] = []
    if settings.ntfy:
        found.append(Ntfy(_web_address("ntfy", settings.ntfy), os.environ.get("UI_NTFY_TOKEN", "")))
    if settings.webhook:
        found.append(Webhook(_web_address("webhook", settings.webhook)))
    if settings.email and settings.smtp:
        if urlsplit(settings.smtp).scheme not in {"smtp", "smtps"} or not urlsplit(settings.smtp).hostname:
            raise ConfigError("phone.smtp should be smtps://USER@HOST or smtp://USER@HOST:587")
        found.append(Email(settings.smtp, settings.email, os.environ.get("UI_SMTP_PASSWORD", "")))
    return found


def _is_passing(error: Exception) -> bool:
    """Return whether a mail server that failed so has taken nothing and may take it later."""
    if isinstance(error, smtplib.SMTPResponseException):
        return 400 <= error.smtp_code < 500
    return isinstance(error, ConnectionRefusedError | socket.gaierror)


def _web_address(key: str, url: str) -> str:
    if urlsplit(url).scheme not in {"http", "https"} or not urlsplit(url).hostname:
        raise ConfigError(f"phone.{key} should be an http or https address")
    return url


def _require_success(name: str, status: int) -> None:
    if not 200 <= status < 300:
        raise UpstreamError(f"{name} answered {status}")
