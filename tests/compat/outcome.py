"""What happened with one app on a walk: its states at each step, compared, as a row of a table."""

from dataclasses import dataclass, field

Leaves = dict[str, str]
"""The values of a state by their paths."""


def differing(before: Leaves, after: Leaves) -> set[str]:
    return {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}


@dataclass
class Outcome:
    """What happened with one app."""

    app: str
    shown: bool = False
    text: int = 0
    clicks: int = 0
    edited: bool = False
    states: dict[str, Leaves] = field(default_factory=dict)
    """The state when first shown, after operating, after the edit, when all apps were done, after a kill, and after an
    orderly restart."""
    volatile: set[str] = field(default_factory=set)
    """Values that change by themselves or by loading the page, such as the time."""
    touched: set[str] = field(default_factory=set)
    """Values that any click changed, although a later one may have changed them back."""
    restarted: bool = False
    kept: bool = True
    saved: set[str] = field(default_factory=set)
    errors: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)

    @property
    def works(self) -> bool:
        steps = self.shown and self.edited and self.restarted and self.kept and bool(self.changed())
        return steps and not self.lost() and not self.forgotten() and not self.strange() and not self.errors

    def changed(self) -> set[str]:
        """Return the values that operating changed at any time."""
        return (self._differing("shown", "operated") | self.touched) - self.volatile

    def lost(self) -> set[str]:
        """Return the values that an edit of a viewdef changed."""
        return self._differing("operated", "edited")

    def forgotten(self) -> set[str]:
        """Return the values that are others after the server was killed."""
        return self._differing("left", "killed")

    def back(self) -> set[str]:
        """Return the values that were changed in the end and are the same after the restart."""
        return self._differing("shown", "left") - self._differing("left", "restarted")

    def strange(self) -> set[str]:
        """Return the values after the restart that are neither as before it nor as in the beginning."""
        neither = self._differing("shown", "restarted") & self._differing("left", "restarted")
        known = self.states.get("shown", {}).keys() | self.states.get("left", {}).keys()
        return neither & known & self.states.get("restarted", {}).keys()

    def _differing(self, one: str, other: str) -> set[str]:
        return differing(self.states.get(one, {}), self.states.get(other, {})) - self.volatile

    def row(self) -> str:
        marks = ["yes" if one else "NO" for one in (self.shown, self.edited, self.restarted, self.kept)]
        asked = ", ".join(sorted(set(self.refused))) or "-"
        counts = [self.changed(), self.lost(), self.forgotten(), self.back()]
        compared = " / ".join(str(len(one)) for one in counts)
        problems = [*self.errors, *self._named("killed", self.forgotten()), *self._named("restarted", self.strange())]
        cells = [self.app, marks[0], str(self.clicks), *marks[1:], compared, asked, "; ".join(problems) or "-"]
        return f"| {' | '.join(cells)} |"

    def _named(self, step: str, paths: set[str]) -> list[str]:
        before, after = self.states.get("left", {}), self.states.get(step, {})
        return [f"{step}: {path} {before.get(path)!r} → {after.get(path)!r}" for path in sorted(paths)[:5]]


VALUES = "values changed / lost by the edit / lost by a kill / saved over a restart"
COLUMNS = ("app", "shown", "clicks", "hot edit", "after restart", "data kept", VALUES, "asked for", "errors")
HEAD = f"| {' | '.join(COLUMNS)} |\n{'|---' * len(COLUMNS)}|"
