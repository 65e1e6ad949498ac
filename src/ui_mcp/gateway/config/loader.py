"""Finds and reads nlui.yaml; the one rule where each store is."""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import anyio
import yaml
from platformdirs import user_config_path, user_data_path
from pydantic import BaseModel, ValidationError

from ui_mcp.config import Config, wording
from ui_mcp.errors import ConfigError, UiMcpError
from ui_mcp.gateway.config.agreement import NotAgreedError, found_file, load_found
from ui_mcp.gateway.config.parse import parse
from ui_mcp.gateway.config.settings import GatewaySettings, Mode, Part, TargetSettings
from ui_mcp.gateway.runner import Load
from ui_mcp.jsontypes import Json, JsonObject
from ui_mcp.log import logger
from ui_mcp.toolkit.names import closest
from ui_mcp.trust import place_of
from ui_mcp.ui.server import Host
from ui_mcp.workspace import Workspace

if TYPE_CHECKING:
    from ui_mcp.gateway.config.settings import GatewaySettings


FILE = "nlui.yaml"
_WAY_OUT = "nlui init writes a file to start from; nlui --help lists the commands."
SECRETS = frozenset({"token", "password", "client_secret", "refresh_token", "api_key"})
_NAMED = r"\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}"

_VARIABLE = re.compile(rf"\$\$(?=\{{)|\${_NAMED}")
"""`${NAME}` or `${NAME:-default}`; `$${` stands for `${` itself."""


class Loaded:
    """Settings, the warnings about them, and the environment variables they took secrets from."""

    def __init__(self, settings: GatewaySettings, warnings: list[str], variables: frozenset[str]) -> None:
        self.settings = settings
        self.warnings = warnings
        self.variables = variables


def find(given: str | None, environment: Mapping[str, str], user_config: Path) -> Path | None:
    """Return the configuration file to use.

    Raises:
        ConfigError: the one that was named is not there.
    """
    named = given or environment.get("NLUI_CONFIG")
    if named:
        path = Path(named).expanduser()
        if not path.is_file():
            raise ConfigError(f"There is no file {named}\n{_WAY_OUT}")
        return path
    candidates = (Path(FILE), user_config / "nlui" / FILE)
    return next((path for path in candidates if path.is_file()), None)


def load(file: Path, environment: Mapping[str, str] | None = None) -> Loaded:
    """Read a file.

    Raises:
        ConfigError: names the line and what is wrong.
    """
    try:
        data = file.read_bytes()
    except OSError as error:
        raise ConfigError(f"{file}: {error.strerror or error}") from error
    return read(data, str(file), environment or os.environ, file.parent)


def read(data: bytes, name: str, environment: Mapping[str, str], folder: Path) -> Loaded:
    """Read the text of a file; relative document paths are taken from `folder`."""
    try:
        tree = parse(data)
    except ConfigError as error:
        raise _unreadable(error, name) from error
    if tree is None:
        tree = {}
    if not isinstance(tree, dict):
        raise ConfigError(f"{name}: holds neither settings nor an OpenAPI document\n{_WAY_OUT}")
    used: set[str] = set()
    expanded = _expanded(tree, "", environment, used)
    try:
        settings = GatewaySettings.model_validate(expanded)
    except ValidationError as error:
        problem = error.errors()[0]
        line = _line(data, problem["loc"])
        where = ".".join(str(part) for part in problem["loc"])
        raise ConfigError(f"{name}:{line}: {where}: {wording(problem)}") from error
    warnings = [f"{name}: {text}" for text in _unknown(tree, GatewaySettings, "")]
    return Loaded(_rooted(settings, folder), warnings, frozenset(used))


def _unreadable(error: ConfigError, name: str) -> ConfigError:
    mark, problem = getattr(error.__cause__, "problem_mark", None), getattr(error.__cause__, "problem", None)
    return ConfigError(f"{name}:{mark.line + 1}: not YAML: {problem}" if mark else f"{name}: {error.message}")


def _rooted(settings: GatewaySettings, folder: Path) -> GatewaySettings:
    targets = tuple(
        target.model_copy(update={"spec": str((folder / target.spec).resolve())})
        if target.spec and "://" not in target.spec
        else target
        for target in settings.targets
    )
    return settings.model_copy(update={"targets": targets})


def _expanded(value: Json, key: str, environment: Mapping[str, str], used: set[str]) -> Json:
    match value:
        case dict():
            return {name: _expanded(member, str(name), environment, used) for name, member in value.items()}
        case list():
            return [_expanded(member, key, environment, used) for member in value]
        case str():
            return _text(value, key, environment, used)
        case _:
            return value


def _text(value: str, key: str, environment: Mapping[str, str], used: set[str]) -> str:
    def variable(match: re.Match[str]) -> str:
        if match[0] == "$$":
            return "$"
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
        return variable(re.fullmatch(_VARIABLE, f"${{{rest}}}") or _bad(key, value))
    if kind == "file":
        try:
            return Path(rest).expanduser().read_text(encoding="utf-8").strip()
        except (OSError, ValueError, RuntimeError) as error:  # not there, not text, or in the home of nobody
            reason = getattr(error, "strerror", None) or error
            raise ConfigError(f"{key}: cannot read {rest!r}: {reason}") from error
    return _from_keyring(rest) if kind == "keyring" else value


def literal(value: Json) -> Json:
    """Write values so that the file gives them back as they are: no text in them names a variable."""
    match value:
        case dict():
            return {key: literal(member) for key, member in value.items()}
        case list():
            return [literal(member) for member in value]
        case str():
            return value.replace("${", "$${")
        case _:
            return value


def _bad(key: str, value: str) -> re.Match[str]:
    raise ConfigError(f"{key}: {value!r} names no variable")


def _from_keyring(name: str) -> str:
    service, _, user = name.partition("/")
    try:
        import keyring  # type: ignore[import-not-found, unused-ignore]
    except ImportError as error:
        raise ConfigError(
            "keyring: secrets need the package keyring\nRun: pip install 'ui-mcp[keyring]' (or use ${VARIABLE})."
        ) from error
    try:
        found: str | None = keyring.get_password(service, user)
    except Exception as error:  # backends raise what they like
        raise ConfigError(f"The keyring cannot be read: {error}") from error
    if not found:
        raise ConfigError(f"The keyring has no password for {service}/{user}")
    return found


def _unknown(tree: JsonObject, model: type[BaseModel], prefix: str) -> Iterator[str]:
    known = {str(alias): name for name, field in model.model_fields.items() for alias in _spellings(name, field)}
    for key, value in tree.items():
        if key not in known:
            near = closest(str(key), known, 1)
            yield f"unknown key {prefix}{key}" + (f"; did you mean {near[0]}?" if near else "")
            continue
        inner = _model_in(model.model_fields[known[key]].annotation)
        if inner is None:
            continue
        if isinstance(value, dict) and inner.__name__ not in {"Override", "SchemeAuth", "BackendSettings"}:
            yield from _unknown(value, inner, f"{prefix}{key}.")
        elif isinstance(value, list):
            for number, member in enumerate(value):
                if isinstance(member, dict):
                    yield from _unknown(member, inner, f"{prefix}{key}[{number}].")


def _spellings(name: str, field: Any) -> Iterator[str]:
    yield name
    alias = field.validation_alias
    yield from [alias] if isinstance(alias, str) else getattr(alias, "choices", [])


def _model_in(annotation: Any) -> type[Part] | None:
    if isinstance(annotation, type) and issubclass(annotation, Part):
        return annotation
    found = (_model_in(inner) for inner in getattr(annotation, "__args__", ()))
    return next((model for model in found if model is not None), None)


def _line(data: bytes, path: tuple[int | str, ...]) -> int:
    """Find the line a value stands on; 1 where only a more tolerant reader could read the file."""
    try:
        node = yaml.compose(data, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError):
        return 1
    for part in path:
        if isinstance(node, yaml.MappingNode):
            found = [(key, value) for key, value in node.value if str(key.value) == str(part)]
            if not found:
                break
            node = found[-1][1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            node = node.value[part]
        else:
            break
    return node.start_mark.line + 1 if node is not None else 1


Stamp = tuple[int, int, int]


async def _stamp(file: Path) -> Stamp:
    return await anyio.to_thread.run_sync(stamp_of, file)


def stamp_of(file: Path) -> Stamp:
    """Return what differs after every change; zeros when there is no such file."""
    try:
        found = file.stat()
    except OSError:
        return 0, 0, 0
    return found.st_mtime_ns, found.st_size, found.st_ino


_SHORT_SECRET = 6
_NOWHERE = "no nlui.yaml here and no address given: there are no targets (nlui init writes a file to start from)"


@dataclass(frozen=True, slots=True)
class Asked:
    """What the command line said."""

    source: str | None = None
    """A configuration file, or the address of an API."""
    host: str | None = None
    port: int | None = None
    mode: Mode | None = None
    compact: bool = False
    verbosity: int = 0
    quiet: bool = False
    """Whether the command reports warnings itself."""
    settings: GatewaySettings | None = None
    """Settings made by the program itself; no file is read then."""
    load: Load = load
    """Reads the configuration file, at first and after each change."""


@dataclass(frozen=True, slots=True)
class Configuration:
    """Settings with what they were read from."""

    settings: GatewaySettings
    warnings: list[str]
    variables: frozenset[str]
    file: Path | None = None
    """None when there is none."""
    stamp: Stamp = (0, 0, 0)
    """Of the file, before it was read."""
    load: Load = load
    """Reads the file again after a change."""
    not_agreed: str = ""
    """Why the file is not in effect; "" when it is."""

    @property
    def writable(self) -> Path | None:
        """Where changes made on the page are written; None where there is no file that is in effect."""
        return None if self.not_agreed else self.file


def configuration(asked: Asked) -> Configuration:
    """Read the configuration, or make one of a bare address or document."""
    if asked.settings is not None:
        return Configuration(asked.settings, [], frozenset())
    source = asked.source
    if source and _is_document(source):
        name = urlsplit(source).hostname or Path(source).stem if "://" in source else Path(source).stem
        key = "base_url" if "://" in source else "spec"
        target = TargetSettings.model_validate({"name": name, key: source})
        return Configuration(GatewaySettings(targets=(target,)), [], frozenset())
    file = find(source, os.environ, user_config_path())
    if file is None:
        return Configuration(GatewaySettings(), [_NOWHERE], frozenset())
    load = load_found if found_file(source) else asked.load
    stamp = stamp_of(file)
    try:
        loaded = load(file)
    except NotAgreedError as error:
        why = error.message
        return Configuration(GatewaySettings(), [why], frozenset(), place_of(file), stamp, load, why)
    empty = [] if loaded.settings.targets or loaded.settings.backends else [_nothing(file)]
    return Configuration(loaded.settings, loaded.warnings + empty, loaded.variables, place_of(file), stamp, load)


def _nothing(file: Path) -> str:
    return f"{file}: names no targets and no servers; add them there, or on the page of the chat"


def _is_document(source: str) -> bool:
    if source.startswith(("http://", "https://")):
        return True
    path = Path(source)
    if not path.is_file() or path.name == FILE:
        return False
    from ui_mcp.gateway.config.parse import is_openapi, parse

    try:
        return is_openapi(parse(path.read_bytes()))
    except ConfigError:
        return False  # reading it as a configuration names the line


def _may_be_secret(value: str) -> bool:
    """Say whether a value taken from the environment must not be shown; paths, addresses and numbers may be."""
    return len(value) >= _SHORT_SECRET and not value.isdigit() and not value.startswith(("/", "~", ".", "http"))


def data_folder(settings: GatewaySettings) -> Path:
    """Return where the gateway keeps what lasts."""
    return Path(settings.data_dir).expanduser() if settings.data_dir else user_data_path("nlui")


_log = logger("approvals")


def own_approvals(host: Host) -> str | None:
    """Return the store of `gateway.config`, the one that app pages and MCP clients of this server may read."""
    return approvals_place(host) if _named(host) else None


def approvals_place(host: Host) -> str | None:
    """Return the store of `gateway.config`, or of the nlui.yaml that `ui-mcp agent` finds here: for the person only."""
    try:
        settings = _settings(host)
    except UiMcpError as error:
        _log.warning("Cannot find the approvals: %s", error.message)
        return None
    if settings is None:
        return str(user_data_path("nlui") / "approvals.db")
    data = Path(settings.data_dir).expanduser() if settings.data_dir else user_data_path("nlui")
    return settings.storage.url or str(data / "approvals.db")


def _settings(host: Host) -> "GatewaySettings | None":
    """Return the settings that the gateway runs with; None when it runs with the defaults."""
    from ui_mcp.gateway.config.agreement import NotAgreedError, found_file, load_agreed, load_found

    if named := _named(host):
        return load_agreed(named, host.configured().workspace.project).settings
    if found := found_file(None):
        try:
            return load_found(found).settings
        except NotAgreedError:
            return None
    file = loader.find(None, os.environ, user_config_path())
    return loader.load(file).settings if file else None


def _named(host: Host) -> Path | None:
    try:
        configured = host.configured()
    except UiMcpError:
        return None
    given = configured.config.gateway.config
    return configured.workspace.named(given) if given else None


def gateway_places(workspace: Workspace, config: Config) -> tuple[str, ...]:
    """Return the nlui.yaml files a gateway could use here, and the data directory each of them names."""
    named = [workspace.named(config.gateway.config)] if config.gateway.config else []
    usual = (os.environ.get("NLUI_CONFIG"), workspace.project / "nlui.yaml", "nlui.yaml")
    files = [*named, *(Path(file).expanduser() for file in usual if file), user_config_path() / "nlui" / "nlui.yaml"]
    present = [file.resolve() for file in files if file.is_file()]
    places = dict.fromkeys(place for file in present for place in (str(file), *_stores(file)))
    # A data directory around the project would close the project itself; its files are kept by their names.
    return tuple(place for place in places if not workspace.base.is_relative_to(place))


def _stores(file: Path) -> list[str]:
    """Return where a file says that data lasts; it is read without its secrets, and a broken one names nothing."""
    from ui_mcp.gateway.config.parse import parse  # YAML takes a while to import, and few projects have such a file

    try:
        tree = parse(file.read_bytes())
    except (UiMcpError, OSError, ValueError, RecursionError):
        return []
    settings = tree if isinstance(tree, dict) else {}
    storage = settings.get("storage")
    url = str(storage.get("url") or "") if isinstance(storage, dict) else ""
    path = url.removeprefix("sqlite:///")
    return [
        *([_absolute(str(settings["data_dir"]))] if settings.get("data_dir") else []),
        *([f"{_absolute(path)}*"] if path and "://" not in path else []),
    ]


def _absolute(path: str) -> str:
    return str(Path(os.path.expandvars(path)).expanduser().resolve())
