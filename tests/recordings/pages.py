"""Recordings of tasks on pages of MiniWoB++: an oracle shows each once, by our tools."""

import json
from collections.abc import Iterator
from contextlib import contextmanager

from miniwob_tasks.hands import Ui, browser
from miniwob_tasks.oracles import oracles
from miniwob_tasks.site import Site, package, serving
from recordings.recording import Played, Steps, played_by

SEED = 5
REWARD_SECONDS = 10.0
TASKS = (
    "click-test", "click-test-2", "click-button", "click-button-sequence", "click-checkboxes", "click-checkboxes-large",
    "click-collapsible", "click-dialog", "click-dialog-2", "click-link", "click-option", "click-tab", "click-tab-2",
    "choose-list", "email-inbox", "enter-text", "enter-text-2", "focus-text", "focus-text-2", "login-user",
    "search-engine",
)  # fmt: skip


class Task:
    """One task; `changed` opens it with its form taken away."""

    def __init__(self, ui: Ui, site: Site, name: str) -> None:
        self.name = f"miniwob {name}"
        self._ui, self._site, self._task = ui, site, name

    def record(self) -> Steps:
        self._open()
        self._ui.client.call("ui_test", record="start", target="url")
        oracles()[self._task](self._ui)
        steps: Steps = self._ui.client.call("ui_test", record="stop")["steps"]
        return [self._with_password(step) for step in steps]

    def play(self, steps: Steps, *, changed: bool = False) -> Played:
        self._open(changed=changed)
        played = played_by(self._ui.client, steps, target="url")
        if played.ok and not (self._site.reward(REWARD_SECONDS) or 0) > 0:
            return Played(ok=False, does="the task was not rewarded")
        return played

    def _open(self, *, changed: bool = False) -> None:
        self._ui.begin(self._site.url(self._task, SEED) + "&quiet=1" + ("&changed=1" if changed else ""))

    def _with_password(self, step: dict[str, object]) -> dict[str, object]:
        """Write the password of the task into the step, as a person who keeps it nowhere else would."""
        if not str(step.get("text", "")).startswith("${UI_TEST_"):
            return step
        typed = [json.loads(line.partition(" ui_perform ")[2]) for line in self._ui.log if " ui_perform " in line]
        texts = [action["text"] for call in typed for action in call["actions"] if action["type"] == "setText"]
        return {**step, "text": texts[-1]}


@contextmanager
def tasks(names: tuple[str, ...] = TASKS) -> Iterator[list[Task]]:
    with serving(package()) as site, browser(site.url("click-test", 0)) as ui:
        yield [Task(ui, site, name) for name in names]
