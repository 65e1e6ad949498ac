"""Unguessable identifiers and their comparison."""

import hmac
import secrets


def secret_id() -> str:
    """Return 32 lower-case hexadecimal digits (128 random bits)."""
    return secrets.token_hex(16)


def same_secret(given: str, expected: str) -> bool:
    """Compare in constant time."""
    return hmac.compare_digest(given.encode(), expected.encode())
