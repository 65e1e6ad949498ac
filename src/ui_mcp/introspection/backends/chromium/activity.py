"""What a page reports while it runs: requests, console messages, errors, downloads."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory

from ui_mcp.introspection.backends.chromium.devtools import Handler, Session
from ui_mcp.introspection.backends.chromium.network import RequestLog, is_favicon
from ui_mcp.introspection.backends.chromium.tab import thrown
from ui_mcp.introspection.person_pages import is_person_page
from ui_mcp.jsontypes import JsonObject

MAX_PROBLEMS = 50
MAX_MESSAGES = 1000


@dataclass(frozen=True, slots=True)
class Message:
    """One message of the console; `number` counts those of a page."""

    number: int
    level: str
    text: str

    def line(self) -> str:
        return f"{self.number} {self.level}: {self.text}"


class PageActivity:
    """The requests, console messages and problems of one page and its frames."""

    def __init__(self, page_url: Callable[[], str]) -> None:
        self._page_url = page_url
        self.requests = RequestLog()
        self.console: deque[Message] = deque(maxlen=MAX_MESSAGES)
        self._messages = 0
        self._problems: list[str] = []
        self.is_private = False
        """Whether nothing is noted, because the person operates the page."""

    def watch(self, session: Session) -> None:
        """Take the events of the page's own session or of a frame's."""
        session.on("Runtime.consoleAPICalled", self._unless_private(self._on_console))
        session.on("Runtime.exceptionThrown", self._unless_private(self._on_exception))
        session.on("Log.entryAdded", self._unless_private(self._on_log))
        session.on("Network.requestWillBeSent", lambda event: self._on_request(event, session))
        session.on("Network.responseReceived", self._unless_private(self._on_response))
        session.on("Network.loadingFinished", self._unless_private(self._on_finished))
        session.on("Network.loadingFailed", self._unless_private(self._on_failed))

    def _unless_private(self, handler: Handler) -> Handler:
        return lambda event: None if self.is_private else handler(event)

    def _on_request(self, event: JsonObject, session: Session) -> None:
        if self.is_private:
            self.requests.leave_out(event)
        else:
            self.requests.begin(event, session)

    def note(self, problem: str) -> None:
        """Add a problem, unless the page is a person's."""
        if not self.is_private and not is_person_page(self._page_url()):
            self._problems = [*self._problems, problem][-MAX_PROBLEMS:]

    def drain(self) -> list[str]:
        """Return and clear the problems."""
        problems, self._problems = self._problems, []
        return problems

    def _log(self, level: str, text: str) -> None:
        if not is_person_page(self._page_url()):
            self._messages += 1
            self.console.append(Message(self._messages, level, text))

    def _on_console(self, event: JsonObject) -> None:
        text = " ".join(map(_shown, event["args"]))
        self._log(event["type"], text)
        if event["type"] in {"error", "assert"}:
            self.note(f"console: {text}")

    def _on_exception(self, event: JsonObject) -> None:
        details = event["exceptionDetails"]
        place = f" ({details['url']}:{details['lineNumber'] + 1})" if details.get("url") else ""
        self._log("exception", thrown(details) + place)
        self.note(f"error: {thrown(details)}")

    def _on_log(self, event: JsonObject) -> None:
        if is_favicon(event["entry"].get("url", "")):
            return
        self._log(event["entry"]["level"], event["entry"]["text"])
        if event["entry"]["level"] == "error":
            self.note(f"console: {event['entry']['text']}")

    def _on_response(self, event: JsonObject) -> None:
        request = self.requests.respond(event)
        if request is not None and event["response"]["status"] >= 400:
            self.note(f"request: {event['response']['status']} {request.method} {event['response']['url']}")

    def _on_finished(self, event: JsonObject) -> None:
        self.requests.end(event["requestId"], event["timestamp"], event.get("encodedDataLength", 0))

    def _on_failed(self, event: JsonObject) -> None:
        reason = event.get("errorText", "") or "failed"
        request = self.requests.end(event["requestId"], event["timestamp"], failure=reason)
        if request is not None:
            self.note(f"request: failed {request.method} {request.url} {event.get('errorText', '')}".rstrip())


@dataclass(frozen=True, slots=True)
class Download:
    """One download that has begun."""

    activity: PageActivity | None
    name: str


class Downloads:
    """Follows the downloads of a browser."""

    def __init__(self, browser: Session, activity_of_frame: Callable[[str], PageActivity | None]) -> None:
        self._browser = browser
        self._activity_of_frame = activity_of_frame
        self._folder: TemporaryDirectory[str] | None = None
        self._begun: dict[str, Download] = {}
        self._kept = 0
        self._keeps = False
        """Whether the browser saves downloads in our folder."""
        browser.on("Browser.downloadWillBegin", self._on_begin)
        browser.on("Browser.downloadProgress", self._on_progress)

    async def keep(self, context: str) -> None:
        """Save the downloads of a profile in a folder of our own."""
        self._folder = TemporaryDirectory(prefix="ui-mcp-downloads-", ignore_cleanup_errors=True)
        self._keeps = True
        place = {"behavior": "allowAndName", "downloadPath": self._folder.name, "browserContextId": context}
        await self._browser.send("Browser.setDownloadBehavior", place | {"eventsEnabled": True})

    def new_file(self, name: str) -> Path:
        """Return the path of a new file in our folder."""
        if self._folder is None:
            self._folder = TemporaryDirectory(prefix="ui-mcp-downloads-", ignore_cleanup_errors=True)
        self._kept += 1
        return Path(self._folder.name) / f"{self._kept}-{name}"

    async def report(self) -> None:
        """Leave downloads where the browser saves them, and report them."""
        await self._browser.send("Browser.setDownloadBehavior", {"behavior": "default", "eventsEnabled": True})

    def delete(self) -> None:
        """Delete what was saved in our folder."""
        if self._folder is not None:
            self._folder.cleanup()

    def _on_begin(self, event: JsonObject) -> None:
        name = PurePath(event["suggestedFilename"]).name or "download"
        self._begun[event["guid"]] = Download(self._activity_of_frame(event["frameId"]), name)

    def _on_progress(self, event: JsonObject) -> None:
        if event["state"] == "inProgress" or event["guid"] not in self._begun:
            return
        download = self._begun.pop(event["guid"])
        outcome = "failed: canceled" if event["state"] == "canceled" else self._saved(event["guid"], download.name)
        if download.activity is not None:
            download.activity.note(f"download: {download.name} {outcome}")

    def _saved(self, guid: str, name: str) -> str:
        if not self._keeps or self._folder is None:
            return "finished"
        place = self.new_file(name)
        try:
            (Path(self._folder.name) / guid).rename(place)
        except OSError as error:
            return f"failed: {error}"
        return f"saved as {place}"


def _shown(value: JsonObject) -> str:
    """Return a value of the page as its console shows it."""
    if "value" in value and not isinstance(value["value"], dict | list):
        return _plain(value["value"])
    return str(value.get("description") or value.get("unserializableValue") or value["type"])


def _plain(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case _:
            return str(value)
