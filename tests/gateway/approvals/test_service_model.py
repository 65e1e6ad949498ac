"""Approvals in any order of asking, answering, reloading and restarting, by two clients: what runs was shown."""

import asyncio
from collections import Counter
from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from gateway.conftest import document
from gateway.judged import Judged, Sent
from ui_mcp.errors import DeniedError
from ui_mcp.gateway.approvals.model import Approval, Scope
from ui_mcp.gateway.approvals.service import ApprovalService, Decision
from ui_mcp.jsontypes import Json, JsonObject
from ui_mcp.toolkit.tool import Call

MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None
CLIENTS = ("session:a", "session:b")
BODY = {"content": {"application/json": {"schema": {"type": "object"}}}}


def described(server: str, path: str, method: str, place: str) -> Json:
    """The tool `api__act`, as one of the things it may come to mean."""
    parameter = {"name": "n", "in": place, "schema": {"type": "integer"}}
    operation = {"operationId": "act", "parameters": [parameter], "requestBody": BODY, "responses": {}}
    return document({path: {method: operation}}, servers=[{"url": server}])


MEANINGS = (
    described("http://one.example", "/boats", "post", "query"),
    described("http://one.example", "/everything", "delete", "query"),
    described("http://two.example", "/boats", "post", "query"),
    described("http://one.example", "/boats", "post", "header"),
)
ARGUMENTS = st.sampled_from([{"n": 1}, {"n": 1, "body": {"name": "boat"}}, {"n": 2}])


@dataclass(frozen=True)
class Agreed:
    """A yes for longer: the operation that was shown, with any body, to the caller that asked."""

    method: str
    url: str
    client: str | None

    def covers(self, sent: Sent, client: str) -> bool:
        shown = (self.method, self.url.partition("?")[0])
        return shown == (sent.method, sent.url.partition("?")[0]) and self.client in (None, client)


class Approvals(RuleBasedStateMachine):
    """Real policy, approvals and requests; the model is what people saw and said."""

    def __init__(self) -> None:
        super().__init__()
        self._folder = TemporaryDirectory(dir=MEMORY)
        self._loop = asyncio.Runner()
        self.api = Judged(Path(self._folder.name))
        self.api.adopt(MEANINGS[0])
        self.once: Counter[Sent] = Counter()
        """Requests that a person saw and said yes to, as often as that happened."""
        self.longer: list[Agreed] = []
        self.ids: dict[str, str] = {}
        """Whose each question is."""
        self.waiting: list[Approval] = []

    def _do(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self._loop.run(work)

    def teardown(self) -> None:
        self.api.end()
        self._loop.close()
        self._folder.cleanup()

    @rule(client=st.sampled_from(CLIENTS), arguments=ARGUMENTS)
    def ask(self, client: str, arguments: JsonObject) -> None:
        self.call(client, arguments)

    def call(self, client: str, arguments: JsonObject) -> None:
        before = len(self.api.sent)
        answer: JsonObject | None = None
        with suppress(DeniedError):  # the answer to the same call of before, which has not been fetched yet
            answer = self._do(self.api.enforcer.call("api__act", arguments, Call(connection=client))).structured
        new = self.api.sent[before:]
        assert len(new) <= 1
        if new:
            assert any(agreed.covers(new[0], client) for agreed in self.longer)
        elif answer and "approval_id" in answer:
            assert self.ids.setdefault(answer["approval_id"], client) == client

    @rule(meaning=st.sampled_from(MEANINGS), client=st.sampled_from((None, *CLIENTS)))
    def reload(self, meaning: Json, client: str | None) -> None:
        self.api.adopt(meaning)
        if client is not None:
            self.call(client, {"n": 1})

    @rule()
    def restart(self) -> None:
        self.api.end()
        self.api.start()
        self.longer = [agreed for agreed in self.longer if agreed.client is None]

    @precondition(lambda self: self.waiting)
    @rule(data=st.data(), scope=st.sampled_from(["once", "session", "always"]), at_once=st.booleans())
    def say_yes(self, data: st.DataObject, scope: Scope, at_once: bool) -> None:
        row = data.draw(st.sampled_from(self.waiting))
        self._agreed(
            row, scope, self._do(self.api.approvals.decide(row.id, Decision("approve", row.digest, "ann", scope=scope)))
        )
        if at_once:
            self.run()

    @precondition(lambda self: self.waiting)
    @rule(data=st.data(), arguments=ARGUMENTS)
    def say_yes_to_something_else(self, data: st.DataObject, arguments: JsonObject) -> None:
        row = data.draw(st.sampled_from(self.waiting))
        reply = Decision("approve_with_edit", row.digest, "ann", arguments=arguments)
        self._agreed(row, "once", self._do(self.api.approvals.decide(row.id, reply)))

    @precondition(lambda self: self.waiting)
    @rule(data=st.data(), arguments=ARGUMENTS)
    def say_yes_to_something_else_where_no_request_is_shown(self, data: st.DataObject, arguments: JsonObject) -> None:
        row = data.draw(st.sampled_from(self.waiting))
        self._do(
            ApprovalService(self.api.store).decide(
                row.id, Decision("approve_with_edit", row.digest, "ann", arguments=arguments)
            )
        )

    @precondition(lambda self: self.waiting)
    @rule(data=st.data())
    def say_no(self, data: st.DataObject) -> None:
        row = data.draw(st.sampled_from(self.waiting))
        self._do(self.api.approvals.decide(row.id, Decision("deny_continue", row.digest, "ann")))

    @rule()
    def run_what_was_approved(self) -> None:
        self.run()

    def run(self) -> None:
        before = len(self.api.sent)
        self._do(self._run_all())
        for sent in self.api.sent[before:]:
            assert self.once[sent] > 0, f"{sent} was not shown"
            self.once[sent] -= 1

    @precondition(lambda self: self.ids)
    @rule(data=st.data(), client=st.sampled_from(CLIENTS))
    def fetch(self, data: st.DataObject, client: str) -> None:
        one = data.draw(st.sampled_from(list(self.ids)))
        fetched = self.api.enforcer.outcome(one, 0, Call(connection=client))
        if client != self.ids[one]:
            with pytest.raises(DeniedError, match="another client"):
                self._do(fetched)
        else:
            try:
                answer = self._do(fetched).structured or {}
            except DeniedError:
                return
            if "approval_id" in answer:
                self.ids.setdefault(answer["approval_id"], client)

    @invariant()
    def every_request_has_its_line(self) -> None:
        self.waiting = list(self._do(self.api.approvals.pending()))
        allowed = [
            line
            for line in self.api.noted
            if line["outcome"] in {"policy_allow", "user_approve", "user_approve_edited"}
        ]
        assert len(allowed) == len(self.api.sent)

    def _agreed(self, row: Approval, scope: Scope, decided: Approval) -> None:
        shown = decided.preview or {}
        sent = Sent(shown["method"], shown["url"], shown["body"] or "")
        self.once[sent] += 1
        if scope != "once":
            self.longer.append(Agreed(sent.method, sent.url, row.connection if scope == "session" else None))
        self.api.standing = tuple(one for _, one in self._do(self.api.store.rules()))

    async def _run_all(self) -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(self.api.approvals.run_approved, self.api.enforcer.execute, _at_once)
            while await self.api.store.rows("runnable") or await self.api.store.rows("executing"):
                await anyio.sleep(0.001)
            group.cancel_scope.cancel()


async def _at_once(tool: str) -> None:
    """Every source runs."""


# A failure is shown as it was found: making it smaller would take minutes.
Approvals.TestCase.settings = settings(
    max_examples=50,
    stateful_step_count=25,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.too_slow],
)
TestApprovals = pytest.mark.covers("R-AP-1", "R-AP-5", "R-AP-15", "R-AP-16")(Approvals.TestCase)
