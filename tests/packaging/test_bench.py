"""`make bench` collects what each benchmark claims and says what is missed, broken or worse than the last time."""

import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
BENCHMARK = """
import sys
sys.path.insert(0, {folder!r})
from claims import claim
claim("ours / theirs", {value}, at_most=2.0)
"""


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    import bench

    (tmp_path / "docs").mkdir()
    (tmp_path / "benchmarks").mkdir()
    places = {"PAGE": "docs/benchmarks.md", "STORED": "benchmarks/results.json", "CHARTS": "docs/images"}
    monkeypatch.setattr(bench, "ROOT", tmp_path)
    for name, place in places.items():
        monkeypatch.setattr(bench, name, tmp_path / place)
    return bench


def run(bench: ModuleType, monkeypatch: pytest.MonkeyPatch, text: str) -> int:
    file = bench.ROOT / "benchmarks" / "mcp_http.py"
    file.write_text(text)
    monkeypatch.setattr(sys, "argv", ["bench.py", str(file)])
    code: int = bench.main()
    return code


def claiming(value: float) -> str:
    return BENCHMARK.format(folder=str(ROOT / "benchmarks"), value=value)


def test_a_held_bar_stands_on_the_page(bench: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(bench, monkeypatch, claiming(1.25)) == 0
    assert "| ours / theirs | 1.25 | ≤ 2 | met |" in bench.PAGE.read_text()
    assert "ours / theirs" in (bench.CHARTS / "mcp.svg").read_text()


def test_a_missed_bar_fails_the_run(
    bench: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(bench, monkeypatch, claiming(2.5)) == 1
    assert "MISSED mcp_http: ours / theirs = 2.5" in capsys.readouterr().out


def test_a_worse_figure_is_reported_but_does_not_fail(
    bench: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run(bench, monkeypatch, claiming(1.0))
    assert run(bench, monkeypatch, claiming(1.5)) == 0
    assert "WORSE  mcp_http: ours / theirs = 1.5, was 1" in capsys.readouterr().out


def test_a_benchmark_that_measures_nothing_is_broken(
    bench: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(bench, monkeypatch, "raise SystemExit(3)") == 1
    assert "BROKEN mcp_http" in capsys.readouterr().out


LIMITS = {
    ("mcp_start", "first answer / bare SDK"): (1.1, None),
    ("mcp_start", "memory / bare SDK"): (1.3, None),
    ("mcp_stdio", "handshake call / bare SDK"): (0.75, None),
    ("mcp_stdio", "modern call / bare SDK"): (0.75, None),
    ("mcp_stdio", "handshake pipelined throughput / bare SDK"): (None, 2.0),
    ("mcp_stdio", "modern pipelined throughput / bare SDK"): (None, 2.0),
    ("mcp_http", "handshake call / bare SDK"): (1.1, None),
    ("mcp_http", "modern call / bare SDK"): (1.1, None),
}


@pytest.mark.covers("MCP-PERF-1")
def test_the_figures_on_record_hold_the_limits_of_the_protocol_side() -> None:
    stored = json.loads((ROOT / "benchmarks" / "results.json").read_text())["claims"]
    claims = {(one["benchmark"], one["name"]): one for one in stored}

    assert {key: (claims[key]["at_most"], claims[key]["at_least"]) for key in LIMITS} == LIMITS
    for key, (most, least) in LIMITS.items():
        assert claims[key]["value"] <= (most or float("inf")), key
        assert claims[key]["value"] >= (least or 0), key
