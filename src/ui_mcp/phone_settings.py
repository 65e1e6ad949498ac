"""`[phone]`: answering from a phone over HTTPS, and notifications to other devices; all of it is off by default."""

from collections.abc import Collection
from typing import Annotated
from urllib.parse import urlsplit

from ui_mcp.errors import ConfigError
from ui_mcp.fields import Limit, Section
from ui_mcp.lazy_dataclass import dataclass

PUSH_SERVICES = (
    "https://fcm.googleapis.com",
    "https://*.push.services.mozilla.com",
    "https://*.push.apple.com",
    "https://*.notify.windows.com",
)
"""Push services of the makers of Chrome, Firefox, Safari and Edge."""


@dataclass(frozen=True, slots=True)
class PhoneSettings(Section):
    """`[phone]`: answering from a phone, and notifications."""

    url: Annotated[str | None, "HTTPS address at which your phone reaches your page; if not set, it cannot."] = None
    port: Annotated[int, "Port of the listener for phones; a tunnel leads here.", Limit(ge=0, le=65535)] = 8003
    host: Annotated[str, "Address that the listener binds to; any but loopback needs `certificate`."] = "127.0.0.1"
    certificate: Annotated[
        str | None, "PEM file with the certificate for `url`; not needed if a tunnel provides HTTPS."
    ] = None
    key: Annotated[str | None, "PEM file with the private key of `certificate`."] = None
    push_services: Annotated[
        tuple[str, ...], "Origins of push services that phones may name; `*.` stands for any subdomain."
    ] = PUSH_SERVICES
    ntfy: Annotated[str | None, "Address of an ntfy topic to notify; a token for it is read from UI_NTFY_TOKEN."] = None
    webhook: Annotated[str | None, "Address to which notifications are posted as JSON."] = None
    email: Annotated[str | None, "E-mail address to which notifications are sent through `smtp`."] = None
    smtp: Annotated[
        str | None, "smtps://USER@HOST or smtp://USER@HOST:587 (STARTTLS); the password is read from UI_SMTP_PASSWORD."
    ] = None

    @property
    def notifies(self) -> bool:
        """Whether new questions are announced to other devices."""
        return any((self.url, self.ntfy, self.webhook, self.email))

    @property
    def origin(self) -> str:
        """The origin of `url`."""
        return (self.url or "").rstrip("/").lower()

    def require_https(self, loopback: Collection[str]) -> None:
        """Check that no phone can reach the page without HTTPS.

        Raises:
            ConfigError: it could, or a setting that belongs to another is missing.
        """
        parts = urlsplit(self.url or "")
        is_origin = parts.scheme == "https" and parts.hostname and not parts.username and parts.path in {"", "/"}
        if self.url and (not is_origin or parts.query or parts.fragment):
            raise ConfigError(
                f"phone.url {self.url!r} is no HTTPS address of a whole site\n"
                "Phones need HTTPS: write the address of a tunnel, such as https://machine.tailnet.ts.net."
            )
        if bool(self.certificate) != bool(self.key):
            raise ConfigError("phone.certificate and phone.key belong together\nSet both, or neither.")
        if self.host not in loopback and not self.certificate:
            raise ConfigError(
                f"phone.host {self.host!r} is reachable from other machines without HTTPS\n"
                "Set phone.certificate and phone.key, or leave phone.host out and let a tunnel lead to phone.port."
            )
        if bool(self.email) != bool(self.smtp):
            raise ConfigError("phone.email and phone.smtp belong together\nSet both, or neither.")
