"""Memory of `ui-mcp serve`: with one page, for each further session, and after 10,000 calls of a tool.

python benchmarks/web_memory.py [--sessions 10] [--calls 10000]

Counted is the proportional set size (PSS) of the server and all its descendants: the fork server and one Lua worker per
session. A bare Starlette server with the same page in the same run shows what Python and its web server need at least.
"""

import argparse
import sys
import time
from typing import Any

import httpx2
from claims import claim
from playwright.sync_api import Browser, sync_playwright
from web_pages import FIRST, FLAGS
from web_rivals import Site, memory_of, serving

SETTLED_SECONDS = 8.0
"""After this long a server has finished its background work at start."""
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "benchmark", "version": "1"}}


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sessions", type=int, default=10)
    parser.add_argument("--calls", type=int, default=10_000)
    options = parser.parse_args()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=FLAGS)
        with serving("floor", "counter") as site:
            floor = with_one_page(browser, site)
        with serving("ours", "counter") as site:
            one = with_one_page(browser, site)
            before, after = grown(site, options.calls)
        with serving("ours", "sessions") as site:
            session = per_session(browser, site, options.sessions)
        browser.close()
    print(f"server with one page, PSS MB        {one:8.1f}   (bare Starlette {floor:.1f})")
    print(f"each further session, PSS MB        {session:8.2f}")
    print(f"after {options.calls} calls, PSS MB         {after:8.1f}   (after the first tenth {before:.1f})")
    held = [
        claim("server with one page, PSS MB", one, at_most=55),
        claim("each further session, PSS MB", session, at_most=2),
        claim("growth over the calls, MB", after - before, at_most=1),
    ]
    return 0 if all(held) else 1


def with_one_page(browser: Browser, site: Site) -> float:
    page = browser.new_page()
    page.goto(site.url)
    page.wait_for_selector(site.target, state="attached")
    page.evaluate(FIRST, site.target)
    time.sleep(SETTLED_SECONDS)
    found = memory_of(site.pid)["Pss"]
    page.close()
    return found


def per_session(browser: Browser, site: Site, sessions: int) -> float:
    """Return the memory of one session more, each with a visitor and their open page."""
    context = browser.new_context()

    def visit() -> None:
        context.clear_cookies()
        page = context.new_page()
        page.goto(site.url)
        page.wait_for_selector(site.target, state="attached")
        page.evaluate(FIRST, site.target)

    visit()
    time.sleep(SETTLED_SECONDS)
    one = memory_of(site.pid)["Pss"]
    for _ in range(sessions):
        visit()
    time.sleep(SETTLED_SECONDS / 2)
    many = memory_of(site.pid)["Pss"]
    context.close()
    return (many - one) / sessions


def grown(site: Site, calls: int) -> tuple[float, float]:
    """Return the memory after a tenth of the calls and after all of them."""
    port = (site.folder / ".claude/ui/mcp-port").read_text().strip()
    headers = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-06-18"}
    with httpx2.Client(base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=120) as http:
        http.headers["mcp-session-id"] = ask(http, "initialize", HELLO).headers["mcp-session-id"]
        found = []
        for share in (calls // 10, calls):
            for number in range(share):
                ask(http, "tools/call", {"name": "ui_run", "arguments": {"code": f"return {number} + bench.count"}})
            found.append(memory_of(site.pid)["Pss"])
    return found[0], found[1]


def ask(http: httpx2.Client, method: str, params: dict[str, Any]) -> httpx2.Response:
    answer = http.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
    answer.raise_for_status()
    return answer


if __name__ == "__main__":
    sys.exit(main())
