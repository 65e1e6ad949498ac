"""Compares the public surface of this package with contracts/surface.json.

The record holds the help of every command, what each MCP server offers, settings, HTTP routes, error, close and notice
codes, and the files of the bundle. Most of it comes from running programs, so that it does not depend on how the code
is organised. Prints a diff and exits with 1 if something differs.
"""

import argparse
import difflib
import http.client
import json
import os
import re
import secrets
import socket
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from itertools import groupby
from pathlib import Path
from threading import Timer
from typing import Any

from surface_child import ASKED
from surface_codes import codes

ROOT = Path(__file__).resolve().parents[1]
BUNDLE = ROOT / "src" / "ui_mcp" / "bundle"
RECORD = ROOT / "contracts" / "surface.json"
ACCEPT = "The surface differs from contracts/surface.json. Accept an intended change: python scripts/surface.py --write"
SECONDS = 120
"""Time after which a process that does not answer is killed."""
Json = dict[str, Any]

SERVERS = {
    "ui-mcp mcp": "pipe",
    "ui-mcp chat --face assistant": "pipe",
    "ui-mcp chat --face human": "terminal",
    "nlui --mcp nlui.yaml": "pipe",
    "nlui --mcp --compact nlui.yaml": "pipe",
}
"""MCP servers, and what they require as stdin."""
LISTENERS = {
    "ui-mcp serve": ("--port", "--mcp-port", "--person-port"),
    "ui-mcp chat --face assistant": ("--port",),
    "ui-mcp chat --face human": ("--port",),
    "nlui nlui.yaml": ("--port",),
    "nlui --mcp-http nlui.yaml": ("--mcp-port",),
}
"""HTTP servers, and the options that set their ports."""
ORDER_ID = {"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}
SHOP = {"name": "shop", "description": "Orders", "base_url": "http://127.0.0.1:9", "spec": "shop.json"}
FILES = {
    "nlui.yaml": {
        "admins": ["local"],
        "data_dir": "data",
        "llm": {"provider": "scripted"},
        "mcp": {"startup_wait_ms": 60_000},
        "policy": {"mode": "guard"},
        "targets": [SHOP],
    },
    "shop.json": {
        "openapi": "3.1.0",
        "info": {"title": "Shop", "version": "1"},
        "components": {"securitySchemes": {"key": {"type": "http", "scheme": "bearer"}}},
        "security": [{"key": []}],
        "paths": {
            "/orders": {"get": {"operationId": "list_orders", "summary": "List orders", "responses": {}}},
            "/orders/{id}": {"delete": {"operationId": "cancel_order", "parameters": [ORDER_ID], "responses": {}}},
        },
    },
}
"""Files of the project that each program runs in; JSON is YAML. They make the gateway list all its tools."""


def generated() -> dict[Path, str]:
    return {RECORD: json.dumps(surface(), indent=1, sort_keys=True, ensure_ascii=False) + "\n"}


def surface() -> Json:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, ThreadPoolExecutor(4) as pool:
        base = Path(folder).resolve()
        ports = _free_ports()
        listeners = [
            pool.submit(routes, base, command, dict(zip(options, ports, strict=False)))
            for command, options in LISTENERS.items()
        ]
        servers = {command: pool.submit(offers, base, command) for command in SERVERS}
        commands, settings = pool.submit(printed, base, "help"), pool.submit(printed, base, "settings")
        wire = json.loads((ROOT / "contracts" / "wire.json").read_text(encoding="utf-8"))
        found = {
            **codes(ROOT / "src" / "ui_mcp"),
            "bundle": bundle(),
            "close codes of pages": {
                str(one["code"]): "reconnect" if one["reconnect"] else "stay away" for one in wire["closeCodes"]
            },
            "commands": commands.result(),
            "http": {name: table for one in listeners for name, table in one.result().items()},
            "mcp": {command: one.result() for command, one in servers.items()},
            "notices": sorted(one["code"] for one in wire["notices"]),
            "settings": settings.result(),
        }
    return {key: _stable(value, str(base)) for key, value in found.items()}


def _stable(value: Any, folder: str) -> Any:
    """Return a value with placeholders for what differs between runs and releases, and texts split into lines."""
    match value:
        case dict():
            version = {"version": "VERSION"} if isinstance(value.get("version"), str) else {}
            return {key: _stable(one, folder) for key, one in value.items()} | version
        case list():
            return [_stable(one, folder) for one in value]
        case str():
            text = re.sub(rf"{re.escape(folder)}/[^/]+/project", "PROJECT", value)
            text = re.sub(r" \(\d+ tools\)", "", text)  # named once the API has been read
            return text.splitlines() if "\n" in text else text
    return value


# --- running programs ------------------------------------------------------------------------------------------------


class ProgramError(Exception):
    """A program ended early or did not answer; contains its stderr."""


@contextmanager
def started(base: Path, command: str, stdin: str = "pipe") -> "Iterator[tuple[subprocess.Popen[str], int]]":
    """Run a program in its own project, home directory and environment; yield it and the other end of its stdin.

    Raises:
        ProgramError: the block failed.
    """
    home = Path(tempfile.mkdtemp(dir=base))
    project = home / "project"
    project.mkdir()
    for name, content in FILES.items():
        (project / name).write_text(json.dumps(content), encoding="utf-8")
    kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ}
    own = {"HOME": str(home), "COLUMNS": "1000", "NO_COLOR": "1", "PYTHONUTF8": "1", "PYTHONPATH": str(ROOT / "src")}
    theirs, ours = reversed(os.openpty()) if stdin == "terminal" else os.pipe()
    with (home / "stderr").open("w+", encoding="utf-8") as errors:
        # -P: the names of the scripts beside this one must not hide modules.
        process = subprocess.Popen(
            [sys.executable, "-P", str(ROOT / "scripts" / "surface_child.py"), *command.split()],
            cwd=project, env=kept | own, start_new_session=stdin == "terminal", text=True, encoding="utf-8",
            stdin=theirs, stdout=subprocess.PIPE, stderr=errors,
        )  # fmt: skip
        os.close(theirs)
        timeout = Timer(SECONDS, process.kill)
        timeout.start()
        try:
            with process:
                try:
                    yield process, ours
                finally:
                    os.close(ours)
                    process.terminate()
        except (OSError, ValueError, EOFError) as error:
            errors.seek(0)
            raise ProgramError(f"{command}: {error or type(error).__name__}\n{errors.read()}") from error
        finally:
            timeout.cancel()


def printed(base: Path, command: str) -> Any:
    """Return the JSON that a program prints."""
    with started(base, command) as (process, _):
        return json.loads(process.communicate()[0])


# --- MCP -------------------------------------------------------------------------------------------------------------

LISTS = {
    "tools/list": "tools",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
    "prompts/list": "prompts",
}
CLIENT = {"name": "surface", "version": "1"}
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {"sampling": {}}, "clientInfo": CLIENT}
STATELESS = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": CLIENT,
}
REQUESTS: dict[str, Json] = {
    "initialize": HELLO,
    **{method: {} for method in LISTS},
    "server/discover": {"_meta": STATELESS},
}


def offers(base: Path, command: str) -> Json:
    """Start an MCP server and return its answers to `REQUESTS`."""
    answers: Json = {}
    with started(base, command, SERVERS[command]) as (process, stdin):
        messages = [{"id": method, "method": method, "params": params} for method, params in REQUESTS.items()]
        messages.insert(1, {"method": "notifications/initialized"})
        os.write(stdin, "".join(json.dumps({"jsonrpc": "2.0", **one}) + "\n" for one in messages).encode())
        assert process.stdout is not None
        while answers.keys() != REQUESTS.keys():
            line = process.stdout.readline()
            if not line:
                raise EOFError("no answer to " + ", ".join(REQUESTS.keys() - answers.keys()))
            message = json.loads(line)
            if "method" not in message:
                answers[message["id"]] = _by_name(message, LISTS.get(message["id"]))
    return answers


def _by_name(message: Json, key: str | None) -> Json:
    """Return an answer with its list as a mapping, so that a new entry does not move the others in a diff."""
    if "error" in message:
        return {"error": message["error"]}
    result: Json = message["result"]
    if key is None:
        return result
    return {**result, key: {one.get("uriTemplate") or one.get("uri") or one["name"]: one for one in result[key]}}


# --- HTTP ------------------------------------------------------------------------------------------------------------

MCP_PATHS = ("/mcp", "/sse", "/message", "/messages")
"""Requested one by one, because no router lists them."""


def routes(base: Path, command: str, ports: dict[str, int]) -> Json:
    """Start an HTTP server and return the routes of each of its listeners."""
    options = " ".join(f"{option} {port}" for option, port in ports.items())
    with started(base, f"serve {command} {options}", "terminal") as (process, _):
        return {f"{command} {option}": _listener(process, port) for option, port in ports.items()}


def _listener(process: "subprocess.Popen[str]", port: int) -> Json:
    while process.poll() is None:
        with suppress(OSError):  # does not listen yet
            status, body = _request(port, "GET", "/", {"accept": "text/html", ASKED: "1"})
            if status == 200:
                break
        time.sleep(0.1)
    else:
        raise EOFError("ended before it listed its routes")
    found = groupby(json.loads(body), lambda route: str(route[0]))
    mime = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
    tried = [(path, method) for path in MCP_PATHS for method in ("GET", "POST", "DELETE")]
    return {
        "routes": {path: " ".join(method for _, method in methods) for path, methods in found},
        "status of MCP paths": {f"{path} {method}": _request(port, method, path, mime)[0] for path, method in tried},
    }


def _request(port: int, method: str, path: str, headers: dict[str, str]) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=SECONDS)
    try:
        connection.request(method, path, b"{}" if method == "POST" else None, headers)
        answer = connection.getresponse()
        return answer.status, answer.read() if ASKED in headers else b""  # an event stream does not end
    finally:
        connection.close()


def _free_ports() -> Iterator[int]:
    """Yield free ports below those of outgoing connections."""
    for port in secrets.SystemRandom().sample(range(12000, 30000), 500):
        with suppress(OSError):
            socket.create_server(("127.0.0.1", port)).close()
            yield port


# --- files -----------------------------------------------------------------------------------------------------------

OPTIONAL = ("agents/javafx-agent.jar", "vectors/LICENSE", "vectors/tokens.bin")
"""Always recorded, since a machine without a JDK or without a network does not build them."""


def bundle() -> list[str]:
    """Return the files of the bundle, those of the repository and built ones, without the digests in built names."""
    git = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(git, cwd=BUNDLE, capture_output=True, text=True, check=False).stdout.split("\0")
    own = [BUNDLE / name for name in listed if name] or BUNDLE.rglob("*")  # an unpacked sdist is no repository
    hatch = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]
    built = (file for glob in hatch["artifacts"] for file in ROOT.glob(f"{glob}/*"))
    names = (file.relative_to(BUNDLE).as_posix() for file in (*own, *built) if file.is_file())
    return sorted({*OPTIONAL, *(re.sub(r"-[\w-]{8}\.(js|css)$", r"-DIGEST.\1", name) for name in names)})


# --- command line ----------------------------------------------------------------------------------------------------


def main() -> int:
    """Compare, or write the record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="accept the present surface: write the record")
    options = parser.parse_args()
    present = generated()[RECORD]
    if options.write:
        RECORD.write_text(present, encoding="utf-8")
        return 0
    recorded = RECORD.read_text(encoding="utf-8") if RECORD.is_file() else ""
    texts = recorded.splitlines(), present.splitlines()
    difference = list(difflib.unified_diff(*texts, "contracts/surface.json", "present", lineterm=""))
    if difference:
        print(*difference, "", ACCEPT, sep="\n")
    return int(bool(difference))


if __name__ == "__main__":
    sys.exit(main())
