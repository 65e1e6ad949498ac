"""Accounts of a running gateway: APIs and servers that want a sign-in, and the person's page and command for them."""

from collections.abc import AsyncIterator
from pathlib import Path
from threading import Thread

import anyio
import pytest
from anyio import to_thread

from gateway.conftest import document
from gateway.gateways import gateway
from oauth.authorization_server import FakeServer, fake_server, visit
from ui_mcp.cli.nlui import run_words
from ui_mcp.errors import UiMcpError
from ui_mcp.gateway.service import GatewayService
from ui_mcp.jsontypes import JsonObject, dumps, loads
from ui_mcp.oauth import account, store
from ui_mcp.toolkit.tool import Call, Text, ToolResult

ALLOW = {"rules": [{"decision": "allow"}]}


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "state_folder", lambda: tmp_path / "state")


@pytest.fixture
async def server() -> AsyncIterator[FakeServer]:
    async with fake_server() as found:
        yield found


def target(server: FakeServer, folder: Path, **auth: object) -> JsonObject:
    """Return an API whose document names the endpoints of the sign-in."""
    described = document({"/api": {"get": {"operationId": "who", "responses": {}, "security": [{"id": ["read"]}]}}})
    flow = {"authorizationUrl": f"{server.base}/authorize", "tokenUrl": f"{server.base}/token", "scopes": {"read": ""}}
    schemes = {"id": {"type": "oauth2", "flows": {"authorizationCode": flow}}}
    described = {**described, "components": {"securitySchemes": schemes}}
    (folder / "shop.json").write_text(dumps(described))
    given = {"type": "sign_in", "client_id": "mine", "scopes": ["read"], **auth}
    return {"name": "shop", "spec": str(folder / "shop.json"), "base_url": server.base, "auth": given}


async def call(found: GatewayService) -> ToolResult:
    return await found.enforcer.call("shop__who", {}, Call())


def text(result: ToolResult) -> str:
    return "".join(block.text for block in result.content if isinstance(block, Text))


async def sign_in(found: GatewayService, name: str) -> None:
    begun = await found.sign_ins.begin(name)
    await to_thread.run_sync(visit, begun["url"])
    with anyio.fail_after(30):
        while "waiting" in (await found.sign_ins.listed())[0]:
            await anyio.sleep(0.01)


@pytest.mark.covers("GW-SIGN-1", "GW-SIGN-6")
async def test_an_api_is_called_with_the_token_of_the_person_who_signed_in(server: FakeServer, tmp_path: Path) -> None:
    async with gateway(tmp_path, targets=[target(server, tmp_path)], policy=ALLOW) as found:
        with pytest.raises(UiMcpError, match="nlui sign-in shop"):
            await call(found)
        (before,) = await found.sign_ins.listed()
        await sign_in(found, "shop")
        (after,) = await found.sign_ins.listed()
        result = await call(found)

    assert (before["state"], after["state"], after["scopes"]) == ("signed out", "signed in", ["read"])
    assert "token-1" not in text(result)  # masked
    assert result.structured is not None
    assert server.forms[0]["code_verifier"]


@pytest.mark.covers("GW-SIGN-2")
async def test_an_api_that_refuses_the_token_gets_a_renewed_one(
    server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with gateway(tmp_path, targets=[target(server, tmp_path)], policy=ALLOW) as found:
        await sign_in(found, "shop")
        await call(found)
        held = await found.sign_ins.accounts()["shop"].held()
        assert held is not None
        server.revoked = {"token-1"}
        result = await call(found)

    assert not result.is_error
    assert [form["grant_type"] for form in server.forms] == ["authorization_code", "refresh_token"]


@pytest.mark.covers("GW-SIGN-1")
async def test_the_browser_opens_once_and_not_again_after_a_refusal(
    server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []

    def browser(url: str) -> None:
        opened.append(url)
        Thread(target=visit, args=(url,), daemon=True).start()

    monkeypatch.setattr(account, "open_default_browser", browser)
    server.back = {"error": "access_denied", "code": ""}
    servers = [{"name": "files", "url": f"{server.base}/api"}]
    async with gateway(tmp_path, mcp={"servers": servers}, ready=False) as found:
        mount = found.sources.mounts["files"]
        with anyio.fail_after(60):
            while "nlui sign-in files" not in mount.health().error:
                await anyio.sleep(0.01)
                mount.retry()
        (row,) = await found.sign_ins.listed()

    assert (len(opened), row["state"]) == (1, "signed out")


@pytest.mark.covers("GW-SIGN-4", "GW-SIGN-6")
async def test_signing_out_ends_the_calls(server: FakeServer, tmp_path: Path) -> None:
    async with gateway(tmp_path, targets=[target(server, tmp_path)], policy=ALLOW) as found:
        await sign_in(found, "shop")
        assert await found.sign_ins.sign_out("shop")
        with pytest.raises(UiMcpError, match="needs you to sign in"):
            await call(found)


@pytest.mark.covers("GW-SIGN-6")
async def test_a_sign_in_that_fails_says_why_and_can_be_cancelled(server: FakeServer, tmp_path: Path) -> None:
    async with gateway(tmp_path, targets=[target(server, tmp_path)], policy=ALLOW) as found:
        await found.sign_ins.begin("shop")
        found.sign_ins.cancel("shop")
        (cancelled,) = await found.sign_ins.listed()
        server.back = {"error": "access_denied", "error_description": "Not today", "code": ""}
        await sign_in(found, "shop")
        (refused,) = await found.sign_ins.listed()
        with pytest.raises(UiMcpError, match="offers no sign-in by a code"):
            await found.sign_ins.begin("shop", "device")

    assert (cancelled.get("waiting"), refused["state"]) == (None, "signed out")
    assert "Not today" in refused["error"]


@pytest.mark.covers("GW-SIGN-5")
async def test_a_document_does_not_lead_the_sign_in_to_an_unsafe_place(server: FakeServer, tmp_path: Path) -> None:
    given = target(server, tmp_path)
    described = loads((tmp_path / "shop.json").read_text())
    described["components"]["securitySchemes"]["id"]["flows"]["authorizationCode"]["tokenUrl"] = "http://bank.example/t"
    (tmp_path / "shop.json").write_text(dumps(described))
    async with gateway(tmp_path, targets=[given], policy=ALLOW) as found:
        assert await found.sign_ins.listed() == []
        with pytest.raises(UiMcpError, match="not an https address"):
            await call(found)


@pytest.mark.covers("GW-SIGN-6")
async def test_the_commands_sign_in_show_and_sign_out(
    server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def browser(url: str) -> None:
        Thread(target=visit, args=(url,), daemon=True).start()

    monkeypatch.setattr("ui_mcp.cli.nlui.accounts.open_default_browser", browser)
    file = tmp_path / "nlui.yaml"
    config = {"targets": [target(server, tmp_path)], "data_dir": str(tmp_path / "data")}
    file.write_text(dumps(config))

    async def nlui(*words: str) -> str:
        assert await to_thread.run_sync(run_words, [*words, "--config", str(file)], None) == 0
        return capsys.readouterr().out

    assert "shop: signed out" in await nlui("accounts")
    assert f"shop: signed in at {server.base}" in await nlui("sign-in", "shop")
    (row,) = loads(await nlui("accounts", "--json"))
    assert (row["state"], row["kept_in"]) == ("signed in", "file")
    assert "token-1" not in dumps(row)
    assert "shop: signed out" in await nlui("sign-out", "shop")
    assert "was not signed in" in await nlui("sign-out", "shop")
