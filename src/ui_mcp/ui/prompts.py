"""Prompts of the UI server: the skills, for hosts that show prompts as commands and read no skills."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from anyio import to_thread

from ui_mcp.errors import NotFoundError
from ui_mcp.jsontypes import JsonObject
from ui_mcp.toolkit.tool import Call
from ui_mcp.ui.base_dir.install_plan import with_directory
from ui_mcp.ui.server import UiServer
from ui_mcp.ui.states import Unconfigured
from ui_mcp.workspace import BUNDLE, Workspace, default_dir

MAX_VALUES = 100


@dataclass(frozen=True, slots=True)
class Prompt:
    """A skill as a prompt."""

    skill: str
    title: str
    description: str
    task: str
    """What to do now; `{app}` and `{wish}` are what the person typed."""


PROMPTS = {
    "ui": Prompt(
        "ui", "Show an app", "Show an app in the browser and work with the person in it.", "Show the app {app}. {wish}"
    ),
    "build": Prompt(
        "ui-builder", "Build an app", "Build or change an app with ui_edit.", "Build or change the app {app}: {wish}"
    ),
    "test": Prompt(
        "ui-testing", "Test an app", "Try an app as a person would and pin what it does.", "Test the app {app}. {wish}"
    ),
    "theme": Prompt("ui-themer", "Make a theme", "Make or change a theme of the page.", "Theme for {app}: {wish}"),
}
_ARGUMENTS: list[JsonObject] = [
    {"name": "app", "description": "Name of the app: its directory in apps/.", "required": False},
    {"name": "wish", "description": "What you want, in your words.", "required": False},
]


class UiPrompts:
    """The prompts, with the real base directory in them."""

    def __init__(self, host: UiServer) -> None:
        self._host = host

    async def prompts(self, call: Call) -> Sequence[JsonObject]:
        return [
            {"name": name, "title": one.title, "description": one.description, "arguments": _ARGUMENTS}
            for name, one in PROMPTS.items()
        ]

    async def get(self, name: str, arguments: Mapping[str, str], call: Call) -> JsonObject:
        """Return the skill, followed by what to do.

        Raises:
            NotFoundError: there is no such prompt.
        """
        prompt = PROMPTS.get(name)
        if prompt is None:
            raise NotFoundError(f"No prompt {name!r}; there are: {', '.join(PROMPTS)}")
        text = await to_thread.run_sync(_skill, prompt.skill, self._workspace())
        task = prompt.task.format(app=arguments.get("app") or "that fits", wish=arguments.get("wish") or "").strip()
        content = {"type": "text", "text": f"{text}\n---\n\n{task}"}
        return {"description": prompt.description, "messages": [{"role": "user", "content": content}]}

    async def complete(self, reference: JsonObject, argument: JsonObject, call: Call) -> JsonObject:
        """Return the names of apps that begin with what was typed."""
        if argument.get("name") != "app":
            return {"values": []}
        typed = str(argument.get("value", ""))
        folder = self._workspace().apps
        names = await to_thread.run_sync(lambda: sorted(file.parent.name for file in folder.glob("*/app.lua")))
        found = [name for name in names if name.startswith(typed)]
        return {"values": found[:MAX_VALUES], "total": len(found), "hasMore": len(found) > MAX_VALUES}

    def _workspace(self) -> Workspace:
        state = self._host.state
        return Workspace.at(state.given or default_dir()) if isinstance(state, Unconfigured) else state.workspace


def _skill(name: str, workspace: Workspace) -> str:
    """Return a skill without its front matter, as the project would get it."""
    text = with_directory(BUNDLE / "claude" / "skills" / name / "SKILL.md", workspace).decode()
    return text.partition("---\n")[2].partition("---\n")[2].lstrip()
