"""Signs files that this account writes into a project, with an HMAC key of the account.

A cloned repository can contain files of the same names, but not their signatures.
"""

import errno
import hashlib
import hmac
import os
import secrets
from contextlib import suppress
from pathlib import Path


def seal(*parts: str | Path | bytes) -> str:
    """Return the HMAC-SHA256 of `parts` in hexadecimal; the key is created on first use.

    Raises:
        OSError: the key cannot be read or created.
    """
    return seal_with(account_key(), *parts)


def seal_with(key: bytes, *parts: str | Path | bytes) -> str:
    """Return the HMAC-SHA256 of `parts` in hexadecimal, with a key of the caller; pure."""
    # Length prefixes distinguish ("ab", "c") from ("a", "bc").
    message = b"".join(len(data).to_bytes(8, "big") + data for data in map(_bytes, parts))
    return hmac.new(key, message, hashlib.sha256).hexdigest()


def is_sealed(given: object, *parts: str | Path | bytes) -> bool:
    """Return whether `given` is the seal of these parts; False also if the key is unavailable."""
    try:
        return isinstance(given, str) and hmac.compare_digest(given.encode(), seal(*parts).encode())
    except OSError:
        return False


def key_file() -> Path:
    """Return the path of the key; it is relative if the account has no home directory."""
    # Not user_state_path(): MCP hosts start us without the variables of the person's shell, XDG_STATE_HOME among them,
    # and all processes of the account must find the same key.
    home = Path(os.path.expanduser("~"))  # noqa: PTH111 - Path.home() raises where there is none
    return home / ".local" / "state" / "ui-mcp" / "seal.key"


def account_key() -> bytes:
    """Return the key of this account; it is created on first use.

    Raises:
        OSError: it cannot be read or created.
    """
    file = key_file()
    if not file.is_absolute():
        raise FileNotFoundError(errno.ENOENT, "the account has no home directory", str(file))
    with suppress(FileNotFoundError):
        return file.read_bytes()
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = file.with_name(f"{file.name}.{secrets.token_hex(8)}")
    with os.fdopen(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as stream:
        stream.write(secrets.token_hex(32))
    try:
        os.link(draft, file)  # fails if another process was first; its key is used
    except FileExistsError:
        pass
    except OSError:  # no hard links here: if two processes race, seals of the loser are rejected and asked for again
        draft.replace(file)
    draft.unlink(missing_ok=True)
    return file.read_bytes()


def _bytes(part: str | Path | bytes) -> bytes:
    return part if isinstance(part, bytes) else os.fsencode(part)
