"""A model that follows a script: an HTTP server that answers hosts in the API each of them speaks."""

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any

from hosts import answers
from hosts.conversation import INDIRECT, Conversation, Outcome, of_anthropic, of_chat, of_gemini, of_responses
from ui_mcp.ui.tool_groups import GROUPS

FINISHED = "The loop is complete."
Step = tuple[str, dict[str, Any]]
PATIENCE = 15
"""Times that the model looks for a tool, or waits for its server, before it gives up."""
SEARCHES: dict[str, dict[str, Any]] = {
    r"(.*[_.-])?ui_tools": {"group": "GROUP"},
    "tool_?search": {"query": "select:mcp__ui__WANTED"},
    "WaitForMcpServers": {},
}
"""How we, and hosts, let a model find a tool that is not listed."""
PAUSES: dict[str, dict[str, Any]] = {
    "exec_command": {"cmd": "sleep 2.NUMBER"},
    "bash|shell|run_shell_command": {"command": "sleep 2.NUMBER", "description": "wait for the server"},
    "run_commands": {"commands": ["sleep 2.NUMBER"]},
}
"""How hosts let a model pass time until a tool is listed; hosts stop a model that repeats itself exactly."""


@dataclass
class Script:
    """The calls to make in order, and what the host reported back of each."""

    steps: Sequence[Step]
    outcomes: list[Outcome] = field(default_factory=list)
    pictures: int = 0
    requests: list[dict[str, Any]] = field(default_factory=list)
    """Bodies of the host's requests."""
    lock: Lock = field(default_factory=Lock)

    def answer(self, read: Conversation) -> answers.Answer:
        """Return the next call; the number of results in the conversation tells how far it is."""
        ours = [one for one in read.outcomes if any(named(one.tool, step) for step, _ in self.steps)]
        with self.lock:
            if len(ours) >= len(self.outcomes):
                self.outcomes, self.pictures = ours, read.pictures
        if len(ours) >= len(self.steps):
            return FINISHED
        wanted, arguments = self.steps[len(ours)]
        number = len(read.outcomes) + 1
        for name, namespace in read.tools.items():
            if named(name, wanted):
                return answers.Call(number, name, namespace, filled(arguments, ours))
        found = re.search(rf'"name":"([^"]*_{wanted})"', read.outcomes[-1].text) if read.outcomes else None
        if found and INDIRECT in read.tools:
            given = {"name": found[1], "arguments": filled(arguments, ours)}
            return answers.Call(number, INDIRECT, read.tools[INDIRECT], given)
        tries = next((count for count, one in enumerate(reversed(read.outcomes)) if one in ours), len(read.outcomes))
        return self._otherwise(read, wanted, tries)

    def _otherwise(self, read: Conversation, wanted: str, tries: int) -> answers.Answer:
        """Look for a tool that is not offered yet and wait for its server in turn, as a model would do."""
        ways = SEARCHES | PAUSES if tries % 2 == 0 else PAUSES | SEARCHES
        for pattern, arguments in ways.items() if tries < PATIENCE else ():
            found = next((name for name in read.tools if re.fullmatch(pattern, name, re.IGNORECASE)), None)
            if found is not None:
                group = next((name for name, one in GROUPS.items() if wanted in one.tools), "")
                text = json.dumps(arguments).replace("WANTED", wanted).replace("GROUP", group)
                text = text.replace("NUMBER", str(tries + 1))
                return answers.Call(len(read.outcomes) + 1, found, read.tools[found], json.loads(text))
        return "ok"


def filled(arguments: Any, outcomes: Sequence[Outcome]) -> Any:
    """Replace texts like `uid:#press` by the uid that the last outline shows for it, as a model would."""
    if isinstance(arguments, dict):
        return {name: filled(value, outcomes) for name, value in arguments.items()}
    if isinstance(arguments, list):
        return [filled(value, outcomes) for value in arguments]
    if isinstance(arguments, str) and arguments.startswith("uid:"):
        shown = re.findall(rf"(\w+) {re.escape(arguments[4:])}\b", "\n".join(one.text for one in outcomes))
        return shown[-1] if shown else arguments
    return arguments


def named(name: str, wanted: str) -> bool:
    """Return whether a host's name of a tool, such as mcp__ui__ui_run, means ours."""
    return name == wanted or name.endswith((f"_{wanted}", f".{wanted}", f"-{wanted}"))


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    script: Script

    def log_message(self, *_: object) -> None: ...

    def do_GET(self) -> None:
        self._json({"object": "list", "data": [{"id": "scripted", "object": "model"}], "models": []})

    def do_HEAD(self) -> None:
        self._json({})

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        raw = self.rfile.read(length) if length else self._chunks()
        try:
            body = json.loads(raw or b"{}")
        except ValueError:
            body = {}
        path = self.path.partition("?")[0]
        self.script.requests.append(body)
        model = str(body.get("model", "scripted"))
        if path.endswith(("count_tokens", ":countTokens")):
            self._json({"input_tokens": 10, "totalTokens": 10})
        elif path.endswith("/messages"):
            made = self.script.answer(of_anthropic(body))
            self._reply(body, answers.anthropic(model, made), answers.anthropic_whole(model, made))
        elif path.endswith("/chat/completions"):
            made = self.script.answer(of_chat(body))
            self._reply(body, answers.chat(model, made), answers.chat_whole(model, made))
        elif path.endswith("/responses"):
            self._stream(answers.responses(model, self.script.answer(of_responses(body))))
        elif ":streamGenerateContent" in path:
            self._stream(answers.gemini(self.script.answer(of_gemini(body))))
        elif ":generateContent" in path:
            self._json(next(answers.gemini(self.script.answer(of_gemini(body))))[1])
        else:
            self._json({})

    def _chunks(self) -> bytes:
        found = b""
        while size := int(self.rfile.readline().strip() or b"0", 16):
            found += self.rfile.read(size)
            self.rfile.readline()
        return found

    def _reply(self, body: dict[str, Any], events: Iterator[answers.Event], whole: Any) -> None:
        if body.get("stream"):
            self._stream(events)
        else:
            self._json(whole)

    def _json(self, value: Any) -> None:
        self._send("application/json", json.dumps(value).encode())

    def _stream(self, events: Iterator[answers.Event]) -> None:
        lines = []
        for name, data in events:
            text = data if isinstance(data, str) else json.dumps(data)
            lines.append((f"event: {name}\n" if name else "") + f"data: {text}\n\n")
        self._send("text/event-stream", "".join(lines).encode())

    def _send(self, kind: str, data: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)


@contextmanager
def scripted_model(steps: Sequence[Step]) -> Iterator[tuple[str, Script]]:
    """Serve the script on a free port; yield the address and what has been reported back."""
    script = Script(steps)
    with ThreadingHTTPServer(("127.0.0.1", 0), type("Scripted", (Handler,), {"script": script})) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", script
        server.shutdown()
