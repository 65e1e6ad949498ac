"""Downloads of a browser: kept in a folder of our own, and reported by the page that began them."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory

from ui_mcp.introspection.backends.chromium.devtools import Session
from ui_mcp.introspection.backends.chromium.page import DrivenPage
from ui_mcp.jsontypes import JsonObject


@dataclass(frozen=True, slots=True)
class Download:
    """One download that has begun."""

    page: DrivenPage | None
    name: str


class Downloads:
    """Follows the downloads of a browser."""

    def __init__(self, browser: Session, page_of_frame: Callable[[str], DrivenPage | None]) -> None:
        self._browser = browser
        self._page_of_frame = page_of_frame
        self._folder: TemporaryDirectory[str] | None = None
        self._begun: dict[str, Download] = {}
        self._kept = 0
        browser.on("Browser.downloadWillBegin", self._on_begin)
        browser.on("Browser.downloadProgress", self._on_progress)

    async def keep(self, context: str) -> None:
        """Save the downloads of a profile in a folder of our own."""
        self._folder = TemporaryDirectory(prefix="ui-mcp-downloads-", ignore_cleanup_errors=True)
        place = {"behavior": "allowAndName", "downloadPath": self._folder.name, "browserContextId": context}
        await self._browser.send("Browser.setDownloadBehavior", place | {"eventsEnabled": True})

    async def report(self) -> None:
        """Leave downloads where the browser saves them, and report them."""
        await self._browser.send("Browser.setDownloadBehavior", {"behavior": "default", "eventsEnabled": True})

    def delete(self) -> None:
        """Delete what was saved in our folder."""
        if self._folder is not None:
            self._folder.cleanup()

    def _on_begin(self, event: JsonObject) -> None:
        name = PurePath(event["suggestedFilename"]).name or "download"
        self._begun[event["guid"]] = Download(self._page_of_frame(event["frameId"]), name)

    def _on_progress(self, event: JsonObject) -> None:
        if event["state"] == "inProgress" or event["guid"] not in self._begun:
            return
        download = self._begun.pop(event["guid"])
        outcome = "failed: canceled" if event["state"] == "canceled" else self._saved(event["guid"], download.name)
        if download.page is not None:
            download.page.activity.note(f"download: {download.name} {outcome}")

    def _saved(self, guid: str, name: str) -> str:
        if self._folder is None:
            return "finished"
        self._kept += 1
        place = Path(self._folder.name) / f"{self._kept}-{name}"
        try:
            (Path(self._folder.name) / guid).rename(place)
        except OSError as error:
            return f"failed: {error}"
        return f"saved as {place}"
