"""Prompts and completion of servers that relay others: `prompts/list`, `prompts/get`, `completion/complete`."""

from ui_mcp.jsontypes import JsonObject
from ui_mcp.mcp_server.definition import Prompts
from ui_mcp.mcp_server.request import Request
from ui_mcp.mcp_server.resources import require_one_page


class PromptHandlers:
    def __init__(self, prompts: Prompts) -> None:
        self._prompts = prompts

    async def list(self, request: Request) -> JsonObject:
        require_one_page(request)
        return {"prompts": list(await self._prompts.prompts(request.call()))}

    async def get(self, request: Request) -> JsonObject:
        params = request.params
        return await self._prompts.get(params["name"], params.get("arguments") or {}, request.call())

    async def complete(self, request: Request) -> JsonObject:
        params = request.params
        return {"completion": await self._prompts.complete(params["ref"], params["argument"], request.call())}
