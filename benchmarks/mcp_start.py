"""Claim: `ui-mcp mcp` answers its first request as soon as a bare SDK server does, and needs little more memory."""

import sys
import tempfile

from mcp_peers import CLIENT, check, command, piped, report, seconds

ROUNDS = 9


def first_answer(arguments: list[str]) -> tuple[float, int]:
    def start() -> None:
        nonlocal memory
        with piped(arguments) as pipe:
            pipe.ask("initialize", CLIENT)
            pipe.send({"method": "notifications/initialized"})
            pipe.ask("tools/list", {})
            memory = pipe.memory()

    def spawn() -> None:
        with piped(arguments) as pipe:
            pipe.ask("initialize", CLIENT)

    memory = 0
    start()
    return seconds(spawn), memory


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        product = [sys.executable, "-m", "ui_mcp", "mcp", "--dir", f"{folder}/ui"]
        servers = {
            "bare": command("bare", "stdio"),
            "ui-mcp mcp": product,
            "core": command("ours", "stdio"),
            "fastmcp": command("fastmcp", "stdio"),
        }
        times: dict[str, list[float]] = {name: [] for name in servers}
        memory: dict[str, float] = {}
        for _ in range(ROUNDS):
            for name, arguments in servers.items():
                elapsed, memory[name] = first_answer(arguments)
                times[name].append(elapsed)
    first = {name: min(values) for name, values in times.items()}
    report("spawn to first answer (best of runs)", first, "ms", 1000)
    report("memory after the tool list", memory, "MB", 1 / 1024)
    good = [
        check("first answer / bare SDK", first["ui-mcp mcp"] / first["bare"], at_most=1.1),
        check("first answer / FastMCP", first["ui-mcp mcp"] / first["fastmcp"], at_most=1.0),
        check("memory / bare SDK", memory["ui-mcp mcp"] / memory["bare"], at_most=1.3),
    ]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
