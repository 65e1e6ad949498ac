"""Finding documents: discovery from a bare address, references that stay home, cache and live reload."""

from pathlib import Path
from typing import Any

import anyio
import pytest

from gateway.conftest import MakeTarget, Recorder, Reply, document, json_reply
from gateway.gateways import gateway
from ui_mcp.errors import RefusedError
from ui_mcp.gateway.openapi import discover, live
from ui_mcp.gateway.openapi.discover import slugs
from ui_mcp.gateway.openapi.document import load
from ui_mcp.gateway.openapi.fetch import Fetcher
from ui_mcp.gateway.openapi.guarded import is_public, public_address
from ui_mcp.gateway.openapi.live import DocumentCache
from ui_mcp.jsontypes import Json, dumps

MISSING = Reply(404, b"nothing here", {"Content-Type": "text/plain"})


def api(*names: str) -> Json:
    return document({f"/{name}": {"get": {"operationId": name}} for name in names})


@pytest.fixture
def web(recorder: Recorder, monkeypatch: pytest.MonkeyPatch) -> Recorder:
    monkeypatch.setattr(discover, "_BUDGET", 300.0)
    recorder.default = MISSING
    return recorder


@pytest.mark.covers("GW-DIS-1")
@pytest.mark.parametrize("place", ["/openapi.json", "/v3/api-docs", "/api/schema/", "/swagger/v1/swagger.json"])
async def test_a_document_is_found_from_the_bare_address(place: str, web: Recorder, make_target: MakeTarget) -> None:
    web.replies[place] = json_reply(api("a"))
    async with make_target(base_url=f"{web.url}/base") as target:
        await target.refresh()

    assert [entry.name for entry in target.source.entries()] == ["api__a"]


@pytest.mark.covers("GW-DIS-2")
async def test_pages_that_are_no_documents_are_refused_with_the_reason(web: Recorder, make_target: MakeTarget) -> None:
    web.replies["/openapi.json"] = Reply(200, b"<html>login</html>", {"Content-Type": "application/json"})
    web.replies["/swagger.json"] = json_reply({"hello": 1})
    web.replies["/api-docs"] = Reply(401, b"", {})
    async with make_target(base_url=web.url) as target:
        await target.refresh()

    assert target.discovery is not None
    outcomes = {tried.url.removeprefix(web.url): tried.outcome for tried in target.discovery.tried}
    assert outcomes["/openapi.json"] == "a web page, not a document"
    assert outcomes["/swagger.json"] == "not an OpenAPI document"
    assert "needs credentials" in outcomes["/api-docs"]
    assert "spec" in target.source.error


@pytest.mark.covers("GW-DIS-3")
async def test_several_documents_on_one_page_become_several_targets(web: Recorder, tmp_path: Path) -> None:
    urls = [{"url": f"/specs/{name}.json", "name": name} for name in ("users", "orders")]
    web.replies["/v3/api-docs/swagger-config"] = json_reply({"urls": urls})
    web.replies["/specs/users.json"] = json_reply(api("a"))
    web.replies["/specs/orders.json"] = json_reply(api("b"))
    async with gateway(tmp_path, targets=[{"name": "shop", "base_url": web.url}]) as found:
        with anyio.fail_after(120):
            while {entry.name for entry in found.catalog.entries()} != {"shop_users__a", "shop_orders__b"}:
                await anyio.sleep(0.02)
        states = {health.name: health.state for health in found.health()}

    assert states == {"shop_users": "active", "shop_orders": "active"}


@pytest.mark.parametrize(
    ("urls", "names"),
    [
        (("http://x/v1/openapi.json", "http://x/v2/openapi.json"), ["v1", "v2"]),
        (("http://x/docs?group=a", "http://x/docs?group=b"), ["a", "b"]),
        (("http://x/a/b.json", "http://x/b/a.json", "http://x/a/a.json"), ["1", "2", "3"]),
    ],
)
def test_documents_are_named_after_what_tells_them_apart(urls: tuple[str, ...], names: list[str]) -> None:
    assert slugs(urls) == names


@pytest.mark.covers("GW-DIS-2")
async def test_a_link_header_and_a_documentation_page_lead_to_the_document(
    web: Recorder, make_target: MakeTarget
) -> None:
    web.replies["/"] = Reply(200, b"<html></html>", {"Link": '</spec/one.json>; rel="service-desc"'})
    web.replies["/spec/one.json"] = json_reply(api("a"))
    async with make_target(base_url=web.url) as linked:
        await linked.refresh()
    web.replies["/"] = MISSING
    web.replies["/docs"] = Reply(200, b"<script>SwaggerUIBundle({url: '/spec/one.json'})</script>", {})
    async with make_target(base_url=web.url, name="other") as paged:
        await paged.refresh()

    assert [entry.name for entry in linked.source.entries()] == ["api__a"]
    assert [entry.name for entry in paged.source.entries()] == ["other__a"]


@pytest.mark.covers("GW-REL-3", "GW-DIS-4")
async def test_an_api_that_is_down_keeps_its_tools_from_the_cache(web: Recorder, make_target: MakeTarget) -> None:
    web.replies["/openapi.json"] = json_reply(api("a"))
    async with make_target(base_url=web.url) as target:
        await target.refresh()
    web.replies.clear()

    async with make_target(base_url=web.url) as again:
        found = await again.start_from_cache()
        await again.refresh()

    assert found
    assert [entry.name for entry in again.source.entries()] == ["api__a"]
    assert again.source.health().state == "stale"


@pytest.mark.covers("GW-REL-1", "GW-REL-2")
async def test_a_changed_document_changes_the_tools_and_an_unchanged_one_is_not_read_again(
    web: Recorder, make_target: MakeTarget
) -> None:
    web.replies["/openapi.json"] = json_reply(api("a"), ETag='"1"')
    async with make_target(spec=f"{web.url}/openapi.json") as target:
        assert await target.refresh()
        web.replies["/openapi.json"] = lambda request: (
            Reply(304, b"", {}) if request.headers.get("if-none-match") == '"1"' else json_reply(api("a", "b"))
        )
        assert not await target.refresh()
        web.replies["/openapi.json"] = json_reply(api("a", "b"))
        assert await target.refresh()

    assert [entry.name for entry in target.source.entries()] == ["api__a", "api__b"]


class Meanwhile(DocumentCache):
    """A file is written to just after it was read: when what was read is put into the cache."""

    def __init__(self, folder: Path, file: Path, text: str) -> None:
        super().__init__(folder)
        self._change = (file, text)

    def save(self, *given: Any, **more: Any) -> None:
        super().save(*given, **more)
        file, text = self._change
        file.write_text(text)


@pytest.mark.covers("GW-REL-2")
async def test_a_file_that_changes_while_it_is_being_read_is_read_again(
    tmp_path: Path, make_target: MakeTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "_FILE_POLL", 0.01)
    target = make_target(api("a"), base_url="http://x")
    target._cache = Meanwhile(tmp_path / "cache", tmp_path / "openapi.json", dumps(api("a", "b")))
    changed = anyio.Event()
    async with target, anyio.create_task_group() as tasks:
        await target.refresh()
        tasks.start_soon(target.follow, changed.set)
        with anyio.fail_after(60):
            await changed.wait()
        tasks.cancel_scope.cancel()

    assert [entry.name for entry in target.source.entries()] == ["api__a", "api__b"]


@pytest.mark.covers("GW-REL-2")
async def test_a_broken_new_document_leaves_the_old_tools(web: Recorder, make_target: MakeTarget) -> None:
    web.replies["/openapi.json"] = json_reply(api("a"))
    async with make_target(spec=f"{web.url}/openapi.json") as target:
        await target.refresh()
        web.replies["/openapi.json"] = Reply(200, b"{broken: [", {})
        assert not await target.refresh()

    assert [entry.name for entry in target.source.entries()] == ["api__a"]
    assert target.source.health().error


@pytest.mark.covers("GW-LOD-6", "GW-LOD-7")
async def test_a_document_from_the_network_reaches_neither_files_nor_other_hosts(web: Recorder, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("{}")
    refs = [f"file://{tmp_path}/x.json", "http://169.254.169.254/latest", "http://localhost:1/x.json"]
    paths = {f"/{n}": {"get": {"parameters": [{"$ref": ref}]}} for n, ref in enumerate(refs)}
    web.replies["/openapi.json"] = Reply(200, dumps(document(paths)).encode(), {})

    async with Fetcher(f"{web.url}/openapi.json") as fetcher:
        root = await fetcher.root()
        assert root is not None
        loaded = await load(fetcher, root)

    assert list(loaded.files) == [f"{web.url}/openapi.json"]
    assert len(loaded.notes.all()) == 3
    assert len(web.requests) == 1


@pytest.mark.covers("GW-LOD-7")
async def test_a_redirect_to_a_private_address_is_refused(web: Recorder) -> None:
    port = web.url.rsplit(":", 1)[1]
    web.replies["/openapi.json"] = Reply(302, b"", {"Location": f"http://127.0.0.2:{port}/secret"})

    async with Fetcher(f"{web.url}/openapi.json") as fetcher:
        with pytest.raises(RefusedError, match=r"127\.0\.0\.2"):
            await fetcher.root()

    assert len(web.requests) == 1


@pytest.mark.covers("GW-LOD-7")
@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("8.8.8.8", True),
        ("127.0.0.1", False),
        ("10.1.2.3", False),
        ("169.254.169.254", False),
        ("100.64.0.1", False),
        ("::1", False),
        ("::ffff:127.0.0.1", False),
        ("2002:7f00:1::", False),
        ("fe80::1%eth0", False),
        ("224.0.0.1", False),
        ("2606:4700::1111", True),
    ],
)
def test_private_addresses_are_known(address: str, public: bool) -> None:
    assert is_public(address) is public


@pytest.mark.covers("GW-LOD-7")
async def test_a_name_that_resolves_to_a_private_address_is_refused() -> None:
    with pytest.raises(RefusedError, match="allow_hosts"):
        await public_address("localhost", 80)
