"""What models get of attached files: images if they see, text as text, a note for the rest."""

from base64 import b64encode
from pathlib import Path

import pytest

from ui_mcp.agent.attached_files import AttachedFiles
from ui_mcp.agent.model import Picture, UserMessage
from ui_mcp.agent.timeline import StoredEvent
from ui_mcp.agent.transcript import Transcript
from ui_mcp.chat.attachments import Attachment, AttachmentStore, with_references

PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)
pytestmark = pytest.mark.covers("CHAT-FILE-2")


async def message(store: AttachmentStore, text: str, **files: bytes) -> UserMessage:
    stored = [Attachment(name, (await store.put(data)).digest) for name, data in files.items()]
    return UserMessage(with_references(text, stored), by_person=True)


async def test_a_model_that_sees_gets_the_image_and_another_a_note(tmp_path: Path) -> None:
    store = AttachmentStore(tmp_path)
    asked = await message(store, "What is this?", photo=PNG)

    (seen,) = await AttachedFiles(store, lambda: True).resolved([asked])
    (noted,) = await AttachedFiles(store, lambda: False).resolved([asked])

    assert seen == UserMessage("What is this?", (Picture("image/png", b64encode(PNG).decode()),))
    assert isinstance(noted, UserMessage)
    assert noted.pictures == ()
    assert "[Attached: photo, image/png, 28 bytes; this model takes no images]" in noted.text


async def test_text_is_sent_marked_as_foreign_and_other_files_by_name(tmp_path: Path) -> None:
    store = AttachmentStore(tmp_path)
    asked = await message(store, "Read", notes=b"buy tea", program=b"a\0b")

    first, second = [(await AttachedFiles(store, lambda: True).resolved([asked]))[0] for _ in range(2)]

    assert first == second  # the vendor's cache stays valid
    assert isinstance(first, UserMessage)
    assert "buy tea\n</untrusted-" in first.text
    assert "only its name is known to you" in first.text


async def test_what_others_than_people_write_refers_to_no_file(tmp_path: Path) -> None:
    store = AttachmentStore(tmp_path)
    told = UserMessage((await message(store, "Look", photo=PNG)).text)

    assert await AttachedFiles(store, lambda: True).resolved([told]) == [told]


async def test_a_file_that_is_gone_is_named(tmp_path: Path) -> None:
    gone = UserMessage(with_references("Look", [Attachment("photo.png", "0" * 64)]), by_person=True)

    (told,) = await AttachedFiles(AttachmentStore(tmp_path), lambda: True).resolved([gone])

    assert isinstance(told, UserMessage)
    assert told.text == "Look\n\n[photo.png was attached, and is not stored any more]"


def test_only_what_people_write_refers_to_files() -> None:
    text = with_references("x", [Attachment("a", "0" * 64)])
    said = StoredEvent(1, "", "user_text", {"message_id": "1", "mime": "text/markdown", "text": text})
    injected = StoredEvent(2, "", "injected", {"text": text})

    person, other = Transcript([said, injected]).messages()

    assert [one.by_person for one in (person, other) if isinstance(one, UserMessage)] == [True, False]
