"""Makes the windows of a capture from what each page of a browser answered."""

from collections.abc import Sequence

from ui_mcp.introspection.backends.chromium.page import DrivenPage
from ui_mcp.jsontypes import JsonObject


def stages_of(
    captured: Sequence[tuple[int, DrivenPage, JsonObject]], front: DrivenPage, first_dialog: int
) -> tuple[JsonObject, list[JsonObject]]:
    """Return the focus and the stages: pages in their order, then open dialogs, numbered from `first_dialog` on."""
    stages: list[JsonObject] = []
    focus: JsonObject = {"stage": None, "uid": None}
    for index, driven, content in captured:
        stages.append(_numbered(index, driven, content["stage"]) | {"focused": driven is front})
        if driven is front:
            focus = {**content["focus"], "stage": index}
    dialogs = [driven.dialog_stage(first_dialog + at) for at, (_, driven, _) in enumerate(captured) if driven.dialog]
    return focus, stages + dialogs


def _numbered(index: int, driven: DrivenPage, stage: JsonObject) -> JsonObject:
    given = {**stage, "index": index, "uid": f"page-{driven.number}"}
    # Each page numbers itself 0.
    if "rootPath" in given:
        given["rootPath"] = given["rootPath"].replace("/stages[0]", f"/stages[{index}]", 1)
    return given
