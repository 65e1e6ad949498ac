"""Finds and reads nlui.yaml: expands variables and secrets, validates, warns about unknown keys."""

import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ui_mcp import validation
from ui_mcp.discovery import lazy
from ui_mcp.errors import ConfigError
from ui_mcp.fields import fields_of, record_in
from ui_mcp.gateway.config.parse import parse
from ui_mcp.gateway.config.settings import GatewaySettings
from ui_mcp.jsontypes import Json, JsonObject
from ui_mcp.toolkit.names import closest
from ui_mcp.validation import InvalidDataError

if TYPE_CHECKING:
    from ui_mcp.gateway.config.yaml_reader import line_of
else:
    line_of = lazy("ui_mcp.gateway.config.yaml_reader:line_of")

FILE = "nlui.yaml"
_HINT = "nlui init writes a file to start from; nlui --help lists the commands."
SECRETS = frozenset({"token", "password", "client_secret", "refresh_token", "api_key"})
_BRACED_NAME = r"\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}"

_VARIABLE = re.compile(rf"\$\$(?=\{{)|\${_BRACED_NAME}")
"""`${NAME}` or `${NAME:-default}`; `$${` stands for `${` itself."""


class Loaded:
    """Settings, warnings about them, and the environment variables that they refer to."""

    def __init__(self, settings: GatewaySettings, warnings: list[str], variables: frozenset[str]) -> None:
        self.settings = settings
        self.warnings = warnings
        self.variables = variables


Load = Callable[[Path], Loaded]
"""Reads a file; raises ConfigError if it is invalid, NotAgreedError if the person has not agreed to it."""


def find(given: str | None, environment: Mapping[str, str], user_config: Path) -> Path | None:
    """Return the configuration file to use, None if there is none.

    Raises:
        ConfigError: the named file does not exist.
    """
    named = given or environment.get("NLUI_CONFIG")
    if named:
        path = Path(named).expanduser()
        if not path.is_file():
            raise ConfigError(f"There is no file {named}\n{_HINT}")
        return path
    candidates = (Path(FILE), user_config / "nlui" / FILE)
    return next((path for path in candidates if path.is_file()), None)


def load(file: Path, environment: Mapping[str, str] | None = None) -> Loaded:
    """Read a file.

    Raises:
        ConfigError: the file is invalid; the message names the line.
    """
    try:
        data = file.read_bytes()
    except OSError as error:
        raise ConfigError(f"{file}: {error.strerror or error}") from error
    return read(data, str(file), environment or os.environ, file.parent)


def read(data: bytes, name: str, environment: Mapping[str, str], folder: Path) -> Loaded:
    """Parse the contents of a file; relative paths of documents are resolved against `folder`.

    Raises:
        ConfigError: the contents are invalid; the message names the line.
    """
    try:
        tree = parse(data)
    except ConfigError as error:
        raise _unreadable(error, name) from error
    if tree is None:
        tree = {}
    if not isinstance(tree, dict):
        raise ConfigError(f"{name}: holds neither settings nor an OpenAPI document\n{_HINT}")
    used: set[str] = set()
    expanded = _expanded(tree, "", environment, used)
    try:
        settings = validation.read(GatewaySettings, expanded)
    except InvalidDataError as error:
        problem = error.problems[0]
        raise ConfigError(f"{name}:{line_of(data, problem.path)}: {problem}") from error
    warnings = [f"{name}: {text}" for text in _unknown_keys(tree, GatewaySettings, "")]
    return Loaded(_with_absolute_specs(settings, folder), warnings, frozenset(used))


def _unreadable(error: ConfigError, name: str) -> ConfigError:
    mark, problem = getattr(error.__cause__, "problem_mark", None), getattr(error.__cause__, "problem", None)
    return ConfigError(f"{name}:{mark.line + 1}: not YAML: {problem}" if mark else f"{name}: {error.message}")


def _with_absolute_specs(settings: GatewaySettings, folder: Path) -> GatewaySettings:
    targets = tuple(
        replace(target, spec=str((folder / target.spec).resolve()))
        if target.spec and "://" not in target.spec
        else target
        for target in settings.targets
    )
    return replace(settings, targets=targets)


def _expanded(value: Json, key: str, environment: Mapping[str, str], used: set[str]) -> Json:
    match value:
        case dict():
            return {name: _expanded(member, str(name), environment, used) for name, member in value.items()}
        case list():
            return [_expanded(member, key, environment, used) for member in value]
        case str():
            return _expanded_text(value, key, environment, used)
        case _:
            return value


def _expanded_text(value: str, key: str, environment: Mapping[str, str], used: set[str]) -> str:
    def variable(match: re.Match[str]) -> str:
        if match[0] == "$$":
            return "$"
        # Variables that were used are masked in output and not inherited by child processes.
        used.add(match[1])
        found = environment.get(match[1]) or match[2]
        if found is None:
            raise ConfigError(f"{key}: the environment has no {match[1]}\nSet it, or write ${{{match[1]}:-default}}.")
        return found

    value = _VARIABLE.sub(variable, value)
    if key not in SECRETS:
        return value
    kind, _, rest = value.partition(":")
    if kind == "env":
        return variable(re.fullmatch(_VARIABLE, f"${{{rest}}}") or _no_variable(key, value))
    if kind == "file":
        try:
            return Path(rest).expanduser().read_text(encoding="utf-8").strip()
        except (OSError, ValueError, RuntimeError) as error:  # missing, not text, or `~user` of an unknown user
            reason = getattr(error, "strerror", None) or error
            raise ConfigError(f"{key}: cannot read {rest!r}: {reason}") from error
    return _from_keyring(rest) if kind == "keyring" else value


def literal(value: Json) -> Json:
    """Escape values so that the file yields them unchanged: `${` in a text is not a reference."""
    match value:
        case dict():
            return {key: literal(member) for key, member in value.items()}
        case list():
            return [literal(member) for member in value]
        case str():
            return value.replace("${", "$${")
        case _:
            return value


def _no_variable(key: str, value: str) -> re.Match[str]:
    raise ConfigError(f"{key}: {value!r} names no variable")


def _from_keyring(name: str) -> str:
    service, _, user = name.partition("/")
    try:
        import keyring  # type: ignore[import-not-found, unused-ignore]
    except ImportError as error:
        raise ConfigError(
            "keyring: secrets need the package keyring\nRun: pip install keyring (or use ${VARIABLE})."
        ) from error
    try:
        found: str | None = keyring.get_password(service, user)
    except Exception as error:  # keyring backends raise exceptions of any type
        raise ConfigError(f"The keyring cannot be read: {error}") from error
    if not found:
        raise ConfigError(f"The keyring has no password for {service}/{user}")
    return found


def _unknown_keys(tree: JsonObject, part: type, prefix: str) -> Iterator[str]:
    known = {name: field for field in fields_of(part).values() for name in field.names}
    for key, value in tree.items():
        if key not in known:
            near = closest(str(key), known, 1)
            yield f"unknown key {prefix}{key}" + (f"; did you mean {near[0]}?" if near else "")
            continue
        inner = record_in(known[key].annotation)
        if inner is None:
            continue
        # The keys of these mappings are names that the user chooses.
        if isinstance(value, dict) and inner.__name__ not in {"Override", "SchemeAuth", "BackendSettings"}:
            yield from _unknown_keys(value, inner, f"{prefix}{key}.")
        elif isinstance(value, list):
            for number, member in enumerate(value):
                if isinstance(member, dict):
                    yield from _unknown_keys(member, inner, f"{prefix}{key}[{number}].")
