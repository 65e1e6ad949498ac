"""One UI with memory of captures; wait_until."""

from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace

import anyio

from ui_mcp.errors import IntrospectError, UiNodeNotFoundError, UiNoStagesError, UiStaleRefError, UiTimeoutError
from ui_mcp.introspection import selectors
from ui_mcp.introspection.arguments import Selector
from ui_mcp.introspection.backend import ScreenshotRequest, UiBackend
from ui_mcp.introspection.contract import ALL, CaptureRequest, Ref
from ui_mcp.introspection.selectors import found_in
from ui_mcp.introspection.tree import Capture, Node, build
from ui_mcp.jsontypes import JsonObject

KEPT_CAPTURES = 8
REMEMBERED_UIDS = 500_000
SECONDS = 5.0


class Target:
    """A backend with the memory the contract needs."""

    def __init__(
        self, name: str, backend: UiBackend, *, seconds: float = SECONDS, redact: tuple[str, ...] = ()
    ) -> None:
        self.name = name
        self.backend = backend
        self._seconds = seconds
        self._redact = redact
        self._turn = anyio.Lock()
        self._captures: OrderedDict[str, Capture] = OrderedDict()
        self._issued: dict[str, None] = {}
        self._last: Capture | None = None

    async def capture(self, ask: CaptureRequest) -> Capture:
        """Look once.

        Raises:
            IntrospectError: one of the contract's errors.
        """
        async with self._turn:
            return await self._capture(ask)

    async def node(self, ref: Ref, ask: CaptureRequest | None = None) -> Node:
        """Return one node, with as many levels below it as `ask` says.

        Raises:
            UiNodeNotFoundError: never handed out.
            UiStaleRefError: handed out, and gone.
        """
        asked = ask or CaptureRequest(stage="all", depth=0, sections=ALL, root=ref)
        async with self._turn:
            try:
                capture = await self._capture(asked, keep=False)
            except UiNodeNotFoundError as error:
                raise await self._gone(ref, error) from error
        root = next((stage.root for stage in capture.stages if stage.root is not None), None)
        if root is None:
            raise UiNodeNotFoundError(f"Node not found for uid={ref.uid} path={ref.path}", ref=ref.json())
        return root

    async def find(self, selector: Selector, ask: CaptureRequest) -> list[Node]:
        """Return the nodes a selector means, in document order."""
        async with self._turn:
            capture = await self._capture(ask, keep=False)
        nodes = list(capture.nodes())
        hits: frozenset[str] = frozenset()
        if selector.text is not None and selector.match == "regex":
            hits = await found_in(selector.text, [text for node in nodes for text in selectors.texts_of(node)])
        return selectors.matching(nodes, selector, hits)

    async def at(self, x: float, y: float) -> list[Node]:
        """Return the topmost node at a screen point and everything around it, innermost first."""
        async with self._turn, self._limited("looking at a point", self._seconds):
            chain = await self.backend.at(x, y)
        top = Ref(chain[0]["uid"])
        whole = await self.node(top, CaptureRequest(stage="all", depth=0, sections=frozenset({"bounds"}), root=top))
        self._issued.update(dict.fromkeys(entry["uid"] for entry in chain))
        around = [Node({"u": entry["uid"], "t": _type(entry["path"])}, entry["path"], None, 0) for entry in chain[1:]]
        return [whole, *around]

    async def act(self, action: JsonObject) -> None:
        """Do one action; call it inside `turn`."""
        try:
            await self.backend.act(action)
        except UiStaleRefError as error:
            if self._redact:
                # It names the item that is at the row now, which may be one of those nobody shall read.
                error.details.pop("now", None)
            raise
        except UiNodeNotFoundError as error:
            given: JsonObject = next((action[part] for part in ("target", "from", "to") if part in action), {})
            raise await self._gone(Ref(given.get("uid"), given.get("path")), error) from error

    async def settle(self) -> None:
        """Wait until the UI is idle, but not for long: a busy one is looked at as it is."""
        with anyio.move_on_after(1.0):
            async with self._turn:
                with suppress(IntrospectError):
                    await self.backend.idle()

    async def screenshot(self, photo: ScreenshotRequest) -> bytes:
        """Take a picture."""
        async with self._turn, self._limited("taking a picture", 3 * self._seconds):
            try:
                return await self.backend.screenshot(photo)
            except UiNodeNotFoundError as error:
                raise await self._gone(photo.ref or Ref(), error) from error

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Hold the UI for a series of actions that nothing may come between."""
        async with self._turn:
            yield

    def kept(self, snapshot_id: str) -> Capture | None:
        """Return an earlier capture, if it is still kept."""
        return self._captures.get(snapshot_id)

    def latest(self) -> Capture | None:
        """Return the newest kept capture."""
        return self._last

    async def _capture(self, ask: CaptureRequest, *, keep: bool = True) -> Capture:
        async with self._limited("reading the UI", self._seconds):
            wanted = replace(ask, redact=self._redact) if self._redact else ask
            capture = build(await self.backend.capture(wanted), ask)
        self._remember(capture.nodes())
        if keep:
            self._captures[capture.id] = self._last = capture
            self._captures.move_to_end(capture.id)
            while len(self._captures) > KEPT_CAPTURES:
                self._captures.popitem(last=False)
        return capture

    def _remember(self, nodes: Iterable[Node]) -> None:
        self._issued.update(dict.fromkeys(node.uid for node in nodes))
        while len(self._issued) > REMEMBERED_UIDS:
            del self._issued[next(iter(self._issued))]

    @asynccontextmanager
    async def _limited(self, doing: str, seconds: float) -> AsyncIterator[None]:
        try:
            with anyio.fail_after(seconds):
                yield
        except TimeoutError as error:
            raise UiTimeoutError(
                f"The UI did not answer within {seconds:g} s while {doing}\nIt may be busy or stopped; try again.",
                timeoutMs=int(seconds * 1000),
            ) from error

    async def _gone(self, ref: Ref, error: UiNodeNotFoundError) -> IntrospectError:
        known = ref.uid is not None and ref.uid.partition(":")[0] in self._issued
        known = known or any(node.path == ref.path for kept in self._captures.values() for node in kept.nodes())
        kind = UiStaleRefError if known else UiNodeNotFoundError
        words = "is no longer there" if known else "was never handed out"
        candidates = await self._candidates(ref.hint) if ref.hint else []
        return kind(
            f"Node not found for uid={ref.uid} path={ref.path}: it {words}\nLook again.",
            **{**error.details, "ref": ref.json(), "candidates": candidates},
        )

    async def _candidates(self, hint: JsonObject) -> Sequence[JsonObject]:
        capture = await self._capture(CaptureRequest(stage="all", sections=frozenset({"bounds"})), keep=False)
        return [selectors.described(node) for node in capture.nodes() if _fits(node, hint)][:3]


def _type(path: str) -> str:
    return path.rpartition("/")[2].partition("[")[0]


def _fits(node: Node, hint: JsonObject) -> bool:
    given = {key: str(value) for key, value in hint.items() if value is not None}
    wanted = {key: value for key, value in given.items() if key in {"id", "type", "text"}}
    text = wanted.pop("text", "").casefold()
    has = {"id": node.record.get("i"), "type": node.record["t"]}
    said = not text or any(text in seen.casefold() for seen in selectors.texts_of(node))
    return bool(wanted or text) and said and all(has[key] == value for key, value in wanted.items())


FIRST_PAUSE = 0.03
LONGEST_PAUSE = 0.25


def ask_for(selector: Selector, stage: int | None = None, *, everywhere: bool = True) -> CaptureRequest:
    """Return what has to be read to decide about a selector."""
    return CaptureRequest(
        stage=stage if stage is not None else "all" if everywhere else "focused",
        sections=frozenset({"bounds", "virtualization"}),
        css=selector.css,
        # A css selector may mean a part inside a control; text is said once, by the control.
        internals=selector.css is not None,
    )


async def until(target: Target, selector: Selector, seconds: float, done: Callable[[list[Node]], bool]) -> list[Node]:
    """Look again and again until `done` accepts what the selector means.

    Raises:
        UiTimeoutError: it did not come about in time; says what was there last.
    """
    found: list[Node] = []
    pause = FIRST_PAUSE
    with anyio.move_on_after(seconds):
        while True:
            try:
                found = await target.find(selector, ask_for(selector))
            except UiNoStagesError:
                found = []
            if done(found):
                return found
            await anyio.sleep(pause)
            pause = min(LONGEST_PAUSE, pause * 1.5)
    raise UiTimeoutError(
        f"It did not come about within {seconds:g} s; the selector means {len(found)} nodes now",
        timeoutMs=int(seconds * 1000),
        matches=len(found),
    )
