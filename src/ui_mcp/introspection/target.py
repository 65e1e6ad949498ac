"""One UI with its recent captures and the uids it has issued."""

import re
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import anyio

from ui_mcp.errors import (
    IntrospectError,
    UiNodeNotFoundError,
    UiNoStagesError,
    UiNotEnabledError,
    UiStaleRefError,
    UiTimeoutError,
)
from ui_mcp.introspection import selectors
from ui_mcp.introspection.arguments import Selector
from ui_mcp.introspection.backend import Browser, BrowserRequest, MarkedView, Pointable, ScreenshotRequest, UiBackend
from ui_mcp.introspection.contract import ALL, CaptureRequest, Ref
from ui_mcp.introspection.outline import row_uids
from ui_mcp.introspection.selectors import found_in
from ui_mcp.introspection.tree import Capture, Node, build
from ui_mcp.jsontypes import JsonObject

if TYPE_CHECKING:
    from ui_mcp.introspection.recording.recorder import Recorder

KEPT_CAPTURES = 8
REMEMBERED_UIDS = 500_000
SECONDS = 5.0
"""Default time limit of one read; screenshots have three times as long."""
BROWSE_SECONDS = 40.0
"""Time limit of an operation on a browser, which may load a page."""

_ROW_PATH = re.compile(r"(.+)/([\w-]+)\[(\d+)\]")


class Target:
    """A backend together with the state that the contract requires."""

    def __init__(
        self, name: str, backend: UiBackend, *, seconds: float = SECONDS, redact: tuple[str, ...] = ()
    ) -> None:
        self.name = name
        self.connection = backend
        """The backend, also while the person operates it: only to see whether it lives, and to close it."""
        self._is_handed_over = False
        self._seconds = seconds
        self.redact = redact
        self._lock = anyio.Lock()
        self._captures: OrderedDict[str, Capture] = OrderedDict()
        self._issued: dict[str, None] = {}
        self._last: Capture | None = None
        self.recorder: Recorder | None = None
        """Notes what is done to the UI, while a recording runs."""
        self.loss: str | None = None
        """Why what an earlier answer showed is gone; None if nothing is, or the agent knows."""

    @property
    def backend(self) -> UiBackend:
        """The UI, unless the person operates it.

        Raises:
            UiNotEnabledError: they do; the reason is `HANDED_OVER`.
        """
        if self._is_handed_over:
            raise UiNotEnabledError(
                f"Target {self.name!r} is handed over to the person; it can be neither seen nor operated\n"
                "Call ui_browser with op hand_over again to wait until they give it back.",
                reason="HANDED_OVER",
            )
        return self.connection

    def hand_over(self) -> None:
        """Refuse every use until `take_back`, also of calls that have begun."""
        if self.recorder is not None:
            self.recorder.interrupt("The browser was handed over to the person here; what they did is not recorded")
        self._is_handed_over = True

    def take_back(self) -> None:
        self._is_handed_over = False

    def problems(self) -> list[str]:
        """Return and clear what the agent must know beside what is shown."""
        loss, self.loss = self.loss, None
        return [*([loss] if loss else []), *self.backend.problems()]

    def require_notified(self) -> None:
        """Check that the agent knows that this is not the UI any more which it saw last.

        Raises:
            UiStaleRefError: it was begun again and no answer has said so.
        """
        loss, self.loss = self.loss, None
        if loss:
            raise UiStaleRefError(f"Nothing was done: {loss}\nTake a new snapshot.")

    async def capture(self, request: CaptureRequest) -> Capture:
        """Read the UI and keep the capture.

        Raises:
            IntrospectError: one of the contract's errors.
        """
        async with self._lock:
            return await self._capture(request)

    async def read(self, request: CaptureRequest) -> Capture:
        """Read the UI without keeping the capture; the caller holds `exclusive`."""
        return await self._capture(request, keep=False)

    async def node(self, ref: Ref, request: CaptureRequest | None = None) -> Node:
        """Return one node, with as many levels below it as `request` says; by default none.

        Raises:
            UiNodeNotFoundError: no answer ever contained this reference.
            UiStaleRefError: the node existed, and no longer does.
        """
        request = request or CaptureRequest(stage="all", depth=0, sections=ALL, root=ref)
        async with self._lock:
            try:
                capture = await self._capture(request, keep=False)
            except UiNodeNotFoundError as error:
                row = await self._row_at(ref.path or "")
                if row is None or ref.uid is not None:
                    raise await self._not_found_error(ref, error) from error
                ref = row
                capture = await self._capture(replace(request, root=row), keep=False)
            root = next((stage.root for stage in capture.stages if stage.root is not None), None)
            await self._tell(uid for node in (root.walk() if root else ()) for uid in row_uids(node))
        if root is None:
            raise UiNodeNotFoundError(f"Node not found for uid={ref.uid} path={ref.path}", ref=ref.json())
        if ref.uid is not None and ":" in ref.uid:
            root.record["u"] = ref.uid  # else it would be the uid of a cell that soon shows another row
        return root

    async def _row_at(self, path: str) -> Ref | None:
        """Return the row that a path means which `rowRef` gave: that of a control, then type and number of a row."""
        found = _ROW_PATH.fullmatch(path)
        if found is None:
            return None
        wanted = CaptureRequest(stage="all", depth=0, sections=frozenset({"virtualization"}), root=Ref(path=found[1]))
        try:
            stages = (await self._capture(wanted, keep=False)).stages
        except UiNodeNotFoundError:
            return None
        control = next((stage.root for stage in stages if stage.root is not None), None)
        if control is None or control.record.get("z", {}).get("rowType", "row") != found[2]:
            return None
        return Ref(f"{control.uid}:r{found[3]}")

    async def find(self, selector: Selector, request: CaptureRequest) -> list[Node]:
        """Return the nodes that a selector matches, in document order; rows and cells instead of their control."""
        async with self._lock:
            return await self.find_exclusive(selector, request)

    async def find_exclusive(self, selector: Selector, request: CaptureRequest) -> list[Node]:
        """Do what `find` does; the caller holds `exclusive`."""
        capture = await self._capture(request, keep=False)
        nodes = list(capture.nodes())
        hits: frozenset[str] = frozenset()
        if selector.text is not None and selector.match == "regex":
            parts = (part for node in nodes for part in (node, *selectors.parts_of(node)))
            hits = await found_in(selector.text, [text for part in parts for text in selectors.texts_of(part)])
        found = selectors.matching(nodes, selector, hits)
        await self._tell(dict.fromkeys(_row_uid(node.uid) for node in found if ":r" in node.uid))
        return found

    async def tell(self, rows: Iterable[str]) -> None:
        """Note that these rows were reported to a caller as the last capture read them."""
        async with self._lock:
            await self._tell(rows)

    async def _tell(self, rows: Iterable[str]) -> None:
        reported = list(rows)
        if reported:
            await self.backend.tell(reported)

    async def at(self, x: float, y: float) -> list[Node]:
        """Return the topmost node at a screen point and its ancestors, innermost first."""
        async with self._lock, self._time_limit("finding a point", self._seconds):
            chain = await self.backend.at(x, y)
        top = Ref(chain[0]["uid"])
        topmost = await self.node(top, CaptureRequest(stage="all", depth=0, sections=frozenset({"bounds"}), root=top))
        self._issued.update(dict.fromkeys(entry["uid"] for entry in chain))
        ancestors = [
            Node({"u": entry["uid"], "t": _type(entry["path"])}, entry["path"], None, 0) for entry in chain[1:]
        ]
        return [topmost, *ancestors]

    async def act(self, action: JsonObject) -> None:
        """Perform one action; the caller holds `exclusive`."""
        try:
            await self.backend.act(action)
        except UiStaleRefError as error:
            if self.redact:
                # `now` names the item that is in the row now, which may be redacted.
                error.details.pop("now", None)
            raise
        except UiNodeNotFoundError as error:
            given: JsonObject = next((action[part] for part in ("target", "from", "to") if part in action), {})
            raise await self._not_found_error(Ref(given.get("uid"), given.get("path")), error) from error

    async def settle(self) -> None:
        """Wait until the UI is idle, but at most 1 s: some UIs are always busy."""
        with anyio.move_on_after(1.0):
            async with self._lock:
                with suppress(IntrospectError):
                    await self.backend.idle()

    async def screenshot(self, request: ScreenshotRequest) -> bytes:
        async with self._lock, self._time_limit("taking a screenshot", 3 * self._seconds):
            try:
                return await self.backend.screenshot(request)
            except UiNodeNotFoundError as error:
                raise await self._not_found_error(request.ref or Ref(), error) from error

    async def browse(self, request: BrowserRequest) -> str | bytes:
        """Perform an operation on a browser and return its answer, text or a PNG.

        Raises:
            IntrospectError: it is impossible now, or an argument is wrong.
        """
        assert isinstance(self.backend, Browser)
        async with self._lock, self._time_limit(f"doing {request.op}", BROWSE_SECONDS):
            return await self.backend.browse(request)

    async def pointed(self) -> JsonObject:
        """Describe what the person pointed at last; its uid counts as reported."""
        assert isinstance(self.backend, Pointable)
        async with self._lock, self._time_limit("describing the element", self._seconds):
            described = await self.backend.pointed()
        self._issued[described["uid"]] = None
        return described

    async def picture(self, view: MarkedView) -> bytes:
        """Return a picture of a page as a person sees it, with a mark around one element."""
        assert isinstance(self.backend, Browser)
        async with self._lock, self._time_limit("taking a picture", 3 * self._seconds):
            return await self.backend.picture(view)

    async def mark_changes(self, before: bytes, after: bytes) -> bytes:
        """Return both pictures side by side, with frames around what differs."""
        async with self._lock, self._time_limit("comparing pictures", 3 * self._seconds):
            return await self.backend.mark_changes(before, after)

    @asynccontextmanager
    async def exclusive(self) -> AsyncIterator[None]:
        """Lock the UI for a series of actions that no other call may interrupt."""
        async with self._lock:
            yield

    def kept_capture(self, snapshot_id: str) -> Capture | None:
        """Return an earlier capture; None if it is no longer kept."""
        return self._captures.get(snapshot_id)

    def latest(self) -> Capture | None:
        return self._last

    async def _capture(self, request: CaptureRequest, *, keep: bool = True) -> Capture:
        async with self._time_limit("reading the UI", self._seconds):
            redacted = replace(request, redact=self.redact) if self.redact else request
            capture = build(await self.backend.capture(redacted), request)
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
            del self._issued[next(iter(self._issued))]  # the oldest: dicts keep insertion order

    @asynccontextmanager
    async def _time_limit(self, doing: str, seconds: float) -> AsyncIterator[None]:
        try:
            with anyio.fail_after(seconds):
                yield
        except TimeoutError as error:
            raise UiTimeoutError(
                f"The UI did not answer within {seconds:g} s while {doing}\nIt may be busy or stopped; try again.",
                timeoutMs=int(seconds * 1000),
            ) from error

    async def _not_found_error(self, ref: Ref, error: UiNodeNotFoundError) -> IntrospectError:
        known = ref.uid is not None and ref.uid.partition(":")[0] in self._issued  # `a12:r3` is a row of `a12`
        known = known or any(node.path == ref.path for kept in self._captures.values() for node in kept.nodes())
        kind = UiStaleRefError if known else UiNodeNotFoundError
        reason = "no longer exists" if known else "is unknown"
        # Suggestions for the agent; they never change which node an action uses.
        candidates = await self._candidates(ref.hint) if ref.hint else []
        return kind(
            f"Node not found for uid={ref.uid} path={ref.path}: it {reason}\nTake a new snapshot.",
            **{**error.details, "ref": ref.json(), "candidates": candidates},
        )

    async def _candidates(self, hint: JsonObject) -> Sequence[JsonObject]:
        capture = await self._capture(CaptureRequest(stage="all", sections=frozenset({"bounds"})), keep=False)
        return [selectors.described(node) for node in capture.nodes() if _matches_hint(node, hint)][:3]


def _row_uid(uid: str) -> str:
    """Return the uid of the row that a cell belongs to."""
    return uid.partition(":c")[0]


def _type(path: str) -> str:
    return path.rpartition("/")[2].partition("[")[0]


def _matches_hint(node: Node, hint: JsonObject) -> bool:
    given = {key: str(value) for key, value in hint.items() if value is not None}
    wanted = {key: value for key, value in given.items() if key in {"id", "type", "text"}}
    text = wanted.pop("text", "").casefold()
    has = {"id": node.record.get("i"), "type": node.record["t"]}
    has_text = not text or any(text in shown.casefold() for shown in selectors.texts_of(node))
    return bool(wanted or text) and has_text and all(has[key] == value for key, value in wanted.items())


FIRST_PAUSE = 0.03
LONGEST_PAUSE = 0.25


def ask_for(selector: Selector, stage: int | None = None, *, everywhere: bool = True) -> CaptureRequest:
    """Return the capture request that a selector needs; without `stage`, of all windows or the focused one."""
    return CaptureRequest(
        stage=stage if stage is not None else "all" if everywhere else "focused",
        sections=frozenset(
            {"bounds", "virtualization", *(("accessibility",) if selector.role or selector.row else ())}
        ),
        css=selector.css,
        # A CSS selector may match a part inside a control. For text, the control itself is enough.
        internals=selector.css is not None,
    )


async def until(
    target: Target,
    selector: Selector,
    seconds: float,
    done: Callable[[list[Node]], bool],
    *,
    exclusive: bool = False,
) -> list[Node]:
    """Poll with increasing pauses until `done` accepts the nodes that the selector matches.

    With `exclusive` the caller holds the lock of the target.

    Raises:
        UiTimeoutError: it did not accept them in time; the details have the last number of matches.
    """
    found: list[Node] = []
    pause = FIRST_PAUSE
    find = target.find_exclusive if exclusive else target.find
    with anyio.move_on_after(seconds):
        while True:
            try:
                found = await find(selector, ask_for(selector))
            except UiNoStagesError:
                found = []
            if done(found):
                return found
            await anyio.sleep(pause)
            pause = min(LONGEST_PAUSE, pause * 1.5)
    raise UiTimeoutError(
        f"The condition was not met within {seconds:g} s; the selector matches {len(found)} nodes now",
        timeoutMs=int(seconds * 1000),
        matches=len(found),
    )
