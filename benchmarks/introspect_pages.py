"""Looking at one page of 1,000, 5,000 and 10,000 elements: our outline against playwright-mcp and chrome-devtools-mcp.

All three are MCP servers over stdio, each with its own headless Chromium, asked in turn for the same page; tokens
are characters / 4. Bars at 5,000: outline at most half the tokens and half the time of playwright-mcp's snapshot, the
whole JSON no slower than it, and at most 400 tokens for the changes of four edits.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

from claims import claim

ROOT = Path(__file__).parents[1]
PEERS = ROOT / ".clients" / "look"
ROUNDS = 5
CHROMIUM = os.environ.get("UI_MCP_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome") or "chromium"

CARD = """<section class=card><h2>Record {0}</h2><p>Opened by <b>Ann {0}</b> in the spring</p>
<ul><li>First remark {0}</li><li>Second remark {0}</li></ul>
<table><tr><td>Amount</td><td id=amount{0}>{0}.50</td></tr></table>
<label>Name <input value="name {0}"></label><label><input type=checkbox> Paid</label>
<div class=row><button>Save {0}</button><a href=#r{0}>More</a></div></section>"""
ELEMENTS_PER_CARD = 19


def page(folder: Path, elements: int) -> str:
    """Write a page with about `elements` elements and a button that edits four of them."""
    cards = elements // ELEMENTS_PER_CARD
    edits = "".join(f"amount{at}.textContent='edited {at}';" for at in (1, cards // 3, cards // 2, cards - 1))
    body = "".join(CARD.format(at) for at in range(cards))
    file = folder / f"page{elements}.html"
    file.write_text(f'<!doctype html><title>{elements}</title><button id=edit onclick="{edits}">Edit</button>{body}')
    return file.as_uri()


class Server:
    """An MCP server over stdio."""

    def __init__(self, command: list[str], cwd: Path) -> None:
        self.process = subprocess.Popen(
            command, cwd=cwd, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self._number = 0
        client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
        self.request("initialize", client)
        self._send({"method": "notifications/initialized"})

    def call(self, tool: str, **arguments: Any) -> str:
        return said(self.answer(tool, **arguments))

    def answer(self, tool: str, **arguments: Any) -> Any:
        answer = self.request("tools/call", {"name": tool, "arguments": arguments})
        assert not answer.get("isError"), said(answer)[:500]
        return answer

    def request(self, method: str, params: dict[str, Any]) -> Any:
        self._number += 1
        self._send({"id": self._number, "method": method, "params": params})
        assert self.process.stdout is not None
        while line := self.process.stdout.readline():
            message = json.loads(line)
            if message.get("id") == self._number and ("result" in message or "error" in message):
                return message["result"]
        raise RuntimeError("the server ended")

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()

    def _send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()


def said(answer: Any) -> str:
    return "\n".join(block.get("text", "") for block in answer["content"])


def peers() -> Path:
    """Install the compared servers; they use the system's Chromium and download none."""
    if not (PEERS / "node_modules").is_dir():
        PEERS.mkdir(parents=True, exist_ok=True)
        (PEERS / "package.json").write_text("{}")
        packages = ["@playwright/mcp", "chrome-devtools-mcp", "agent-browser@>=0.41"]
        command = ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error", *packages]
        subprocess.run(command, cwd=PEERS, check=True, stdout=subprocess.DEVNULL)
    return PEERS / "node_modules" / ".bin"


def ours(folder: Path, url: str) -> Server:
    base = folder / "ours"
    base.mkdir(exist_ok=True)
    # Of its own, so that servers which others start meanwhile on this machine are none of this account's.
    account = ["env", f"XDG_STATE_HOME={folder / 'state'}"]
    command = [*account, sys.executable, "-m", "ui_mcp"]
    subprocess.run([*command, "attach", "--url", url], cwd=base, check=True, capture_output=True)
    return Server([*command, "mcp"], base)


def playwright(folder: Path, url: str) -> Server:
    options = ["--headless", "--isolated", "--no-sandbox", "--executable-path", CHROMIUM]
    server = Server([str(peers() / "playwright-mcp"), *options, "--allow-unrestricted-file-access"], folder)
    server.call("browser_navigate", url=url)
    return server


def devtools(folder: Path, url: str) -> Server:
    options = ["--headless", "--isolated", "--executablePath", CHROMIUM, "--chromeArg=--no-sandbox"]
    quiet = ["--no-usage-statistics", "--no-performance-crux", "--no-page-id-routing"]
    server = Server([str(peers() / "chrome-devtools-mcp"), *options, *quiet], folder)
    server.call("new_page", url=url)
    return server


def measured(asked: dict[str, tuple[Server, str, dict[str, Any]]]) -> dict[str, tuple[float, int]]:
    """Ask every server in turn, round by round, so that a busy moment of the machine affects all of them."""
    times: dict[str, list[float]] = {label: [] for label in asked}
    sizes: dict[str, int] = {}
    for turn in range(ROUNDS + 1):
        for label, (server, tool, arguments) in asked.items():
            begun = time.perf_counter()
            answer = server.answer(tool, **arguments)
            if turn:
                times[label].append((time.perf_counter() - begun) * 1000)
            sizes[label] = size(answer)
    return {label: (median(taken), sizes[label] // 4) for label, taken in times.items()}


def size(answer: Any) -> int:
    """Return the length of an answer's structured data if it has any, else of its text."""
    if answer.get("structuredContent"):
        return len(json.dumps(answer["structuredContent"], ensure_ascii=False, separators=(",", ":")))
    text = said(answer)
    return int(json.loads(text)["chars"]) if text.startswith('{"truncated":true') else len(text)


def changed(server: Server) -> int:
    """Return the tokens of an answer that describes the changes of four edits."""
    before = server.call("ui_get_snapshot", target="url", maxTokens=1000).split()[1]
    edit = json.loads(server.call("ui_query", target="url", selector={"css": "#edit"}))["matches"][0]["ref"]["uid"]
    server.call("ui_perform", target="url", actions=[{"type": "click", "target": edit}])
    return len(server.call("ui_get_snapshot", target="url", maxTokens=0, since=before)) // 4


def compared(folder: Path, elements: int) -> dict[str, tuple[float, int]]:
    """Measure one page; the last row is for the changes of four edits."""
    url = page(folder, elements)
    mine, theirs, tools = ours(folder, url), playwright(folder, url), devtools(folder, url)
    try:
        rows = measured({
            "ours, outline": (mine, "ui_get_snapshot", {"target": "url", "maxTokens": 0}),
            "ours, full JSON": (
                mine, "ui_get_snapshot", {"target": "url", "format": "json", "mode": "full", "maxTokens": 0}
            ),
            "playwright-mcp": (theirs, "browser_snapshot", {}),
            "chrome-devtools-mcp": (tools, "take_snapshot", {}),
        })  # fmt: skip
        return {**rows, "ours, 4 edits": (0, changed(mine))}
    finally:
        for server in (mine, theirs, tools):
            server.close()


def claims(elements: int, rows: dict[str, tuple[float, int]]) -> bool:
    """Print the ratios against playwright-mcp; the bars are for 5,000 elements."""
    bars = (0.5, 0.5, 1.0, 400.0) if elements == 5_000 else (None, None, None, None)
    base, outline, full = rows["playwright-mcp"], rows["ours, outline"], rows["ours, full JSON"]
    count = f"{elements:,} elements"
    held = [
        claim(f"outline / playwright-mcp, time, {count}", outline[0] / base[0], at_most=bars[0]),
        claim(f"outline / playwright-mcp, tokens, {count}", outline[1] / base[1], at_most=bars[1]),
        claim(f"full JSON / playwright-mcp, time, {count}", full[0] / base[0], at_most=bars[2]),
        claim(f"tokens for four edits, {count}", rows["ours, 4 edits"][1], at_most=bars[3]),
        claim(f"outline / chrome-devtools-mcp, time, {count}", outline[0] / rows["chrome-devtools-mcp"][0]),
    ]
    return all(held)


def main() -> int:
    held = True
    with tempfile.TemporaryDirectory() as name:
        for elements in (1_000, 5_000, 10_000):
            rows = compared(Path(name), elements)
            print(f"{elements:>8} {'server':<20} {'ms':>8} {'tokens':>8}")
            for label, (ms, tokens) in rows.items():
                print(
                    f"{'':>8} {label:<20} {ms:>8.0f} {tokens:>8}" if ms else f"{'':>8} {label:<20} {'':>8} {tokens:>8}"
                )
            held &= claims(elements, rows)
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
