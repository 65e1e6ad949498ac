"""Forty tasks of MiniWoB++ with our tools, playwright-mcp and agent-browser, each by the same oracle.

An oracle opens and starts the task, reads what the tool shows, and acts; several actions are one call where a tool
allows it, the opening among them.
agent-browser is run twice: by its own MCP server, and by its command line with `batch`.
Tokens are characters / 4 of arguments and answers. Bars: at most 0.6 of the calls and of the tokens of either.
"""

import os
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from claims import claim
from introspect_pages import CHROMIUM, Server, ours, peers
from task_drivers import AgentBrowser, AgentBrowserMcp, Driver, Node, Ours, Playwright, Step

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from miniwob_tasks.oracles.clicks import quoted
from miniwob_tasks.oracles.fields import calculated
from miniwob_tasks.site import Site, package, serving

SEED = 7


def _one(nodes: list[Node], kind: str, text: str | None = None) -> Node:
    return next(node for node in nodes if node.kind == kind and node.ref and (text is None or node.text == text))


def _all(nodes: list[Node], kind: str) -> list[Node]:
    return [node for node in nodes if node.kind == kind and node.ref]


def _click(node: Node) -> Step:
    return "click", node, ""


def _goal(nodes: list[Node]) -> str:
    return " ".join(node.text for node in nodes if node.text)


def click_named(driver: Driver, url: str) -> None:
    nodes = driver.start(url)
    goal = _goal(nodes)
    buttons = [node.text for node in _all(nodes, "button")]
    named = [text for text in [*quoted(goal), *re.findall(r"ONE|TWO", goal.split(".")[0])] if text in buttons]
    wanted = "Close" if 'clicking the "x"' in goal or 'labeled "x"' in goal else (named or buttons)[0]
    count = 2 if "then click button" in goal else 1
    driver.act(*(_click(_one(nodes, "button", text)) for text in ([wanted] if count == 1 else ["ONE", "TWO"])))


def click_tab(driver: Driver, url: str) -> None:
    nodes = driver.start(url)
    wanted = re.findall(r"Click on (Tab #\d)", _goal(nodes))[0]
    driver.act(
        _click(next(node for node in nodes if node.text == wanted and node.ref and node.kind in {"link", "tab"}))
    )


def find_behind(driver: Driver, url: str) -> None:
    nodes = driver.start(url)
    wanted = quoted(_goal(nodes))[0]
    covers = [node for node in nodes if node.ref and (node.kind == "tab" or re.fullmatch(r"Tab #\d|\d", node.text))]
    covers = list({node.text: node for node in covers}.values())
    for cover in [None, *covers]:
        if cover is not None:
            nodes = driver.act(_click(cover), look=True)
        if found := [node for node in nodes if node.text == wanted and node.ref]:
            driver.act(_click(found[-1]))
            return


def open_section(driver: Driver, url: str) -> None:
    nodes = driver.start(url)
    shown = driver.act(_click(next(node for node in nodes if node.kind == "tab" and node.text)), look=True)
    driver.act(
        _click(next(node for node in [*shown, *nodes] if node.kind == "button" and node.text == "Submit" and node.ref))
    )


def check(driver: Driver, url: str) -> None:
    nodes = driver.start(url)
    words = re.findall(r"Select (.*?) and click", _goal(nodes))[0].split(", ")
    driver.act(
        *(_click(node) for node in _all(nodes, "box") if node.text in words), _click(_one(nodes, "button", "Submit"))
    )


def select(driver: Driver, url: str) -> None:
    nodes = driver.start(url)
    wanted = re.findall(r"Select (.*?) from the", _goal(nodes))[0].split(", ")
    choice = _one(nodes, "select")
    driver.act(*(("select", choice, value) for value in wanted), _click(_one(nodes, "button", "Submit")))


def fill(driver: Driver, url: str) -> None:
    nodes = driver.start(url)
    fields = _all(nodes, "input")
    texts = _texts(_goal(nodes), nodes)
    buttons = [node for node in nodes if node.ref and node.text in {"Submit", "Login", "Search", "Go!"}]
    values = texts * len(fields) if len(texts) == 1 else texts
    driver.act(*(("fill", node, text) for node, text in zip(fields, values, strict=False)), _click(buttons[-1]))


def _texts(goal: str, nodes: list[Node]) -> list[str]:
    """Return what the task wants in its fields, in their order."""
    cells = [node.text for node in nodes if node.kind == "cell"]
    table = dict(zip(cells[::2], cells[1::2], strict=False))
    if "corresponds with each label" in goal:
        labels = [node.text.rstrip(":") for node in nodes if node.text.endswith(":") and node.text[:-1] in table]
        return [table[label] for label in labels]
    if found := re.findall(r"value of (.*?) into", goal):
        return [table[found[0]]]
    if found := re.findall(r"Select (-?\d+) with the spinner", goal):
        return found
    if found := re.findall(r"Enter (\d+)/(\d+)/(\d+) as the date", goal):
        return ["{2}-{0}-{1}".format(*found[0])]
    if found := re.findall(r"Enter (\d+):(\d+) (AM|PM)", goal):
        return [f"{int(found[0][0]) % 12 + 12 * (found[0][2] == 'PM'):02}:{found[0][1]}"]
    if "olve" in goal:
        problem = next(node.text for node in nodes if re.search(r"\d.*=", node.text) and "olve" not in node.text)
        return [str(calculated(problem, unknown="Solve for x" in goal))]
    if found := re.findall(r"Find the (\d+)\w\w word", goal):
        text = next(
            node.text for node in nodes if len(node.text.split()) >= int(found[0]) and "Find the" not in node.text
        )
        return [re.sub(r"[.,]", "", text.split()[int(found[0]) - 1])]
    words = quoted(goal.split("Submit", maxsplit=1)[0].split("submit", maxsplit=1)[0].split("login", maxsplit=1)[0])
    return [word.lower() if "lower case" in goal else word.upper() if "upper case" in goal else word for word in words]


def mark(driver: Driver, url: str) -> None:
    nodes = driver.start(url)
    lines = [node for node in nodes if re.fullmatch(r"-?\d+|Odd|Even", node.text)]
    steps = [
        _click(lines[at - 1 if int(node.text) % 2 else at + 1])
        for at, node in enumerate(lines[:-1])
        if lines[at + 1].text == "Even"
    ]
    driver.act(*steps, _click(_one(nodes, "button", "Submit")))


def focus(driver: Driver, url: str) -> None:
    nodes = driver.start(url)
    number = int((re.findall(r"the (\d)", _goal(nodes)) or ["1"])[0])
    driver.act(_click(_all(nodes, "input")[number - 1]))


BY_ORACLE: dict[Callable[[Driver, str], None], str] = {
    click_named: """click-test click-test-2 click-test-transfer click-button unicode-test click-dialog click-dialog-2
        click-button-sequence""",
    click_tab: "click-tab",
    find_behind: """click-tab-2 click-tab-2-easy click-tab-2-medium click-tab-2-hard click-collapsible-2
        click-collapsible-2-nodelay click-link""",
    open_section: "click-collapsible click-collapsible-nodelay",
    check: "click-checkboxes click-checkboxes-large click-checkboxes-transfer click-option",
    select: "choose-list click-scroll-list",
    fill: """enter-text enter-text-2 enter-text-dynamic enter-password login-user read-table enter-date enter-time
        simple-arithmetic simple-algebra find-word read-table-2 use-spinner""",
    mark: "odd-or-even",
    focus: "focus-text focus-text-2",
}
TASKS = {task: oracle for oracle, tasks in BY_ORACLE.items() for task in tasks.split()}


def measured(driver: Driver, site: Site, task: str) -> tuple[bool, int, int]:
    """Return whether a task is solved, its calls and its tokens."""
    driver.reset()
    try:
        TASKS[task](driver, site.url(task, SEED))
    except (AssertionError, StopIteration, IndexError, KeyError, ValueError):
        return False, driver.calls, driver.characters // 4
    return (site.reward(3) or 0) > 0, driver.calls, driver.characters // 4


def main() -> None:
    peers()
    names = sys.argv[1:] or list(TASKS)
    with tempfile.TemporaryDirectory() as name, serving(package(os.environ.get("MINIWOB"))) as site:
        folder = Path(name)
        options = ["--headless", "--isolated", "--no-sandbox", "--executable-path", CHROMIUM]
        drivers: dict[str, Driver] = {
            "ours": Ours(ours(folder, site.url("click-test", 0))),
            "playwright-mcp": Playwright(Server([str(peers() / "playwright-mcp"), *options], folder)),
            "agent-browser mcp": AgentBrowserMcp(folder),
            "agent-browser batch": AgentBrowser(folder),
        }
        found: dict[str, dict[str, tuple[bool, int, int]]] = {}
        for task in names:
            found[task] = {label: measured(driver, site, task) for label, driver in drivers.items()}
            print(_row(task, found[task]), flush=True)
        for driver in drivers.values():
            driver.close()
    report(found)


def _row(task: str, row: dict[str, tuple[bool, int, int]]) -> str:
    cells = (
        f"{label}: {'solved' if solved else 'failed'} {calls} calls {tokens} tokens"
        for label, (solved, calls, tokens) in row.items()
    )
    return f"{task:30}" + "".join(f"{cell:<46}" for cell in cells)


def report(found: dict[str, dict[str, tuple[bool, int, int]]]) -> None:
    """Print how many were solved, and the claims on the tasks that both of a pair solved."""
    labels = list(next(iter(found.values())))
    for label in labels:
        print(f"{label}: {sum(row[label][0] for row in found.values())} of {len(found)} solved")
    for rival in labels[1:]:
        both = [row for row in found.values() if row["ours"][0] and row[rival][0]]
        for at, what in ((1, "calls"), (2, "tokens")):
            ratio = sum(row["ours"][at] for row in both) / sum(row[rival][at] for row in both)
            claim(f"{what} per task, of {rival}, {len(both)} tasks", ratio, at_most=0.6)


if __name__ == "__main__":
    main()
