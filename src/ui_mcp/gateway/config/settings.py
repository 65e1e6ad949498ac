"""The settings of nlui.yaml, and the difference between two versions of them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, TypeVar

from platformdirs import user_data_path
from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from ui_mcp.jsontypes import Json, JsonObject
from ui_mcp.toolkit.names import source_name
from ui_mcp.workspace import APPROVALS_FILE

Decision = Literal["allow", "ask", "deny_continue", "deny_abort"]


class Part(BaseModel):
    """A mapping of the file; unknown keys are reported beside, not refused."""

    model_config = ConfigDict(extra="ignore", frozen=True, populate_by_name=True)


class Selection(Part):
    """Which operations or tools are meant: any of the given globs."""

    tags: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    operations: tuple[str, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _from_list(cls, given: Json) -> Json:
        """Read the short form: `/users*` is a path, `GET` a method, `tag:x` a tag, anything else an operation."""
        if isinstance(given, str):
            given = [given]
        if not isinstance(given, list):
            return given
        out: dict[str, list[str]] = {"tags": [], "paths": [], "methods": [], "operations": []}
        for word in map(str, given):
            kind = "paths" if word.startswith("/") else "tags" if word.startswith("tag:") else "operations"
            out["methods" if word.isupper() and word.isalpha() else kind].append(word.removeprefix("tag:"))
        return out

    def __bool__(self) -> bool:
        return bool(self.tags or self.paths or self.methods or self.operations)


class Override(Part):
    """How one tool is listed and treated instead."""

    name: str | None = None
    description: str | None = None
    hidden: bool = False
    decision: Decision | None = None
    annotations: dict[str, bool] = {}
    defaults: JsonObject = {}


class SchemeAuth(Part):
    """A credential."""

    type: str = "bearer"
    token: str = ""
    header_name: str = Field("", validation_alias=AliasChoices("header_name", "name", "parameter"))
    username: str = ""
    password: str = ""
    token_url: str = ""
    client_id: str = ""
    client_secret: str = ""
    refresh_token: str = ""
    scopes: tuple[str, ...] = ()
    audience: str = ""
    client_auth: Literal["basic", "post"] = "basic"


class Auth(SchemeAuth):
    """The short form for one credential, or one per scheme of the document."""

    schemes: dict[str, SchemeAuth] = {}
    strict: bool = False
    passthrough: bool | None = None
    """Whether a bearer token of a chat request is sent on to this API; by default if it is the only one."""

    @property
    def is_short(self) -> bool:
        """Whether the short form was used."""
        return bool(self.token or self.username or self.password or self.client_id or self.refresh_token)


class FileSettings(Part):
    """Where files of calls may come from."""

    roots: tuple[str, ...] = ()


class RefSettings(Part):
    """Where references of a document may lead."""

    allow_hosts: tuple[str, ...] = ()


class TargetSettings(Part):
    """One API."""

    name: str = ""
    base_url: str = ""
    spec: str = ""
    description: str = ""
    auth: Auth | None = None
    spec_auth: Auth | None = None
    servers: Literal["", "honour"] = ""
    server_variables: dict[str, str] = {}
    headers: dict[str, str] = {}
    timeout_s: float = Field(30.0, gt=0)
    concurrency: int = Field(8, ge=1)
    include: Selection = Selection()
    exclude: Selection = Selection()
    overrides: dict[str, Override] = {}
    set_auth: bool = True
    output_schemas: bool = False
    reload_s: float = Field(300.0, ge=0)
    files: FileSettings = FileSettings()
    refs: RefSettings = RefSettings()
    path_slashes: tuple[str, ...] = ()
    array_format: Literal["index", "brackets", "repeat"] = "index"
    form_nested: Literal["json", "deepObject"] = "json"
    proxy: str | None = None
    validate_arguments: Literal["strict", "warn", "off"] = Field("strict", validation_alias="validate")


def _as_list(value: Json) -> Json:
    return [value] if isinstance(value, str) else value


class BackendSettings(Part):
    """One MCP server to mount."""

    name: str = ""
    command: str = ""
    args: Annotated[tuple[str, ...], BeforeValidator(_as_list)] = ()
    env: dict[str, str] = {}
    cwd: str | None = None
    roots: tuple[str, ...] = ()
    url: str = ""
    transport: Literal["auto", "stdio", "http", "sse"] = Field(
        "auto", validation_alias=AliasChoices("transport", "type")
    )
    headers: dict[str, str] = {}
    timeout_s: float = Field(60.0, gt=0)
    start_timeout_s: float = Field(30.0, gt=0)
    include: Selection = Selection()
    exclude: Selection = Selection()
    overrides: dict[str, Override] = {}
    enabled: bool = True
    drop_when_down: bool = False
    inherit_env: Literal["all", "minimal"] = "all"
    pinned: bool = False


class Rule(Part):
    """One line of policy; every given glob must match."""

    source: str = Field("*", validation_alias=AliasChoices("source", "server"))
    tool: str = "*"
    method: str = "*"
    tag: str = "*"
    path: str = "*"
    principal: str = "*"
    args: dict[str, str] = {}
    """Globs for arguments, by dotted path; numbers and other values are compared as JSON writes them."""
    exact: JsonObject = {}
    """Arguments that must be exactly these JSON values: 1 is not "1", null is not "".

    By dotted path; by name alone where no other arguments may be there.
    """
    other_args: bool = True
    """Whether arguments that `args` does not name may be there."""
    operation: str = ""
    """The fingerprint of the operation that was shown when a person allowed it; empty for rules that go by name."""
    decision: Decision
    reason: str = ""
    expiry_s: float | None = None

    @model_validator(mode="before")
    @classmethod
    def _flat(cls, given: Json) -> Json:
        """Read `match: {…}` as well as its members beside the decision."""
        if isinstance(given, dict) and isinstance(given.get("match"), dict):
            return {**given["match"], **{key: value for key, value in given.items() if key != "match"}}
        return given


class PolicySettings(Part):
    """Who asks before what."""

    mode: Literal["host", "guard"] | None = None
    rules: tuple[Rule, ...] = ()


class ApprovalSettings(Part):
    """How long a person has."""

    sync_wait_s: float = Field(45.0, ge=0)
    expiry_s: float = Field(86_400.0, gt=0)
    on_expiry: Literal["deny_continue", "deny_abort"] = "deny_continue"


class CatalogueSettings(Part):
    """How tools are listed."""

    mode: Literal["full", "compact", "auto"] = "full"
    tool_budget: int = Field(4_000, ge=500)
    page_size: int = Field(0, ge=0)
    extra_tools: bool = True


class ResultSettings(Part):
    """How much of an answer is shown at once."""

    max_bytes: int = Field(60_000, ge=1_000)
    max_rows: int = Field(200, ge=1)


class AuditSettings(Part):
    """What is written down about calls."""

    file: str = ""
    level: Literal["off", "meta", "args", "full"] = "meta"


class McpServerSettings(Part):
    """`mcp.server`: the gateway's own MCP listener."""

    sse_port: int = Field(0, ge=0, le=65535)


class McpSection(Part):
    """`mcp`: servers to mount, under any of their usual names."""

    servers: tuple[BackendSettings, ...] = ()
    clients: tuple[BackendSettings, ...] = ()
    server: McpServerSettings = McpServerSettings()
    startup_wait_ms: int = Field(5_000, ge=0)


class StorageSection(Part):
    """`storage`: where approvals last."""

    url: str = ""
    """A path, `sqlite:///PATH` or `postgresql://…`; empty: approvals.db in the data directory."""


class ServerSection(Part):
    """`server`: where the chat server listens."""

    host: str = "127.0.0.1"
    port: int = Field(9000, ge=0, le=65535)
    token: str = ""
    cors: tuple[str, ...] = ("http://localhost:3000",)
    """Origins of other front ends that may use the API."""
    allowed_users: tuple[int | str, ...] = ()
    """Linux: accounts besides ours and root that may connect from this machine; `*` = all."""


class GatewaySettings(Part):
    """The whole file."""

    language: str = "en"
    data_dir: str = ""
    proxy: str | None = None
    llm: dict[str, Any] = {}
    targets: tuple[TargetSettings, ...] = ()
    mcp: McpSection = McpSection()
    mcp_servers: dict[str, BackendSettings] = Field({}, validation_alias="mcpServers")
    server: ServerSection = ServerSection()
    storage: StorageSection = StorageSection()
    policy: PolicySettings = PolicySettings()
    approvals: ApprovalSettings = ApprovalSettings()
    catalogue: CatalogueSettings = CatalogueSettings()
    results: ResultSettings = ResultSettings()
    audit: AuditSettings = AuditSettings()
    admins: tuple[str, ...] = ()
    """Principals that may mount and unmount servers."""

    @property
    def data_folder(self) -> Path:
        """The folder for persistent data."""
        return Path(self.data_dir).expanduser() if self.data_dir else user_data_path("nlui")

    @property
    def approvals_url(self) -> str:
        """Path or URL of the approvals; used by the gateway, its listeners and the command line."""
        return self.approvals_in(self.data_folder)

    def approvals_in(self, data: Path) -> str:
        """Return path or URL of the approvals of a gateway that keeps its data in a folder."""
        return self.storage.url or str(data / APPROVALS_FILE)

    @property
    def backends(self) -> tuple[BackendSettings, ...]:
        """All servers to mount, without duplicates."""
        named = tuple(entry.model_copy(update={"name": entry.name or name}) for name, entry in self.mcp_servers.items())
        found: list[BackendSettings] = []
        for backend in (*self.mcp.servers, *self.mcp.clients, *named):
            if backend not in found:
                found.append(backend)
        return tuple(found)


Mode = Literal["host", "guard"]
S = TypeVar("S", TargetSettings, BackendSettings)


@dataclass(frozen=True, slots=True)
class Difference(Generic[S]):
    """Names of sources to stop, then settings of sources to start."""

    stop: tuple[str, ...]
    start: tuple[S, ...]


def difference(running: Mapping[str, S], wanted: Iterable[S]) -> Difference[S]:
    """Compare the running sources with the wanted ones; one whose settings changed is stopped and started."""
    # Reversed, so that of several with one name the first counts.
    named = {name_of(one): one.model_copy(update={"name": name_of(one)}) for one in reversed(tuple(wanted))}
    same = {name for name, settings in running.items() if named.get(name) == settings}
    return Difference(
        stop=tuple(name for name in running if name not in same),
        start=tuple(settings for name, settings in reversed(named.items()) if name not in same),
    )


def name_of(settings: S) -> str:
    """Return the name under which a source runs."""
    if isinstance(settings, TargetSettings):
        return source_name(settings.name or settings.base_url or settings.spec)
    return source_name(settings.name)
