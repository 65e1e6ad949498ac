"""A running state is changed by records: back to any earlier moment, and one step undone among later ones."""

import json
from copy import deepcopy
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lua_runtime.engine.test_state import HELPERS, STEPS, Saved
from ui_mcp.ui.state.patch import Undoing, difference
from ui_mcp.ui.state.records import State

pytestmark = pytest.mark.covers("STATE-5")


@pytest.fixture
def app(tmp_path: Path) -> Saved:
    return Saved(tmp_path)


def run(app: Saved, code: str) -> State:
    """Run a step and return the state after it."""
    app.bench.run(code)
    app.save()
    return deepcopy(app.state)


def patch(app: Saved, wanted: State) -> None:
    app.bench.must("patch", json.dumps(difference(app.state, wanted)))
    app.save()


def undo(app: Saved, before: State, after: State) -> list[str]:
    undoing = Undoing(before, after, app.state)
    patch(app, undoing.state())
    return undoing.kept


def test_a_deleted_object_comes_back_in_its_place_with_its_type(app: Saved) -> None:
    before = run(app, 'for _, name in ipairs{"a", "b", "c"} do app:add(name) end; b = app.items[2]; b.twin = b')
    after = run(app, "table.remove(app.items, 2); b = nil")

    undo(app, before, after)

    assert app.bench.run("return app.items[2].name .. app.items[2]:tostring()") == "ban Item"
    assert app.bench.run("return app.items[2] == b and b.twin == b and b.owner == app") is True


def test_a_field_that_was_changed_since_stays_and_is_named(app: Saved) -> None:
    before = run(app, "app.title, app.note = 'one', 'n1'")
    after = run(app, "app.title, app.note = 'two', 'n2'")
    run(app, "app.title = 'three'")

    assert undo(app, before, after) == ["title"]
    assert app.bench.run("return app.title .. app.note") == "threen1"


def test_elements_go_and_come_back_although_the_list_has_changed(app: Saved) -> None:
    before = run(app, "list = {'a', 'b', 'c', 'd'}")
    after = run(app, "list = list; table.remove(list, 2); table.insert(list, 'new')")
    run(app, "table.insert(list, 1, 'first'); table.insert(list, 'last')")

    undo(app, before, after)

    assert app.bench.run("return table.concat(list, ' ')") == "first a b c d last"


def test_local_variables_and_functions_made_at_run_time_go_back(app: Saved) -> None:
    before = run(app, "app:add('x'); local n = 1; step = function() n = n + 1; return n end")
    after = run(app, "app:add('y'); step(); step = nil")

    undo(app, before, after)

    assert app.bench.run("return step()") == 2
    assert app.bench.run("return app:counted()") == 1


def test_a_timer_that_was_cleared_runs_again_and_a_new_one_does_not(app: Saved) -> None:
    before = run(app, "kept = session:setTimeout(function() app.rang = 'old' end, 60000)")
    after = run(app, "session:clearTimeout(kept); other = session:setTimeout(function() end, 60000)")
    handles = app.bench.run("return {kept, other}")

    undo(app, before, after)

    assert [app.bench.must("timer", handle) for handle in handles] == [True, False]
    assert app.bench.run("return app.rang") == "old"


def test_undo_of_undo_is_redo(app: Saved) -> None:
    before = run(app, "app:add('a')")
    after = run(app, "table.remove(app.items)")
    undo(app, before, after)
    undone = deepcopy(app.state)

    undo(app, after, undone)

    assert app.bench.run("return #app.items") == 0


def test_a_type_whose_file_has_changed_keeps_its_new_declaration(app: Saved) -> None:
    before = run(app, "app.title = 'one'; App.shade = 'dark'")
    app.file.write_text(app.file.read_text().replace('title = "none"', 'title = "new", color = "red"'))
    app.bench.must("reload", str(app.file))
    run(app, "app.title = 'two'")

    patch(app, before)

    assert app.bench.run("return app.title .. App.title .. App.color") == "onenewred"


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(STEPS, min_size=5, max_size=30), data=st.data())
def test_any_earlier_moment_comes_back_equal(
    tmp_path_factory: pytest.TempPathFactory, steps: list[str], data: st.DataObject
) -> None:
    app = Saved(tmp_path_factory.mktemp("patch"))
    app.bench.run(HELPERS)
    app.save()
    moments: list[tuple[State, list[str]]] = []
    for step in steps:
        if step == "RELOAD":
            app.bench.must("reload", str(app.file))
        elif step == "RESTART":
            app.save()
            app.restart()
        elif step not in {"SAVE", "WHOLE"}:
            app.bench.enter("run", f"app.items = app.items or {{}}; {step}")
        app.save()
        moments.append((deepcopy(app.state), [app.shown("app"), app.shown("shared")]))

    for _ in range(3):
        wanted, shown = data.draw(st.sampled_from(moments))
        patch(app, wanted)
        assert [app.shown("app"), app.shown("shared")] == shown
