"""Prototypes, reloading and mutation: code changes, state stays."""

from pathlib import Path

import pytest

from lua_runtime.cores import Bench

CONTACT = """
Contact = session:prototype("Contact", {name = "", tags = {}, age = 1})
function Contact:label() return "v1 " .. self.name end
if not session.reloading then contact = Contact:new({name = "ann"}) end
"""


def app(bench: Bench, text: str, name: str = "contact") -> str:
    file = bench.folder / "apps" / name / "app.lua"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return str(file)


@pytest.fixture
def contact(bench: Bench) -> str:
    file = app(bench, CONTACT)
    bench.must("display", "contact")
    return file


@pytest.mark.covers("UI-HOT-3", "UI-HOT-4", "UI-HOT-5", "UI-HOT-7", "UI-HOT-10", "UI-LSES-3", "UI-LSES-4", "UI-LSES-5")
def test_a_reload_changes_methods_and_keeps_instances(bench: Bench, contact: str) -> None:
    bench.run("old = contact table.insert(contact.tags, 'x')")
    app(bench, CONTACT.replace("v1", "v2"))

    assert bench.must("reload", contact) is True

    assert bench.run("return {contact:label(), rawequal(old, contact), contact.tags[1], session.reloading}") == [
        "v2 ann",
        True,
        "x",
        False,
    ]


@pytest.mark.covers("UI-HOT-5", "UI-HOT-6")
def test_fields_come_and_go_and_mutate_runs(bench: Bench, contact: str) -> None:
    bench.run("contact.age = 30")
    app(
        bench,
        CONTACT.replace("age = 1", "years = 0").replace(
            "if not", "function Contact:mutate() self.years = self.age or -1 end\nif not"
        ),
    )

    bench.must("reload", contact)

    assert bench.run("return {contact.years, rawget(contact, 'age') == nil, Contact.age == nil}") == [30, True, True]


@pytest.mark.covers("UI-HOT-5")
def test_an_unchanged_declaration_does_not_mutate(bench: Bench, contact: str) -> None:
    bench.run("count = 0 function Contact:mutate() count = count + 1 end")

    bench.must("reload", contact)

    assert bench.run("return count") == 0


@pytest.mark.covers("UI-HOT-4")
def test_empty_declares_a_field_without_a_value(bench: Bench) -> None:
    bench.run("P = session:prototype('P', {a = EMPTY, b = 1}) p = P:new({a = 5})")
    assert bench.run("return {P.a == nil, p.a}") == [True, 5]

    bench.run("session:prototype('P', {b = 1})")

    assert bench.run("return p.a == nil") is True


@pytest.mark.covers("UI-HOT-6", "UI-TOOL-15")
def test_mutations_also_run_after_ui_run_and_one_failure_stops_no_other(bench: Bench) -> None:
    bench.run("P = session:prototype('P', {a = 1}) one, two = P:new({n = 1}), P:new({n = 2})")
    bench.run("function P:mutate() if self.n == 1 then error('x') end self.done = true end")

    bench.run("session:prototype('P', {a = 2})")

    assert bench.run("return {one.done or false, two.done}") == [False, True]
    assert "mutate P" in (bench.folder / "log" / "lua-err.log").read_text()


@pytest.mark.covers("UI-HOT-3")
def test_a_broken_file_keeps_the_old_code_and_is_reported(bench: Bench, contact: str) -> None:
    app(bench, CONTACT + "\nfunction (")
    code, message, _ = bench.enter("reload", contact)
    assert code == "lua-syntax"
    assert "app.lua" in message
    assert [kind for kind, _, _ in bench.out] == ["displayed", "load_error"]
    assert bench.run("return contact:label()") == "v1 ann"

    app(bench, CONTACT.replace("v1", "v3"))
    bench.must("reload", contact)

    assert bench.run("return contact:label()") == "v3 ann"


@pytest.mark.covers("UI-HOT-3")
def test_a_failing_reload_resets_the_flag(bench: Bench, contact: str) -> None:
    app(bench, CONTACT + "\nerror('late')")

    code, _, _ = bench.enter("reload", contact)

    assert code == "lua-error"
    assert bench.run("return session.reloading") is False


@pytest.mark.covers("UI-HOT-3")
def test_a_file_nobody_loaded_is_left_alone(bench: Bench) -> None:
    assert bench.must("reload", app(bench, "loaded = true", "other")) is False
    assert bench.run("return loaded") is None


@pytest.mark.covers("UI-HOT-3", "UI-DIR-5")
def test_a_link_and_its_target_are_the_same_file(bench: Bench) -> None:
    file = app(bench, CONTACT)
    (bench.folder / "lua").mkdir()
    (bench.folder / "lua" / "contact.lua").symlink_to(Path(file))
    bench.must("display", "contact")
    app(bench, CONTACT.replace("v1", "v2"))

    assert bench.must("reload", file) is True
    assert bench.must("reload", str(bench.folder / "lua" / "contact.lua")) is True
    assert bench.run("return contact:label()") == "v2 ann"


@pytest.mark.covers("UI-LSES-7", "UI-LSES-8", "UI-HOT-9")
def test_unloading_forgets_what_a_file_declared(bench: Bench, contact: str) -> None:
    bench.run("old = Contact session:unloadDirectory('apps/contact')")

    assert bench.must("reload", contact) is False
    assert bench.run("return session:prototype('Contact', {}) ~= old") is True
    bench.run(
        "session:prototype('a', {}) session:prototype('a.b', {}) "
        "ab = session:prototype('a.b') session:removePrototype('a', true)"
    )
    assert bench.run("return session:prototype('a.b', {}) ~= ab") is True


@pytest.mark.covers("UI-LUA-7", "UI-LSES-11")
def test_instances_say_what_they_are(bench: Bench) -> None:
    bench.run("Apple = session:prototype('Apple', {}) Pear = session:prototype('Pear', {}, Apple)")

    assert bench.run("return {tostring(Apple:new()), tostring(Pear:new()), tostring(Pear)}") == [
        "an Apple",
        "a Pear",
        "Pear",
    ]
    assert bench.run("return session.metaTostring({tostring = function() return 'me' end})") == "me"


@pytest.mark.covers("UI-LSES-12")
def test_session_functions_can_be_wrapped(bench: Bench) -> None:
    bench.run(
        "local real = session.create created = 0 "
        "function session:create(...) created = created + 1 return real(self, ...) end"
    )
    bench.run("session:prototype('P', {}):new()")

    assert bench.run("return created") == 1


@pytest.mark.covers("UI-LSES-9")
def test_timers_come_back_by_handle(bench: Bench) -> None:
    handles = bench.run("""
      log = {}
      local function note(text) return function() table.insert(log, text) end end
      return {session:setTimeout(note('once'), 50), session:setInterval(note('again'), 20),
        session:setImmediate(function() error('bad') end)}
    """)
    assert handles == [1, 2, 3]
    assert bench.out == [("timer", "1", 0.05), ("timer", "2", 0.02), ("timer", "3", 0.0)]

    assert [bench.must("timer", 1), bench.must("timer", 1), bench.must("timer", 2)] == [True, False, True]
    assert bench.enter("timer", 3)[0] == "lua-error"
    bench.run("session:clearTimeout(2) session:clearInterval(99)")

    bench.run("session:setTimeout(print, 1/0) session:setTimeout(print, 0/0) session:setTimeout(print, -5)")
    assert [seconds for _, _, seconds in bench.out[-3:]] == [86400 * 365, 0, 0]
    del bench.out[-3:]
    assert bench.run("return log") == ["once", "again"]
    assert [one for one in bench.out[3:] if one[0] != "problem"] == [("timer", "2", 0.02), ("cancel", "2", 0.0)]
    assert bench.must("timer", 2) is False


@pytest.mark.covers("UI-LSES-13")
def test_the_ten_thousand_and_first_waiting_timer_is_an_error_that_names_the_limit(bench: Bench) -> None:
    bench.run("for i = 1, 10000 do session:setTimeout(function() end, 3600000) end")
    asked = len(bench.out)

    code, message, *_ = bench.enter("run", "session:setInterval(function() end, 1000)")

    assert code == "lua-error"
    assert "10000 timers" in message
    assert "session:clearTimeout" in message
    assert len(bench.out) == asked
    assert bench.must("timer", 1) is True
    bench.run("session:clearTimeout(2) session:setTimeout(function() end, 1) session:setTimeout(function() end, 1)")


@pytest.mark.covers("UI-BUDG-1")
def test_an_endless_loop_in_a_saved_file_is_reported_with_file_and_line(bench: Bench, contact: str) -> None:
    app(bench, "\n\nwhile true do end")
    bench.allow(0.05)

    assert bench.enter("reload", contact)[1] == "timeout: Lua code ran longer than 0.05 s, at apps/contact/app.lua:3"
    assert bench.out[-1][0] == "load_error"
    assert "app.lua:3" in bench.out[-1][1]


@pytest.mark.covers("UI-LSES-3", "UI-LSES-4")
def test_a_prototype_has_new_unless_the_app_writes_its_own(bench: Bench) -> None:
    bench.run("Plain = session:prototype('Plain', {name = 'x'})")
    bench.run(
        "Own = session:prototype('Own', {}) function Own:new(data) return session:create(Own, {given = data}) end"
    )

    assert bench.run("local p = Plain:new({n = 1}) return {p.name, p.n, p.type, Own:new('a').given}") == [
        "x",
        1,
        "Plain",
        "a",
    ]


@pytest.mark.covers("UI-LSES-4", "UI-HOT-5")
def test_what_create_made_takes_part_in_a_reload(bench: Bench) -> None:
    text = "Card = session:prototype('Card', {a = 1}) if not session.reloading then card = session:create(Card, {}) end"
    file = app(bench, text, "card")
    bench.must("display", "card")
    app(bench, f"{text.replace('a = 1', 'b = 2')} function Card:mutate() self.moved = true end", "card")

    bench.must("reload", file)

    assert bench.run("return {card.a == nil, card.b, card.moved}") == [True, 2, True]


@pytest.mark.covers("UI-LSES-2", "UI-HOT-7")
def test_an_app_guarded_by_get_app_is_made_once(bench: Bench) -> None:
    text = "Root = session:prototype('Root', {}) made = (made or 0) + 1 if not session:getApp() then "
    text += "session:createAppVariable(Root:new({number = made})) end"
    file = app(bench, text, "root")
    bench.must("display", "root")

    bench.must("reload", file)

    assert bench.run("return {made, session:getApp().number}") == [2, 1]
