"""Headers that a document may not set: they belong to the connection, or to us."""

_FRAMING = frozenset(
    {
        *("host", "content-length", "transfer-encoding", "te", "trailer", "trailers", "expect", "upgrade"),
        *("connection", "keep-alive", "http2-settings"),
    }
)
"""What frames the message, or holds for one hop only."""
_BUILT = frozenset({"accept", "content-type", "authorization"})
_LETTERS = frozenset("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")


def is_built(name: str) -> bool:
    """Say whether we write this header ourselves, from the document's other parts or from credentials."""
    return name.lower() in _BUILT


def is_framing(name: str) -> bool:
    """Say whether a header would change how the message is sent rather than what it says."""
    lowered = name.lower()
    return lowered in _FRAMING or lowered.startswith(("proxy-", ":"))


def is_name(name: str) -> bool:
    """Say whether a text can stand as the name of a header."""
    return bool(name) and _LETTERS.issuperset(name)
