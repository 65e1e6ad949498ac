"""The settings of nlui.yaml, and the difference between two versions of them."""

from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar, Generic, Literal, TypeVar

from platformdirs import user_data_path

from ui_mcp.fields import Before, Limit, Named, Rules
from ui_mcp.jsontypes import Json, JsonObject
from ui_mcp.lazy_dataclass import dataclass
from ui_mcp.toolkit.names import source_name
from ui_mcp.workspace import APPROVALS_FILE

Decision = Literal["allow", "ask", "deny_continue", "deny_abort"]


@dataclass(frozen=True, slots=True)
class Part:
    """A mapping of the file; unknown keys are reported beside, not refused."""

    RULES: ClassVar = Rules(unknown="ignore")


def _selection(given: Json) -> Json:
    """Rewrite the short form: `/users*` is a path, `GET` a method, `tag:x` a tag, anything else an operation."""
    if isinstance(given, str):
        given = [given]
    if not isinstance(given, list):
        return given
    out: dict[str, list[str]] = {"tags": [], "paths": [], "methods": [], "operations": []}
    for word in map(str, given):
        kind = "paths" if word.startswith("/") else "tags" if word.startswith("tag:") else "operations"
        out["methods" if word.isupper() and word.isalpha() else kind].append(word.removeprefix("tag:"))
    return out


@dataclass(frozen=True, slots=True)
class Selection(Part):
    """Which operations or tools are meant: any of the given globs."""

    RULES: ClassVar = Rules(unknown="ignore", before=_selection)

    tags: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    operations: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.tags or self.paths or self.methods or self.operations)


@dataclass(frozen=True, slots=True)
class Override(Part):
    """How one tool is listed and treated instead."""

    name: str | None = None
    description: str | None = None
    hidden: bool = False
    decision: Decision | None = None
    annotations: dict[str, bool] = field(default_factory=dict)
    defaults: JsonObject = field(default_factory=dict)


SIGN_IN_TYPES = ("sign_in", "oauth2_authorization_code", "oauth2_device_code")
"""Types of credentials that a person obtains by signing in; the ways to do so are chosen then."""


@dataclass(frozen=True, slots=True)
class SchemeAuth(Part):
    """A credential."""

    type: str = "bearer"
    token: str = ""
    header_name: Annotated[
        str,
        Named(
            "header_name",
            (
                "name",
                "parameter",
            ),
        ),
    ] = ""
    username: str = ""
    password: str = ""
    token_url: str = ""
    client_id: str = ""
    client_secret: str = ""
    refresh_token: str = ""
    scopes: tuple[str, ...] = ()
    audience: str = ""
    client_auth: Literal["basic", "post"] = "basic"
    issuer: str = ""
    """The authorization server at which a person signs in; its endpoints are read from its metadata."""
    authorization_url: str = ""
    device_url: str = ""


@dataclass(frozen=True, slots=True)
class Auth(SchemeAuth):
    """The short form for one credential, or one per scheme of the document."""

    schemes: dict[str, SchemeAuth] = field(default_factory=dict)
    strict: bool = False
    passthrough: bool | None = None
    """Whether a bearer token of a chat request is sent on to this API; by default if it is the only one."""

    @property
    def is_short(self) -> bool:
        """Whether the short form was used."""
        given = self.token or self.username or self.password or self.client_id or self.refresh_token
        return bool(given) or self.type in SIGN_IN_TYPES


@dataclass(frozen=True, slots=True)
class FileSettings(Part):
    """Where files of calls may come from."""

    roots: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RefSettings(Part):
    """Where references of a document may lead."""

    allow_hosts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TargetSettings(Part):
    """One API."""

    name: str = ""
    base_url: str = ""
    spec: str = ""
    description: str = ""
    auth: Auth | None = None
    spec_auth: Auth | None = None
    servers: Literal["", "honour"] = ""
    server_variables: dict[str, str] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    timeout_s: Annotated[float, Limit(gt=0)] = 30.0
    concurrency: Annotated[int, Limit(ge=1)] = 8
    include: Selection = Selection()
    exclude: Selection = Selection()
    overrides: dict[str, Override] = field(default_factory=dict)
    set_auth: bool = True
    output_schemas: bool = False
    reload_s: Annotated[float, Limit(ge=0)] = 300.0
    files: FileSettings = FileSettings()
    refs: RefSettings = RefSettings()
    path_slashes: tuple[str, ...] = ()
    array_format: Literal["index", "brackets", "repeat"] = "index"
    form_nested: Literal["json", "deepObject"] = "json"
    proxy: str | None = None
    validate_arguments: Annotated[Literal["strict", "warn", "off"], Named("validate")] = "strict"


def _as_list(value: Json) -> Json:
    return [value] if isinstance(value, str) else value


@dataclass(frozen=True, slots=True)
class BackendSettings(Part):
    """One MCP server to mount."""

    name: str = ""
    command: str = ""
    args: Annotated[tuple[str, ...], Before(_as_list)] = ()
    env: dict[str, str] = field(default_factory=dict)
    cwd: str | None = None
    roots: tuple[str, ...] = ()
    url: str = ""
    transport: Annotated[Literal["auto", "stdio", "http", "sse"], Named("transport", ("type",))] = "auto"
    headers: dict[str, str] = field(default_factory=dict)
    auth: SchemeAuth | None = None
    """How the person signs in, where the server's own metadata do not suffice."""
    timeout_s: Annotated[float, Limit(gt=0)] = 60.0
    start_timeout_s: Annotated[float, Limit(gt=0)] = 30.0
    include: Selection = Selection()
    exclude: Selection = Selection()
    overrides: dict[str, Override] = field(default_factory=dict)
    enabled: bool = True
    drop_when_down: bool = False
    inherit_env: Literal["all", "minimal"] = "all"
    pinned: bool = False


def _flat(given: Json) -> Json:
    """Rewrite `match: {…}` to its members beside the decision."""
    if isinstance(given, dict) and isinstance(given.get("match"), dict):
        return {**given["match"], **{key: value for key, value in given.items() if key != "match"}}
    return given


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule(Part):
    """One line of policy; every given glob must match."""

    RULES: ClassVar = Rules(unknown="ignore", before=_flat)

    source: Annotated[str, Named("source", ("server",))] = "*"
    tool: str = "*"
    method: str = "*"
    tag: str = "*"
    path: str = "*"
    principal: str = "*"
    args: dict[str, str] = field(default_factory=dict)
    """Globs for arguments, by dotted path; numbers and other values are compared as JSON writes them."""
    exact: JsonObject = field(default_factory=dict)
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


@dataclass(frozen=True, slots=True)
class PolicySettings(Part):
    """Who asks before what."""

    mode: Literal["host", "guard"] | None = None
    rules: tuple[Rule, ...] = ()
    pin_tools: bool = True
    """Hold back tools of mounted servers and of documents behind a URL that changed since they were first used, until a
    person accepts them."""


@dataclass(frozen=True, slots=True)
class ApprovalSettings(Part):
    """How long a person has."""

    sync_wait_s: Annotated[float, Limit(ge=0)] = 45.0
    expiry_s: Annotated[float, Limit(gt=0)] = 86_400.0
    on_expiry: Literal["deny_continue", "deny_abort"] = "deny_continue"


@dataclass(frozen=True, slots=True)
class CatalogueSettings(Part):
    """How tools are listed."""

    mode: Literal["full", "compact", "code", "auto"] = "full"
    tool_budget: Annotated[int, Limit(ge=500)] = 4_000
    page_size: Annotated[int, Limit(ge=0)] = 0
    extra_tools: bool = True
    search_model: str = ""
    """A folder with a sentence model (model.safetensors, vocab.txt) for search; "off" ignores an installed one."""


@dataclass(frozen=True, slots=True)
class ResultSettings(Part):
    """How much of an answer is shown at once."""

    max_bytes: Annotated[int, Limit(ge=1_000)] = 60_000
    max_rows: Annotated[int, Limit(ge=1)] = 200


@dataclass(frozen=True, slots=True)
class AuditSettings(Part):
    """What is written down about calls."""

    file: str = ""
    level: Literal["off", "meta", "args", "full"] = "meta"


@dataclass(frozen=True, slots=True)
class McpServerSettings(Part):
    """`mcp.server`: the gateway's own MCP listener."""

    sse_port: Annotated[int, Limit(ge=0, le=65535)] = 0
    allowed_origins: tuple[str, ...] = ()
    """Origins of MCP hosts that are web pages; they may call every tool that a program may."""


@dataclass(frozen=True, slots=True)
class McpSection(Part):
    """`mcp`: servers to mount, under any of their usual names."""

    servers: tuple[BackendSettings, ...] = ()
    clients: tuple[BackendSettings, ...] = ()
    server: McpServerSettings = McpServerSettings()
    startup_wait_ms: Annotated[int, Limit(ge=0)] = 5_000


@dataclass(frozen=True, slots=True)
class StorageSection(Part):
    """`storage`: where approvals last."""

    url: str = ""
    """A path, `sqlite:///PATH` or `postgresql://…`; empty: approvals.db in the data directory."""


@dataclass(frozen=True, slots=True)
class ServerSection(Part):
    """`server`: where the chat server listens."""

    host: str = "127.0.0.1"
    port: Annotated[int, Limit(ge=0, le=65535)] = 9000
    token: str = ""
    cors: tuple[str, ...] = ("http://localhost:3000",)
    """Origins of other front ends that may use the API."""
    allowed_users: tuple[int | str, ...] = ()
    """Linux: accounts besides ours and root that may connect from this machine; `*` = all."""


@dataclass(frozen=True, slots=True)
class GatewaySettings(Part):
    """The whole file."""

    language: str = "en"
    data_dir: str = ""
    proxy: str | None = None
    llm: dict[str, Any] = field(default_factory=dict)
    targets: tuple[TargetSettings, ...] = ()
    mcp: McpSection = McpSection()
    mcp_servers: Annotated[dict[str, BackendSettings], Named("mcpServers")] = field(default_factory=dict)
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
        named = tuple(replace(entry, name=entry.name or name) for name, entry in self.mcp_servers.items())
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
    named = {name_of(one): replace(one, name=name_of(one)) for one in reversed(tuple(wanted))}
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
