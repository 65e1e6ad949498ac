"""A person at a browser without a screen: follows redirects with cookies, fills in forms and sends them."""

import html
import re
from urllib.parse import urljoin

import httpx2


class Person:
    def __init__(self, login: str = "ada") -> None:
        self._http = httpx2.Client(timeout=60)
        self._login = login

    def sign_in(self, url: str) -> str:
        """Sign in, agree to everything, and return the last page."""
        page = self._followed(self._http.get(url))
        while "<form" in page.text:
            page = self._submitted(page)
        return page.text

    def _submitted(self, page: httpx2.Response) -> httpx2.Response:
        form = re.search(r"<form.*?</form>", page.text, re.DOTALL)
        assert form is not None
        where = re.search(r'action="([^"]*)"', form[0])
        inputs = [dict(re.findall(r'(\w+)="([^"]*)"', one)) for one in re.findall(r"<input[^>]*>", form[0])]
        known = {"login": self._login, "password": "any"}
        fields = {
            one["name"]: known.get(one["name"], html.unescape(one.get("value", ""))) for one in inputs if "name" in one
        }
        target = urljoin(str(page.url), html.unescape(where[1]) if where else "")
        return self._followed(self._http.post(target, data=fields))

    def _followed(self, page: httpx2.Response) -> httpx2.Response:
        while page.is_redirect:
            page = self._http.get(urljoin(str(page.url), page.headers["location"]))
        return page
