"""Borders: the two configuration files, nlui.yaml and config.toml."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from fuzz.border import Border
from fuzz.values import any_json, damage, damaged, mutated, text_of, texts, yaml_of
from ui_mcp import config
from ui_mcp.errors import UiMcpError
from ui_mcp.gateway.config import loader

NLUI = {
    "llm": {"provider": "openai", "api_base": "http://127.0.0.1:1/v1", "api_key": "env:KEY", "model": "m"},
    "targets": [
        {
            "name": "shop",
            "spec": "shop.json",
            "base_url": "${BASE:-http://127.0.0.1:1}",
            "auth": {"type": "bearer", "token": "file:secret.txt", "schemes": {"a": {"token": "x"}}},
            "include": {"operations": ["list*"], "methods": ["get"]},
            "overrides": {"listThings": {"hidden": True}},
        }
    ],
    "mcpServers": {"more": {"url": "http://127.0.0.1:1/mcp", "headers": {"a": "b"}, "type": "http"}},
    "policy": {"mode": "guard", "rules": [{"tool": "shop__*", "decision": "allow", "arguments": {"id": "5"}}]},
    "approvals": {"sync_wait_s": 0.3},
    "mcp": {
        "startup_wait_ms": 1000,
        "servers": [{"name": "files", "command": "python", "args": ["-m", "x"], "env": {"A": "${HOME}"}}],
    },
    "results": {"max_bytes": 1000},
    "server": {"port": 9000, "token": "keyring:a/b", "cors": ["http://x"]},
}
SECTIONS: list[Any] = [
    ["server", {"host": "127.0.0.1", "port": 0, "mcp_port": 0, "require_token": False, "allowed_hosts": ["a"]}],
    ["lua", {"host": "process", "max_seconds": 5, "max_memory_mb": 256, "hotload": True}],
    ["lua.permissions", {"read": ["project"], "write": ["storage"], "exec": False, "env": ["HOME"]}],
    ["session", {"timeout": 3600}],
    ["logging", {"verbosity": 1}],
    ["gateway", {"config": "nlui.yaml"}],
    ["chat", {"max_rate_per_second": 20}],
    ["storage", {"url": "sqlite:///x.db"}],
]


class NluiYaml:
    """Reads nlui.yaml; the neighbour is a good file."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        (folder / "secret.txt").write_bytes(b"\xff\xfe")
        (folder / "good.yaml").write_text("targets: [{name: shop, base_url: 'http://127.0.0.1:1'}]")

    async def take(self, case: bytes) -> None:
        with suppress(UiMcpError):
            loader.read(case, "nlui.yaml", {"KEY": "k", "HOME": "/h"}, self._folder)

    async def neighbour_answers(self) -> None:
        assert loader.load(self._folder / "good.yaml", {"KEY": "k"}).settings.targets[0].name == "shop"


class ConfigToml:
    """Reads config.toml; the neighbour is a good file."""

    def __init__(self, folder: Path) -> None:
        self._file, self._good = folder / "config.toml", folder / "good.toml"
        self._good.write_text("[session]\ntimeout = 7\n")

    async def take(self, case: bytes) -> None:
        self._file.write_bytes(case)
        with suppress(UiMcpError):
            config.load(self._file, environment={})
        with suppress(UiMcpError):
            config.unknown_keys(self._file)

    async def neighbour_answers(self) -> None:
        assert config.load(self._good, environment={}).session.timeout == 7


@asynccontextmanager
async def nlui_yaml_opened(folder: Path) -> AsyncIterator[NluiYaml]:
    yield NluiYaml(folder)


@asynccontextmanager
async def config_toml_opened(folder: Path) -> AsyncIterator[ConfigToml]:
    yield ConfigToml(folder)


def _toml(sections: list[tuple[str, Any]]) -> bytes:
    lines = []
    for name, keys in sections:
        lines.append(f"[{name}]")
        if isinstance(keys, dict):
            lines += [f"{key} = {text_of(value)}" for key, value in keys.items()]
    return "\n".join(lines).encode("utf-8", "surrogatepass")


trees = mutated(NLUI) | any_json
yaml_texts = st.builds(yaml_of, trees) | st.builds(lambda tree: text_of(tree).encode(), trees)
prefixed = st.builds(
    lambda kind, rest: yaml_of({"server": {"token": f"{kind}:{rest}"}}),
    st.sampled_from(["env", "file", "keyring"]),
    texts | st.sampled_from(["/", "/proc/self/mem", "secret.txt", "~nobody-there/x"]),
)
tomls = st.builds(
    _toml,
    mutated(SECTIONS).filter(
        lambda found: isinstance(found, list) and all(isinstance(one, tuple | list) and len(one) == 2 for one in found)
    ),
)

BORDERS = [
    Border("nlui.yaml", yaml_texts | st.builds(damaged, yaml_texts, damage) | prefixed, nlui_yaml_opened, 350),
    Border("config.toml", tomls | st.builds(damaged, tomls, damage) | st.binary(max_size=60), config_toml_opened, 350),
]
