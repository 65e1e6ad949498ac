"""The person's browser, as plain HTTP: lets itself in with a code, then sends what its page would send."""

import re
from typing import Any

import httpx2

from ui_mcp.person import PersonKeys

META = re.compile(r'<meta name="ui-nonce" content="([^"]+)">')
HTML = {"accept": "text/html"}


def page_headers(url: str, nonce: str, credential: str = "") -> dict[str, str]:
    """Return the headers that the person's page at `url` sends with every request."""
    own = {"origin": url, "sec-fetch-site": "same-origin", "x-ui-nonce": nonce}
    return own | ({"x-ui-person": credential} if credential else {})


def let_in(url: str, keys: PersonKeys | None = None) -> dict[str, str]:
    """Open the person's page at `url` and enter a code; return the headers of its requests from then on."""
    url = url.rstrip("/")
    with httpx2.Client(base_url=url, timeout=60, follow_redirects=True) as browser:
        nonce = nonce_of(browser.get("/", headers=HTML).text)
        code = (keys or PersonKeys()).new_code()
        answer = browser.post("/person/enter", json={"code": code}, headers=page_headers(url, nonce))
        assert answer.status_code == 200, answer.text
        return page_headers(url, nonce, answer.json()["credential"])


def person(url: str, **options: Any) -> httpx2.Client:
    """Return a client that is the person at `url`."""
    return httpx2.Client(base_url=url, headers=let_in(url), timeout=60, **options)


def nonce_of(html: str) -> str:
    """Return the nonce of a page."""
    found = META.search(html)
    assert found, html
    return found[1]
