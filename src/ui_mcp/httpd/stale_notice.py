"""Tells the person that the project's files are older than the program, with the way out.

The page that is served may be one of those older files, so the notice brings everything it needs along.
"""

from html import escape

from ui_mcp.installer.installed import outdated
from ui_mcp.workspace import Workspace

_NOTICE = """\
<style>
#ui-stale { position: fixed; z-index: 2147483000; left: 16px; bottom: 16px; max-width: min(34rem, calc(100vw - 32px));
  box-sizing: border-box; display: flex; gap: 12px; align-items: start; padding: 12px 14px; border-radius: 10px;
  background: #1a2230; color: #fff; font: 14px/1.45 system-ui, sans-serif; box-shadow: 0 4px 24px rgb(0 0 0 / 30%) }
#ui-stale button { border: 0; background: none; color: inherit; font: 20px/1 system-ui; cursor: pointer }
</style>
<div id="ui-stale" role="status"><span>{stale}. Ask your agent to call <b>ui_install</b>, or run <b>ui-mcp install</b>,
then reload this page. Files you changed are kept.</span>
<button type="button" aria-label="Dismiss" onclick="this.parentNode.remove()">&times;</button></div>
"""


def with_notice(html: str, workspace: Workspace) -> str:
    """Return the page with a notice at its end when the installed files are out of date."""
    stale = outdated(workspace)
    if stale is None:
        return html
    body, mark, rest = html.rpartition("</body>")
    notice = _NOTICE.replace("{stale}", escape(stale.partition(": call")[0]))
    return f"{body}{notice}{mark}{rest}" if mark else html + notice
