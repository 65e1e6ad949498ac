"""What the refusals of vendors mean."""

import pytest

from ui_mcp.agent.models.refusal import refused, reported
from ui_mcp.errors import ContextOverflowError

OVERFLOWS = {
    "openai": (400, "This model's maximum context length is 8192 tokens. However, you asked for 9001 tokens.", 8192),
    "openai, without a number": (400, '{"error": {"message": "too long", "code": "context_length_exceeded"}}', 0),
    "anthropic": (400, '{"error": {"message": "prompt is too long: 212,345 tokens > 200,000 maximum"}}', 200_000),
    "anthropic, bytes": (413, '{"error": {"type": "request_too_large", "message": "too large"}}', 0),
    "gemini": (400, "The input token count (12) exceeds the maximum number of tokens allowed (1048576).", 1_048_576),
    "llama.cpp": (
        400,
        '{"error": {"type": "exceed_context_size_error", "n_tokens": 5000, "n_ctx": 4096}}',
        4096,
    ),
    "mistral": (422, "Prompt contains 40000 tokens, too large for model with 32768 maximum context length", 32_768),
    "a gateway": (500, '{"error": "ContextWindowExceededError: maximum context length is 4096 tokens"}', 4096),
}


@pytest.mark.covers("R-LO-14")
@pytest.mark.parametrize(("status", "body", "limit"), OVERFLOWS.values(), ids=OVERFLOWS)
def test_an_overflow_is_recognised_with_the_limit_that_the_vendor_names(status: int, body: str, limit: int) -> None:
    error = refused(status, body)

    assert isinstance(error, ContextOverflowError)
    assert error.limit == limit


@pytest.mark.covers("R-LO-14")
@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, '{"error": {"message": "Unsupported parameter: max_tokens"}}'),
        (401, '{"error": {"message": "context_length_exceeded"}}'),
        (429, '{"error": {"message": "Rate limit reached for tokens per minute"}}'),
    ],
)
def test_other_refusals_are_no_overflows(status: int, body: str) -> None:
    assert not isinstance(refused(status, body), ContextOverflowError)


@pytest.mark.covers("R-LO-14")
def test_an_overflow_inside_a_stream_is_recognised_too() -> None:
    assert isinstance(reported({"message": "no", "code": "context_length_exceeded"}), ContextOverflowError)


@pytest.mark.covers("R-MP-5")
def test_the_page_of_a_proxy_is_named_and_not_shown() -> None:
    page = "<html><head><title>502 Bad\n Gateway</title></head><body><h1>nginx</h1></body></html>"

    assert refused(502, page).message == "The model server answered 502: a web page, not JSON (502 Bad Gateway)"
    assert refused(502, "<p>no").message == "The model server answered 502: a web page, not JSON"
