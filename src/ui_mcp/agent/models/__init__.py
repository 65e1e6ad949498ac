"""Model vendors: each module of this package with a `PROVIDER` is one, found by its file name."""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from pydantic_core import PydanticCustomError

from ui_mcp.agent.model import Model
from ui_mcp.agent.models.http import Endpoint, ModelHttp
from ui_mcp.discovery import discover_modules, find_module
from ui_mcp.errors import ConfigError
from ui_mcp.jsontypes import Json

AUTO, FALLBACK, SCRIPTED = "auto", "openai", "scripted"


class ModelSettings(BaseModel):
    """`llm` of the configuration."""

    model_config = ConfigDict(extra="ignore")

    provider: str = Field(AUTO, description="Dialect; auto looks at the address.")
    api_base: str = Field("", description="Address of the vendor, up to the version.")
    api_key: str = Field("", description="Key, usually as ${VARIABLE}.")
    model: str = Field("", description="Name of the model.")
    max_context_tokens: int = Field(0, ge=0, description="Longest conversation to send; 0 = no limit.")
    max_output_tokens: int = Field(4096, ge=1, description="Longest answer.")
    timeout_s: float = Field(60.0, gt=0, description="Longest silence of the vendor.")
    stream: bool = Field(True, description="Show an answer while it is being written; else when it is whole.")
    script: list[Json] = Field([], description="Steps of the scripted model.")

    @field_validator("provider")
    @classmethod
    def _known(cls, name: str) -> str:
        if name != AUTO and _find(name) is None:
            known = ", ".join(map(repr, [AUTO, *providers()]))
            raise PydanticCustomError("provider", "Input should be one of {known}", {"known": known})
        return name


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
        return ModelSettings.model_validate(dict(llm))
    except ValidationError as error:
        problem = error.errors()[0]
        key = ".".join(str(part) for part in problem["loc"])
        raise ConfigError(f"llm.{key}: {problem['msg']}", key=key) from error


def choose_model(settings: ModelSettings, proxy: str | None = None, *, retries: int = 5) -> Model:
    """Return the configured model; requests are retried up to `retries` times.

    Raises:
        ConfigError: `llm.model` is missing, or the script is invalid.
    """
    provider = provider_for(settings)
    if provider.services[0].api_base and not settings.model:
        raise ConfigError("llm.model is missing: name the model to use")
    base, headers = provider.base(settings), provider.headers(settings.api_key)
    endpoint = Endpoint(base, headers, idle_seconds=settings.timeout_s, retries=retries, proxy=proxy)
    return provider.make(settings, ModelHttp(endpoint))
