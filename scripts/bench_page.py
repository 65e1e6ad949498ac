"""Generates the benchmark page: a table and a chart for each area."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

AREAS = {
    "mcp": "MCP",
    "engine": "Engine",
    "session": "Sessions",
    "web": "Browser",
    "chat": "Chat",
    "gateway": "Gateway",
    "agent": "Agent",
    "introspect": "UI automation",
}
INTRODUCTION = """\
# Benchmarks

Measured on {date} by `make bench`: {machine}.

It runs every file in `benchmarks/`, ui-mcp and the compared tool in the same run, and writes this page. A figure is a
ratio unless it names its unit. Timings differ from machine to machine; compare ratios. A *bar* is the limit that a
figure must meet.

{held} of {barred} bars hold.
"""
ROW, LEFT, WIDTH = 22, 420, 760
WORSE = 1.25


@dataclass(frozen=True, slots=True)
class Claim:
    """One measured figure of one benchmark; `at_most` and `at_least` are its bar."""

    benchmark: str
    name: str
    value: float
    at_most: float | None
    at_least: float | None

    @property
    def holds(self) -> bool:
        """Whether the bar is met; a figure without a bar always holds."""
        return (self.at_most is None or self.value <= self.at_most) and (
            self.at_least is None or self.value >= self.at_least
        )

    def worse_than(self, before: "Claim") -> bool:
        """Return whether the figure got worse by more than the noise of an ordinary machine."""
        if self.at_least is not None:
            return self.value * WORSE < before.value
        return self.value > before.value * WORSE


def page(date: str, machine: str, claims: Sequence[Claim]) -> str:
    barred = [claim for claim in claims if claim.at_most is not None or claim.at_least is not None]
    held = sum(claim.holds for claim in barred)
    parts = [INTRODUCTION.format(date=date, machine=machine, held=held, barred=len(barred))]
    for area, title in AREAS.items():
        ours = [claim for claim in claims if claim.benchmark.startswith(area)]
        if ours:
            parts.append("\n".join(_section(area, title, ours)))
    return "\n".join(parts)


def _section(area: str, title: str, claims: Sequence[Claim]) -> Iterator[str]:
    yield f"## {title}\n"
    if any(claim.at_most or claim.at_least for claim in claims):
        yield f"![{title}: figures compared with their bars](images/bench/{area}.svg)"
    benchmark = ""
    for claim in claims:
        if claim.benchmark != benchmark:
            benchmark = claim.benchmark
            yield f"\n**`benchmarks/{benchmark}.py`**: {_claimed(benchmark)}\n"
            yield "| figure | measured | bar | result |\n|---|---:|---:|---|"
        yield f"| {claim.name} | {claim.value:.3g} | {_bar(claim)} | {_mark(claim)} |"
    yield ""


def _claimed(benchmark: str) -> str:
    file = Path(__file__).parents[1] / "benchmarks" / f"{benchmark}.py"
    text = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    return text.partition("\n")[0].removeprefix("Claim: ")


def _bar(claim: Claim) -> str:
    if claim.at_most is not None:
        return f"≤ {claim.at_most:g}"
    return f"≥ {claim.at_least:g}" if claim.at_least is not None else ""


def _mark(claim: Claim) -> str:
    if not _bar(claim):
        return ""
    return "holds" if claim.holds else "**missed**"


def chart(claims: Sequence[Claim]) -> str:
    """Return an SVG chart: each figure as a share of its bar; shorter is better, the dashed line is the bar."""
    height = ROW * len(claims) + 34
    limit = LEFT + (WIDTH - LEFT) * 0.6
    rows = "\n".join(_row(number, claim, limit) for number, claim in enumerate(claims))
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="figures against bars">
<style>
.chart text {{ font: 12px system-ui, sans-serif; fill: var(--ink, #333) }}
.chart .ok {{ fill: #2a9d6f }} .chart .no {{ fill: #d1495b }}
.chart .bar {{ stroke: #888; stroke-dasharray: 3 3 }}
@media (prefers-color-scheme: dark) {{ .chart text {{ fill: var(--ink, #ddd) }} }}
</style>
<g class="chart">
<line class="bar" x1="{limit:.0f}" x2="{limit:.0f}" y1="20" y2="{height}"/>
<text x="{limit:.0f}" y="14" text-anchor="middle">the bar</text>
{rows}
</g>
</svg>
"""


def _row(number: int, claim: Claim, limit: float) -> str:
    used = claim.value / claim.at_most if claim.at_most else (claim.at_least or 0) / claim.value
    top, kind = 26 + number * ROW, "ok" if claim.holds else "no"
    length = min(max((limit - LEFT) * used, 2), WIDTH - LEFT - 60)
    return (
        f'<text x="{LEFT - 8}" y="{top + 13}" text-anchor="end">{escape(_short(claim.name))}</text>'
        f'<rect class="{kind}" x="{LEFT}" y="{top + 3}" width="{length:.0f}" height="13" rx="2"/>'
        f'<text x="{LEFT + length + 6:.0f}" y="{top + 13}">{claim.value:.3g}</text>'
    )


def _short(name: str) -> str:
    return name if len(name) <= 62 else name[:61] + "…"
