"""Files of messages: kept by digest, typed by content, referred to in the text."""

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ui_mcp.chat import attachments
from ui_mcp.chat.attachments import (
    Attachment,
    AttachmentStore,
    attachments_in,
    kind_of,
    safe_name,
    with_references,
    without_references,
)
from ui_mcp.errors import InvalidArgumentsError, NotFoundError

PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)
pytestmark = pytest.mark.covers("CHAT-FILE-1")


def files_in(folder: Path) -> list[Path]:
    return [file for file in folder.rglob("*") if file.is_file()]


async def test_a_file_is_stored_once_and_read_back_after_a_restart(tmp_path: Path) -> None:
    first = await AttachmentStore(tmp_path / "files").put(PNG)
    await AttachmentStore(tmp_path / "files").keep(first.digest)
    again = await AttachmentStore(tmp_path / "files").put(PNG)

    assert again.digest == first.digest
    assert (await AttachmentStore(tmp_path / "files").get(first.digest)).data == PNG
    assert [file.stat().st_mode & 0o777 for file in files_in(tmp_path / "files")] == [0o600]


@pytest.mark.covers("CHAT-FILE-4")
async def test_an_upload_that_is_never_sent_is_deleted_after_a_week(tmp_path: Path) -> None:
    now = time.time()
    store = AttachmentStore(tmp_path, clock=lambda: now)
    sent, forgotten = await store.put(PNG), await store.put(b"never sent")
    await store.keep(sent.digest)
    await store.clean()
    assert (await store.get(forgotten.digest)).data == b"never sent"

    now += attachments.UNSENT_SECONDS + 60
    await store.clean()

    assert [file.name for file in files_in(tmp_path)] == [sent.digest]
    with pytest.raises(NotFoundError):
        await store.keep(forgotten.digest)


async def test_what_is_empty_too_large_or_changed_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = AttachmentStore(tmp_path)
    stored = await store.put(PNG)
    (tmp_path / stored.digest).write_bytes(b"other")
    monkeypatch.setattr(attachments, "MAX_BYTES", 10)

    for data in (b"", PNG):
        with pytest.raises(InvalidArgumentsError):
            await store.put(data)
    for digest in (stored.digest, "0" * 64, "../etc/passwd", ""):
        with pytest.raises(NotFoundError):
            await store.get(digest)


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (PNG, "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
        (b"<html><script>", "text/plain"),
        (b"<svg onload=x>", "text/plain"),
        (b"a\0b", "application/octet-stream"),
        (b"\xff\xfe", "application/octet-stream"),
    ],
)
def test_the_type_is_read_from_the_content(data: bytes, kind: str) -> None:
    assert kind_of(data) == kind


@given(st.text(max_size=200), st.text(max_size=120))
def test_references_survive_any_text_and_any_name(text: str, name: str) -> None:
    attached = Attachment(safe_name(name), "a" * 64)
    plain = without_references(text)

    whole = with_references(plain, [attached])

    assert attachments_in(whole)[-1:] == (attached,)
    assert without_references(whole) == plain
