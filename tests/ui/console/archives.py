"""Archives made in memory."""

import io
import tarfile
import zipfile
from collections.abc import Mapping

APP: Mapping[str, str] = {
    "notes/app.lua": "-- notes\nnotes = notes or session:create(Notes)\n",
    "notes/requirements.md": "# Notes\n\nKeeps short notes.\n",
    "notes/viewdefs/Notes.DEFAULT.html": "<template><div>Notes</div></template>\n",
}


def zipped(files: Mapping[str, str | bytes]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return data.getvalue()


def tarred(*members: tarfile.TarInfo, mode: str = "gz", body: bytes = b"x") -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode=f"w:{mode}") as archive:  # type: ignore[call-overload]
        for member in members:
            member.size = len(body) if member.isfile() else 0
            archive.addfile(member, io.BytesIO(body) if member.isfile() else None)
    return data.getvalue()


def member(name: str, kind: bytes = tarfile.REGTYPE, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info
