"""Model vendors: each module of this package with a `PROVIDER` is one, found by its file name."""

import sys
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Annotated, ClassVar, Literal

from ui_mcp.agent.model import Model, ModelEvent, ModelRequest, Reasoning, Usage
from ui_mcp.agent.models.http import Endpoint, ModelHttp
from ui_mcp.discovery import discover_modules, find_module
from ui_mcp.errors import ConfigError
from ui_mcp.fields import Before, Limit, Rules, fields_of
from ui_mcp.jsontypes import Json
from ui_mcp.toolkit.names import closest
from ui_mcp.validation import InvalidDataError, read

AUTO, FALLBACK, SCRIPTED = "auto", "openai", "scripted"


def _known_provider(name: Json) -> Json:
    if isinstance(name, str) and name != AUTO and _find(name) is None:
        raise ValueError(f"should be one of {', '.join(map(repr, [AUTO, *providers()]))}")
    return name


@dataclass(frozen=True, slots=True)
class Price:
    """`llm.prices.MODEL`: what a million tokens cost."""

    RULES: ClassVar = Rules(unknown="ignore")

    input: Annotated[float, "A million tokens of requests.", Limit(ge=0)]
    output: Annotated[float, "A million tokens of answers.", Limit(ge=0)]
    cached: Annotated[float | None, "A million tokens read from the vendor's cache; as `input` if left out."] = None
    stored: Annotated[float | None, "A million tokens written to the vendor's cache; as `input` if left out."] = None

    def of(self, usage: Usage) -> float:
        """Return what a request costs."""
        cached = self.input if self.cached is None else self.cached
        stored = self.input if self.stored is None else self.stored
        fresh = max(0, usage.input_tokens - usage.cached_tokens - usage.stored_tokens)
        parts = (
            (fresh, self.input),
            (usage.cached_tokens, cached),
            (usage.stored_tokens, stored),
            (usage.output_tokens, self.output),
        )
        return sum(tokens * price for tokens, price in parts) / 1_000_000


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """`llm` of the configuration."""

    RULES: ClassVar = Rules(unknown="ignore")

    provider: Annotated[str, "Dialect; auto looks at the address.", Before(_known_provider)] = AUTO
    api_base: Annotated[str, "Address of the vendor, up to the version."] = ""
    api_key: Annotated[str, "Key, usually as ${VARIABLE}."] = ""
    model: Annotated[str, "Name of the model."] = ""
    max_context_tokens: Annotated[int, "Longest conversation to send; 0 = no limit.", Limit(ge=0)] = 0
    max_output_tokens: Annotated[int, "Longest answer.", Limit(ge=1)] = 4096
    timeout_s: Annotated[float, "Longest silence of the vendor.", Limit(gt=0)] = 60.0
    stream: Annotated[bool, "Show an answer while it is being written; else when it is whole."] = True
    reasoning: Annotated[Reasoning, "How hard the model thinks: low, medium, high; empty = the vendor's default."] = ""
    vision: Annotated[Literal["auto", "on", "off"], "Whether the model sees images; auto goes by its name."] = "auto"
    prices: Annotated[dict[str, Price], "What models cost, by name or pattern; without one, only tokens are shown."] = (
        field(default_factory=dict)
    )
    currency: Annotated[str, "Currency of `prices`."] = "USD"
    script: Annotated[list[Json], "Steps of the scripted model."] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Service:
    """A server that speaks a vendor's dialect, for people to choose from."""

    name: str
    api_base: str
    variable: str = ""
    """Environment variable that holds the key of this service."""


@dataclass(frozen=True, slots=True)
class Provider:
    """What a module of this package offers as `PROVIDER`."""

    services: tuple[Service, ...]
    """The first one is used without `llm.api_base`."""
    make: Callable[[ModelSettings, ModelHttp], Model]
    headers: Callable[[str], Mapping[str, str]] = lambda _: {}
    """Returns the headers of a request, from the key."""
    serves: Callable[[str], bool] = lambda _: False
    """Returns whether an address is the vendor's own, for `provider: auto`."""
    summary: str = ""
    """What else it is good for, in a few words."""
    sees: Callable[[ModelSettings], bool] = lambda _: True
    """Returns whether a model takes images, for `vision: auto`."""

    def base(self, settings: ModelSettings) -> str:
        return settings.api_base or self.services[0].api_base


def providers() -> dict[str, Provider]:
    """Return all providers by name; imports every module of this package."""
    found = discover_modules(sys.modules[__name__])
    return {module.__name__.rpartition(".")[2]: module.PROVIDER for module in found if hasattr(module, "PROVIDER")}


def provider_of(settings: ModelSettings) -> str:
    """Return the provider's name; "auto" is decided by the address, and "scripted" without address and key."""
    if settings.provider != AUTO:
        return settings.provider
    # A key without an address is enough for the vendor that most services imitate.
    if not settings.api_base:
        return FALLBACK if settings.api_key else SCRIPTED
    return next((name for name, one in providers().items() if one.serves(settings.api_base)), FALLBACK)


def provider_for(settings: ModelSettings) -> Provider:
    """Return the provider that is configured, without importing the others.

    Raises:
        ConfigError: there is no such provider.
    """
    name = provider_of(settings)
    found = _find(name)
    if found is None:
        raise ConfigError(f"There is no model provider {name!r}", key="provider")
    return found


def _find(name: str) -> Provider | None:
    provider: Provider | None = getattr(find_module(sys.modules[__name__], name), "PROVIDER", None)
    return provider


def model_settings(llm: Mapping[str, Json]) -> ModelSettings:
    """Validate the settings of a model.

    Raises:
        ConfigError: a value is invalid; the message names the key.
    """
    try:
        return read(ModelSettings, dict(llm))
    except InvalidDataError as error:
        problem = error.problems[0]
        raise ConfigError(f"llm.{problem}", key=".".join(map(str, problem.path))) from error


def unknown_keys(llm: Mapping[str, Json]) -> list[str]:
    """Return a remark for every key of `llm` that means nothing, with the closest one that does."""
    known = [name for field in fields_of(ModelSettings).values() for name in field.names]
    return [
        f"unknown key llm.{key}" + (f"; did you mean {near[0]}?" if (near := closest(str(key), known, 1)) else "")
        for key in llm
        if key not in known
    ]


def sees(settings: ModelSettings) -> bool:
    """Return whether the configured model takes images."""
    return settings.vision == "on" or (settings.vision == "auto" and provider_for(settings).sees(settings))


def priced(usage: Usage, settings: ModelSettings) -> Usage:
    """Return the usage with the model's name and, if its price is configured, the cost."""
    known = (price for name, price in settings.prices.items() if fnmatchcase(settings.model, name))
    named = replace(usage, model=settings.model)
    price = settings.prices.get(settings.model) or next(known, None)
    return named if price is None else replace(named, cost=price.of(usage), currency=settings.currency)


class ChosenModel:
    """The configured model with the connections that it keeps open; vendors need not close them."""

    def __init__(self, model: Model, http: ModelHttp, settings: ModelSettings) -> None:
        self._model = model
        self._http = http
        self.settings = settings

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        wanted = replace(request, reasoning=request.reasoning or self.settings.reasoning)
        async for event in self._model.stream(wanted):
            yield priced(event, self.settings) if isinstance(event, Usage) else event

    async def close(self) -> None:
        await self._http.close()


def choose_model(settings: ModelSettings, proxy: str | None = None, *, attempts: int = 6) -> ChosenModel:
    """Return the configured model, to be closed by the caller; a request is sent up to `attempts` times.

    Raises:
        ConfigError: `llm.model` is missing, or the script is invalid.
    """
    provider = provider_for(settings)
    if provider.services[0].api_base and not settings.model:
        raise ConfigError("llm.model is missing: name the model to use")
    base, headers = provider.base(settings), provider.headers(settings.api_key)
    endpoint = Endpoint(base, headers, idle_seconds=settings.timeout_s, attempts=attempts, proxy=proxy)
    http = ModelHttp(endpoint)
    return ChosenModel(provider.make(settings, http), http, settings)
