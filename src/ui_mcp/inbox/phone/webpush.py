"""Web push: messages that only the subscribed browser can read (RFC 8291), signed for its push service (RFC 8292).

The maker of the browser runs the push service: it learns when a message is sent and to which browser, not what it says.
This is the only module that needs the package cryptography, which the extra `phone` installs.
"""

import hashlib
import hmac
import os
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from ui_mcp.errors import InvalidArgumentsError
from ui_mcp.files import PRIVATE, write_atomic
from ui_mcp.inbox.phone.devices import Subscription
from ui_mcp.jsontypes import JsonObject, dumps

RECORD_SIZE = 4096
MAX_MESSAGE = 2048
PADDED = 512
"""Messages are padded to a multiple of this, so that their length says nothing."""
SIGNED_SECONDS = 12 * 3600
_POINT, _AUTH, _SALT = 65, 16, 16
"""Bytes of a public key, of a subscription's secret and of a salt."""


def encrypted(
    message: bytes,
    subscription: Subscription,
    *,
    salt: bytes | None = None,
    own: ec.EllipticCurvePrivateKey | None = None,
    padded: int = PADDED,
) -> bytes:
    """Return the body of a request to a push service, coded as aes128gcm; `salt` and `own` are new for every message.

    Raises:
        ValueError: the message is too long, or the key of the subscription is no point of the curve.
    """
    if len(message) > MAX_MESSAGE:
        raise ValueError(f"A push message may have {MAX_MESSAGE} bytes, not {len(message)}")
    salt = os.urandom(_SALT) if salt is None else salt
    own = own or ec.generate_private_key(ec.SECP256R1())
    theirs = decoded(subscription.p256dh)
    ours = _point(own.public_key())
    shared = own.exchange(ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), theirs))
    secret = _hkdf(shared, decoded(subscription.auth), b"WebPush: info\0" + theirs + ours, 32)
    key = _hkdf(secret, salt, b"Content-Encoding: aes128gcm\0", 16)
    nonce = _hkdf(secret, salt, b"Content-Encoding: nonce\0", 12)
    # 2 marks the last record, which is the only one here; the zeros after it are padding.
    filling = bytes(-(len(message) + 1) % padded)
    sealed = AESGCM(key).encrypt(nonce, message + b"\2" + filling, None)
    return salt + RECORD_SIZE.to_bytes(4, "big") + bytes([len(ours)]) + ours + sealed


def _hkdf(material: bytes, salt: bytes, info: bytes, length: int) -> bytes:
    """Derive up to 32 bytes (RFC 5869 with SHA-256)."""
    extracted = hmac.new(salt, material, hashlib.sha256).digest()
    return hmac.new(extracted, info + b"\1", hashlib.sha256).digest()[:length]


class VapidKey:
    """The key by which push services recognise this account; a subscription is valid for its key only."""

    def __init__(self, key: ec.EllipticCurvePrivateKey) -> None:
        self._key = key

    @classmethod
    def kept_in(cls, file: Path) -> "VapidKey":
        """Return the key of a file, which is created when missing."""
        with suppress(FileNotFoundError):
            return cls(_private(file.read_bytes()))
        form = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        made = ec.generate_private_key(ec.SECP256R1())
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_atomic(file, made.private_bytes(serialization.Encoding.PEM, *form), mode=PRIVATE)
        return cls(_private(file.read_bytes()))  # that of another process, if it wrote at the same moment

    @property
    def public(self) -> str:
        """The public key, as browsers take it."""
        return encoded(_point(self._key.public_key()))

    def authorization(self, endpoint: str, contact: str, now: float | None = None) -> str:
        """Return the header for a request to `endpoint`; `contact` is an address of ours for the push service."""
        parts = urlsplit(endpoint)
        expires = int((time.time() if now is None else now) + SIGNED_SECONDS)
        claims: JsonObject = {"aud": f"{parts.scheme}://{parts.netloc}", "exp": expires, "sub": contact}
        signed = ".".join(encoded(dumps(part).encode()) for part in ({"typ": "JWT", "alg": "ES256"}, claims))
        r, s = decode_dss_signature(self._key.sign(signed.encode(), ec.ECDSA(hashes.SHA256())))
        return f"vapid t={signed}.{encoded(r.to_bytes(32, 'big') + s.to_bytes(32, 'big'))}, k={self.public}"


def _private(pem: bytes) -> ec.EllipticCurvePrivateKey:
    try:
        key = serialization.load_pem_private_key(pem, None)
    except (ValueError, UnsupportedAlgorithm) as error:
        raise InvalidArgumentsError(f"The key for web push cannot be read: {error}") from error
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        raise InvalidArgumentsError("The key for web push is none of an elliptic curve")
    return key


def _point(key: ec.EllipticCurvePublicKey) -> bytes:
    return key.public_bytes(serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)


def check_subscription(given: Subscription, services: Collection[str]) -> None:
    """Check what a browser sent, before anything is sent to the address in it.

    Raises:
        InvalidArgumentsError: its push service is not one of `services`, or its keys cannot be used.
    """
    if not any(_is_at(given.endpoint, service) for service in services):
        host = urlsplit(given.endpoint).hostname
        raise InvalidArgumentsError(f"{host} is no known push service; phone.push_services lists them")
    try:
        auth, point = decoded(given.auth), decoded(given.p256dh)
        ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), point)
    except ValueError as error:
        raise InvalidArgumentsError("The keys of this subscription cannot be read") from error
    if len(auth) != _AUTH or len(point) != _POINT:
        raise InvalidArgumentsError("The keys of this subscription have a wrong length")


def _is_at(endpoint: str, service: str) -> bool:
    """Return whether an address is one of a service: its origin, or with `*.` one with a longer name."""
    try:
        given, known = urlsplit(endpoint), urlsplit(service)
        same = (given.scheme, given.port) == (known.scheme, known.port)
    except ValueError:
        return False
    if not same or given.username is not None or given.password is not None:
        return False
    name, wanted = given.hostname or "", known.hostname or ""
    return name.endswith(wanted[1:]) and name != wanted[2:] if wanted.startswith("*.") else name == wanted


def encoded(data: bytes) -> str:
    """Return bytes as base64url without padding."""
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def decoded(text: str) -> bytes:
    """Return the bytes of a base64url text, with or without padding.

    Raises:
        ValueError: it is none.
    """
    return urlsafe_b64decode(text.rstrip("=") + "=" * (-len(text.rstrip("=")) % 4))
