"""Media types: which one to send, and how to tell families apart."""

_FORM = "application/x-www-form-urlencoded"
_MULTIPART = "multipart/form-data"


def base(media_type: str) -> str:
    """Drop parameters and case."""
    return media_type.split(";", maxsplit=1)[0].strip().lower()


def is_json(media_type: str) -> bool:
    """Say whether bodies of this type are JSON; `*/*` is sent as JSON."""
    kind = base(media_type)
    return kind in {"application/json", "text/json", "*/*", "application/*", ""} or kind.endswith("+json")


def is_form(media_type: str) -> bool:
    """Say whether it is a URL-encoded form."""
    return base(media_type) == _FORM


def is_multipart(media_type: str) -> bool:
    """Say whether it is a multipart form."""
    return base(media_type).startswith("multipart/")


def is_xml(media_type: str) -> bool:
    """Say whether it is XML."""
    kind = base(media_type)
    return kind in {"application/xml", "text/xml"} or kind.endswith("+xml")


def is_text(media_type: str) -> bool:
    """Say whether the body is text that we do not take apart."""
    kind = base(media_type)
    texts = {
        "application/yaml",
        "application/x-yaml",
        "application/graphql",
        "application/javascript",
        "application/sql",
        "application/x-ndjson",
        "application/jsonl",
    }
    return kind.startswith("text/") or kind in texts or kind.endswith("+yaml") or is_xml(kind)


def is_sendable(media_type: str) -> bool:
    """Say whether we can build such a body at all."""
    return "cbor" not in base(media_type)


def preference(media_type: str) -> int:
    """Rank: the lower, the sooner it is chosen."""
    kind = base(media_type)
    exact = ("application/json", "application/merge-patch+json", "application/strategic-merge-patch+json")
    if kind in exact:
        return exact.index(kind)
    families = (
        kind.endswith("+json"),
        is_json(kind),
        is_multipart(kind),
        is_form(kind),
        is_text(kind) and not is_xml(kind),
    )
    for rank, fits in enumerate(families, start=len(exact)):
        if fits:
            return rank
    if kind == "application/octet-stream" or kind.startswith(("image/", "audio/", "video/")):
        return 20
    return 30 if is_xml(kind) else 40
