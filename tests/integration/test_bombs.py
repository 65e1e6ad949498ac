"""Code that would kill a process, sent by an agent over real pipes: the server answers each and lives on."""

from pathlib import Path

import pytest

from integration.lineclient import LineClient

BOMBS = {
    "loop": "while true do end",
    "pattern": "return string.rep('a', 30):rep(200):find(string.rep('a-', 40) .. 'c')",
    "two gigabytes": "local t = {} for i = 1, 2048 do t[i] = string.rep(string.char(i % 256), 1048576) end return #t",
    "doubling": "local s = 'x' while true do s = s .. s end",
    "recursion": "local function f() return 1 + f() end return f()",
    "deep table": "local t = {} for _ = 1, 100000 do t = {t} end return t",
    "exit": "os.exit(1)",
    "python": "return python.eval('1')",
}


@pytest.mark.slow
@pytest.mark.covers("UI-ROB-1", "UI-EXEC-3", "UI-BUDG-1", "UI-BUDG-4", "UI-PERM-3")
def test_the_server_outlives_every_bomb(tmp_path: Path) -> None:
    config = tmp_path / ".claude/ui/config/config.toml"
    config.parent.mkdir(parents=True)
    config.write_text("[lua]\nmax_seconds = 2.0\nmax_memory_mb = 64\n")
    with LineClient(cwd=tmp_path) as agent:
        agent.call("ui_start")
        for name, code in BOMBS.items():
            agent.call("ui_run", code=code)

            assert agent.call("ui_run", code="return 1 + 1") == 2, name
            assert agent.call("ui_status")["state"] == "running", name
        assert agent.close() == 0
