"""Guides and files as resources."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ui_mcp.errors import RefusedError, ResourceNotFoundError
from ui_mcp.toolkit.tool import Call
from ui_mcp.ui.resource_files import BUNDLED, listed_files, read_file
from ui_mcp.ui.resources.files import GUIDES, Files
from ui_mcp.ui.server import UiServer
from ui_mcp.ui.states import Configured, Running

CALL = Call()

PATTERNS = [f"patterns/{file.name}" for file in sorted((BUNDLED / "patterns").iterdir())]


def serves_nothing(configured: Configured) -> AbstractAsyncContextManager[Running]:
    raise NotImplementedError


@pytest.fixture
def base(tmp_path: Path) -> Path:
    return tmp_path / "project" / ".claude" / "ui"


@pytest.fixture
async def files(base: Path) -> AsyncIterator[Files]:
    async with UiServer(serves_nothing) as host:
        await host.begin(str(base))
        yield Files(host)


@pytest.mark.covers("UI-RES-5")
@pytest.mark.parametrize("name", GUIDES)
async def test_each_guide_is_readable_as_markdown(files: Files, name: str) -> None:
    [found] = await files.read(f"ui://{name}", CALL)

    assert found.mime_type == "text/markdown"
    assert str(found.body).startswith("# ")


@pytest.mark.covers("UI-RES-5")
async def test_guides_are_readable_before_anything_is_configured() -> None:
    async with UiServer(serves_nothing) as host:
        [found] = await Files(host).read("ui://lua", CALL)

    assert found.body == (BUNDLED / "lua.md").read_text()


@pytest.mark.covers("UI-RES-5")
async def test_the_projects_own_guide_wins_over_the_bundled_one(files: Files, base: Path) -> None:
    (base / "resources" / "lua.md").write_text("# Ours\n")

    [found] = await files.read("ui://lua", CALL)

    assert found.body == "# Ours\n"


@pytest.mark.covers("UI-RES-6", "UI-RES-8")
@pytest.mark.parametrize("uri", ["ui://patterns/form.md", "ui://patterns/form", "ui://patterns%2Fform.md"])
async def test_files_are_found_with_or_without_md_and_with_an_encoded_slash(files: Files, base: Path, uri: str) -> None:
    (base / "resources" / "patterns" / "form.md").write_text("# Form\n")

    [found] = await files.read(uri, CALL)

    assert (found.uri, found.mime_type, found.body) == (uri, "text/markdown", "# Form\n")


@pytest.mark.covers("UI-RES-6")
@pytest.mark.parametrize(
    ("name", "content", "kind", "body"),
    [
        ("a.json", b"{}", "application/json", "{}"),
        ("a.html", b"<p>", "text/html", "<p>"),
        ("a.png", b"\x89PNG", "image/png", b"\x89PNG"),
        ("a.txt", b"\xff\xfe", "application/octet-stream", b"\xff\xfe"),
        ("plain", b"words", "text/plain", "words"),
    ],
)
async def test_the_type_follows_the_extension(
    files: Files, base: Path, name: str, content: bytes, kind: str, body: str | bytes
) -> None:
    (base / "resources" / name).write_bytes(content)

    [found] = await files.read(f"ui://{name}", CALL)

    assert (found.mime_type, found.body) == (kind, body)


@pytest.mark.covers("UI-RES-8", "UI-SEC-6")
@pytest.mark.parametrize(
    "path",
    ["../README.md", "%2E%2E/README.md", "a/../../README.md", "/etc/passwd", "a\\b", "a\0b", ".hidden", "C:/x", "a//b"],
)
async def test_paths_that_leave_the_folder_are_refused(files: Files, path: str) -> None:
    with pytest.raises(RefusedError):
        await files.read(f"ui://{path}", CALL)


@pytest.mark.covers("UI-RES-8", "UI-SEC-6")
async def test_links_that_leave_the_folder_are_refused_and_not_listed(files: Files, base: Path) -> None:
    (base / "secret.md").write_text("secret")
    (base / "resources" / "out.md").symlink_to(base / "secret.md")
    (base / "resources" / "outside").symlink_to(base)

    for uri in ("ui://out", "ui://outside/secret.md"):
        with pytest.raises(RefusedError, match="leaves resources/"):
            await files.read(uri, CALL)
    assert [entry.name for entry in await files.resources(CALL)] == [*GUIDES, *PATTERNS]


@given(st.text())
def test_no_path_at_all_reaches_a_file_outside(path: str) -> None:
    try:
        found = read_file(f"ui://{path}", path, [BUNDLED])
    except (RefusedError, ResourceNotFoundError):
        return
    assert found.body in [file.read_text() for file in BUNDLED.rglob("*.md")]


@pytest.mark.covers("UI-RES-8")
@pytest.mark.parametrize(
    "name", ["state", "variables", "events", "app/x", "chat/inbox", "nothing-here", "long" * 100, ""]
)
async def test_reserved_and_unknown_names_are_not_found_here(files: Files, base: Path, name: str) -> None:
    (base / "resources" / "state").write_text("a file of a reserved name")

    with pytest.raises(ResourceNotFoundError):
        await files.read(f"ui://{name}", CALL)


@pytest.mark.covers("UI-RES-6", "MCP-URI-3")
async def test_the_list_has_the_guides_first_and_then_the_files(files: Files, base: Path) -> None:
    (base / "resources" / "mine").mkdir()
    (base / "resources" / "mine" / "a form.md").write_text("# Form\n")
    (base / "resources" / ".draft.md").write_text("hidden")

    listed = await files.resources(CALL)

    names = [*GUIDES, "mine/a%20form.md", *PATTERNS]
    assert [entry.uri for entry in listed] == [f"ui://{name}" for name in names]
    assert [entry.uri_template for entry in await files.templates(CALL)] == ["ui://{path}"]


async def test_a_file_too_large_for_an_answer_is_refused(files: Files, base: Path) -> None:
    with (base / "resources" / "big.txt").open("wb") as stream:
        stream.truncate(9 * 1024 * 1024)

    with pytest.raises(RefusedError, match="larger than 8 MB"):
        await files.read("ui://big.txt", CALL)


@pytest.mark.covers("UI-RES-5")
def test_a_guide_is_listed_with_what_its_front_matter_says(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("---\ndescription: How to draw\n---\n# A")
    (tmp_path / "b.md").write_text("---\ndescription: never closed")
    (tmp_path / "c.txt").write_text("---\ndescription: no guide\n---")

    listed = {one.name: one.description for one in listed_files([tmp_path], set())}

    assert listed == {"a.md": "How to draw", "b.md": "resources/b.md", "c.txt": "resources/c.txt"}
