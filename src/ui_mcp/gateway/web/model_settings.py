"""The model of the nlui chat while it runs: shown with its key masked, changed, tried out, written to nlui.yaml."""

import os
import time
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import urlsplit

import anyio
import httpx2

from ui_mcp.agent.model import Model, ModelEvent, ModelRequest, TextDelta, UserMessage
from ui_mcp.agent.models import ModelSettings, choose_model, model_settings, provider_of
from ui_mcp.errors import InvalidArgumentsError, ModelError
from ui_mcp.gateway.config import editor
from ui_mcp.gateway.config.loader import literal
from ui_mcp.http_client import open_client, same_origin
from ui_mcp.jsontypes import Json, JsonObject, loads

TEST_SECONDS = 20.0
QUESTION = ModelRequest([UserMessage("Answer with the word OK.")], max_output_tokens=64)
PROVIDERS: tuple[JsonObject, ...] = (
    {"id": "openai", "name": "OpenAI", "api_base": "https://api.openai.com/v1", "key": "OPENAI_API_KEY"},
    {"id": "anthropic", "name": "Anthropic", "api_base": "https://api.anthropic.com", "key": "ANTHROPIC_API_KEY"},
    {
        "id": "gemini",
        "name": "Gemini",
        "api_base": "https://generativelanguage.googleapis.com/v1beta",
        "key": "GEMINI_API_KEY",
    },
    {"id": "openai", "name": "DeepSeek", "api_base": "https://api.deepseek.com/v1", "key": "DEEPSEEK_API_KEY"},
    {"id": "openai", "name": "Ollama", "api_base": "http://127.0.0.1:11434/v1", "key": ""},
    {"id": "openai", "name": "LM Studio", "api_base": "http://127.0.0.1:1234/v1", "key": ""},
    {"id": "scripted", "name": "Scripted demo", "api_base": "", "key": ""},
)
_FIELDS = ("provider", "api_base", "model", "max_context_tokens", "max_output_tokens", "timeout_s", "stream")
_SHOWN = {"api_base", "model", "max_context_tokens", "max_output_tokens", "stream"}
_MOST_LISTED = 16 * 1024 * 1024
_WORDS = {"401": "The key is refused", "403": "The key may not do this", "404": "There is no such model or address"}

NO_MODEL = """\
No model is set up yet. Choose one on the left (**Model**, *Change*), or name it under `llm` in nlui.yaml:
OpenAI, Anthropic, Gemini, or one that runs on this machine (Ollama, LM Studio).
"""


class ModelSettingsService:
    """The model in use; replacing it does not disturb an answer that is being given."""

    def __init__(self, settings: ModelSettings, proxy: str | None, file: Path | None, data: Path) -> None:
        self.settings = settings
        self.proxy = proxy
        self._file = file
        self._data = data
        self._model = _chosen(settings, proxy)

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Answer with the model of this moment."""
        events = self._model.stream(request)
        async for event in events if self.settings.stream else _whole(events):
            yield event

    def shown(self) -> JsonObject:
        """Describe the model with its key masked."""
        key = self.settings.api_key
        facts = self.settings.model_dump(include=_SHOWN)
        return {
            **facts,
            "provider": provider_of(self.settings),
            "api_key": masked(key),
            "has_key": bool(key),
            "file": self._file.name if self._file else None,
        }

    def use_proxy(self, proxy: str | None) -> None:
        """Reach the model through a proxy, or directly.

        Raises:
            InvalidArgumentsError: the proxy would read the key.
        """
        if proxy and self.settings.api_key and not _base(self.settings).startswith("https://"):
            raise InvalidArgumentsError("A proxy would read the key on its way: the model's address is not https")
        self.proxy = proxy
        self.change({})

    def change(self, body: JsonObject) -> JsonObject:
        """Use other settings from the next answer on, and write them down if there is a file.

        Raises:
            InvalidArgumentsError: a field makes no sense.
            ConfigError: the settings name no model.
        """
        given = self._merged(body)
        settings = model_settings(given)
        model = _chosen(settings, self.proxy)
        if self._file is not None:
            before = self.settings.model_dump()
            fresh = {key: literal(value) for key, value in given.items() if key != "api_key"}
            reference = self._reference(body, settings)

            def altered(tree: JsonObject) -> JsonObject:
                known = _known(tree)
                # What did not change stays as it is written: it may name a variable.
                kept = {key: one for key, one in fresh.items() if key not in known or given[key] != before.get(key)}
                llm = {**known, **kept, "api_key": reference}
                return {**tree, "llm": {key: one for key, one in llm.items() if one not in ("", [], None)}}

            editor.change(self._file, altered)
        self.settings, self._model = settings, model
        return {**self.shown(), "saved": self._file is not None}

    async def test(self, body: JsonObject) -> JsonObject:
        """Ask a model one word; say what it answered, or plainly why it did not."""
        started = time.monotonic()
        try:
            model = _chosen(model_settings(self._merged(body)), self.proxy, retries=0)
            text = ""
            with anyio.fail_after(TEST_SECONDS):
                async for event in model.stream(
                    ModelRequest([UserMessage("Answer with the word OK.")], max_output_tokens=64)
                ):
                    text += event.text if isinstance(event, TextDelta) else ""
        except TimeoutError:
            return {"ok": False, "error": f"No answer within {TEST_SECONDS:.0f} seconds"}
        except ModelError as error:
            words = _WORDS.get(str(error.details.get("status")))
            return {"ok": False, "error": f"{words}. {error.message}" if words else error.message}
        return {"ok": True, "answer": text[:200], "ms": round((time.monotonic() - started) * 1000)}

    async def models(self, body: JsonObject) -> list[str]:
        """List what a model server offers; empty when it does not tell."""
        settings = model_settings(self._merged(body))
        headers = {"authorization": f"Bearer {settings.api_key}"} if settings.api_key else {}
        if provider_of(settings) == "anthropic":
            headers = {"x-api-key": settings.api_key, "anthropic-version": "2023-06-01"}
        if provider_of(settings) == "gemini":
            headers = {"x-goog-api-key": settings.api_key}
        base = _base(settings)
        try:
            async with open_client(limit=_MOST_LISTED, proxy=self.proxy, trust_env=True, timeout=5) as client:
                answer = loads((await client.get(f"{base.rstrip('/')}/models", headers=headers)).content)
        except (httpx2.HTTPError, httpx2.InvalidURL, ValueError):
            return []
        return _names(answer)

    def _merged(self, body: JsonObject) -> JsonObject:
        known = {key: value for key, value in body.items() if key in _FIELDS and value is not None}
        old = self.settings.model_dump(exclude={"api_key"}, exclude_defaults=True)
        merged: JsonObject = {**old, **known}
        key = body.get("api_key")
        if body.get("api_key_env"):
            merged["api_key"] = _from_environment(str(body["api_key_env"]), model_settings({**merged, "api_key": "-"}))
        elif isinstance(key, str) and key and "…" not in key:
            merged["api_key"] = key
        elif key == "" or _moved(self.settings, merged):
            merged["api_key"] = ""  # a key goes nowhere but to the provider and origin it was given for
        else:
            merged["api_key"] = self.settings.api_key
        return merged

    def _reference(self, body: JsonObject, settings: ModelSettings) -> str | None:
        """Return what stands for the key in the file; a typed key itself goes into a file of its own."""
        if body.get("api_key_env"):
            return f"${{{body['api_key_env']}}}"
        if not settings.api_key:
            return None
        if settings.api_key == self.settings.api_key:
            return _written(self._file)
        return f"file:{editor.own_file(self._data / 'secrets' / 'llm-key', settings.api_key.encode())}"


async def _whole(events: AsyncIterator[ModelEvent]) -> AsyncIterator[ModelEvent]:
    """Pass an answer on with its text in one piece."""
    text = ""
    async for event in events:
        if isinstance(event, TextDelta):
            text += event.text
            continue
        if text:
            yield TextDelta(text)
            text = ""
        yield event


def _chosen(settings: ModelSettings, proxy: str | None, *, retries: int = 5) -> Model:
    """Return the model; where none is set up, one that says how to."""
    if provider_of(settings) == "scripted" and not settings.script:
        settings = settings.model_copy(update={"provider": "scripted", "script": [{"emit": [{"say": NO_MODEL}]}]})
    return choose_model(settings, proxy, retries=retries)


async def providers() -> list[JsonObject]:
    """List the vendors we know, and say which local ones answer."""
    found = [dict(provider) for provider in PROVIDERS]

    async def look(provider: JsonObject) -> None:
        where = urlsplit(str(provider["api_base"]))
        if where.hostname != "127.0.0.1":
            return
        provider["running"] = False
        with anyio.move_on_after(0.5):
            try:
                stream = await anyio.connect_tcp("127.0.0.1", where.port or 80)
            except OSError:
                return
            await stream.aclose()
            provider["running"] = True

    async with anyio.create_task_group() as tasks:
        for provider in found:
            tasks.start_soon(look, provider)
    return found


def masked(key: str) -> str:
    """Show as much of a key as tells it from another."""
    return f"{key[:4]}…{key[-4:]}" if len(key) > 12 else ("…" if key else "")


def _names(answer: Json) -> list[str]:
    given = (answer.get("data") or answer.get("models")) if isinstance(answer, dict) else None
    listed = given if isinstance(given, list) else []
    names = [str(one.get("id") or one.get("name") or "") for one in listed if isinstance(one, dict)]
    return sorted(name.removeprefix("models/") for name in names if name)


def _from_environment(name: str, settings: ModelSettings) -> str:
    """Return a vendor's own variable, for that vendor's own address; nothing else of the environment can be named."""
    vendor = next((one for one in PROVIDERS if one["key"] == name), None) if name else None
    known = ", ".join(str(one["key"]) for one in PROVIDERS if one["key"])
    if vendor is None:
        raise InvalidArgumentsError(
            f"{name!r} cannot be chosen here; these can: {known}\nWrite api_key: ${{NAME}} into nlui.yaml instead."
        )
    if provider_of(settings) != vendor["id"] or not same_origin(_base(settings), str(vendor["api_base"])):
        raise InvalidArgumentsError(
            f"{name} belongs to {vendor['name']} at {vendor['api_base']} and is sent nowhere else\n"
            "For another address type the key, or write it into nlui.yaml."
        )
    if not os.environ.get(name):
        raise InvalidArgumentsError(f"The server's environment has no {name}\nSet it and start nlui again.")
    return os.environ[name]


def _base(settings: ModelSettings) -> str:
    provider = provider_of(settings)
    return settings.api_base or next(str(one["api_base"]) for one in PROVIDERS if one["id"] == provider)


def _moved(old: ModelSettings, new: JsonObject) -> bool:
    """Say whether a key would go to another provider or origin than it was given for."""
    if not old.api_key:
        return False
    settings = model_settings({**new, "api_key": old.api_key})
    return provider_of(settings) != provider_of(old) or not same_origin(_base(settings), _base(old))


def _known(tree: JsonObject) -> JsonObject:
    llm = tree.get("llm")
    return {key: value for key, value in llm.items() if key != "api_key"} if isinstance(llm, dict) else {}


def _written(file: Path | None) -> str | None:
    from ui_mcp.gateway.config.parse import parse

    tree = parse(file.read_bytes()) if file and file.exists() else {}
    key = (tree.get("llm") or {}).get("api_key") if isinstance(tree, dict) else None
    return key if isinstance(key, str) else None
