"""Reads a vendor's refusal: which error it is, and what a person can do about it."""

import re

from ui_mcp.errors import ContextOverflowError, ModelError
from ui_mcp.jsontypes import Json, loads

HINTS = {
    401: "Check llm.api_key, and the variable it comes from.",
    403: "Check that llm.api_key may use this model.",
    404: "Check llm.model and llm.api_base.",
    429: "It limits how often it may be asked, or the credit is used up; try again later.",
}
_SHOWN = 300

# The wordings and codes of OpenAI, Azure, vLLM, Groq, OpenRouter (1-3), Anthropic (4), Gemini (5), llama.cpp (6),
# LM Studio (7), Mistral (8) and Bedrock (9). No vendor has an HTTP status of its own for it.
_OVERFLOW = re.compile(
    r"context_length_exceeded|maximum context length|reduce the length of the (?:messages|prompt|input)"
    r"|prompt is too long|request_too_large"
    r"|(?:input )?token count.{0,40}exceeds the maximum"
    r"|exceed_context_size|exceeds the available context size"
    r"|context the overflows|context length of only"
    r"|too large for model with"
    r"|input is too long for (?:the )?requested model",
    re.IGNORECASE | re.DOTALL,
)
_LIMITS = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"maximum context length (?:is|of) ([\d,]+)",
        r"> ([\d,]+) maximum",
        r"tokens allowed \(([\d,]+)\)",
        r"\"n_ctx\":\s*(\d+)",
        r"available context size \(([\d,]+)",
        r"context length of only ([\d,]+)",
        r"with ([\d,]+) maximum context length",
    )
]


def refused(status: int, body: str) -> ModelError:
    """Return the error of a response with an error status."""
    said = f"The model server answered {status}: {_message(body)}"
    hint = HINTS.get(status)
    # 500, because some gateways pass every refusal of a vendor on as their own failure.
    if status in {400, 413, 422, 500} and (status == 413 or _OVERFLOW.search(body)):
        return ContextOverflowError(said, _limit(body), status=status, body=body[:4000])
    return ModelError(f"{said}\n{hint}" if hint else said, status=status, body=body[:4000])


def reported(error: Json) -> ModelError:
    """Return the error that a vendor sent as a part of its answer."""
    said = f"The model server reported: {complaint(error)}"
    found = str(error)
    return ContextOverflowError(said, _limit(found)) if _OVERFLOW.search(found) else ModelError(said)


def complaint(error: Json) -> str:
    """Return the message of a vendor's error, whatever its structure, cut to 300 characters."""
    return str(error.get("message") or error if isinstance(error, dict) else error)[:_SHOWN]


def _message(body: str) -> str:
    """Return the message in the body of a refusal, whose structure differs between vendors."""
    try:
        value = loads(body)
    except ValueError:
        return _plain(body)
    if isinstance(value, list) and value:
        value = value[0]
    return complaint(value.get("error", value) if isinstance(value, dict) else value)


def _plain(body: str) -> str:
    text = body.strip()
    if text.startswith("<"):  # a proxy's page says nothing more than its title
        title = re.search(r"<title[^>]*>(.*?)</title>", text, re.IGNORECASE | re.DOTALL)
        named = " ".join(title[1].split())[:_SHOWN] if title else ""
        return f"a web page, not JSON ({named})" if named else "a web page, not JSON"
    return text[:_SHOWN] or "no reason given"


def _limit(text: str) -> int:
    found = next((match for pattern in _LIMITS if (match := pattern.search(text))), None)
    return int(found[1].replace(",", "")) if found else 0
