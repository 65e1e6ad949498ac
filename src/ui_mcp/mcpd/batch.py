"""JSON-RPC batches, which exist in revision 2025-03-26 only."""

import anyio

from ui_mcp.jsonrpc import messages as rpc
from ui_mcp.jsontypes import Json, JsonObject
from ui_mcp.mcp_server.connection import Conversation
from ui_mcp.mcp_server.request_context import Outlet

BATCH_VERSION = "2025-03-26"
MAX_BATCH = 1000


async def answer_batch(conversation: Conversation, messages: list[Json], outlet: Outlet) -> Json | None:
    """Answer all requests of a batch as one array; None when it held none."""
    if conversation.version != BATCH_VERSION or not 0 < len(messages) <= MAX_BATCH:
        return rpc.error(None, rpc.INVALID_REQUEST, "Batches are not part of this protocol revision")
    answers: list[JsonObject] = []

    async def one(message: JsonObject) -> None:
        answer = await conversation.answer(message, outlet)
        if answer is not None:
            answers.append(answer)

    async with anyio.create_task_group() as tasks:
        for message in messages:
            match rpc.kind_of(message):
                case "request" if rpc.is_modern(message):
                    answers.append(rpc.invalid(message))
                case "request":
                    tasks.start_soon(one, message)
                case "notification":
                    await conversation.notified(message)
                case "response":
                    conversation.answered(message)
                case _:
                    answers.append(rpc.invalid(message))
    return answers or None
