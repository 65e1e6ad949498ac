"""Makes a `pointed` event and a chat message of what a person points at."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

from anyio import to_thread

from ui_mcp.chat.identity import principal
from ui_mcp.chat.message import Draft, id_text
from ui_mcp.errors import ChatError, IntrospectError, NotFoundError, UiMcpError
from ui_mcp.files import PRIVATE, write_atomic
from ui_mcp.introspection.backend import MarkedView, ScreenshotRequest
from ui_mcp.introspection.contract import Ref
from ui_mcp.introspection.selectors import texts_of
from ui_mcp.introspection.target import Target
from ui_mcp.jsontypes import JsonObject
from ui_mcp.log import logger
from ui_mcp.ui.pointing.sources import places_of
from ui_mcp.ui.server import UiServer
from ui_mcp.ui.sessions.pages import system_event
from ui_mcp.ui.sessions.session import Session
from ui_mcp.ui.state.acts import PERSON
from ui_mcp.workspace import Workspace

MAX_WORDS = 4000
KEPT_PICTURES = 20
MAX_TEXT = 200
_log = logger("pointing")


async def point_in_page(host: UiServer, page: str, words: str) -> JsonObject:
    """Tell the agent what the person points at in an open page of ours, and return the event.

    Raises:
        NotFoundError: the page is not connected.
        IntrospectError: the element is gone, or the page does not answer.
    """
    running = host.running()
    found = running.sessions.with_page(f"{PERSON}:{page}")
    if found is None:
        raise NotFoundError("The page that you pointed at is not connected\nReload it and try again.")
    session, connection = found
    session.pages.prefer(connection)  # so that the uid in the event is one of the target "page"
    target = await host.targets.target("page", settled=False)
    described = await target.pointed()
    key = described["viewdef"]
    file = running.sessions.viewdefs.file_of(key) if key else None
    places = await to_thread.run_sync(places_of, running.workspace, key, file, described["bindings"])
    facts = await _element(target, described) | {"sources": [place.json() for place in places]}
    # A page cannot photograph itself; our own browser shows the same session.
    facts |= await _picture(host, partial(_in_browser, host, MarkedView.of(described)))
    return await tell(host, session, words, facts)


async def prepare_picture(host: UiServer) -> None:
    """Start the browser, which takes some seconds, before a picture is wanted."""
    if host.running().config.introspection.allow_screenshots:
        with suppress(IntrospectError):  # the event says why there is no picture
            await host.targets.target("browser")


async def _in_browser(host: UiServer, view: MarkedView) -> bytes:
    return await (await host.targets.target("browser")).picture(view)


async def point_in_browser(host: UiServer, name: str, words: str) -> None:
    """Tell the agent what the person points at in a page of an attached browser."""
    try:
        target = await host.targets.target(name)
        described = await target.pointed()
        facts = await _element(target, described)
        shot = ScreenshotRequest(mark=Ref(described["uid"]))
        facts |= await _picture(host, lambda: target.screenshot(shot))
        await tell(host, host.running().sessions.get("1"), words, facts)
    except UiMcpError as error:
        _log.error("What was pointed at in %s is lost: %s", name, error.message)


async def tell(host: UiServer, session: Session, words: str, facts: JsonObject) -> JsonObject:
    """Post the words in the chat as the person's, queue the event, and return it."""
    message = None
    try:
        chat = await host.chats.current()
        draft = Draft(f"{words}\n\n{summary(facts)}")
        message = id_text((await chat.post(principal("human", "human"), "user", "default", [draft]))[0].id)
    except ChatError as error:
        _log.error("What was pointed at is not in the chat: %s", error.message)
    event: JsonObject = {"words": words, "message_id": message, **facts}
    session.events.push_system(system_event("pointed", event))
    return event


def summary(facts: JsonObject) -> str:
    """Return what was pointed at in a line of Markdown, for agents that read only the chat; pure."""
    element = facts["element"]
    label = f" “{element['text']}”" if element.get("text") else ""
    parts = [f"Pointed at `{element['type']}`{label}", f"target `{facts['target']}`, uid `{facts['uid']}`"]
    parts += [f"`{place['what']}` in `{place['file']}:{place['line']}`" for place in facts.get("sources", ())]
    parts += [f"picture `{Path(facts['picture']).name}` in `.ui-mcp/pointed`"] if facts.get("picture") else []
    return "> " + " · ".join(parts)


async def _element(target: Target, described: JsonObject) -> JsonObject:
    """Return the facts of the event; text of nodes that are redacted stays in the page."""
    node = await target.node(Ref(described["uid"]))
    text = " ".join(dict.fromkeys(texts_of(node)))[:MAX_TEXT]
    element = {"type": described["type"], "id": node.record.get("i"), "text": text, "path": described["path"]}
    return {
        "target": target.name,
        "uid": described["uid"],
        "element": {name: value for name, value in element.items() if value},
        "viewdef": described["viewdef"],
        "bindings": described["bindings"],
        "style": described["style"],
        "bounds": described["bounds"],
        "url": described["window"]["url"],
    }


async def _picture(host: UiServer, take: Callable[[], Awaitable[bytes]]) -> JsonObject:
    """Keep the picture that `take` makes; without one, say why."""
    if not host.running().config.introspection.allow_screenshots:
        return {"no_picture": "introspection.allow_screenshots = false"}
    try:
        kept = await to_thread.run_sync(keep_picture, host.running().workspace, await take())
        return {"picture": str(kept)}
    except (IntrospectError, OSError) as error:
        return {"no_picture": str(error).partition("\n")[0]}


def keep_picture(workspace: Workspace, png: bytes) -> Path:
    """Save a picture as the newest of a few."""
    folder = workspace.state_dir / "pointed"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    kept = sorted(int(file.stem) for file in folder.glob("*.png") if file.stem.isdecimal())
    for number in kept[: -KEPT_PICTURES + 1]:
        (folder / f"{number}.png").unlink(missing_ok=True)
    file = folder / f"{(kept or [0])[-1] + 1}.png"
    write_atomic(file, png, mode=PRIVATE)
    return file
