"""The parts that know the person: nonces of pages, the limit for wrong codes, and what app pages may reach."""

from pathlib import Path

import httpx2
import pytest

from servers import running_server
from ui_mcp.webserver.person_auth import NONCE_SECONDS, WRONG_CODE_SECONDS, WRONG_CODES, PageNonces, WrongCodes


@pytest.mark.covers("UI-PERSON-2")
def test_a_nonce_is_known_to_the_listener_that_made_it_for_a_day() -> None:
    now = [1000.0]
    nonces = PageNonces(lambda: now[0])
    nonce = nonces.mint()

    assert nonces.knows(nonce)
    assert nonces.mint() != nonce
    assert not PageNonces().knows(nonce)
    assert not any(nonces.knows(wrong) for wrong in ("", ".", "..", nonce[:-1], f"9{nonce}", "ä.ö.ü"))
    now[0] += NONCE_SECONDS
    assert not nonces.knows(nonce)


@pytest.mark.covers("UI-PERSON-1")
def test_after_ten_wrong_codes_a_minute_has_to_pass() -> None:
    now = [0.0]
    wrong = WrongCodes(lambda: now[0])
    for _ in range(WRONG_CODES):
        assert wrong.wait() == 0
        wrong.add()
        now[0] += 1

    assert wrong.wait() == WRONG_CODE_SECONDS - WRONG_CODES
    now[0] = WRONG_CODE_SECONDS
    assert wrong.wait() == 0


@pytest.mark.covers("UI-PERSON-5")
@pytest.mark.parametrize("path", ["/", "/variables", "/page.html", "/picture.svg", "/worker.js", "/no-such-page"])
async def test_whatever_the_ui_port_serves_may_send_to_no_other_port_of_this_machine(path: str, tmp_path: Path) -> None:
    html = tmp_path / ".claude/ui/html"
    html.mkdir(parents=True)
    for name in ("page.html", "picture.svg", "worker.js"):
        (html / name).write_text("x")
    async with running_server(tmp_path) as running, httpx2.AsyncClient(base_url=running.url, timeout=60) as client:
        answer = await client.get(path, headers={"accept": "text/html"})
        refused = await client.get(path, headers={"service-worker": "script"})

    policies = answer.headers.get_list("content-security-policy")
    policy = dict(part.strip().partition(" ")[::2] for part in policies[-1].split(";"))
    assert policy["connect-src"] == "'self' https: wss: data: blob:"
    assert policy["form-action"] == "'self' https:"
    assert policy["frame-src"] == "'self' https: data: blob:"
    assert policy["object-src"] == "'none'"
    assert running.person_url in policy["frame-ancestors"].split()
    assert "script-src" not in policy
    assert refused.status_code == 403
