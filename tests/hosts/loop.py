"""The loop that every host is driven through: build an app, click in it, hear of it, look, test, talk."""

from typing import Any

APP = """\
Counter = session:prototype("Counter", { count = 0 })
function Counter:press()
  self.count = self.count + 1
  mcp.pushState({ app = "counter", event = "pressed", count = self.count })
end
if not session.reloading then counter = Counter:new() end
"""
VIEW = """\
<template><main><h1>Counter</h1><output id="count" ui-value="count"></output>
<button id="press" ui-action="press()">Press</button></main></template>
"""
STEPS: list[tuple[str, dict[str, Any]]] = [
    ("ui_status", {}),
    (
        "ui_edit",
        {
            "app": "counter",
            "changes": [{"path": "app.lua", "text": APP}, {"path": "viewdefs/Counter.DEFAULT.html", "text": VIEW}],
            "show": True,
        },
    ),
    ("ui_get_snapshot", {"target": "browser"}),
    ("ui_perform", {"actions": [{"type": "click", "target": "uid:#press"}], "target": "browser"}),
    ("ui_wait", {"timeout": 5}),
    ("ui_run", {"code": "return counter.count"}),
    ("ui_screenshot", {}),
    ("ui_test", {"app": "counter", "steps": [{"expect": {"selector": {"css": "#count"}, "text": "1"}}]}),
    ("chat_assistant_post", {"content": "The counter stands at one."}),
    ("chat_read_since", {}),
]
SAID = {
    "ui_status": "version",
    "ui_edit": "version",
    "ui_wait": "pressed",
    "ui_run": "1",
    "ui_get_snapshot": "Press",
    "ui_perform": "click",
    "ui_test": "steps",
    "chat_read_since": "The counter stands at one.",
}
"""What the model must have been shown of each result."""
