"""Keys and variables of the chat's settings: sent to whom they were given for, and never named into a file."""

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from agent.models.vendor import Vendor
from gateway.conftest import Recorder, Reply
from gateway.gateways import gateway
from ui_mcp.agent.models import ModelSettings
from ui_mcp.errors import InvalidArgumentsError
from ui_mcp.gateway.config import loader
from ui_mcp.gateway.web.model_settings import ModelSettingsService, services
from ui_mcp.gateway.web.target_settings import TargetSettingsService
from ui_mcp.jsontypes import JsonObject
from ui_mcp.validation import read

OPENAI = "https://api.openai.com/v1"
ENVIRONMENT = {"AWS_SECRET_ACCESS_KEY": "canary1", "OPENAI_API_KEY": "canary2", "LLM_KEY": "canary3"}


@pytest.fixture
def live(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., ModelSettingsService]:
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    file = tmp_path / "nlui.yaml"
    file.write_text("llm: {}\n")

    def make(**settings: str) -> ModelSettingsService:
        return ModelSettingsService(read(ModelSettings, {"model": "m", **settings}), None, file, tmp_path / "data")

    return make


@pytest.mark.covers("GW-ISO-8")
@pytest.mark.parametrize("name", ["AWS_SECRET_ACCESS_KEY", "OPENAI_API_KEY", "PATH", "", "A B", "${LLM_KEY}"])
async def test_no_variable_is_sent_to_an_address_of_the_callers_choice(
    name: str, live: Callable[..., ModelSettingsService], recorder: Recorder
) -> None:
    model = live()
    asked = {"provider": "openai", "api_base": recorder.url, "model": "m", "api_key_env": name or " "}

    with pytest.raises(InvalidArgumentsError):
        await model.models(asked)
    with pytest.raises(InvalidArgumentsError):
        await model.test(asked)
    with pytest.raises(InvalidArgumentsError):
        await model.change(asked)
    assert recorder.requests == []


@pytest.mark.covers("GW-ISO-8")
async def test_a_vendors_variable_is_taken_for_that_vendor_alone(
    live: Callable[..., ModelSettingsService], tmp_path: Path
) -> None:
    model = live()
    for wrong in (
        {"provider": "anthropic"},
        {"api_base": "http://api.openai.com/v1"},
        {"api_base": "https://api.openai.com:444/v1"},
    ):
        with pytest.raises(InvalidArgumentsError):
            await model.change({"provider": "openai", "model": "m", "api_key_env": "OPENAI_API_KEY", **wrong})

    await model.change({"provider": "openai", "model": "m", "api_base": OPENAI, "api_key_env": "OPENAI_API_KEY"})
    assert model.settings.api_key == "canary2"
    assert yaml.safe_load((tmp_path / "nlui.yaml").read_text())["llm"]["api_key"] == "${OPENAI_API_KEY}"
    assert {one.variable for _, one in services() if one.api_base.startswith("http://")} == {""}


@pytest.mark.covers("GW-ISO-5")
@pytest.mark.parametrize(
    ("given", "changed", "kept"),
    [
        ({"provider": "openai", "api_base": OPENAI}, {"api_base": "https://api.openai.com/v2"}, True),
        ({"provider": "openai", "api_base": OPENAI}, {"api_base": "https://API.openai.com:443/v1"}, True),
        ({"provider": "openai"}, {"api_base": OPENAI}, True),
        ({"provider": "openai", "api_base": OPENAI}, {"api_base": "http://api.openai.com/v1"}, False),
        ({"provider": "openai", "api_base": OPENAI}, {"api_base": "https://api.openai.com:444/v1"}, False),
        ({"provider": "openai", "api_base": OPENAI}, {"api_base": "https://api.openai.com.evil.example/v1"}, False),
        ({"provider": "openai"}, {"provider": "anthropic"}, False),
        ({"provider": "openai", "api_base": "https://one.example"}, {"provider": "gemini"}, False),
        ({"provider": "auto"}, {"provider": "gemini"}, False),
    ],
)
async def test_a_key_stays_while_provider_scheme_host_and_port_do(
    given: JsonObject, changed: JsonObject, kept: bool, live: Callable[..., ModelSettingsService]
) -> None:
    model = live(api_key="sk-typed-by-a-person", **given)

    assert (await model.change(changed))["has_key"] is kept


@pytest.mark.covers("GW-ISO-5")
async def test_a_key_does_not_follow_a_redirect_of_a_model_server(
    live: Callable[..., ModelSettingsService], recorder: Recorder, served: Vendor
) -> None:
    recorder.default = Reply(307, b"", {"Location": f"{served.url}/models"})
    model = live(api_key="canary", api_base=recorder.url, provider="anthropic")

    assert await model.models({}) == []
    assert (await model.test({}))["ok"] is False
    assert served.asked == []


@pytest.mark.covers("GW-ISO-5")
async def test_a_proxy_that_could_read_the_key_is_refused(live: Callable[..., ModelSettingsService]) -> None:
    with pytest.raises(InvalidArgumentsError, match="proxy would read the key"):
        await live(api_key="k", api_base="http://one.example", provider="openai").use_proxy("http://evil.example")


@pytest.mark.covers("GW-ISO-8")
async def test_what_is_typed_into_the_models_settings_is_not_expanded_after_a_restart(
    live: Callable[..., ModelSettingsService], tmp_path: Path
) -> None:
    typed = {"provider": "openai", "api_base": "http://evil.example/${LLM_KEY}", "model": "$${LLM_KEY}"}
    await live().change({**typed, "api_key": "env:LLM_KEY"})

    read = loader.load(tmp_path / "nlui.yaml")
    assert {key: read.settings.llm[key] for key in typed} == typed
    assert read.settings.llm["api_key"] == "env:LLM_KEY"
    assert read.variables == frozenset()


@pytest.mark.covers("GW-ISO-8")
async def test_a_reference_in_the_file_stays_one_when_something_else_changes(
    live: Callable[..., ModelSettingsService], tmp_path: Path
) -> None:
    file = tmp_path / "nlui.yaml"
    model = live(provider="openai", api_base="http://canary3.example", api_key="canary3")
    file.write_text("llm: {provider: openai, api_base: 'http://${LLM_KEY}.example', api_key: '${LLM_KEY}', model: m}\n")
    await model.change({"model": "other"})

    assert "canary" not in file.read_text()
    assert loader.load(file).settings.llm["api_base"] == "http://canary3.example"


@pytest.mark.covers("GW-ISO-8")
async def test_what_is_typed_into_an_apis_settings_is_not_expanded_after_a_restart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LLM_KEY", "canary3")
    file = tmp_path / "nlui.yaml"
    file.write_text("data_dir: ./data\n")

    async def no_demo() -> str:
        return ""

    auth = {
        "type": "bearer",
        "token": "${LLM_KEY}",
        "token_url": "http://127.0.0.1:9/${LLM_KEY}",
        "schemes": {
            "a/../b": {"type": "bearer", "token": "env:LLM_KEY"},
            "c": {"type": "bearer", "token": "${LLM_KEY}"},
        },
    }
    typed = {"name": "api", "base_url": "http://127.0.0.1:9/${LLM_KEY}", "description": "${LLM_KEY:-x}", "auth": auth}
    async with gateway(tmp_path) as found:
        await TargetSettingsService(found, file, no_demo).add(typed)

    (read,) = loader.load(file).settings.targets
    assert read.auth is not None
    assert (read.base_url, read.description) == (typed["base_url"], typed["description"])
    assert (read.auth.token, read.auth.token_url) == (auth["token"], auth["token_url"])
    assert [one.token for one in read.auth.schemes.values()] == ["env:LLM_KEY", "${LLM_KEY}"]
    assert "canary" not in file.read_text()
