"""The MCP server of the UI: tools, resources, instructions."""

from ui_mcp.discovery import discover_modules
from ui_mcp.jsontypes import JsonObject
from ui_mcp.mcp_server.definition import MAX_RESULT_CHARS, ServerDefinition
from ui_mcp.mcp_server.results import OverflowFiles
from ui_mcp.toolkit.announcements import Announcements
from ui_mcp.toolkit.resources import CombinedResources, ResourceSet
from ui_mcp.toolkit.toolset import Combined, LazyResources, LazyToolset, Toolset
from ui_mcp.ui import resources as resource_modules
from ui_mcp.ui.server import UiServer
from ui_mcp.ui.states import Unconfigured
from ui_mcp.ui.toolset import all_tools, recorded_tools
from ui_mcp.version import bundled_version

INSTRUCTIONS = """\
ui-mcp shows the person a live app in the browser that you write in Lua and HTML, and brings you what they do in it.

Order of work:
1. ui_status: where things stand. The server configures itself; ui_configure is only for another directory.
2. ui_start: serve the UI; answers its address.
3. Write the app: {base_dir}/apps/NAME/app.lua (state, methods), apps/NAME/viewdefs/TYPE.NAMESPACE.html (templates).
   Saving a file updates the page at once and keeps its state; no restart, no reload.
4. ui_display(name): show it. ui_open_browser: open the person's browser on it.
5. ui_wait: block until the app calls mcp.pushState{...}, then answer in the app, and wait again. In a background shell,
   {base_dir}/event does the same.

ui_run executes Lua in the session: read state ("return contacts.list[1].name") or change it; the page follows.
ui_audit(name) finds mistakes in an app before the person does. ui_upload_viewdef sends one template.

Look at what you built: ui_get_snapshot (outline with uids), ui_screenshot (picture); try it with ui_perform or a whole
scenario with ui_test. Console errors come with the next look.

Read before building: resource ui://mcp (how to build apps), ui://viewdefs (attributes and paths), ui://lua (Lua API),
ui://reference (overview). ui://state is the live state of the displayed app, ui://variables what the page is bound to.
Paths in viewdefs hold no operators and no arguments: put logic into Lua methods.
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
    own = LazyToolset(lambda: all_tools(host, resources=resources), host.wait_configured, recorded_tools)
    return ServerDefinition(
        name="ui-mcp",
        title="UI for agents",
        version=bundled_version(),
        toolset=Combined([own, gateway]) if gateway else own,
        resources=resources,
        announcements=announcements,
        instructions=INSTRUCTIONS,
        list_changed=frozenset({"tools", "resources"}) if gateway else frozenset({"resources"}),
        experimental=experimental or {},
        extensions={"io.modelcontextprotocol/ui": {"mimeTypes": ["text/html;profile=mcp-app"]}},
        max_result_chars=lambda: _max_result_chars(host),
        spill=OverflowFiles(lambda: host.configured().workspace.log),
    )


def _max_result_chars(host: UiServer) -> int:
    # An unconfigured server still answers calls, with the reason.
    return MAX_RESULT_CHARS if isinstance(host.state, Unconfigured) else host.state.config.mcp.max_result_chars


def ui_resources(host: UiServer, announcements: Announcements) -> ResourceSet:
    """Return every resource set of the resources package; those that match any path come last."""
    modules = sorted(discover_modules(resource_modules), key=lambda module: getattr(module, "CATCH_ALL", False))
    return CombinedResources([module.provide(host, announcements) for module in modules if hasattr(module, "provide")])
