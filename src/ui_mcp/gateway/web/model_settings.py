"""The model of the chat: shown with its key masked, changed and tested at run time, saved in nlui.yaml."""

import os
import time
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import asdict, replace
from pathlib import Path

import anyio
import httpx2

from ui_mcp.agent.conversation_settings import ModelChoice
from ui_mcp.agent.model import ModelEvent, ModelRequest, TextDelta, UserMessage
from ui_mcp.agent.models import (
    SCRIPTED,
    ChosenModel,
    ModelSettings,
    Service,
    choose_model,
    model_settings,
    provider_for,
    provider_of,
    providers,
)
from ui_mcp.agent.models.local import local_servers, local_services, names_of
from ui_mcp.errors import InvalidArgumentsError, ModelError
from ui_mcp.gateway.config import editor
from ui_mcp.gateway.config.loader import literal
from ui_mcp.gateway.config.parse import parse
from ui_mcp.http_client import open_client, same_origin
from ui_mcp.jsontypes import JsonObject, loads
from ui_mcp.validation import to_json

TEST_SECONDS = 20.0
QUESTION = ModelRequest([UserMessage("Answer with the word OK.")], max_output_tokens=64)
_FIELDS = (
    "provider",
    "api_base",
    "model",
    "max_context_tokens",
    "max_output_tokens",
    "timeout_s",
    "stream",
    "reasoning",
    "vision",
)
_SHOWN = {"api_base", "model", "max_context_tokens", "max_output_tokens", "stream", "reasoning", "vision"}
_MAX_LIST_BYTES = 16 * 1024 * 1024
_FAILURES = {"401": "The key is refused", "403": "The key may not do this", "404": "There is no such model or address"}

NO_MODEL = """\
No model is set up yet. Choose one on the left (**Model**, *Change*), or name it under `llm` in nlui.yaml:
{}.
"""


class ModelSettingsService:
    """The model in use; a change takes effect with the next answer."""

    def __init__(self, settings: ModelSettings, proxy: str | None, file: Path | None, data: Path) -> None:
        self.settings = settings
        self.proxy = proxy
        self._file = file
        self._data = data
        self._model = _chosen(settings, proxy)
        self._answering: Counter[ChosenModel] = Counter()
        """How many answers each model is giving."""

    async def stream(self, request: ModelRequest, choice: ModelChoice = ModelChoice()) -> AsyncIterator[ModelEvent]:
        """Answer with the current model, or with another one that was chosen for the conversation.

        Raises:
            InvalidArgumentsError, ConfigError: the chosen model cannot be used.
        """
        model = self._model if choice == ModelChoice() else _chosen(self.settings_with(choice), self.proxy)
        self._answering[model] += 1
        try:
            events = model.stream(request)
            async for event in events if self.settings.stream else _joined_text(events):
                yield event
        finally:
            self._answering[model] -= 1
            await self._close_unused(model)

    async def close(self) -> None:
        await self._model.close()

    def settings_with(self, choice: ModelChoice) -> ModelSettings:
        """Return the settings with the model that was chosen for a conversation.

        Raises:
            InvalidArgumentsError, ConfigError: the chosen model cannot be used.
        """
        return self.settings if choice == ModelChoice() else model_settings(self._merged(to_json(choice)))

    def shown(self) -> JsonObject:
        """Return the settings with the key masked."""
        key = self.settings.api_key
        fields = {name: value for name, value in asdict(self.settings).items() if name in _SHOWN}
        return {
            **fields,
            "provider": provider_of(self.settings),
            "api_key": masked(key),
            "has_key": bool(key),
            "file": self._file.name if self._file else None,
        }

    async def use_proxy(self, proxy: str | None) -> None:
        """Reach the model through a proxy; None for a direct connection.

        Raises:
            InvalidArgumentsError: the proxy could read the key, because the model's address is not https.
        """
        if proxy and self.settings.api_key and not _base(self.settings).startswith("https://"):
            raise InvalidArgumentsError("A proxy would read the key on its way: the model's address is not https")
        self.proxy = proxy
        await self.change({})

    async def change(self, body: JsonObject) -> JsonObject:
        """Use other settings from the next answer on, and save them if there is a file.

        Raises:
            InvalidArgumentsError: a field is invalid.
            ConfigError: the settings name no model.
        """
        given = self._merged(body)
        settings = model_settings(given)
        model = _chosen(settings, self.proxy)
        if self._file is not None:
            before = asdict(self.settings)
            fresh = {key: literal(value) for key, value in given.items() if key != "api_key"}
            reference = self._reference(body, settings)

            def altered(tree: JsonObject) -> JsonObject:
                known = _saved_settings(tree)
                # Unchanged settings stay as they are in the file: they may refer to a variable.
                kept = {key: one for key, one in fresh.items() if key not in known or given[key] != before.get(key)}
                llm = {**known, **kept, "api_key": reference}
                return {**tree, "llm": {key: one for key, one in llm.items() if one not in ("", [], None)}}

            editor.change(self._file, altered)
        before_change, self._model = self._model, model
        self.settings = settings
        await self._close_unused(before_change)
        return {**self.shown(), "saved": self._file is not None}

    async def test(self, body: JsonObject) -> JsonObject:
        """Ask a model for one word; return its answer, or a plain explanation of the failure."""
        started = time.monotonic()
        model = _chosen(model_settings(self._merged(body)), self.proxy, attempts=1)  # a person waits
        try:
            text = ""
            with anyio.fail_after(TEST_SECONDS):
                async for event in model.stream(QUESTION):
                    text += event.text if isinstance(event, TextDelta) else ""
        except TimeoutError:
            return {"ok": False, "error": f"No answer within {TEST_SECONDS:.0f} seconds"}
        except ModelError as error:
            message = _FAILURES.get(str(error.details.get("status")))
            return {"ok": False, "error": f"{message}. {error.message}" if message else error.message}
        finally:
            await _close(model)
        return {"ok": True, "answer": text[:200], "ms": round((time.monotonic() - started) * 1000)}

    async def models(self, body: JsonObject) -> list[str]:
        """Return the names of the models that a server offers; empty if it does not list any."""
        settings = model_settings(self._merged(body))
        provider = provider_for(settings)
        base, headers = provider.base(settings), provider.headers(settings.api_key)
        try:
            async with open_client(limit=_MAX_LIST_BYTES, proxy=self.proxy, trust_env=True, timeout=5) as client:
                answer = loads((await client.get(f"{base.rstrip('/')}/models", headers=headers)).content)
        except (httpx2.HTTPError, httpx2.InvalidURL, ValueError):
            return []
        return list(names_of(answer) or ())

    async def _close_unused(self, model: ChosenModel) -> None:
        # An answer that has begun is finished by the model that began it, even if another one was chosen since.
        if model is not self._model and not self._answering[model]:
            del self._answering[model]
            await _close(model)

    def _merged(self, body: JsonObject) -> JsonObject:
        known = {key: value for key, value in body.items() if key in _FIELDS and value is not None}
        old = to_json(replace(self.settings, api_key=""))
        merged: JsonObject = {**old, **known}
        key = body.get("api_key")
        if body.get("api_key_env"):
            merged["api_key"] = _from_environment(str(body["api_key_env"]), model_settings({**merged, "api_key": "-"}))
        elif isinstance(key, str) and key and "…" not in key:
            merged["api_key"] = key
        elif key == "" or _changes_recipient(self.settings, merged):
            merged["api_key"] = ""  # a key is sent only to the provider and origin that it was given for
        else:
            merged["api_key"] = self.settings.api_key
        return merged

    def _reference(self, body: JsonObject, settings: ModelSettings) -> str | None:
        """Return what the file says instead of the key; a typed key is stored in a file of its own."""
        if body.get("api_key_env"):
            return f"${{{body['api_key_env']}}}"
        if not settings.api_key:
            return None
        if settings.api_key == self.settings.api_key:
            return _saved_reference(self._file)
        return f"file:{editor.own_file(self._data / 'secrets' / 'llm-key', settings.api_key.encode())}"


async def _close(model: ChosenModel) -> None:
    with anyio.CancelScope(shield=True):  # a cancelled answer would leave the connections open
        await model.close()


async def _joined_text(events: AsyncIterator[ModelEvent]) -> AsyncIterator[ModelEvent]:
    """Join text deltas, so that the answer arrives in one piece."""
    text = ""
    async for event in events:
        if isinstance(event, TextDelta):
            text += event.text
            continue
        if text:
            yield TextDelta(text)
            text = ""
        yield event


def _chosen(settings: ModelSettings, proxy: str | None, *, attempts: int = 6) -> ChosenModel:
    """Return the model; without settings, a scripted one that explains how to choose a model."""
    if provider_of(settings) == SCRIPTED and not settings.script:
        names = ", ".join(service.name for name, service in services() if name != SCRIPTED)
        script = [{"emit": [{"say": NO_MODEL.format(names)}]}]
        settings = replace(settings, provider=SCRIPTED, script=script)
    return choose_model(settings, proxy, attempts=attempts)


def services() -> list[tuple[str, Service]]:
    """Return the services that a person can choose from, each with the name of its provider."""
    return [(name, service) for name, provider in providers().items() for service in provider.services]


async def shown_services() -> list[JsonObject]:
    """Return the services as JSON; for local ones, whether they run and which models they have."""
    running = {(one.provider, one.service): one.models for one in await local_servers()}
    local = local_services()

    def shown(provider: str, service: Service) -> JsonObject:
        names = {"name": service.name, "api_base": service.api_base, "key": service.variable}
        known: JsonObject = {"id": provider, **names}
        if (provider, service) not in local:
            return known
        models = running.get((provider, service))
        return {**known, "running": models is not None, **({"models": list(models)} if models else {})}

    return [shown(provider, service) for provider, service in services()]


def masked(key: str) -> str:
    """Return the first and last four characters of a key, enough to tell it from another."""
    return f"{key[:4]}…{key[-4:]}" if len(key) > 12 else ("…" if key else "")


def _from_environment(name: str, settings: ModelSettings) -> str:
    """Return the value of a vendor's own variable, only for that vendor's own address.

    Raises:
        InvalidArgumentsError: the variable is not a vendor's, is not set, or the address is not the vendor's.
    """
    # Any other variable could be sent to a server that the caller names.
    known = dict.fromkeys(service.variable for _, service in services() if service.variable)
    if name not in known:
        raise InvalidArgumentsError(
            f"{name!r} cannot be chosen here; these can: {', '.join(known)}\n"
            "Write api_key: ${NAME} into nlui.yaml instead."
        )
    owners = [(provider, service) for provider, service in services() if service.variable == name]
    service = owners[0][1]
    if not any(
        provider_of(settings) == provider and same_origin(_base(settings), owner.api_base) for provider, owner in owners
    ):
        raise InvalidArgumentsError(
            f"{name} belongs to {service.name} at {service.api_base} and is sent nowhere else\n"
            "For another address type the key, or write it into nlui.yaml."
        )
    if not os.environ.get(name):
        raise InvalidArgumentsError(f"The server's environment has no {name}\nSet it and start nlui again.")
    return os.environ[name]


def _base(settings: ModelSettings) -> str:
    return provider_for(settings).base(settings)


def _changes_recipient(old: ModelSettings, new: JsonObject) -> bool:
    """Return whether a key would go to another provider or origin than it was given for."""
    if not old.api_key:
        return False
    settings = model_settings({**new, "api_key": old.api_key})
    return provider_of(settings) != provider_of(old) or not same_origin(_base(settings), _base(old))


def _saved_settings(tree: JsonObject) -> JsonObject:
    llm = tree.get("llm")
    return {key: value for key, value in llm.items() if key != "api_key"} if isinstance(llm, dict) else {}


def _saved_reference(file: Path | None) -> str | None:
    tree = parse(file.read_bytes()) if file and file.exists() else {}
    key = (tree.get("llm") or {}).get("api_key") if isinstance(tree, dict) else None
    return key if isinstance(key, str) else None
