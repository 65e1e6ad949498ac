"""Pages made from the code are up to date, and pictures of it are true."""

import re
import sys
import tomllib

from docs.blocks import ROOT, Block, answers, blocks, together

sys.path.insert(0, str(ROOT / "scripts"))

from reference import GUIDES, generated

from ui_mcp.app.commands.demo import BEST_FIRST

FILM = re.compile(r'<img src="([\w/-]+)-light\.webp"')
LARGEST = 1_150_000


@answers("compared", *(one for name in GUIDES for one in blocks(f"docs/reference/{name}")))
def test_the_reference_is_what_the_code_says() -> None:
    stale = [file.name for file, text in generated().items() if file.read_text("utf-8") != text]

    assert stale == [], "run python scripts/reference.py"


def test_the_gallery_has_every_example_with_pictures_of_both_themes() -> None:
    examples = {app.parent.name for app in ROOT.glob("examples/*/app.lua")}

    assert set(BEST_FIRST) == examples
    assert [name for name in examples if len([*ROOT.glob(f"examples/{name}/preview-*.webp")]) != 2] == []


def test_every_film_is_there_in_both_themes_and_small_enough_to_load_by_the_way() -> None:
    texts = [ROOT / "README.md", *ROOT.glob("docs/**/*.md")]
    films = {text.parent / name for text in texts for name in FILM.findall(text.read_text("utf-8"))}
    files = [
        film.with_name(f"{film.name}-{theme}{ending}")
        for film in films
        for theme in ("light", "dark")
        for ending in (".webp", ".webm", "-still.webp")
    ]

    assert ROOT / "docs/images/tour" in films
    assert [file.name for file in files if not file.is_file()] == []
    assert [file.name for file in files if file.stat().st_size > LARGEST] == []


@together("compared", *blocks("ARCHITECTURE.md"))
def test_the_layers_are_the_ones_that_are_enforced(given: tuple[Block]) -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    drawn = [re.split(r"  +", line)[0] for line in given[0].code.splitlines()]

    assert drawn == next(one["layers"] for one in contracts if one["type"] == "layers")
