"""A policed API without a gateway around it: its document can be swapped, and every request it receives is kept."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import httpx2

from ui_mcp.errors import UpstreamError
from ui_mcp.gateway.approvals.questions import EnforcementSettings
from ui_mcp.gateway.approvals.service import ApprovalService
from ui_mcp.gateway.approvals.store import open_store
from ui_mcp.gateway.audit import Audit, lines
from ui_mcp.gateway.catalog import Catalog
from ui_mcp.gateway.config.notes import Notes
from ui_mcp.gateway.config.settings import ApprovalSettings, Decision, Mode, Rule, TargetSettings
from ui_mcp.gateway.enforcement import PolicyEnforcer
from ui_mcp.gateway.openapi.auth import Credentials, Tokens
from ui_mcp.gateway.openapi.calls import OperationCaller, Parts
from ui_mcp.gateway.openapi.document import Document
from ui_mcp.gateway.openapi.files import Files
from ui_mcp.gateway.openapi.operations import read_api
from ui_mcp.gateway.openapi.response import Responses
from ui_mcp.gateway.openapi.send import Sender
from ui_mcp.gateway.openapi.target import Target
from ui_mcp.gateway.policy import Policy
from ui_mcp.gateway.results import ResultStore
from ui_mcp.gateway.sanitize import SecretMasker
from ui_mcp.jsontypes import Json, JsonObject


@dataclass(frozen=True)
class Sent:
    method: str
    url: str
    body: str


@dataclass
class Judged:
    """The API `api`, its policy and its approvals, in one folder."""

    folder: Path
    mode: Mode = "guard"
    fixed: dict[str, Decision] = field(default_factory=dict)
    standing: tuple[Rule, ...] = ()
    sent: list[Sent] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.masker = SecretMasker()
        parts = Parts(
            Sender(lambda *_: httpx2.AsyncClient(transport=httpx2.MockTransport(self._received)), "test"),
            Files((self.folder,), _nothing),
            Responses(ResultStore(self.folder / "results"), self.masker),
        )
        self.target = Target(
            TargetSettings(name="api", set_auth=False),
            Credentials({}, {}, Tokens(_nowhere)),
            self.masker,
            lambda target: OperationCaller(target, parts),
        )
        self.catalog = Catalog()
        self.catalog.add(self.target)
        self.start()

    def start(self) -> None:
        """Begin, or begin anew after a restart, with what the store kept."""
        self.store = open_store(str(self.folder / "approvals.db"))
        self.approvals = ApprovalService(self.store)
        self._audit = Audit(self.folder / "audit.jsonl", "full", self.masker)
        approval = ApprovalSettings(sync_wait_s=0)
        enforcement = EnforcementSettings(lambda _: Policy(self.mode, self.standing, self.fixed), approval)
        self.enforcer = PolicyEnforcer(self.catalog, self.approvals, enforcement, self._audit, self.masker)

    def end(self) -> None:
        self.store.close()
        self._audit.close()

    def adopt(self, document: Json) -> None:
        """Take a document, as a reload does."""
        if self.target.adopt(read_api(Document("api.json", {"api.json": document}, Notes()))):
            self.catalog.changed()

    @property
    def noted(self) -> Sequence[JsonObject]:
        """The audit log."""
        return list(lines(self.folder / "audit.jsonl"))

    def _received(self, request: httpx2.Request) -> httpx2.Response:
        self.sent.append(Sent(request.method, str(request.url), request.content.decode()))
        return httpx2.Response(200, json=[{"id": 1}], headers={"Link": f'<{request.url}>; rel="next"'})


async def _nowhere(*_: object) -> tuple[int, Json]:
    raise UpstreamError("there is nothing")


async def _nothing(url: str) -> bytes:
    raise UpstreamError("there is nothing")
