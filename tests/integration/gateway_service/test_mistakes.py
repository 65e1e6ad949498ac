"""What people mistype: the answer names the thing and the way out."""

import subprocess
import sys
from pathlib import Path

import pytest

NLUI = "from ui_mcp.cli.entry import nlui_main; raise SystemExit(nlui_main())"
SERVERS = "mcp: {servers: [{name: x, command: npxx}, {name: y, command: sh, args: [-c, 'echo no luck >&2']}]}"
PET = '{"openapi": "3.0.3", "info": {"title": "P", "version": "1"}, "paths": {"/p": {"get": {"operationId": "p"}}}}'


@pytest.mark.covers("GW-CLI-6", "GW-DIS-5", "GW-CFG-2")
@pytest.mark.parametrize(
    ("words", "text", "code", "told"),
    [
        (["check", "nope.yaml"], "", 3, ["There is no file nope.yaml"]),
        (
            ["check", "f.yaml"],
            "",
            1,
            ["f.yaml: names no targets and no servers; add them there"],
        ),
        (["check", "f.yaml"], "targets: [a, b", 3, ["f.yaml:", "not YAML: "]),
        (["--mcp", "f.yaml"], "targets: 3", 3, ["f.yaml:1: targets:"]),
        (
            ["check", "f.yaml"],
            "targets: [{name: x, bas_url: http://127.0.0.1:1}]",
            1,
            ["unknown key targets[0].bas_url; did you mean base_url?", "Target x needs base_url or spec"],
        ),
        (
            ["check", "http://127.0.0.1:1"],
            "",
            4,
            [
                "Nothing answers at http://127.0.0.1:1",
                "Start the API, or check base_url.",
                "tried http://127.0.0.1:1: no",
            ],
        ),
        (
            ["check", "f.yaml"],
            SERVERS,
            1,
            ["There is no command 'npxx'", "full path", "The server ended before it answered; it said: no luck"],
        ),
        (["chek"], "", 2, ["There is no command 'chek'; did you mean 'check'?"]),
        (["tools", "f.yaml"], "", 1, ["there are no tools; run `nlui check` to see why"]),
        (["call", "f__p", "--config", "f.json", "--arg", "a"], PET, 2, ["--arg a: write it as name=value"]),
        (["call", "f__p", "--config", "f.json", "--json", "gone"], PET, 2, ["--json gone: "]),
        (["call", "f__q", "--config", "f.json"], PET, 5, ["Unknown tool: f__q; did you mean f__p"]),
        (["call", "f__p", "--config", "f.json", "--arg", "x=1"], PET, 5, ["x: no such argument"]),
    ],
)
def test_a_mistake_is_named_with_the_way_out(
    words: list[str], text: str, code: int, told: list[str], tmp_path: Path
) -> None:
    (tmp_path / ("f.json" if text == PET else "f.yaml")).write_text(text)
    home = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "c"), "XDG_DATA_HOME": str(tmp_path / "d")}
    ended = subprocess.run(
        [sys.executable, "-c", NLUI, *words],
        cwd=tmp_path,
        env={**home, "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    said = ended.stdout + ended.stderr

    assert [words for words in told if words not in said] == []
    assert ended.returncode == code
    assert "Traceback" not in said
