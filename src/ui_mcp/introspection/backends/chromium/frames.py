"""The page script in each frame of a driven page: one for the page, one for every frame of another origin."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ui_mcp.introspection.backends.chromium.devtools import DevToolsError, Session
from ui_mcp.introspection.backends.chromium.launch import script
from ui_mcp.introspection.backends.chromium.tab import Frame, Tab
from ui_mcp.introspection.person_pages import guarded, person_page_refused
from ui_mcp.jsontypes import JsonObject, dumps, loads

CONTEXT = "ui-mcp"
"""Name of our own context in every document; contexts of one name are the same one."""


@dataclass(frozen=True, slots=True, eq=False)
class FrameScript:
    """The script in the isolated context of one document; its uids begin with `prefix`."""

    session: Session
    context_id: int
    prefix: str
    parent: "FrameScript | None" = None
    holder: str = ""
    """Uid of the frame's element in the document of `parent`."""

    @classmethod
    async def inject(
        cls, session: Session, frame_id: str, prefix: str, parent: "FrameScript | None" = None, holder: str = ""
    ) -> "FrameScript":
        created = await session.send("Page.createIsolatedWorld", {"frameId": frame_id, "worldName": CONTEXT})
        context_id = created["executionContextId"]
        source = f"{script()};globalThis.__uiMcp = uiMcpIntrospect.create({dumps(prefix)}); 0"
        await session.send("Runtime.evaluate", {"expression": source, "contextId": context_id})
        return cls(session, context_id, prefix, parent, holder)

    async def call(self, request: JsonObject) -> JsonObject:
        """Send a request to the script and return its answer, which may be an error.

        Raises:
            DevToolsError: the document is gone.
            UiNotEnabledError: the page is the person's own.
        """
        answer = await self.session.send(
            "Runtime.evaluate",
            {
                "expression": guarded(f"__uiMcp.call({dumps(dumps(request))})"),
                "contextId": self.context_id,
                "awaitPromise": True,
                "returnByValue": True,
            },
        )
        if answer["result"].get("subtype") == "null":
            raise person_page_refused()
        return dict(loads(answer["result"]["value"]))

    async def file_input(self, ref: JsonObject) -> str:
        """Return the debugger's id of the file input that an element is, holds or belongs to.

        Raises:
            KeyError: there is none.
        """
        expression = f"__uiMcp.fileInput({dumps(dumps(ref))})"
        found = await self.session.send("Runtime.evaluate", {"expression": expression, "contextId": self.context_id})
        return str(found["result"]["objectId"])

    async def offset(self) -> tuple[float, float]:
        """Return the position of this document in the viewport of the page."""
        if self.parent is None:
            return 0, 0
        x, y = await self.parent.offset()
        at = await self.parent.call({"op": "content", "target": {"uid": self.holder}})
        return x + at["x"], y + at["y"]

    async def uid_of_holder(self, frame_id: str) -> str:
        """Return the uid of the element in this document that holds a frame."""
        owner = await self.session.send("DOM.getFrameOwner", {"frameId": frame_id})
        given = {"backendNodeId": owner["backendNodeId"], "executionContextId": self.context_id}
        resolved = await self.session.send("DOM.resolveNode", given)
        declaration = "function() { return __uiMcp.uidOf(this); }"
        object_id = resolved["object"]["objectId"]
        call = {"objectId": object_id, "functionDeclaration": declaration, "returnByValue": True}
        return str((await self.session.send("Runtime.callFunctionOn", call))["result"]["value"])


class ForeignFrames:
    """Finds the frames of a page that its own script cannot read, and keeps their scripts."""

    def __init__(self, tab: Tab, prefixes: Iterator[str]) -> None:
        self._tab = tab
        self._prefixes = prefixes
        self._scripts: dict[Frame, FrameScript] = {}

    def by_prefix(self, prefix: str) -> FrameScript | None:
        return next((script for script in self._scripts.values() if script.prefix == prefix), None)

    def forget(self, gone: FrameScript | None = None) -> None:
        """Drop the script of a document that is gone, or all of them."""
        self._scripts = {frame: kept for frame, kept in self._scripts.items() if gone is not None and kept is not gone}

    async def below(self, parent: FrameScript, holders: Sequence[str]) -> dict[str, FrameScript]:
        """Return the scripts of the frames in these elements of a document, by the uid of the element."""
        found: dict[str, FrameScript] = {}
        for frame in self._tab.frames[1:]:
            try:
                kept = self._scripts.get(frame) or await self._inject(frame, parent, holders)
            except (DevToolsError, KeyError):
                continue  # it is still loading, or gone already
            if kept is not None and kept.parent is parent and kept.holder in holders:
                self._scripts[frame] = kept
                found[kept.holder] = kept
        return found

    async def _inject(self, frame: Frame, parent: FrameScript, holders: Sequence[str]) -> FrameScript | None:
        holder = await parent.uid_of_holder(frame.id)
        if holder not in holders:
            return None
        return await FrameScript.inject(frame.session, frame.id, next(self._prefixes), parent, holder)


def spliced(
    records: list[JsonObject], frames: dict[str, list[JsonObject]], offsets: dict[str, tuple[float, float]]
) -> list[JsonObject]:
    """Return the records of a document with those of frames below their elements, shifted into its coordinates."""
    found: list[JsonObject] = []
    moved: list[int] = []
    for record in records:
        moved.append(len(found))
        found.append({**record, "p": moved[record["p"]]} if "p" in record else record)
        inner = frames.get(record["u"])
        if inner:
            base = len(found)
            found[-1] = {key: value for key, value in found[-1].items() if key != "e"}
            found += [_placed(one, base, offsets[record["u"]]) for one in inner]
    return found


def _placed(record: JsonObject, base: int, offset: tuple[float, float]) -> JsonObject:
    placed = {**record, "p": record["p"] + base} if "p" in record else {**record, "p": base - 1, "n": "body[0]"}
    for key in ("bs", "sc"):
        if key in placed:
            x, y, width, height = placed[key]
            placed[key] = [round(x + offset[0], 2), round(y + offset[1], 2), width, height]
    return placed
