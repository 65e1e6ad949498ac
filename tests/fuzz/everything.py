"""Every border there is."""

from fuzz import approvals, bodies, documents, json_rpc, mcp_http, mounted, pages, settings_files, vendors
from fuzz.border import Border

MODULES = (approvals, bodies, documents, json_rpc, mcp_http, mounted, pages, settings_files, vendors)
BORDERS: list[Border] = [border for module in MODULES for border in module.BORDERS]
