"""Smoke test of a built `ui-mcp`: drives it as a host would, in an empty directory with nothing else on PATH.

`python scripts/smoke.py COMMAND…` runs it manually.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Self
from urllib.request import ProxyHandler, build_opener

ROOT = Path(__file__).parents[1]
EXPECTED_TOOLS = {"ui_configure", "ui_install", "ui_open_browser", "ui_start", "ui_status"}


def smoke(command: list[str]) -> None:
    """Check the version, the tools, a guide, the installed files and the page.

    Raises:
        AssertionError: a check failed; the message says which.
    """
    with tempfile.TemporaryDirectory(prefix="ui-mcp-smoke-") as folder:
        environment = {"PATH": folder, "HOME": folder}
        if os.name == "nt":
            environment["SYSTEMROOT"] = os.environ["SYSTEMROOT"]
        said = subprocess.run(
            [*command, "--version"],
            cwd=folder, env=environment, capture_output=True, text=True, timeout=240, check=True,
        )  # fmt: skip
        check(said.stdout.startswith("ui-mcp v"), f"--version says {said.stdout!r}")
        with Server(command, folder, environment) as server:
            try_server(server, said.stdout.removeprefix("ui-mcp v").strip(), Path(folder))
        # The server that clients share outlives the last one for some seconds, and would write into the removed folder.
        subprocess.run([*command, "stop"], cwd=folder, env=environment, capture_output=True, timeout=240, check=True)
        try_demo(command, folder, environment)


def try_server(server: "Server", version: str, folder: Path) -> None:
    """Send the first requests of a host and check the answers."""
    hello = server.ask(
        "initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo={"name": "s", "version": "1"}
    )
    check(hello["serverInfo"]["version"] == version, f"initialize says {hello['serverInfo']}")
    server.tell("notifications/initialized")
    tools = {tool["name"] for tool in server.ask("tools/list")["tools"]}
    check(tools >= EXPECTED_TOOLS, f"tools are missing: {sorted(EXPECTED_TOOLS - tools)}")
    guide = server.ask("resources/read", uri="ui://reference")["contents"][0]["text"]
    check(guide.startswith("# "), "ui://reference is no guide")
    status = json.loads(server.call("ui_status"))
    check(status["version"] == version, f"ui_status says {status}")
    check((folder / ".claude/skills/ui/SKILL.md").is_file(), "the skills were not installed")
    url = server.call("ui_start").splitlines()[0]
    check("ui-app" in fetch(f"{url}/"), f"{url} serves no app page")
    if "ui_run" in tools:
        answer = server.call("ui_run", code="return 6 * 7")
        check(answer == "42", f"ui_run says {answer}")


def try_demo(command: list[str], folder: str, environment: dict[str, str]) -> None:
    """Check that the example apps are included."""
    demo = subprocess.Popen(
        [*command, "demo", "--no-browser"],
        cwd=folder, env=environment, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    try:
        assert demo.stdout is not None
        url = next((found[0] for line in demo.stdout if (found := re.search(r"http://127[^ ]*\d", line))), None)
        check(url is not None, "ui-mcp demo prints no address")
        check("ui-app" in fetch(f"{url}/"), f"{url} serves no app page")
    finally:
        demo.terminate()
        demo.wait(timeout=120)


def fetch(url: str) -> str:
    """Return the body of a page, without using a proxy."""
    return str(build_opener(ProxyHandler({})).open(url, timeout=60).read().decode())


def check(fine: bool, problem: str) -> None:
    """Raise AssertionError with `problem` unless `fine`."""
    if not fine:
        raise AssertionError(problem)


class Server:
    """`ui-mcp mcp` over stdio."""

    def __init__(self, command: list[str], folder: str, environment: dict[str, str]) -> None:
        self._process = subprocess.Popen(
            [*command, "mcp"], cwd=folder, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._next = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(timeout=120)
        except subprocess.TimeoutExpired:
            self._process.kill()
            raise

    def ask(self, method: str, **params: Any) -> Any:
        """Send a request and return its result."""
        self._next += 1
        self._send({"jsonrpc": "2.0", "id": self._next, "method": method, "params": params})
        assert self._process.stdout is not None
        for line in self._process.stdout:
            answer = json.loads(line)
            if answer.get("id") == self._next:
                check("result" in answer, f"{method}: {answer.get('error')}")
                return answer["result"]
        raise AssertionError(f"{method}: the server ended")

    def call(self, tool: str, **arguments: Any) -> str:
        """Call a tool and return its text."""
        result = self.ask("tools/call", name=tool, arguments=arguments)
        text: str = result["content"][0]["text"]
        check(not result.get("isError"), f"{tool}: {text}")
        return text

    def tell(self, method: str) -> None:
        self._send({"jsonrpc": "2.0", "method": method})

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()


if __name__ == "__main__":
    smoke(sys.argv[1:])
    print("works")
