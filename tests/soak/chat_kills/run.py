"""Kills servers, agents and clients while people and agents chat, ask, order and attach; porcupine checks it.

`make chat-kills`, with KILLS=300 DATABASE="sqlite postgres" SEED=23, or python -m soak.chat_kills.run in the folder of
the tests. Nothing here imports the product: its commands are run as a person runs them, its listeners are asked over
HTTP, and histories are judged by the Go program in `checker/`, by porcupine.
"""

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from soak.chat_kills.client import Client, page, structured
from soak.chat_kills.clients import conversation, downloaded, look_at
from soak.chat_kills.history import operations
from soak.chat_kills.outside import DOCUMENT, outside
from soak.chat_kills.product import Server, command, free_ports, in_terminal, postgres
from soak.chat_kills.wire import CutError, Json, Person

TESTS = Path(__file__).parents[2]
CHECKER = Path(__file__).with_name("checker")
CLIENTS = ("human", "human", "agent", "agent", "asker", "answerer", "answerer", "orderer", "attacher")
VICTIMS = ("serve", "serve", "serve", "serve", "nlui", "nlui", "agent", "client", "both")
DRAIN_SECONDS = 240.0


@dataclass
class Environment:
    """A project with its servers, the person who is signed in to them, and the clients."""

    folder: Path
    servers: dict[str, Server]
    dice: random.Random
    clients: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    kills: Counter[str] = field(default_factory=Counter)
    began: float = field(default_factory=time.monotonic)

    def start_client(self, name: str) -> None:
        words = [sys.executable, "-m", "soak.chat_kills.clients", name.partition("-")[0], name, str(self.folder)]
        with (self.folder / "clients.log").open("ab") as log:
            self.clients[name] = subprocess.Popen(
                words, cwd=TESTS, env={**os.environ, "PYTHONPATH": str(TESTS)}, stdout=log, stderr=log
            )

    def run(self, kills: int) -> None:
        """Kill so often; between two kills there is a moment, or long enough for calls to become tasks."""
        while self.kills.total() < kills:
            time.sleep(self.dice.choice((self.dice.uniform(0, 0.5), self.dice.uniform(2, 4.5))))
            self._kill(self.dice.choice(VICTIMS))
            for name, client in self.clients.items():
                if client.poll() is not None:
                    raise RuntimeError(f"{name} ended: {(self.folder / 'clients.log').read_text()[-2000:]}")
            if self.kills.total() % 25 == 0:
                print(self, flush=True)

    def _kill(self, victim: str) -> None:
        if victim == "client":
            name = self.dice.choice(sorted(self.clients))
            self.clients[name].kill()
            self.clients[name].wait()
            self.kills[name.partition("-")[0] + " client"] += 1
            self.start_client(name)
            return
        names = ["serve", "nlui"] if victim == "both" else [victim]
        for name in names:
            self.servers[name].kill()
            self.kills[name] += 1
        for name in names:
            self.servers[name].start()
        for name in names:
            self.servers[name].wait_ready()

    def __str__(self) -> str:
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(self.kills.items()))
        seconds = time.monotonic() - self.began
        return f"{self.kills.total()} kills ({kinds}); {seconds:.0f} s, load {os.getloadavg()[0]:.1f}"

    def drain(self) -> None:
        """Let the clients finish what they began, then the person answer what waits."""
        (self.folder / "stop").touch()
        limit = time.monotonic() + DRAIN_SECONDS
        late = [name for name in self.clients if name.startswith("answerer")]
        for name, client in self.clients.items():
            if name not in late:
                client.wait(max(limit - time.monotonic(), 1))
        (self.folder / "drained").touch()
        for name in late:
            self.clients[name].wait(max(limit - time.monotonic(), 1))

    def settle(self) -> None:
        """Look at everything once more, when nothing is killed any longer."""
        client = Client("settler", self.folder)
        found = [one for file in (self.folder / "history").glob("*.jsonl") for one in operations(file).values()]
        for one in found:
            if one["f"] in {"ask", "request"} and one.get("out"):
                self._settle_one(client, one)
        for place in sorted({one["object"] for one in found}):
            kind, _, name = place.partition("/")
            if kind == "talk":
                self._read_all(client, place)
            elif kind == "files":
                client.until_done(place, "read", {}, partial(conversation, client, place))
            elif kind == "file":
                client.until_done(place, "get", {}, partial(downloaded, client, name))

    def _settle_one(self, client: Client, asked: Json) -> None:
        limit = time.monotonic() + 60
        while time.monotonic() < limit:
            seen = look_at(client, asked)
            if seen is None or seen.get("status") not in {"working", "input_required"}:
                return
            time.sleep(0.1)
        raise RuntimeError(f"a task does not end: {asked}")

    def _read_all(self, client: Client, place: str) -> None:
        after = None
        while True:
            found = client.until_done(
                place, "read", {"after": after, "authors": []}, partial(_page, client, place, after)
            )
            after = found["last"]
            if not found["more"]:
                return

    def wait_answered(self) -> None:
        """Wait until the agent has answered every message of its conversation, or until it should have."""
        client, limit = Client("waiter", self.folder), time.monotonic() + 120
        while time.monotonic() < limit:
            try:
                found = structured(client.agent.call("chat_read_since", {"conversation": "agent"}))["messages"]
            except CutError:
                continue
            asked = {one["content"].split()[0] for one in found if one["author"] == "user"}
            words = [one["content"].split()[0] for one in found if one["author"] == "assistant"]
            if asked <= {name for word in words for name in word.removeprefix("re:").split(",")}:
                return
            time.sleep(0.2)


def _page(client: Client, place: str, after: str | None) -> Json:
    given = {"after_id": after, "conversation": place.partition("/")[2]}
    return page(structured(client.agent.call("chat_read_since", given)))


@contextmanager
def environment(folder: Path, database: str, seed: int) -> Iterator[Environment]:
    """Set the product up in a folder, on a store, and run it."""
    project, home = folder / "project", folder / "home"
    for place in (project / ".claude/ui/config", home, folder / "history"):
        place.mkdir(parents=True)
    own = {f"XDG_{name}_HOME": str(home / name.lower()) for name in ("STATE", "CONFIG", "DATA", "CACHE")}
    variables = {**os.environ, "HOME": str(home), **own}
    with ExitStack() as stack:
        store = stack.enter_context(postgres() if database == "postgres" else nullcontext(""))
        address = stack.enter_context(outside(folder / "history"))
        _configure(project, address, store)
        in_terminal([command("ui-mcp"), "trust", "--yes"], project, variables)
        ui, mcp, person, nlui = ports = free_ports(4)
        listening = ["--port", str(ui), "--mcp-port", str(mcp), "--person-port", str(person)]
        commands = {
            "serve": ([command("ui-mcp"), "serve", *listening], ports[:3]),
            "nlui": ([command("nlui"), "--port", str(nlui)], ports[3:]),
            "agent": ([command("ui-mcp"), "agent", "--conversation", "agent"], []),
        }
        servers = {
            name: Server(words, project, variables, own_ports, folder / f"{name}.log")
            for name, (words, own_ports) in commands.items()
        }
        running = Environment(folder, servers, random.Random(seed))
        stack.callback(_end, running)
        for server in servers.values():
            server.start()
            server.wait_ready()
        _sign_in(running, project, variables, {"person": person, "nlui": nlui, "mcp": mcp})
        names = [f"{role}-{CLIENTS[:place].count(role) + 1}" for place, role in enumerate(CLIENTS)]
        for name in names:
            running.start_client(name)
        yield running


def _configure(project: Path, address: str, store: str) -> None:
    (project / "shop.json").write_text(json.dumps(DOCUMENT))
    storage = f'[storage]\nurl = "{store}"\n' if store else ""
    marks, texts = "[chat]\nserver_marks = true\n", '[loop]\ntext_policy = "implicit_post"\n'
    settings = f'{storage}[gateway]\nconfig = "nlui.yaml"\n{marks}{texts}'
    (project / ".claude/ui/config/config.toml").write_text(settings)
    gateway: Json = {
        "data_dir": "./data",
        "policy": {"mode": "guard"},
        "targets": [{"name": "shop", "spec": "shop.json", "base_url": address}],
        "llm": {"provider": "openai", "api_base": f"{address}/v1", "model": "m", "api_key": "k"},
        **({"storage": {"url": store}} if store else {}),
    }
    (project / "nlui.yaml").write_text(json.dumps(gateway))


def _sign_in(running: Environment, project: Path, variables: dict[str, str], ports: dict[str, int]) -> None:
    """Sign a browser in to each listener by the links that `ui-mcp open` shows."""
    shown = in_terminal([command("ui-mcp"), "open", "--no-browser"], project, variables)
    codes = dict(re.findall(r"http://127\.0\.0\.1:(\d+)/#code=([A-Za-z0-9-]+)", shown))
    credentials = {}
    for name in ("person", "nlui"):
        browser = Person(ports[name])
        browser.enter(codes[str(ports[name])])
        credentials[name] = browser.credential
    (running.folder / "product.json").write_text(json.dumps({**ports, "credentials": credentials}))


def _end(running: Environment) -> None:
    for client in running.clients.values():
        if client.poll() is None:
            client.kill()
            client.wait()
    for server in reversed(running.servers.values()):
        server.stop()


def check(history: Path) -> subprocess.CompletedProcess[str]:
    """Let porcupine judge the histories in a folder; the status is 1 for a fault."""
    words = ["go", "run", ".", str(history)]
    return subprocess.run(words, cwd=CHECKER, capture_output=True, text=True, check=False, timeout=1800)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=300)
    parser.add_argument("--seed", type=int, default=23)
    parser.add_argument("--keep", type=Path, help="keep histories and logs in this folder")
    parser.add_argument("databases", nargs="*", default=["sqlite", "postgres"])
    options = parser.parse_args()
    faults = 0
    for database in options.databases:
        with tempfile.TemporaryDirectory() as temporary:
            folder = (options.keep or Path(temporary)).resolve() / database
            with environment(folder, database, options.seed) as running:
                running.run(options.kills)
                running.drain()
                running.wait_answered()
                running.settle()
                said = str(running)
            judged = check(folder / "history")
            print(f"{database}: {said}\n{judged.stdout}{judged.stderr}", flush=True)
            faults += judged.returncode != 0
    return min(faults, 1)


if __name__ == "__main__":
    sys.exit(main())
