"""Model vendors: found by their file, chosen by name or by address."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ui_mcp.agent import models
from ui_mcp.agent.model import ModelRequest, Stop, TextDelta, UserMessage
from ui_mcp.agent.models import choose_model, model_settings, provider_of, providers
from ui_mcp.cli.nlui.init import _starter
from ui_mcp.errors import ConfigError
from ui_mcp.gateway.web.model_settings import shown_services

ACME = '''
"""Acme's model API."""

from ui_mcp.agent.model import Stop, TextDelta
from ui_mcp.agent.models import Provider, Service


class AcmeModel:
    def __init__(self, name):
        self._name = name

    async def stream(self, request):
        yield TextDelta(f"{self._name} says {request.messages[-1].text}")
        yield Stop("end")


PROVIDER = Provider(
    services=(Service("Acme", "https://models.acme.example", "ACME_KEY"),),
    make=lambda settings, http: AcmeModel(settings.model),
    serves=lambda address: "acme.example" in address,
)
'''


@pytest.fixture
def acme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Add one file to the package."""
    (tmp_path / "acme.py").write_text(ACME)
    monkeypatch.setattr(models, "__path__", [*models.__path__, str(tmp_path)])
    yield
    sys.modules.pop("ui_mcp.agent.models.acme", None)


@pytest.mark.usefixtures("acme")
@pytest.mark.parametrize("llm", [{"provider": "acme"}, {"api_base": "https://models.acme.example/v2"}])
async def test_a_vendor_is_one_file(llm: dict[str, str]) -> None:
    settings = model_settings({**llm, "model": "m1"})

    answer = [event async for event in choose_model(settings).stream(ModelRequest([UserMessage("hi")]))]

    assert provider_of(settings) == "acme"
    assert answer == [TextDelta("m1 says hi"), Stop("end")]


@pytest.mark.usefixtures("acme")
async def test_a_new_vendor_is_offered_wherever_vendors_are_listed() -> None:
    with pytest.raises(ConfigError, match=r"llm.provider: should be one of .*'acme'"):
        model_settings({"provider": "acne"})

    assert {"id": "acme", "name": "Acme", "api_base": "https://models.acme.example", "key": "ACME_KEY"} in (
        await shown_services()
    )
    assert "acme" in _starter()


def test_modules_that_are_no_vendors_are_not_offered() -> None:
    assert not {"http", "sampling"} & set(providers())
    with pytest.raises(ConfigError):
        model_settings({"provider": "http"})


@pytest.mark.parametrize(
    ("address", "provider"),
    [
        ("https://api.anthropic.com", "anthropic"),
        ("https://generativelanguage.googleapis.com/v1beta", "gemini"),
        ("https://generativelanguage.googleapis.com/v1beta/openai", "openai"),
        ("http://127.0.0.1:11434/v1", "openai"),
    ],
)
def test_without_a_name_the_address_decides(address: str, provider: str) -> None:
    assert provider_of(model_settings({"api_base": address})) == provider
