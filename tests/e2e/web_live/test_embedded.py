# ruff: noqa: E501 - scripts read better on one line
"""The page inside an MCP host: a host page of our own, a sandboxed frame, no network but the host's connection."""

import json
from typing import Any

import pytest
from playwright.sync_api import FrameLocator, Page, expect

from .conftest import Server

pytestmark = pytest.mark.slow

HOST = """<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><body></body><script>
window.said = [];
window.host = (html, policy, domains) => {
  const frame = document.createElement("iframe");
  frame.sandbox = "allow-scripts";
  frame.style.cssText = "width:800px;height:600px";
  const head = `<meta http-equiv="Content-Security-Policy" content="${policy}">`;
  frame.srcdoc = html.replace("<head>", "<head>" + head);
  addEventListener("message", async ({ source, data }) => {
    if (source !== frame.contentWindow) return;
    window.said.push(data.method ?? "answer");
    const answer = (result) => source.postMessage({ jsonrpc: "2.0", id: data.id, result }, "*");
    if (data.method === "ui/initialize") {
      answer({ protocolVersion: "2026-01-26", hostInfo: { name: "test", version: "1" },
        hostCapabilities: { serverTools: {}, sandbox: { csp: { connectDomains: domains } } },
        hostContext: { theme: "dark", styles: { variables: { "--color-text-primary": "rgb(1, 2, 3)" } } } });
    } else if (data.method === "ui/notifications/initialized") {
      source.postMessage({ jsonrpc: "2.0", method: "ui/notifications/tool-input", params: { arguments: { name: "counter" } } }, "*");
    } else if (data.method === "tools/call") {
      answer(await window.callTool(data.params.name, JSON.stringify(data.params.arguments)));
    } else if (data.method === "ui/notifications/size-changed") {
      window.height = data.params.height;
    } else if (data.id !== undefined) {
      window.asked = data.params;
      answer({});
    }
  });
  document.body.append(frame);
  window.frame = frame;
};
</script>"""
# A blocked socket is given up after 0.3 s; on a busy machine an allowed one may take longer.
PATIENT = "{ const real = setTimeout; window.setTimeout = (act, ms, ...more) => real(act, ms === 300 ? 60_000 : ms, ...more) }"
STRICT = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; connect-src {}"


def embed(server: Server, page: Page, connect: str, domains: list[str]) -> FrameLocator:
    """Open the host page and put the app resource into it."""

    def call_tool(name: str, arguments: str) -> Any:
        given = json.loads(arguments)
        # The test's own thread carries the calls, so a long wait would hold up everything else.
        given["wait_ms"] = min(given.get("wait_ms", 100), 100)
        return server.request("tools/call", {"name": name, "arguments": given})

    page.expose_function("callTool", call_tool)
    # Served for real: browsers let only pages from this machine reach this machine.
    (server.base / "html" / "host.html").write_text(HOST)
    page.goto(f"{server.url}/host.html")
    [content] = server.request("resources/read", {"uri": "ui://app/main.html"})["contents"]
    assert content["mimeType"] == "text/html;profile=mcp-app"
    page.evaluate(
        "([html, policy, domains]) => host(html, policy, domains)", [content["text"], STRICT.format(connect), domains]
    )
    return page.frame_locator("iframe")


@pytest.mark.covers("MCP-APP-2", "MCP-APP-4", "MCP-APP-7", "MCP-APP-8", "UI-RES-7", "UI-WIRE-4")
def test_an_embedded_page_works_over_the_hosts_own_connection(counter: Server, page: Page) -> None:
    frame = embed(counter, page, "'none'", [])
    expect(frame.locator("#count")).to_have_text("0")
    frame.locator("#up").click()
    expect(frame.locator("#count")).to_have_text("1")
    counter.call("ui_run", code="counter.name = 'from Lua'")
    expect(frame.locator("#name")).to_have_value("from Lua")
    expect(frame.locator(".shell-bar")).to_be_hidden()
    assert frame.locator("html").evaluate(
        "e => [e.className.includes('theme-dark'), getComputedStyle(e.querySelector('#up')).length > 0]"
    )
    assert frame.locator("body").evaluate("e => getComputedStyle(e).color") == "rgb(1, 2, 3)"
    page.wait_for_function("window.height > 50")

    frame.locator("html").evaluate("() => uiApp.sendMessage('hello')")
    page.wait_for_function("window.asked?.content?.text === 'hello'")
    page.evaluate(
        "frame.contentWindow.postMessage({jsonrpc: '2.0', id: 99, method: 'ui/resource-teardown', params: {}}, '*')"
    )
    page.wait_for_function("window.said.includes('answer')")


@pytest.mark.covers("MCP-APP-1", "MCP-APP-3")
def test_tools_name_the_page_and_the_page_asks_for_this_server_only(counter: Server) -> None:
    tools = {tool["name"]: tool.get("_meta") for tool in counter.request("tools/list", {})["tools"]}
    uri = "ui://app/main.html"
    shown = {"ui": {"resourceUri": uri, "visibility": ["model"]}, "ui/resourceUri": uri, "openai/outputTemplate": uri}
    assert (tools["ui_display"], tools["ui_start"]) == (shown, shown)
    assert "ui_sync" not in tools  # for pages, not for a client that shows none
    texts = counter.request("tools/call", {"name": "ui_display", "arguments": {"name": "counter"}})["content"]
    assert [part["text"] for part in texts] == ["Displayed app: counter", counter.url]

    [content] = counter.request("resources/read", {"uri": uri})["contents"]
    domains = [counter.url.replace("http", "ws", 1), counter.url]
    assert content["_meta"] == {"ui": {"prefersBorder": True, "csp": {"connectDomains": domains}}}


@pytest.mark.covers("MCP-APP-6")
def test_an_embedded_page_takes_the_socket_where_the_host_allows_it(counter: Server, page: Page) -> None:
    address = counter.url.replace("http", "ws", 1)
    page.add_init_script(PATIENT)
    with page.expect_websocket():
        frame = embed(counter, page, address, [address])
        expect(frame.locator("#count")).to_have_text("0")
    frame.locator("#up").click()
    expect(frame.locator("#count")).to_have_text("1")
    assert page.evaluate("window.said.filter((one) => one === 'tools/call').length") == 1
