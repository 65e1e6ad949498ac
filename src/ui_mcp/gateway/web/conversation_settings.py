"""The settings of each conversation: read and changed by the person, and applied to its requests."""

import os
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

import anyio
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from ui_mcp.agent.conversation_settings import ConversationSettings, read_settings, settings_of
from ui_mcp.agent.journal_writer import JournalWriter
from ui_mcp.agent.model import ModelEvent, ModelRequest
from ui_mcp.agent.models import SCRIPTED, provider_of, sees
from ui_mcp.agent.models.local import local_servers
from ui_mcp.gateway.web.conversations import Conversations
from ui_mcp.gateway.web.model_settings import ModelSettingsService, services
from ui_mcp.jsontypes import JsonObject
from ui_mcp.webserver.responses import answering, body_of


class ConversationWishes:
    """The model of one conversation, with the person's settings as they are at each request."""

    def __init__(self, model: ModelSettingsService, journal: JournalWriter) -> None:
        self._model = model
        self._journal = journal

    @property
    def _now(self) -> ConversationSettings:
        return settings_of(self._journal.events)

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        async for event in self._model.stream(request, self._now.model):
            yield event

    def sees(self) -> bool:
        return sees(self._model.settings_with(self._now.model))

    def instructed(self, system: str) -> str:
        """Return the system text with the person's instructions, which come last because they count most."""
        wanted = self._now.instructions.strip()
        return f"{system}\nThe person's instructions for this conversation:\n{wanted}" if wanted else system

    def tuned(self, request: ModelRequest) -> ModelRequest:
        now = self._now
        return replace(request, temperature=now.temperature, reasoning=now.reasoning or request.reasoning)

    def exhausted(self) -> str | None:
        return self._now.exhausted(self._journal.spent)


class ConversationSettingsApi:
    """HTTP API of the settings, and of the models to choose from."""

    def __init__(self, conversations: Conversations, model: ModelSettingsService) -> None:
        self._conversations = conversations
        self._model = model

    def routes(self) -> Sequence[BaseRoute]:
        one = "/api/conversations/{id}/settings"
        return [
            Route(one, answering(self.read), methods=["GET"]),
            Route(one, answering(self.change), methods=["PUT"]),
            Route("/api/models", answering(self.models), methods=["GET"]),
        ]

    async def read(self, request: Request) -> Response:
        return JSONResponse((await self._conversations.settings(request.path_params["id"])).as_json())

    async def change(self, request: Request) -> Response:
        """Replace the settings of a conversation; what is left out has its default."""
        settings = read_settings(await body_of(request))
        self._model.settings_with(settings.model)  # a model that cannot be used is refused now
        await self._conversations.set_settings(request.path_params["id"], settings)
        return JSONResponse(settings.as_json())

    async def models(self, request: Request) -> Response:
        """List the servers that can be used without another key, each with its models."""
        offers = await self._offers()
        async with anyio.create_task_group() as tasks:
            for offer in offers:
                if "models" not in offer:
                    tasks.start_soon(self._list_models, offer)
        return JSONResponse(offers)

    async def _list_models(self, offer: JsonObject) -> None:
        offer["models"] = await self._model.models({key: value for key, value in offer.items() if key != "name"})

    async def _offers(self) -> list[JsonObject]:
        settings = self._model.settings
        configured = next(
            (one.name for name, one in services() if one.api_base == settings.api_base), settings.api_base
        )
        own: list[JsonObject] = [{"name": configured or provider_of(settings)}]
        if provider_of(settings) == SCRIPTED:
            own[0]["models"] = []
        local: list[JsonObject] = [
            {
                "name": one.service.name,
                "provider": one.provider,
                "api_base": one.service.api_base,
                "models": list(one.models),
            }
            for one in await local_servers()
        ]
        keyed: list[JsonObject] = [
            {"name": one.name, "provider": name, "api_base": one.api_base, "api_key_env": one.variable}
            for name, one in services()
            if one.variable and os.environ.get(one.variable)
        ]
        return own + [one for one in local + keyed if one["api_base"] != settings.api_base]
