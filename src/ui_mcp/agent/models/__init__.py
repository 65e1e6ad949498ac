"""Chooses and configures the model of a vendor."""

from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ui_mcp.agent.model import Model
from ui_mcp.agent.models.anthropic import BASE_URL as ANTHROPIC
from ui_mcp.agent.models.anthropic import VERSION, AnthropicModel
from ui_mcp.agent.models.gemini import BASE_URL as GEMINI
from ui_mcp.agent.models.gemini import GeminiModel
from ui_mcp.agent.models.http import Endpoint, ModelHttp
from ui_mcp.agent.models.openai import OpenAiModel
from ui_mcp.agent.models.scripted import ScriptedModel, read_script
from ui_mcp.errors import ConfigError
from ui_mcp.jsontypes import Json

Provider = Literal["auto", "openai", "anthropic", "gemini", "scripted"]
OPENAI = "https://api.openai.com/v1"


class ModelSettings(BaseModel):
    """`llm` of the configuration."""

    model_config = ConfigDict(extra="ignore")

    provider: Provider = Field("auto", description="Dialect; auto looks at the address.")
    api_base: str = Field("", description="Address of the vendor, up to the version.")
    api_key: str = Field("", description="Key, usually as ${VARIABLE}.")
    model: str = Field("", description="Name of the model.")
    max_context_tokens: int = Field(0, ge=0, description="Longest conversation to send; 0 = no limit.")
    max_output_tokens: int = Field(4096, ge=1, description="Longest answer.")
    timeout_s: float = Field(60.0, gt=0, description="Longest silence of the vendor.")
    stream: bool = Field(True, description="Show an answer while it is being written; else when it is whole.")
    script: list[Json] = Field([], description="Steps of the scripted model.")


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


def provider_of(settings: ModelSettings) -> Provider:
    """Return the provider; "auto" is decided by the address, and "scripted" without address and key."""
    if settings.provider != "auto":
        return settings.provider
    base = settings.api_base
    if not base and not settings.api_key:
        return "scripted"
    if "anthropic.com" in base:
        return "anthropic"
    return "gemini" if "googleapis.com" in base and "/openai" not in base else "openai"


def choose_model(settings: ModelSettings, proxy: str | None = None, *, retries: int = 5) -> Model:
    """Return the configured model; requests are retried up to `retries` times.

    Raises:
        ConfigError: `llm.model` is missing, or the script is invalid.
    """
    provider = provider_of(settings)
    if provider == "scripted":
        return ScriptedModel(read_script(settings.script))
    if not settings.model:
        raise ConfigError("llm.model is missing: name the model to use")
    match provider:
        case "anthropic":
            headers = {"x-api-key": settings.api_key, "anthropic-version": VERSION}
            http = _http(settings.api_base or ANTHROPIC, headers, settings, proxy, retries)
            return AnthropicModel(settings.model, settings.api_key, http=http)
        case "gemini":
            http = _http(settings.api_base or GEMINI, {"x-goog-api-key": settings.api_key}, settings, proxy, retries)
            return GeminiModel(settings.model, settings.api_key, http=http)
        case _:
            base = settings.api_base or OPENAI
            headers = {"authorization": f"Bearer {settings.api_key or 'none'}"}
            return OpenAiModel(settings.model, base, http=_http(base, headers, settings, proxy, retries))


def _http(base: str, headers: Mapping[str, str], settings: ModelSettings, proxy: str | None, retries: int) -> ModelHttp:
    return ModelHttp(Endpoint(base, headers, idle_seconds=settings.timeout_s, retries=retries, proxy=proxy))
