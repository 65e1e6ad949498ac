"""The numbered requirements of the contract, for every toolkit."""

import json
import struct
from collections.abc import Iterator
from time import perf_counter

import anyio
import pytest
from jsonschema import Draft202012Validator

from introspection.demos import PATIENCE, Demo, failure
from introspection.forests import GOLDEN, PATH
from ui_mcp.errors import UiActionFailedError, UiArgumentError, UiNodeNotFoundError, UiStaleRefError
from ui_mcp.introspection import snapshot_json
from ui_mcp.introspection.arguments import Include, Selector
from ui_mcp.introspection.backend import ScreenshotRequest
from ui_mcp.introspection.contract import ALL, FULL, CaptureRequest, Ref
from ui_mcp.introspection.selectors import texts_of
from ui_mcp.introspection.snapshot import SnapshotRequest, as_json, as_text
from ui_mcp.introspection.target import Target
from ui_mcp.jsontypes import JsonObject, dumps

pytestmark = [pytest.mark.slow, pytest.mark.anyio]


def every(node: JsonObject) -> Iterator[JsonObject]:
    yield node
    for child in node["children"]:
        yield from every(child)


def nodes(snapshot: JsonObject) -> list[JsonObject]:
    return [node for stage in snapshot["stages"] for node in every(stage["scene"]["root"])]


@pytest.mark.covers("IN-4", "IN-8", "IN-10", "IN-14", "IN-15", "IN-17", "IN-19", "IN-21", "IN-71", "IN-77")
async def test_a_full_snapshot_is_valid_and_its_paths_are_canonical(demo: Demo) -> None:
    snapshot = await as_json(demo.target, SnapshotRequest(stage="all", mode="full"))

    Draft202012Validator(json.loads((GOLDEN.parents[1] / "ui-snapshot.schema.json").read_text())).validate(snapshot)
    paths = [node["ref"]["path"] for node in nodes(snapshot)]
    assert all(PATH.fullmatch(path) for path in paths)
    assert len(set(paths)) == len(paths)
    assert "mcpEnabled" in snapshot["app"]["debugFlags"]
    assert isinstance(snapshot["app"]["pid"], int)


@pytest.mark.covers("IN-82")
async def test_a_backend_keeps_to_the_records_schema(demo: Demo) -> None:
    raw = await demo.target.backend.capture(CaptureRequest(stage="all", sections=ALL))

    Draft202012Validator(json.loads((GOLDEN.parents[1] / "records.schema.json").read_text())).validate(raw)


@pytest.mark.covers("IN-5", "IN-44")
async def test_an_idle_ui_gives_the_same_bytes_twice(demo: Demo) -> None:
    first = await as_json(demo.target, SnapshotRequest(mode="full"))
    second = await as_json(demo.target, SnapshotRequest(mode="full"))

    assert dumps(first | {"capturedAt": ""}) == dumps(second | {"capturedAt": ""})


@pytest.mark.covers("IN-9")
async def test_paths_count_siblings_of_the_same_type(demo: Demo) -> None:
    pair = await demo.one("#pair")
    node = await demo.target.node(Ref(pair.uid), CaptureRequest(stage="all", depth=1, root=Ref(pair.uid)))

    label, button = demo.types["label"], demo.types["button"]
    ends = [child.path.rpartition("/")[2] for child in node.children]
    assert ends == [f"{label}[0]", f"{button}[0]", f"{label}[1]", f"{button}[1]"]


@pytest.mark.covers("IN-12")
async def test_the_uid_wins_over_the_path_and_the_path_stands_in(demo: Demo) -> None:
    ok, off = await demo.one("#okButton"), await demo.one("#off")

    assert (await demo.target.node(Ref(ok.uid, off.path))).uid == ok.uid
    assert (await demo.target.node(Ref(None, off.path))).uid == off.uid


@pytest.mark.covers("IN-13", "IN-54")
async def test_a_made_up_ref_is_not_found_and_its_hint_names_candidates(demo: Demo) -> None:
    with pytest.raises(UiNodeNotFoundError) as caught:
        await demo.target.node(Ref("nonsense99", None, {"id": "okButton"}))

    candidates = caught.value.details["candidates"]
    assert isinstance(candidates, list)
    assert [match["id"] for match in candidates] == ["okButton"]


@pytest.mark.covers("IN-54", "IN-5")
async def test_a_ref_to_something_removed_is_stale(demo: Demo) -> None:
    await demo.click("#add")
    grown = (await demo.find(text="Grown"))[0]
    await demo.click("#remove")

    with pytest.raises(UiStaleRefError):
        await demo.target.node(Ref(grown.uid))


@pytest.mark.covers("IN-23", "IN-25", "IN-20")
async def test_nodes_say_what_they_show(demo: Demo) -> None:
    ok = snapshot_json.alone(await demo.one("#okButton"), ALL)
    name = snapshot_json.alone(await demo.one("#name"), ALL)
    news = snapshot_json.alone(await demo.one("#news"), ALL)
    off = snapshot_json.alone(await demo.one("#off"), ALL)

    assert ok["text"]["label"] == "OK"
    assert (name["type"], name["text"]["prompt"]) == (demo.types["field"], "Name")
    assert news["value"]["checked"] is False
    assert off["disabled"] is True


@pytest.mark.covers("IN-29")
async def test_a_password_is_in_no_output(demo: Demo) -> None:
    everything = [
        dumps(await as_json(demo.target, SnapshotRequest(stage="all", mode="full", include=Include(internals=True)))),
        await as_text(demo.target, SnapshotRequest(stage="all")),
        repr(await demo.find(text="hunter2-secret")),
    ]
    secret = snapshot_json.alone(await demo.one("#secret"), ALL)

    assert not any("hunter2-secret" in text for text in everything)
    assert secret["value"] == {"text": None, "selected": None, "checked": None, "masked": True}


@pytest.mark.covers("IN-24")
async def test_bounds_add_up_and_screen_follows_scene(demo: Demo) -> None:
    offset, nested = await demo.one("#offset"), await demo.one("#nested")
    outer = snapshot_json.alone(await demo.target.node(Ref(offset.uid)), ALL)["layout"]
    inner = snapshot_json.alone(await demo.target.node(Ref(nested.uid)), ALL)["layout"]

    shift = outer["localToScreen"]["x"] - outer["boundsInScene"]["minX"]
    assert inner["boundsInScene"]["minX"] >= outer["boundsInScene"]["minX"]
    assert inner["localToScreen"]["x"] == pytest.approx(inner["boundsInScene"]["minX"] + shift, abs=1)
    assert inner["boundsInScene"]["width"] > 0
    assert inner["boundsInParent"]["width"] == pytest.approx(inner["boundsInScene"]["width"], abs=1)


@pytest.mark.covers("IN-23")
async def test_what_an_ancestor_hides_is_marked_and_not_visible_to_a_predicate(demo: Demo) -> None:
    inside = await demo.one("#inside-hidden")
    visible = await demo.find(css="#inside-hidden", predicate={"visible": True})

    assert snapshot_json.alone(inside, ALL)["shown"] is False
    assert visible == []


@pytest.mark.covers("IN-39", "IN-40", "IN-41", "IN-42")
async def test_mode_and_include_choose_the_sections(demo: Demo) -> None:
    full = await as_json(demo.target, SnapshotRequest(mode="full"))
    compact = await as_json(demo.target, SnapshotRequest(mode="compact"))
    chosen = await as_json(demo.target, SnapshotRequest(mode="compact", depth=0, include=Include(local_to_screen=True)))

    sections = {"layout", "fx", "virtualization", "accessibility"}
    assert not any(sections & node.keys() for node in nodes(compact))
    assert len(dumps(compact)) < len(dumps(full))
    (root,) = nodes(chosen)
    assert list(root["layout"]) == ["localToScreen"]
    assert root["childrenTruncated"] > 0


@pytest.mark.covers("IN-38")
async def test_a_stage_out_of_range_is_refused_with_the_range(demo: Demo) -> None:
    with pytest.raises(UiArgumentError, match="valid are 0"):
        await as_json(demo.target, SnapshotRequest(stage_index=99))


@pytest.mark.covers("IN-46")
async def test_css_means_the_same_and_bad_css_is_an_error(demo: Demo) -> None:
    assert (await demo.one(".primary")).record["i"] == "okButton"
    assert len(await demo.find(css=f"#pair > {demo.types['button']}")) == 2
    with pytest.raises(UiArgumentError):
        await demo.find(css="#[[")


@pytest.mark.covers("IN-47", "IN-48", "IN-52")
async def test_text_is_found_once_where_it_shows(demo: Demo) -> None:
    found = await demo.find(text="NEWSlet")

    assert len(found) == 1
    assert await demo.find(text="nowhere at all") == []
    whole = texts_of(found[0])[0]
    assert [len(await demo.find(text=text, match="equals")) for text in (whole, whole.swapcase())] == [1, 0]
    assert [len(await demo.find(text=text, match="regex")) for text in ("(n|N)ewslet+", "NEWSLET")] == [1, 0]


@pytest.mark.covers("IN-55", "IN-56")
async def test_a_click_fires_once(demo: Demo) -> None:
    await demo.click("#okButton")
    before = int((await demo.said()).split()[-1])

    outcome = await demo.click("#okButton")

    assert outcome.json() == {"results": [{"ok": True, "type": "click"}]}
    assert await demo.said() == f"clicked {before + 1}"


@pytest.mark.covers("IN-56")
async def test_a_click_at_screen_coordinates_hits_what_is_there(demo: Demo) -> None:
    await demo.click("#okButton")
    before = int((await demo.said()).split()[-1])
    box = snapshot_json.alone(await demo.target.node(Ref(await demo.uid("#okButton"))), ALL)["layout"]["localToScreen"]

    outcome = await demo.do({"type": "click", "x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2})

    assert outcome.error is None
    assert await demo.said() == f"clicked {before + 1}"


@pytest.mark.covers("IN-55", "IN-57")
async def test_text_is_typed_and_replaced_in_any_script(demo: Demo) -> None:
    name = await demo.uid("#name")
    await demo.do({"type": "setText", "target": name, "text": "Zoë "}, {"type": "focus", "target": name})

    await demo.do({"type": "typeText", "text": "漢😀"})

    assert (await demo.one("#name")).record["vt"] == "Zoë 漢😀"
    assert "focused" in (await demo.one("#name")).record["s"]


@pytest.mark.covers("IN-58")
async def test_keys_take_modifiers_and_unknown_ones_are_refused(demo: Demo) -> None:
    ok = await demo.uid("#okButton")
    await demo.do({"type": "focus", "target": ok}, {"type": "pressKey", "key": "ENTER", "modifiers": ["CTRL"]})
    assert await demo.said() == "ctrl enter"

    outcome = await demo.do({"type": "pressKey", "key": "BOGUS"})

    assert failure(outcome).code == "MCP_UI_ACTION_FAILED"
    assert failure(outcome).details["reason"] == "INVALID_KEY_CODE"


@pytest.mark.covers("IN-30", "IN-31", "IN-32", "IN-35", "IN-59")
async def test_scrolling_down_moves_the_visible_range(demo: Demo) -> None:
    async def seen() -> JsonObject:
        ref = Ref(await demo.uid("#list"))
        return snapshot_json.rows(await demo.target.node(ref))

    before = await seen()
    await demo.do({"type": "scroll", "target": await demo.uid("#list"), "deltaY": -400})
    after = await seen()

    assert before["itemsCount"] == 1000
    assert after["visibleRange"]["from"] > before["visibleRange"]["from"]
    assert after["visibleCells"][0]["cells"][0]["text"] == f"Item {after['visibleRange']['from']}"
    await demo.do({"type": "scroll", "target": await demo.uid("#list"), "deltaY": 4000})


@pytest.mark.covers("IN-60")
async def test_the_first_failure_stops_the_batch(demo: Demo) -> None:
    name, off = await demo.uid("#name"), await demo.uid("#off")
    outcome = await demo.do(
        {"type": "setText", "target": name, "text": "first"},
        {"type": "click", "target": off},
        {"type": "setText", "target": name, "text": "third"},
    )

    assert [result["ok"] for result in outcome.results] == [True, False]
    assert failure(outcome).details["index"] == 1
    assert (await demo.one("#name")).record["vt"] == "first"


@pytest.mark.covers("IN-61", "IN-105")
@pytest.mark.parametrize(
    ("css", "reason"), [("#off", "DISABLED"), ("#inside-hidden", "NOT_VISIBLE"), ("#covered", "COVERED")]
)
async def test_what_a_person_could_not_click_is_refused_at_once(demo: Demo, css: str, reason: str) -> None:
    outcome = await demo.click(css)

    assert failure(outcome).details["reason"] == reason


@pytest.mark.covers("IN-61", "IN-65")
async def test_text_goes_only_where_text_belongs(demo: Demo) -> None:
    fixed = await demo.do({"type": "setText", "target": await demo.uid("#fixed"), "text": "x"})
    button = await demo.do({"type": "setText", "target": await demo.uid("#okButton"), "text": "x"})

    assert failure(fixed).details["reason"] == "READ_ONLY"
    assert failure(button).details["reason"] == "UNSUPPORTED_TARGET_TYPE"


@pytest.mark.covers("IN-65")
async def test_acting_on_something_removed_is_stale(demo: Demo) -> None:
    await demo.click("#add")
    grown = (await demo.find(text="Grown"))[0]
    await demo.click("#remove")

    outcome = await demo.do({"type": "click", "target": grown.uid})

    assert failure(outcome).code == "MCP_UI_STALE_REF"


@pytest.mark.covers("IN-62", "IN-86")
async def test_effects_that_come_a_little_later_are_there_after_idle(demo: Demo) -> None:
    await demo.click("#later")

    assert await demo.said() == "later"


@pytest.mark.covers("IN-64", "IN-87", "IN-61")
async def test_a_modal_dialog_opens_blocks_and_closes(demo: Demo) -> None:
    opened = await demo.click("#modal")
    behind = await demo.click("#okButton")
    await demo.click("#yes")

    # A click that waited for the dialog's end would run into its time limit.
    assert opened.error is None
    assert failure(behind).details["reason"] == "BEHIND_MODAL"
    assert await demo.said() == "yes"


@pytest.mark.covers("IN-43", "IN-63")
async def test_a_busy_ui_gives_a_timeout_and_answers_again_later(demo: Demo) -> None:
    slow = await demo.uid("#slow")
    begun = perf_counter()
    outcome = await demo.do({"type": "click", "target": slow}, timeout_ms=500)

    assert failure(outcome).code == "MCP_UI_TIMEOUT"
    assert perf_counter() - begun < 3, "as long as it is busy"
    assert (await demo.one("#okButton")).record["l"] == "OK"


@pytest.mark.covers("IN-66")
async def test_a_picture_is_as_large_as_the_scene(demo: Demo) -> None:
    if demo.kind == "page":
        with pytest.raises(UiActionFailedError, match="photograph itself"):
            await demo.target.screenshot(ScreenshotRequest())
        return
    snapshot = await as_json(demo.target, SnapshotRequest(depth=0, mode="compact"))
    whole = await demo.target.screenshot(ScreenshotRequest())
    small = await demo.target.screenshot(ScreenshotRequest(max_width=200))
    button = await demo.target.screenshot(ScreenshotRequest(ref=Ref(await demo.uid("#okButton")), annotate=True))

    assert whole[:8] == small[:8] == button[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">I", small[16:20])[0] == 200
    assert struct.unpack(">I", whole[16:20])[0] <= snapshot["stages"][0]["width"]
    assert struct.unpack(">I", button[16:20])[0] < 300


@pytest.mark.covers("IN-80")
async def test_a_difference_names_only_what_changed(demo: Demo) -> None:
    name = await demo.uid("#name")
    await demo.do({"type": "setText", "target": name, "text": "before"})
    first = await as_json(demo.target, SnapshotRequest(mode="compact"))
    await demo.do({"type": "setText", "target": name, "text": "after"})

    changes = await as_json(demo.target, SnapshotRequest(mode="compact", since=first["snapshotId"]))

    assert [entry["set"] for entry in changes["changed"] if entry["uid"] == name] == [{"value.text": "after"}]
    assert changes["added"] == changes["removed"] == []


@pytest.mark.covers("IN-88")
async def test_a_cursor_outlives_a_change_and_says_so(demo: Demo) -> None:
    first = await as_json(demo.target, SnapshotRequest(mode="compact", max_tokens=700))
    same = await as_json(demo.target, SnapshotRequest(cursor=first["cursor"], max_tokens=700))
    await demo.do({"type": "setText", "target": await demo.uid("#name"), "text": "moved on"})
    later = await as_json(demo.target, SnapshotRequest(cursor=first["cursor"], max_tokens=700))

    assert "stale" not in same
    assert later["stale"] is True


@pytest.mark.covers("IN-37", "IN-39")
async def test_one_stage_is_focused_primary_and_all(demo: Demo) -> None:
    counts = [
        len((await as_json(demo.target, SnapshotRequest(stage=stage, depth=0)))["stages"])
        for stage in ("focused", "primary", "all")
    ]
    by_index = await as_json(demo.target, SnapshotRequest(stage_index=0, depth=0))

    assert counts[:2] == [1, 1]
    assert counts[2] >= 1
    assert [stage["stageIndex"] for stage in by_index["stages"]] == [0]
    assert {"bounds", "localToScreen", "virtualization"} == FULL


@pytest.mark.covers("IN-22", "IN-26", "IN-28")
async def test_states_that_hold_roles_and_children_in_their_order(demo: Demo) -> None:
    ok, pair = await demo.uid("#okButton"), await demo.uid("#pair")
    await demo.do({"type": "focus", "target": ok})

    focused = snapshot_json.alone(await demo.target.node(Ref(ok)), ALL)
    off = snapshot_json.alone(await demo.target.node(Ref(await demo.uid("#off"))), ALL)
    children = (await demo.target.node(Ref(pair), CaptureRequest(stage="all", depth=1, root=Ref(pair)))).children

    assert focused["pseudoClass"] == ["focused"]
    assert off["pseudoClass"] == ["disabled"]
    assert focused["accessibility"]["role"] == demo.types["role"]
    assert [child.record["l"] for child in children] == ["One", "Two", "Three", "Four"]


@pytest.mark.covers("IN-70")
async def test_two_callers_never_type_into_each_other(demo: Demo) -> None:
    name = await demo.uid("#name")
    await demo.do({"type": "setText", "target": name, "text": ""}, {"type": "focus", "target": name})
    typed = [[{"type": "typeText", "text": letter * 3}] * 3 for letter in "ab"]

    async with anyio.create_task_group() as tasks:
        for actions in typed:
            tasks.start_soon(lambda given: demo.do(*given), actions)

    assert (await demo.one("#name")).record["vt"] in {"a" * 9 + "b" * 9, "b" * 9 + "a" * 9}


async def test_reach_says_what_a_person_could_point_at(demo: Demo) -> None:
    async def reach(css: str) -> JsonObject:
        ref = Ref(await demo.uid(css))
        ask = CaptureRequest(stage="all", depth=0, sections=frozenset({"reach"}), root=ref)
        found: JsonObject = snapshot_json.alone(await demo.target.node(ref, ask), ask.sections)["reach"]
        return found

    plain = await reach("#okButton")
    covered = await reach("#covered")
    hidden = await reach("#inside-hidden")
    await demo.click("#modal")
    behind = await reach("#okButton")
    await demo.click("#yes")

    assert plain == {"inViewport": True}
    assert covered == {"inViewport": True, "coveredBy": await demo.uid("#lid")}
    assert hidden == {"inViewport": False}
    assert behind["behindModal"]


async def test_a_point_of_the_screen_names_the_node_and_what_is_around_it(demo: Demo) -> None:
    ok = await demo.target.node(Ref(await demo.uid("#okButton")))
    box = snapshot_json.alone(ok, ALL)["layout"]["localToScreen"]

    top, *around = await demo.target.at(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)

    assert (top.uid, top.path, top.record["l"]) == (ok.uid, ok.path, "OK")
    assert [node.path for node in around] == [ok.path.rsplit("/", up)[0] for up in range(1, len(around) + 1)]
    assert around[-1].path.endswith("/root")
    with pytest.raises(UiActionFailedError):
        await demo.target.at(-5, -5)


async def test_what_a_person_redacts_is_in_no_output(demo: Demo) -> None:
    await demo.do({"type": "setText", "target": await demo.uid("#name"), "text": "Privy Seal"})
    careful = Target("careful", demo.target.backend, seconds=PATIENCE, redact=("#name", "#pair", "#list"))

    texts = [
        dumps(
            await as_json(
                careful, SnapshotRequest(stage="all", mode="full", include=Include(internals=True, properties=True))
            )
        ),
        await as_text(careful, SnapshotRequest(stage="all")),
        repr(await careful.find(Selector(text="Privy"), CaptureRequest(stage="all"))),
    ]
    name = snapshot_json.alone(await careful.node(Ref(await demo.uid("#name"))), ALL)

    assert name["value"]["masked"] is True
    assert not any(secret in text for text in texts for secret in ("Privy", "Three", "Four", "Item 1"))
    assert all("OK" in text for text in texts[:2])
