"""The origin of apps serves each page with the policy that it declares, to the page around it only."""

import httpx2
import pytest

from ui_mcp.gateway.web.app_sandbox import RESTRICTED, Sandbox, ShownPage, content_policy, declared_origins, permissions
from ui_mcp.jsontypes import JsonObject

HOST = "http://127.0.0.1:9000"


def shown(ui: JsonObject, *, isolated: bool = True) -> Sandbox:
    sandbox = Sandbox()
    sandbox.pages["secret"] = ShownPage("<p>app</p>", ui, "alabel", HOST, is_isolated=isolated)
    return sandbox


async def fetched(sandbox: Sandbox, path: str, host: str = "alabel.localhost:1") -> httpx2.Response:
    transport = httpx2.ASGITransport(app=sandbox.app())
    async with httpx2.AsyncClient(transport=transport, base_url="http://sandbox") as client:
        return await client.get(path, headers={"host": host})


@pytest.mark.covers("GW-APP-6")
async def test_a_page_that_declares_nothing_reaches_nothing() -> None:
    answer = await fetched(shown({}), "/view/secret/page")

    assert answer.text == "<p>app</p>"
    assert answer.headers["content-security-policy"] == f"{RESTRICTED}; frame-ancestors 'self' {HOST}"
    assert "connect-src 'none'" in RESTRICTED


@pytest.mark.covers("GW-APP-6")
def test_a_page_reaches_the_origins_that_it_declares() -> None:
    csp = {"connectDomains": ["https://api.example.com"], "resourceDomains": ["https://*.example.org"]}
    policy = content_policy({"csp": csp})

    assert "connect-src https://api.example.com;" in policy
    assert "img-src 'self' blob: data: https://*.example.org;" in policy
    assert "frame-src 'none'" in policy


@pytest.mark.covers("GW-APP-6")
@pytest.mark.parametrize("given", ["*", "'self'", "https:", "https://x; script-src *", "https://a b", 5])
def test_what_is_no_origin_is_not_taken_into_the_policy(given: object) -> None:
    ui: JsonObject = {"csp": {"connectDomains": [given], "frameDomains": [given]}}

    assert declared_origins(ui)["connectDomains"] == []
    assert "connect-src 'none'" in content_policy(ui)


@pytest.mark.covers("GW-APP-6")
@pytest.mark.parametrize(("path", "host"), [("/view/other/page", "alabel.localhost"), ("/view/secret", "b.localhost")])
async def test_a_page_is_served_under_its_name_at_its_host_only(path: str, host: str) -> None:
    assert (await fetched(shown({}), path, host)).status_code == 404


@pytest.mark.covers("GW-APP-6")
async def test_the_proxy_is_framed_by_the_chat_page_only_and_holds_the_app_in_a_sandbox() -> None:
    answer = await fetched(shown({"permissions": {"clipboardWrite": {}, "camera": {}}}), "/view/secret")

    assert f"frame-ancestors {HOST}" in answer.headers["content-security-policy"]
    assert 'sandbox="allow-scripts allow-forms allow-same-origin" allow="clipboard-write"' in answer.text


@pytest.mark.covers("GW-APP-6")
async def test_without_a_host_name_of_its_own_an_app_has_no_origin() -> None:
    answer = await fetched(shown({}, isolated=False), "/view/secret", "192.0.2.1:1")

    assert 'sandbox="allow-scripts allow-forms"' in answer.text


@pytest.mark.covers("GW-APP-6")
def test_camera_microphone_and_place_are_not_given() -> None:
    assert permissions({"permissions": {"camera": {}, "microphone": {}, "geolocation": {}}}) == {}
