"""Checks commit messages: `area: imperative summary` in 72 characters, the reason below it wrapped at 72.

`commits.py message FILE` checks one message, as the `commit-msg` hook does; `commits.py range BASE..HEAD` checks the
commits of a pull request; `commits.py enable` makes git use the hooks of this repository. It uses only the standard
library and works with Python 3.9, because a hook runs with whatever Python is installed.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
HOOKS = ".githooks"
WIDTH = 72
SUBJECT = re.compile(r"(?P<area>[a-z0-9_.][\w./-]*(?:, [a-z0-9_.][\w./-]*)*): (?P<summary>\S.*)")
LEFT_TO_GIT = ("Merge ", 'Revert "')
TO_BE_SQUASHED = ("fixup! ", "squash! ", "amend! ")
UNWRAPPABLE = re.compile(r"https?://|^[A-Z][a-z]+(?:-[a-z]+)+: |^\s*\S+$")
"""Links, trailers such as `Co-authored-by:`, and single words that are too long."""
SCISSORS = re.compile(r"^# -+ >8 -+\n.*", re.MULTILINE | re.DOTALL)
VERBS = (
    "add", "allow", "bump", "change", "clean", "correct", "document", "drop", "fix", "handle", "implement", "improve",
    "introduce", "mark", "move", "refactor", "remove", "rename", "replace", "rewrite", "support", "test", "update",
    "use",
)  # fmt: skip


def problems(message: str, *, draft: bool = False) -> list[str]:
    """Return what is wrong with a message; a draft may still be a fixup or squash commit."""
    subject, *rest = message.rstrip().split("\n")
    if subject.startswith(LEFT_TO_GIT):
        return []
    if subject.startswith(TO_BE_SQUASHED):
        return [] if draft else ["squash it into the commit that it corrects"]
    return [*_subject_problems(subject), *_body_problems(rest)]


def _subject_problems(subject: str) -> list[str]:
    found = []
    if len(subject) > WIDTH:
        found.append(f"the subject has {len(subject)} characters, {WIDTH} fit")
    parts = SUBJECT.fullmatch(subject)
    if parts is None:
        return [*found, "the subject is not `area: summary`; the area is a package or directory, as in `ui/sessions`"]
    summary = parts["summary"]
    if summary.endswith("."):
        found.append("the subject ends with a full stop")
    verb = _imperative_of(summary.split()[0])
    if verb:
        found.append(f"the summary is not imperative: write `{verb} …`, not `{summary.split()[0]} …`")
    return found


def _imperative_of(word: str) -> str:
    """Return the imperative of a common verb form such as `added`, or ""."""
    for verb in VERBS:
        stem = verb.rstrip("e")
        forms = {f"{verb}s", f"{verb}es", f"{stem}ed", f"{stem}ing", f"{verb}{verb[-1]}ed", f"{verb}{verb[-1]}ing"}
        if word.lower() in forms:
            return verb
    return ""


def _body_problems(lines: list[str]) -> list[str]:
    found = []
    if lines and lines[0]:
        found.append("the second line is not empty")
    for number, line in enumerate(lines, 2):
        if len(line) > WIDTH and not UNWRAPPABLE.search(line):
            found.append(f"line {number} has {len(line)} characters, wrap it at {WIDTH}")
    return found


def without_comments(text: str) -> str:
    """Return the message in a file that git opened in an editor."""
    kept = SCISSORS.sub("", text)
    return re.sub(r"^#.*\n?", "", kept, flags=re.MULTILINE).strip("\n")


def check_message(file: Path) -> int:
    """Check the message that git is about to use."""
    message = without_comments(file.read_text(encoding="utf-8", errors="replace"))
    found = problems(message, draft=True) if message.strip() else []  # git itself refuses an empty one
    for one in found:
        print(f"commit message: {one}", file=sys.stderr)
    return 1 if found else 0


def check_range(span: str) -> int:
    """Check every commit of a range such as `origin/main..HEAD`."""
    listing = _git("log", "--no-merges", "--format=%h%x00%B%x01", span)
    failed = 0
    for entry in filter(str.strip, listing.stdout.split("\x01")):
        commit, _, message = entry.strip("\n").partition("\0")
        found = problems(message)
        failed += bool(found)
        for one in found:
            print(f"{commit} {message.splitlines()[0]!r}: {one}", file=sys.stderr)
    return 1 if failed else 0


def enable() -> int:
    """Make git use our hooks, in a checkout of this repository that has no hooks yet."""
    if not (ROOT / ".git").exists() or _git("config", "core.hooksPath", check=False).stdout.strip():
        return 0
    found = _git("rev-parse", "--git-path", "hooks", check=False)
    if found.returncode:  # no git, or a checkout that belongs to another account
        return 0
    own = ROOT / found.stdout.strip()
    if own.is_dir() and any(file.suffix != ".sample" for file in own.iterdir()):
        print(f"{own} has hooks of your own; call {HOOKS}/commit-msg from there to check messages.", file=sys.stderr)
        return 0
    _git("config", "core.hooksPath", HOOKS, check=False)
    return 0


def _git(*arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    command = ["git", "-C", str(ROOT), *arguments]
    try:
        return subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace", check=check)
    except FileNotFoundError:
        return subprocess.CompletedProcess(command, 127, "", "git is not installed")
    except subprocess.CalledProcessError as error:
        sys.exit(error.stderr.strip())


def main(arguments: list[str]) -> int:
    """Run one of the three commands."""
    if arguments == ["enable"]:
        return enable()
    if len(arguments) == 2 and arguments[0] == "message":
        return check_message(Path(arguments[1]))
    if len(arguments) == 2 and arguments[0] == "range":
        return check_range(arguments[1])
    print((__doc__ or "").split("\n\n")[1], file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
