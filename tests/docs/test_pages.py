"""Pages made from the code are up to date, pictures of it are true, and the site builds whole, from here alone."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from docs.blocks import ROOT, Block, answers, blocks, together

sys.path.insert(0, str(ROOT / "scripts"))

from reference import FOLDER, pages


@answers(
    "compared", *(one for name in ("attributes", "components", "lua") for one in blocks(f"docs/reference/{name}.md"))
)
def test_the_reference_is_what_the_code_says() -> None:
    stale = [name for name, text in pages().items() if (FOLDER / name).read_text() != text.rstrip() + "\n"]

    assert stale == [], "run python scripts/reference.py"


@together("compared", *blocks("ARCHITECTURE.md"))
def test_the_layers_are_the_ones_that_are_enforced(given: tuple[Block]) -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    drawn = [re.split(r"  +", line)[0] for line in given[0].code.splitlines()]

    assert drawn == next(one["layers"] for one in contracts if one["type"] == "layers")


@pytest.mark.slow
def test_the_site_builds_without_a_broken_link_and_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)],
        cwd=ROOT, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip

    assert built.returncode == 0, built.stderr
    loaded = re.compile(r"""<(?:script|img|link)[^>]+(?:src|href)=["'](https?:)?//""")
    assert [page.name for page in tmp_path.rglob("*.html") if loaded.search(page.read_text())] == []
