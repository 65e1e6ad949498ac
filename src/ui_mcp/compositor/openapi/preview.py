"""A request as people see it before it is sent: secrets masked, with a curl line."""

import shlex
from dataclasses import replace

from ui_mcp.gateway.openapi.auth import Attached
from ui_mcp.gateway.openapi.request import Outgoing
from ui_mcp.gateway.sanitize import MASK, Scrubber, is_secret
from ui_mcp.jsontypes import JsonObject, dumps, loads


def shown(outgoing: Outgoing, attached: Attached, scrub: Scrubber) -> JsonObject:
    """Return the request with secrets masked, and a curl line."""
    secret_headers = {name.lower() for name, _ in attached.headers}
    full = replace(outgoing, query=outgoing.query + attached.query, cookies=outgoing.cookies + attached.cookies)
    scrub.learn(attached.secrets)
    headers = {name: scrub.text(value) for name, value in full.all_headers}
    headers |= {name: MASK for name, _ in attached.headers if name.lower() in secret_headers}
    body = None if full.body is None else _masked(full.body, scrub)
    url = scrub.text(full.url)
    curl = ["curl", "-X", full.method, url]
    for name, value in headers.items():
        curl += ["-H", f"{name}: {value}"]
    curl += ["--data-binary", body] if body is not None else []
    return {"method": full.method, "url": url, "headers": headers, "body": body, "curl": shlex.join(curl)}


def _masked(body: bytes, scrub: Scrubber) -> str:
    """Write a body for people: known secrets and secret fields of JSON and forms are masked."""
    text = body.decode("utf-8", errors="replace")
    try:
        return dumps(scrub.json(loads(text)))
    except ValueError:
        pairs = [pair.partition("=") for pair in text.split("&")]
        masked = "&".join(
            f"{name}={MASK}" if is_secret(name, value) else f"{name}{eq}{value}" for name, eq, value in pairs
        )
        return scrub.text(masked)
