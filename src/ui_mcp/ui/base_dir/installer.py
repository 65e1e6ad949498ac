"""Installs the bundled files and records what it wrote."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import field
from pathlib import Path

from ui_mcp.errors import InstallError
from ui_mcp.files import digest_of, free_backup_name, write_atomic
from ui_mcp.jsontypes import JsonObject, dumps, loads
from ui_mcp.lazy_dataclass import dataclass
from ui_mcp.ui.base_dir.file_layout import foreign_product
from ui_mcp.ui.base_dir.install_plan import Action, BundledFile, Facts, action, bundled_files, should_install
from ui_mcp.version import UNKNOWN, Version, bundled_readme, version_in, version_line
from ui_mcp.workspace import BUNDLE, Workspace, make_own


def needs_install(workspace: Workspace) -> bool:
    """Return whether this directory has never been installed to."""
    return not workspace.readme.is_file()


def missing_guidance(workspace: Workspace) -> str | None:
    """Return the first text for agents, by its path in the project, that was installed and is gone; None if none is."""
    recorded = Record.load(workspace.state_dir / MANIFEST).files
    texts = [path for path in recorded if "/agents/" in path or path.endswith("SKILL.md")]
    return next((path for path in sorted(texts) if not (workspace.project / path).is_file()), None)


def outdated(workspace: Workspace) -> str | None:
    """Return a message if the project's files are older than this program, else None."""
    bundled, installed = version_in(bundled_readme()), installed_version(workspace)
    if bundled is None or installed is None or bundled <= installed:
        return None
    return f"The files in {workspace.given} are of version {installed}, this is {bundled}: call ui_install"


def installed_version(workspace: Workspace) -> Version | None:
    """Return the version of our files in this project, None if there are none; another product's is not compared."""
    if foreign_product(workspace) is None:
        return version_in(workspace.readme)
    return Version.parse(Record.load(workspace.state_dir / MANIFEST).version)


MANIFEST = "install-manifest.json"


@dataclass(frozen=True, slots=True)
class Record:
    """The version installed last, and the SHA-256 of each file as written, by its path in the project."""

    version: str = ""
    files: dict[str, str] = field(default_factory=dict)

    @classmethod
    def load(cls, file: Path) -> "Record":
        """Read the record; a missing or damaged one counts as empty."""
        try:
            found = loads(file.read_bytes())
            files = found["files"].items()
            return cls(str(found["version"]), {str(path): str(digest) for path, digest in files})
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return cls()

    def save(self, file: Path) -> None:
        text = dumps({"version": self.version, "files": dict(sorted(self.files.items()))})
        write_atomic(file, text.encode() + b"\n")


HINT = "Use force=true to reinstall"


@dataclass(frozen=True, slots=True)
class Conflict:
    """A file that the user changed; it is kept, with the new text beside it."""

    path: str
    merge_path: str


@dataclass(frozen=True, slots=True)
class InstallResult:
    """Result of an install; paths are relative to the project, with `/`."""

    installed: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    conflicts: list[Conflict] = field(default_factory=list)
    backups: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    appended: list[str] = field(default_factory=list)
    """Files of the person that got our section."""
    bundled_version: str = ""
    installed_version: str | None = None
    version_skipped: bool = False

    def as_json(self) -> JsonObject:
        """Return the documented object; conflicts, backups and removed files appear only if there are any."""
        base: JsonObject = {"installed": self.installed, "skipped": self.skipped, "appended": self.appended}
        if self.version_skipped:
            return {
                "version_skipped": True,
                "bundled_version": self.bundled_version,
                "installed_version": self.installed_version,
                "hint": HINT,
                **base,
            }
        conflicts = [{"path": one.path, "merge_path": one.merge_path} for one in self.conflicts]
        rare = {"conflicts": conflicts, "backups": self.backups, "removed": self.removed}
        return base | {name: found for name, found in rare.items() if found}


def make_base(workspace: Workspace) -> None:
    """Create the base directory.

    Raises:
        InstallError: it cannot be created; nothing was written.
    """
    try:
        workspace.base.mkdir(parents=True, exist_ok=True)
        if workspace.state_dir == workspace.own:
            make_own(workspace)
    except OSError as error:
        blocked = isinstance(error, FileExistsError | NotADirectoryError)
        why = "a file is in the way" if blocked else error.strerror or error
        raise InstallError(
            f"Cannot make the directory {workspace.base}: {why}\nChoose another with --dir; nothing was written."
        ) from error


def install(workspace: Workspace, *, force: bool = False, bundle: Path = BUNDLE) -> InstallResult:
    """Install every bundled file that is missing or out of date; `force` also replaces what the user changed.

    Raises:
        InstallError: the directory cannot be created, or some files could not be written; the others are installed.
    """
    files = bundled_files(workspace, bundle)
    bundled, installed = _version(files, workspace), installed_version(workspace)
    names = (str(bundled or UNKNOWN), str(installed) if installed else None)
    if not should_install(bundled, installed, force=force):
        return InstallResult(bundled_version=names[0], installed_version=names[1], version_skipped=True)
    make_base(workspace)
    run = _Run(workspace, InstallResult(bundled_version=names[0], installed_version=names[1]), force=force)
    run.all(files)
    return run.result


def _version(files: Sequence[BundledFile], workspace: Workspace) -> Version | None:
    readme = next((file.content for file in files if file.target == workspace.readme), b"")
    return Version.parse(version_line(readme.decode()) or "")


@dataclass(slots=True)
class _Run:
    """One install that takes place."""

    workspace: Workspace
    result: InstallResult
    force: bool
    recorded: dict[str, str] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)

    @property
    def upgrade(self) -> bool:
        return self.result.installed_version is not None

    def all(self, files: Sequence[BundledFile]) -> None:
        """Install every file. The README, which has the version, comes last, so that a failed install is repeated."""
        record_file = self.workspace.state_dir / MANIFEST
        self.recorded = Record.load(record_file).files
        for file in files:
            if file.target != self.workspace.readme:
                self._try(file, force=self.force)
        self._remove_obsolete({file.path for file in files})
        for file in files:
            if file.target == self.workspace.readme and not self.failures:
                ours = foreign_product(self.workspace) is None
                self._try(file, force=self.force or (self.upgrade and ours))
        try:
            self.result.appended.extend(write_guidance(self.workspace))
        except (OSError, UnicodeDecodeError) as error:
            self.failures.append(f"Cannot write the section of ui-mcp: {error}")
        self._save(record_file)
        if self.failures:
            raise InstallError("\n".join(self.failures), result=self.result.as_json())

    def _try(self, file: BundledFile, *, force: bool) -> None:
        try:
            self._place(file, force=force)
        except OSError as error:
            self.failures.append(f"Cannot install {file.path}: {error.strerror or error}")

    def _place(self, file: BundledFile, *, force: bool) -> None:
        if not self.workspace.contains(file.target.parent):
            raise OSError("its directory is a link to a place outside the project")
        facts = Facts(file.digest, digest_of(file.target), self.recorded.get(file.path))
        match action(facts, upgrade=self.upgrade, force=force):
            case Action.KEEP:
                self._keep(file, facts)
            case Action.MERGE:
                self._merge(file)
            case Action.BACKUP:
                self._backup(file)
                self._write(file)
            case Action.WRITE:
                self._write(file)

    def _keep(self, file: BundledFile, facts: Facts) -> None:
        self.result.skipped.append(file.path)
        if facts.present == file.digest:
            self.recorded[file.path] = file.digest

    def _merge(self, file: BundledFile) -> None:
        write_atomic(file.target.with_name(f"{file.target.name}.merge"), file.content)
        self.result.skipped.append(file.path)
        self.result.conflicts.append(Conflict(file.path, f"{file.path}.merge"))
        self.recorded[file.path] = file.digest

    def _backup(self, file: BundledFile) -> None:
        if file.target.exists():
            backup = free_backup_name(file.target)
            if file.target.is_symlink():
                file.target.rename(backup)  # the link itself: its target may be outside the project
            else:
                write_atomic(backup, file.target.read_bytes())
            self.result.backups.append(self.workspace.name_of(backup))

    def _write(self, file: BundledFile) -> None:
        write_atomic(file.target, file.content, mode=0o755 if file.executable else 0o644)
        self.result.installed.append(file.path)
        self.recorded[file.path] = file.digest

    def _remove_obsolete(self, bundled: set[str]) -> None:
        """Drop files that are no longer bundled from the record, and delete those that the user did not change."""
        for path in sorted(self.recorded.keys() - bundled):
            target, digest = self.workspace.project / path, self.recorded.pop(path)
            if not self.workspace.contains(target.parent) or target.is_symlink() or not target.is_file():
                continue
            with suppress(OSError):  # an obsolete file does no harm
                if digest_of(target) == digest:
                    target.unlink()
                    self.result.removed.append(path)

    def _save(self, file: Path) -> None:
        try:
            Record(self.result.bundled_version, self.recorded).save(file)
        except OSError as error:
            self.failures.append(f"Cannot write {file}: {error.strerror or error}")


BEGIN, END = "<!-- ui-mcp: begin -->", "<!-- ui-mcp: end -->"
SECTION = """\
## UI for the person (ui-mcp)

The MCP server `ui` shows live apps in the person's browser. Read `.agents/skills/ui/SKILL.md` before you show one and
`.agents/skills/ui-builder/SKILL.md` before you build one. Apps are in `{base}/apps/`. Write them with the tool
`ui_edit`, which loads, shows and checks them in one call; `ui_read` reads files, guides and logs.
"""
GUIDED = ("AGENTS.md", "CLAUDE.md", "GEMINI.md")
"""Files of the person that get our section."""
RULE = "---\ndescription: Build and show live apps in the person's browser with ui-mcp\nalwaysApply: false\n---\n"


def write_guidance(workspace: Workspace) -> list[str]:
    """Bring our section up to date in the files that the project has, and return the changed ones.

    A project that has none of them gets none: they belong to the person.
    """
    project, text = workspace.project, SECTION.format(base=workspace.name_of(workspace.base))
    changed = [name for name in GUIDED if _update(project / name, text)]
    rule = project / ".cursor" / "rules" / "ui-mcp.mdc"
    if rule.parent.parent.is_dir() and not rule.parent.is_symlink() and _write(rule, RULE + text):
        changed.append(".cursor/rules/ui-mcp.mdc")
    return changed


def remove_guidance(workspace: Workspace) -> None:
    """Take our section out of the person's files, and delete our rule for Cursor."""
    for name in guided_files(workspace):
        file = workspace.project / name
        _write(file, without_section(file.read_text(encoding="utf-8")))
    rule = workspace.project / ".cursor" / "rules" / "ui-mcp.mdc"
    text = RULE + SECTION.format(base=workspace.name_of(workspace.base))
    if rule.is_file() and not rule.is_symlink() and rule.read_text(encoding="utf-8") == text:
        rule.unlink()
        with suppress(OSError):  # not empty: it holds rules of the person
            rule.parent.rmdir()


def guided_files(workspace: Workspace) -> list[str]:
    """Return the names of the person's files that have our section."""
    files = ((name, workspace.project / name) for name in GUIDED)
    return [
        name
        for name, file in files
        if file.is_file() and not file.is_symlink() and BEGIN in file.read_text(encoding="utf-8", errors="replace")
    ]


def without_section(present: str) -> str:
    """Return a text without our section; pure."""
    before, begin, rest = present.partition(BEGIN)
    _, end, after = rest.partition(END)
    return before.rstrip("\n") + "\n" * bool(before.strip()) + after.lstrip("\n") if begin and end else present


def with_section(present: str, section: str) -> str:
    """Return a text with our section: in its place if it has one, else at the end; pure."""
    block = f"{BEGIN}\n{section}{END}\n"
    before, begin, rest = present.partition(BEGIN)
    _, end, after = rest.partition(END)
    if begin and end:
        return before + block + after.removeprefix("\n")
    return (present.rstrip("\n") + "\n\n" if present.strip() else "") + block


def _update(file: Path, section: str) -> bool:
    if file.is_symlink() or not file.is_file():
        return False
    present = file.read_text(encoding="utf-8")
    # A CLAUDE.md or GEMINI.md often imports AGENTS.md, which then brings our section.
    imported = "@AGENTS.md" in present and (file.parent / "AGENTS.md").is_file()
    return not imported and _write(file, with_section(present, section))


def _write(file: Path, text: str) -> bool:
    if file.is_symlink() or (file.is_file() and file.read_text(encoding="utf-8") == text):
        return False
    write_atomic(file, text.encode(), mode=file.stat().st_mode & 0o777 if file.exists() else 0o644)
    return True
