"""Edits an app while it runs: changes its files as one, loads them, and takes all of it back if that fails."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from anyio import CancelScope, to_thread

from ui_mcp.errors import DiskError, InvalidArgumentsError, NotFoundError, RefusedError, UiMcpError
from ui_mcp.ui.app_files import file_diff, present_files, require_path, version_of
from ui_mcp.ui.audit import Finding, findings, parsed_app
from ui_mcp.ui.editing.changes import FileChange, LoadProblem, changed_files, edit_of, located, viewdef_problems
from ui_mcp.ui.editing.journal import Draft, Edit, EditJournal, editing
from ui_mcp.ui.sessions.registry import SessionRegistry
from ui_mcp.wire import Op
from ui_mcp.workspace import Workspace

MAX_DIFF_LINES = 200


@dataclass(frozen=True, slots=True)
class Plan:
    """An edit, and what the app's files are before and after it."""

    edit: Edit
    contents: Mapping[str, bytes]
    """By digest."""
    before: Mapping[str, bytes]
    after: Mapping[str, bytes]
    found: tuple[Finding, ...]
    """What the audit finds afterwards, and did not after the last edit."""
    fixed: int = 0
    """How many findings are gone."""
    undoes: int | None = None
    """Number of the edit that it takes back."""

    @property
    def paths(self) -> list[str]:
        return list(self.edit.after)

    def changes(self) -> dict[str, str]:
        """Return what happens to each file."""
        kinds = {(True, True): "changed", (True, False): "deleted", (False, True): "created"}
        return {path: kinds[path in self.before, path in self.after] for path in self.paths}

    def diff(self) -> str:
        """Return the difference of all files as a patch."""
        lines = [line for path in self.paths for line in file_diff(path, self.before.get(path), self.after.get(path))]
        more = len(lines) - MAX_DIFF_LINES
        return "\n".join([*lines[:MAX_DIFF_LINES], *([f"… {more} more lines"] if more > 0 else [])])


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of an edit: it holds unless there are problems, which an undo outlives."""

    plan: Plan
    problems: tuple[LoadProblem, ...] = ()
    draft: str = ""
    """Name of the refused files, to be corrected."""
    note: str = ""
    """What is missing if the displayed app shows nothing."""


class AppEditor:
    """Edits one app; `sessions` is None while the server does not run, and then nothing is loaded."""

    def __init__(self, workspace: Workspace, app: str, sessions: SessionRegistry | None) -> None:
        self._app = app
        self._workspace = workspace
        self._sessions = sessions
        self._journal = EditJournal(workspace, app)

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        """Keep other calls and processes from editing, and finish what one that ended has left."""
        with ExitStack() as held:
            await to_thread.run_sync(held.enter_context, editing(self._workspace))
            await to_thread.run_sync(self._journal.recover)
            yield

    async def plan(self, changes: Sequence[FileChange], base: str | None) -> Plan:
        """Return the edit that these changes are.

        Raises:
            InvalidArgumentsError: a change is ambiguous, or its place is not found.
            RefusedError: a path is not that of an app's file, or the app is no longer at version `base`.
        """
        return await to_thread.run_sync(self._plan, changes, base)

    async def plan_undo(self) -> Plan:
        """Return the edit that takes back the last one.

        Raises:
            NotFoundError: there is none.
            RefusedError: its files were changed since.
        """
        return await to_thread.run_sync(self._plan_undo)

    async def check(self, plan: Plan) -> list[LoadProblem]:
        """Compile the changed files, without running or writing them, and return what is wrong."""
        problems = viewdef_problems(self._app, plan.after, [path for path in plan.paths if path in plan.after])
        for path in plan.paths if self._sessions else ():
            if path.endswith(".lua") and path in plan.after:
                problems += await self._check_lua(path, plan.after)
        return problems

    async def apply(self, plan: Plan, *, show: bool) -> Outcome:
        """Write the files, load them and, with `show`, display the app; restore them if that fails.

        An undo stays, whatever fails. A caller that is cancelled waits until the files are whole.

        Raises:
            DiskError: a file cannot be written; nothing has changed.
        """
        outcome = Outcome(plan)
        with CancelScope(shield=True):
            try:
                if self._sessions is None:
                    await to_thread.run_sync(self._journal.apply, plan.edit, plan.contents)
                    await to_thread.run_sync(self._commit, plan)
                else:
                    outcome = await self._apply_and_load(self._sessions, plan, show=show)
            except OSError as error:
                await to_thread.run_sync(self._journal.revert)
                raise DiskError(f"Cannot write apps/{self._app}", error) from error
        return outcome

    async def refuse(self, plan: Plan, problems: Sequence[LoadProblem]) -> Outcome:
        """Keep the files of an edit that is not applied, so that the next one can correct them."""
        files = {path: plan.after.get(path) for path in plan.paths}
        draft = Draft(version_of(plan.after), version_of(plan.before), files)
        await to_thread.run_sync(self._journal.keep_draft, draft)
        return Outcome(plan, tuple(problems), draft.version)

    def _plan(self, changes: Sequence[FileChange], base: str | None) -> Plan:
        if not changes:
            raise InvalidArgumentsError("Nothing to do: give changes, or undo")
        folder = self._journal.folder
        for change in changes:
            require_path(folder, change.path)
        present = present_files(folder) if folder.is_dir() else {}
        draft = self._require_base(present, base)
        start = _with(present, draft.files) if draft else present
        wanted = {**(draft.files if draft else {}), **changed_files(start, changes)}
        after = _with(present, wanted)
        found = findings(parsed_app(self._app, after))
        last = self._journal.last()
        known = set(last[1].findings if last else _keys(self._app, present))
        edit, contents = edit_of(
            present,
            wanted,
            modes={path: (folder / path).stat().st_mode & 0o777 for path in wanted if path in present},
            folders=_folders(folder),
            versions=(version_of(present), version_of(after)),
            findings=tuple(one.key for one in found),
        )
        new = tuple(one for one in found if one.key not in known)
        return Plan(edit, contents, present, after, new, len(known - {one.key for one in found}))

    def _plan_undo(self) -> Plan:
        last = self._journal.last()
        if last is None:
            raise NotFoundError(f"There is no edit of apps/{self._app} to undo")
        number, edit = last
        self._journal.require_unchanged(edit)
        present = present_files(self._journal.folder) if self._journal.folder.is_dir() else {}
        contents = self._journal.contents(edit)
        wanted = {path: contents[state[0]] if state else None for path, state in edit.before.items()}
        after = _with(present, wanted)
        found = findings(parsed_app(self._app, after)) if after else []
        reverse = replace(edit.reversed(), findings=tuple(one.key for one in found), version=version_of(after))
        return Plan(reverse, contents, present, after, (), 0, number)

    def _require_base(self, present: Mapping[str, bytes], base: str | None) -> Draft | None:
        """Check the version that the caller has seen; return the draft that it names, if it does."""
        now = version_of(present)
        if base is None or base == now:
            return None
        draft = self._journal.draft(base)
        if draft is not None and draft.base == now:
            return draft
        last = self._journal.last()
        lines: list[str] = []
        if last and last[1].version == base:
            contents = self._journal.contents(last[1])
            for path, state in last[1].after.items():
                lines += file_diff(path, contents[state[0]] if state else None, present.get(path))
        shown = "\n".join(lines[:MAX_DIFF_LINES])
        raise RefusedError(
            f"apps/{self._app} is at version {now}, not {base}: it was saved meanwhile\n"
            + (f"{shown}\n" if shown else "")
            + f"Read what you change with ui_read, then edit again with base {now}.",
            version=now,
        )

    async def _check_lua(self, path: str, files: Mapping[str, bytes]) -> list[LoadProblem]:
        assert self._sessions is not None
        name, text = f"apps/{self._app}/{path}", files[path].decode("utf-8", "replace")
        try:
            reply = await self._sessions.get("1").call(Op.CHECK, name, text)
        except UiMcpError:
            return []  # no session compiles it now; whatever is wrong shows when it is loaded
        return [located(self._app, path, reply.fault.message, files)] if reply.fault else []

    async def _apply_and_load(self, sessions: SessionRegistry, plan: Plan, *, show: bool) -> Outcome:
        folder = self._journal.folder
        files = [folder / path for path in plan.paths]
        async with sessions.writing() as load:
            await to_thread.run_sync(self._journal.apply, plan.edit, plan.contents)
            failed = await load(files)
            problems = [self._problem(str(one.get("file", "")), str(one.get("message", "")), plan) for one in failed]
            note = ""
            if show and not problems:
                problems, note = await self._display(sessions, plan)
            if problems and plan.undoes is None:
                await to_thread.run_sync(self._journal.revert)
                await load(files)
                return await self.refuse(plan, problems)
            await to_thread.run_sync(self._commit, plan)
        sessions.report_failed(failed)
        return Outcome(plan, tuple(problems), note=note)

    async def _display(self, sessions: SessionRegistry, plan: Plan) -> tuple[list[LoadProblem], str]:
        try:
            return [], await sessions.display(sessions.get("1"), self._app) or ""
        except UiMcpError as error:
            return [self._problem("app.lua", error.message, plan)], ""

    def _problem(self, file: str, message: str, plan: Plan) -> LoadProblem:
        below = f"apps/{self._app}/"
        return located(self._app, file.partition(below)[2] or file, message, plan.after)

    def _commit(self, plan: Plan) -> None:
        if plan.undoes is None:
            self._journal.commit()
        else:
            self._journal.commit_undo(plan.undoes)


def _with(files: Mapping[str, bytes], wanted: Mapping[str, bytes | None]) -> dict[str, bytes]:
    merged = {**files, **wanted}
    return {path: content for path, content in merged.items() if content is not None}


def _keys(app: str, files: Mapping[str, bytes]) -> list[str]:
    return [one.key for one in findings(parsed_app(app, files))] if files else []


def _folders(folder: Path) -> frozenset[str]:
    found = [entry.relative_to(folder).as_posix() for entry in folder.rglob("*") if entry.is_dir()]
    return frozenset([".", *found] if folder.is_dir() else [])
