"""Unpacking archives from untrusted sources."""

import gzip
import tarfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ui.console.archives import APP, member, tarred, zipped
from ui_mcp.errors import RefusedError
from ui_mcp.ui.console import sources
from ui_mcp.ui.console.sources import safe_parts, unpack

pytestmark = pytest.mark.covers("UI-SHELL-4")


def files_in(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_a_zip_is_unpacked_without_its_hidden_files(tmp_path: Path) -> None:
    left_out = unpack(zipped({**APP, "notes/.git/config": "x", "__MACOSX/notes": "x"}), tmp_path)

    assert files_in(tmp_path) == sorted(APP)
    assert left_out == ["__MACOSX/notes", "notes/.git/config"]


@pytest.mark.parametrize("mode", ["", "gz", "bz2", "xz"])
def test_tar_archives_of_every_compression_are_unpacked(tmp_path: Path, mode: str) -> None:
    unpack(tarred(member("./"[:1], tarfile.DIRTYPE), member("./notes/app.lua"), mode=mode), tmp_path)

    assert files_in(tmp_path) == ["notes/app.lua"]


@pytest.mark.parametrize(
    "name", ["../up", "a/../../up", "/etc/passwd", "C:/x", "a\\..\\b", "a\u202eb", "x. ", "", "a/" * 30 + "b"]
)
def test_a_path_that_leaves_the_folder_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(RefusedError, match="not allowed"):
        safe_parts(name)
    inside = tmp_path / "inside"
    inside.mkdir()
    with pytest.raises(RefusedError):
        unpack(tarred(member("ok"), member(name)), inside)

    assert files_in(tmp_path) in (["inside/ok"], [])


@given(st.text(max_size=40))
def test_every_accepted_path_stays_in_the_folder(name: str) -> None:
    try:
        parts = safe_parts(name)
    except RefusedError:
        return
    assert Path("/top").joinpath(*parts).resolve().is_relative_to("/top")


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE])
def test_links_and_devices_of_a_tar_are_refused(tmp_path: Path, kind: bytes) -> None:
    with pytest.raises(RefusedError, match="link or a device"):
        unpack(tarred(member("a/app.lua", kind, "/etc/passwd")), tmp_path)


def test_a_link_in_a_zip_is_refused(tmp_path: Path) -> None:
    info = zipfile.ZipInfo("app.lua")
    info.external_attr = 0o120777 << 16
    with pytest.raises(RefusedError, match="link or a device"):
        unpack(zipped({info: "/etc/passwd"}), tmp_path)  # type: ignore[dict-item]


def test_what_unpacks_to_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "MAX_FILE", 100_000)
    monkeypatch.setattr(sources, "MAX_TOTAL", 150_000)
    monkeypatch.setattr(sources, "MAX_FILES", 20)
    bombs = {
        "larger than": [zipped({"app.lua": b"0" * 200_000}), tarred(member("app.lua"), body=b"0" * 200_000)],
        "unpacked": [zipped({"a": b"0" * 90_000, "b": b"0" * 90_000})],
        "more than": [zipped({f"f{number}": "" for number in range(50)})],
    }
    for words, archives in bombs.items():
        for at, data in enumerate(archives):
            folder = tmp_path / f"{words}{at}"
            folder.mkdir()
            with pytest.raises(RefusedError, match=words):
                unpack(data, folder)


def test_a_huge_header_of_a_tar_is_not_read_into_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "MAX_TOTAL", 100_000)
    monkeypatch.setattr(sources, "MAX_FILES", 20)
    with pytest.raises(RefusedError):
        unpack(_with_long_header(), tmp_path)


def _with_long_header() -> bytes:
    header = tarfile.TarInfo("pax")
    header.type, header.size = tarfile.XHDTYPE, 500_000
    return gzip.compress(header.tobuf() + b"0" * 501_000)


@pytest.mark.parametrize("data", [b"", b"PK", b"no archive", b"\x1f\x8b\x08rest", b"BZhx", zipped(APP)[:-40]])
def test_what_is_no_archive_is_refused_with_the_way_out(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(RefusedError, match="cannot be read"):
        unpack(data, tmp_path)


def test_two_files_that_one_name_could_stand_for_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RefusedError, match="twice"):
        unpack(zipped({"a/App.lua": "1", "a/app.lua": "2"}), tmp_path)
