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

`make bench` runs every file in `benchmarks/`, with ui-mcp and the tool it is compared with in the same run, and writes
this page. A figure without a unit is a ratio. Timings differ from machine to machine, so compare ratios.

Most figures have a limit to meet: **{held} of {barred} limits are met.** In the charts, a bar shows how much of its
limit a figure uses; shorter is better, and the dashed line is the limit.
"""
ROW, WIDTH, TOP = 40, 460, 24
LIMIT = 360
"""Where a bar ends that uses all of its limit; those beyond it are cut at the edge."""
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
        yield f"![{title}: figures as shares of their limits](images/bench/{area}.svg)"
    benchmark = ""
    for claim in claims:
        if claim.benchmark != benchmark:
            benchmark = claim.benchmark
            yield f"\n**`benchmarks/{benchmark}.py`**: {_claimed(benchmark)}\n"
            yield "| figure | measured | limit | result |\n|---|---:|---:|---|"
        yield f"| {claim.name} | {_figure(claim.value)} | {_bar(claim)} | {_mark(claim)} |"
    yield ""


def _claimed(benchmark: str) -> str:
    file = Path(__file__).parents[1] / "benchmarks" / f"{benchmark}.py"
    text = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    return text.partition("\n")[0].removeprefix("Claim: ")


def _bar(claim: Claim) -> str:
    if claim.at_most is not None:
        return f"≤ {_figure(claim.at_most)}"
    return f"≥ {_figure(claim.at_least)}" if claim.at_least is not None else ""


def _figure(value: float) -> str:
    """Return three digits that count, and thousands as people write them."""
    return f"{float(f'{value:.3g}'):,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def _mark(claim: Claim) -> str:
    if not _bar(claim):
        return ""
    return "met" if claim.holds else "**missed**"


def chart(claims: Sequence[Claim]) -> str:
    """Return an SVG chart: each figure as a share of its limit, its name above its bar so that a phone has room."""
    height = TOP + ROW * len(claims)
    rows = "\n".join(_row(number, claim) for number, claim in enumerate(claims))
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="figures against limits">
<style>
.chart text {{ font: 13px "Inter Variable", system-ui, sans-serif; fill: var(--ink, #333) }}
.chart .value {{ font-weight: 600; font-variant-numeric: tabular-nums }}
.chart .faint {{ fill: var(--faint, #667) }}
.chart .track {{ fill: var(--card, #8882) }}
.chart .ok {{ fill: #2a9d6f }} .chart .no {{ fill: #d1495b }}
.chart .limit {{ stroke: var(--line, #888); stroke-dasharray: 3 3 }}
@media (prefers-color-scheme: dark) {{
.chart text {{ fill: var(--ink, #ddd) }} .chart .faint {{ fill: var(--faint, #aab) }}
}}
</style>
<g class="chart">
<text class="faint" x="{LIMIT}" y="13" text-anchor="middle">limit</text>
{rows}
<line class="limit" x1="{LIMIT}" x2="{LIMIT}" y1="18" y2="{height}"/>
</g>
</svg>
"""


def _row(number: int, claim: Claim) -> str:
    used = claim.value / claim.at_most if claim.at_most else (claim.at_least or 0) / claim.value
    top, kind = TOP + number * ROW, "ok" if claim.holds else "no"
    length = min(max(LIMIT * used, 3), WIDTH)
    value = f'{_figure(claim.value)}<tspan class="faint" dx="6">{_bar(claim)}</tspan>'
    return (
        f'<text x="0" y="{top + 15}">{escape(_short(claim.name))}</text>'
        f'<text class="value" x="{WIDTH}" y="{top + 15}" text-anchor="end">{value}</text>'
        f'<rect class="track" x="0" y="{top + 21}" width="{WIDTH}" height="10" rx="3"/>'
        f'<rect class="{kind}" x="0" y="{top + 21}" width="{length:.0f}" height="10" rx="3"/>'
    )


def _short(name: str) -> str:
    return name if len(name) <= 50 else name[:49] + "…"
