"""The MCP server of the UI: tools, resources, instructions, and the skills as prompts."""

from collections.abc import Mapping, Sequence

from anyio import to_thread

from ui_mcp.discovery import discover_modules
from ui_mcp.errors import NotFoundError
from ui_mcp.jsontypes import JsonObject
from ui_mcp.lazy_dataclass import dataclass
from ui_mcp.mcp_server.definition import MAX_RESULT_CHARS, ServerDefinition
from ui_mcp.mcp_server.results import OverflowFiles
from ui_mcp.mcp_tasks.store import TaskFile, TaskStore
from ui_mcp.mcp_tasks.tasks import Tasks
from ui_mcp.toolkit.announcements import Announcements
from ui_mcp.toolkit.resources import CombinedResources, ResourceSet
from ui_mcp.toolkit.tool import Call
from ui_mcp.toolkit.toolset import Combined, LazyResources, LazyToolset, Toolset
from ui_mcp.ui import resources as resource_modules
from ui_mcp.ui.base_dir.install_plan import with_directory
from ui_mcp.ui.server import UiServer
from ui_mcp.ui.states import Unconfigured
from ui_mcp.ui.toolset import all_tools, recorded_tools
from ui_mcp.version import bundled_version
from ui_mcp.workspace import BUNDLE, TASKS_FILE, Workspace, default_dir

INSTRUCTIONS = """\
ui-mcp shows the person a live app in the browser that you write in Lua and HTML, and brings you what they do in it.
How to build well: .claude/skills/ui/SKILL.md in the project, or ui_read resources/mcp.md.

Order of work:
1. ui_status: where things stand.
2. ui_edit with show: write apps/NAME/app.lua (state, methods) and apps/NAME/viewdefs/TYPE.NAMESPACE.html (templates).
   It starts the server, loads, shows and checks; fix what it reports with small edits until it is clean. Your own
   file tools work too, in {base_dir}/apps/NAME: saving a file updates the page at once, but tells you nothing.
3. ui_open_browser: open the person's browser on it.
4. ui_wait: block until the app calls mcp.pushState{...}, then answer in the app with ui_run, and wait again. In a
   background shell, {base_dir}/event does the same.

Look: ui_get_snapshot (outline with uids), ui_screenshot; try: ui_perform, or a scenario with ui_test.
Paths in viewdefs are short: put logic into Lua methods. Guides: ui_read resources/viewdefs.md,
resources/lua.md, resources/reference.md. More tools: ui_tools.
"""


def ui_definition(
    host: UiServer,
    announcements: Announcements,
    gateway: Toolset | None = None,
    *,
    experimental: JsonObject | None = None,
) -> ServerDefinition:
    """Build the definition of the UI server; the gateway's tools, if any, come last."""
    resources = LazyResources(lambda: ui_resources(host, announcements), host.wait_configured)
    own = LazyToolset(
        lambda: all_tools(host, resources=resources),
        host.wait_configured,
        recorded_tools,
        lambda tools, call: host.tool_groups.listed(tools, call, host.tool_list()),
    )
    return ServerDefinition(
        name="ui-mcp",
        title="UI for agents",
        version=bundled_version(),
        toolset=Combined([own, gateway]) if gateway else own,
        resources=resources,
        announcements=announcements,
        instructions=lambda: instructions(host),
        prompts=UiPrompts(host),
        list_changed=frozenset({"tools", "resources"}),
        experimental=experimental or {},
        extensions={"io.modelcontextprotocol/ui": {"mimeTypes": ["text/html;profile=mcp-app"]}},
        max_result_chars=lambda: _max_result_chars(host),
        tasks=Tasks(TaskStore(TaskFile(lambda: host.configured().workspace.state_dir / TASKS_FILE))),
        spill=OverflowFiles(lambda: host.configured().workspace.log),
    )


def instructions(host: UiServer) -> str:
    """Return what models should know, with the real base directory."""
    given = host.state.given if isinstance(host.state, Unconfigured) else host.state.workspace.given
    return INSTRUCTIONS.replace("{base_dir}", given or default_dir())


def _max_result_chars(host: UiServer) -> int:
    # An unconfigured server still answers calls, with the reason.
    return MAX_RESULT_CHARS if isinstance(host.state, Unconfigured) else host.state.config.mcp.max_result_chars


def ui_resources(host: UiServer, announcements: Announcements) -> ResourceSet:
    """Return every resource set of the resources package; those that match any path come last."""
    modules = sorted(discover_modules(resource_modules), key=lambda module: getattr(module, "CATCH_ALL", False))
    return CombinedResources([module.provide(host, announcements) for module in modules if hasattr(module, "provide")])


MAX_COMPLETIONS = 100


@dataclass(frozen=True, slots=True)
class Prompt:
    """A skill as a prompt, for hosts that show prompts as commands and read no skills."""

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
        return {"values": found[:MAX_COMPLETIONS], "total": len(found), "hasMore": len(found) > MAX_COMPLETIONS}

    def _workspace(self) -> Workspace:
        state = self._host.state
        return Workspace.at(state.given or default_dir()) if isinstance(state, Unconfigured) else state.workspace


def _skill(name: str, workspace: Workspace) -> str:
    """Return a skill without its front matter, as the project would get it."""
    text = with_directory(BUNDLE / "claude" / "skills" / name / "SKILL.md", workspace).decode()
    return text.partition("---\n")[2].partition("---\n")[2].lstrip()
