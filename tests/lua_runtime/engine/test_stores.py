"""`session:store`: tables that are saved as they change, and are there again after a restart."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from lua_runtime.cores import Bench

APP = """
Expense = session:prototype("Expense", {title = "", amount = 0, paid = false})
function Expense:cents() return self.amount * 100 end
expenses = {items = session:store("items", Expense), settings = session:store("settings")}
"""


def started(folder: Path, text: str = APP) -> Bench:
    """A fresh worker with the app, as after a restart."""
    file = folder / "apps" / "expenses" / "app.lua"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    bench = Bench(folder)
    bench.must("display", "expenses")
    return bench


def problems(bench: Bench) -> list[str]:
    return [json.loads(text)["message"] for kind, text, _ in bench.out if kind == "problem"]


def stored(folder: Path, name: str = "items") -> list[Any]:
    with closing(sqlite3.connect(folder / "storage" / "expenses" / f"{name}.db")) as connection:
        return [json.loads(data)[0] for (data,) in connection.execute("SELECT data FROM rows")]


@pytest.mark.covers("UI-STORE-1")
def test_rows_are_there_again_after_a_restart_as_instances_in_their_order(tmp_path: Path) -> None:
    bench = started(tmp_path)
    bench.run("for i = 1, 3 do table.insert(expenses.items, Expense:new({title = 't' .. i, amount = i})) end")
    bench.run("expenses.items[2].amount = 20 table.remove(expenses.items, 1)")
    bench.run("table.insert(expenses.items, 1, Expense:new({title = 'first', tags = {'a', 'b'}}))")

    again = started(tmp_path)

    rows = "local r = {} for i, e in ipairs(expenses.items) do r[i] = e.title .. ' ' .. e:cents() end return r"
    assert again.run(rows) == ["first 0", "t2 2000", "t3 300"]
    assert again.run("return expenses.items[1].tags") == ["a", "b"]


@pytest.mark.covers("UI-STORE-1")
def test_named_fields_and_plain_values_last_and_private_ones_do_not(tmp_path: Path) -> None:
    bench = started(tmp_path)
    bench.run(
        "local s = expenses.settings s.theme = 'dark' s.size = {w = 1} s._secret = 1 s[1] = 'x' s[2] = 2.5 s[3] = true"
    )
    bench.run("expenses.settings.size.w = 7")

    again = started(tmp_path)

    found = "local s = expenses.settings return {s.theme, s.size.w, s._secret == nil, s[1], s[2], s[3], #s}"
    assert again.run(found) == ["dark", 7, True, "x", 2.5, True, 3]


@pytest.mark.covers("UI-STORE-1")
def test_only_what_changed_is_written(tmp_path: Path) -> None:
    bench = started(tmp_path)
    bench.run("for i = 1, 100 do expenses.items[i] = Expense:new({amount = i}) end")
    file = tmp_path / "storage" / "expenses" / "items.db"
    with closing(sqlite3.connect(file)) as connection:
        before = connection.execute("PRAGMA data_version").fetchone()
        bench.run("return expenses.items[5].amount")
        assert connection.execute("PRAGMA data_version").fetchone() == before
        bench.run("expenses.items[5].amount = 500")
        assert connection.execute("PRAGMA data_version").fetchone() != before

    assert stored(tmp_path)[4] == {"_type": "Expense", "amount": 500}


@pytest.mark.covers("UI-STORE-2")
def test_mutate_migrates_rows_that_were_saved_by_an_older_version(tmp_path: Path) -> None:
    bench = started(tmp_path)
    bench.run("expenses.items[1] = Expense:new({amount = 3})")
    newer = APP.replace("amount = 0", "cost = 0").replace(
        "expenses =", "function Expense:mutate() self.cost = self.cost + (rawget(self, 'amount') or 0) end\nexpenses ="
    )

    assert started(tmp_path, newer).run("return expenses.items[1].cost") == 3
    assert started(tmp_path, newer).run("return expenses.items[1].cost") == 3  # once


@pytest.mark.covers("UI-STORE-2")
def test_rows_of_a_type_that_is_not_declared_are_plain_and_told(tmp_path: Path) -> None:
    started(tmp_path).run("expenses.items[1] = Expense:new({amount = 3})")

    bench = started(tmp_path, "expenses = {items = session:store('items')}")

    assert bench.run("return expenses.items[1].amount") == 3
    assert problems(bench) == ["'Expense' is not declared before session:store('items'): its rows are plain tables"]


@pytest.mark.covers("UI-STORE-3")
def test_csv_goes_out_and_in_with_the_types_of_the_fields(tmp_path: Path) -> None:
    bench = started(tmp_path)
    bench.run('expenses.items[1] = Expense:new({title = "a, \\"b\\"\\nc", amount = 1.5, paid = true})')

    text = bench.run("return expenses.items:export('csv')")

    assert text == 'amount,paid,title\n1.5,true,"a, ""b""\nc"\n'
    bench.run(f"return expenses.items:import('csv', {json.dumps(text)})")
    row = "local e = expenses.items[2] return {e.title, e.amount, e.paid, e:cents()}"
    assert bench.run(row) == ['a, "b"\nc', 1.5, True, 150]


@pytest.mark.covers("UI-STORE-3")
def test_headings_as_people_write_them_are_the_fields_of_the_type(tmp_path: Path) -> None:
    bench = started(tmp_path)
    bench.run(f"expenses.items:import('csv', {json.dumps('Title,AMOUNT,Note' + chr(10) + 'Milk,3,cold' + chr(10))})")

    assert bench.run("local e = expenses.items[1] return {e.title, e.amount, e.Note}") == ["Milk", 3, "cold"]


@pytest.mark.covers("UI-STORE-3")
@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("12.5", 12.5), ("1,257.39", 1257.39), ("1.257,39", 1257.39), ("12,50 €", 12.5), ("$1,257", 1257),
        ("1 257,39", 1257.39), ("-3", -3), ("", 0), ("1e3", 1000), ("abc", None), ("1,2,3", None), ("12 kg", None),
    ],
)  # fmt: skip
def test_numbers_are_read_as_people_write_them(tmp_path: Path, text: str, amount: float | None) -> None:
    bench = started(tmp_path)
    lines = json.dumps(f'title,amount\nMilk,"{text}"\nTea,3\n', ensure_ascii=False)

    told = bench.run(f"local n, why, out = expenses.items:import('csv', {lines}) return {{n, #out, out[1]}}")

    amounts = bench.run("local a = {} for i, e in ipairs(expenses.items) do a[i] = e.amount end return a")
    left_out = {"row": 1, "field": "amount", "text": text}
    assert [amounts, told] == ([[amount, 3], [2, 0]] if amount is not None else [[3], [1, 1, left_out]])


@pytest.mark.covers("UI-STORE-3")
def test_a_comma_is_decimal_in_a_file_separated_by_semicolons(tmp_path: Path) -> None:
    bench = started(tmp_path)

    bench.run("expenses.items:import('csv', 'title;amount\\nMilk;1,257\\n')")

    assert bench.run("return expenses.items[1].amount") == 1.257


@pytest.mark.covers("UI-STORE-3")
def test_json_goes_out_and_in(tmp_path: Path) -> None:
    bench = started(tmp_path)
    bench.run("expenses.items[1] = Expense:new({title = 'ä', amount = 2})")

    text = bench.run("return expenses.items:export('json')")

    assert json.loads(text) == [{"_type": "Expense", "amount": 2, "title": "ä"}]
    assert bench.run(f"return expenses.items:import('json', {json.dumps(json.dumps([{'amount': 5}]))})") == 1
    assert bench.run("return expenses.items[2]:cents()") == 500


@pytest.mark.covers("UI-STORE-3")
@pytest.mark.parametrize(
    ("form", "text", "reason"),
    [
        ("csv", "a,b\n1", "Line 2 of the CSV has another number of values than the first line"),
        ("csv", "", "CSV to import must begin with a line of column names"),
        ("json", "{}", "JSON to import must be a list of rows"),
        ("json", "[", "Expecting value"),
    ],
)
def test_a_text_that_cannot_be_imported_changes_nothing_and_says_why(
    tmp_path: Path, form: str, text: str, reason: str
) -> None:
    bench = started(tmp_path)

    found = bench.run(f"local n, why = expenses.items:import('{form}', {json.dumps(text)}) return {{n == nil, why}}")

    assert [found[0], found[1].startswith(reason), bench.run("return #expenses.items")] == [True, True, 0]


@pytest.mark.covers("UI-STORE-1")
def test_what_cannot_be_saved_is_told_and_saved_later(tmp_path: Path) -> None:
    bench = started(tmp_path)
    bench.run("local e = Expense:new({}) e.me = {} e.me.me = e.me expenses.items[1] = e")
    assert [message.partition(": ")[0] for message in problems(bench)] == ["session:store('items') cannot be saved"]

    bench.run("expenses.items[1].me = nil")

    assert len(stored(tmp_path)) == 1
    assert [text for kind, text, _ in bench.out if kind == "resolved"] == ["store expenses/items"]


@pytest.mark.covers("UI-STORE-1")
@pytest.mark.parametrize("name", ["", "../x", "a/b", "a.b", "x" * 65])
def test_names_that_could_lead_elsewhere_are_refused(tmp_path: Path, name: str) -> None:
    code, message, _ = started(tmp_path).enter("run", f"session:store({json.dumps(name)})")

    assert (code, "the name of a store" in message) == ("lua-error", True)


@pytest.mark.covers("UI-STORE-1")
def test_a_link_in_the_place_of_a_store_is_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside.db"
    (tmp_path / "base" / "storage" / "expenses").mkdir(parents=True)
    (tmp_path / "base" / "storage" / "expenses" / "items.db").symlink_to(outside)
    file = tmp_path / "base" / "apps" / "expenses" / "app.lua"
    file.parent.mkdir(parents=True)
    file.write_text(APP)

    code, message, _ = Bench(tmp_path / "base").enter("display", "expenses")

    assert (code, "is a link" in message, outside.exists()) == ("not-found", True, False)


@pytest.mark.covers("UI-STORE-1")
def test_a_reload_keeps_the_same_table(tmp_path: Path) -> None:
    bench = started(tmp_path)
    bench.run("old = expenses.items expenses.items[1] = Expense:new({amount = 1})")

    bench.must("reload", str(tmp_path / "apps" / "expenses" / "app.lua"))

    assert bench.run("return {rawequal(old, expenses.items), #expenses.items}") == [True, 1]


ADDING = """
import sys
from pathlib import Path
from lua_runtime.engine.test_stores import started

bench = started(Path(sys.argv[1]))
while True:
    bench.run("table.insert(expenses.items, Expense:new({amount = #expenses.items + 1}))")
    count = bench.run("return #expenses.items")
    print(count, flush=True)
"""


@pytest.mark.covers("UI-STORE-1")
@pytest.mark.slow
def test_what_was_answered_survives_kills(tmp_path: Path) -> None:
    tests = str(Path(__file__).parents[2])
    answered = 0
    for lines in (3, 11, 1, 7, 20):
        command = [sys.executable, "-c", ADDING, str(tmp_path)]
        adding = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ | {"PYTHONPATH": tests})
        assert adding.stdout is not None
        for _ in range(lines):
            answered = int(adding.stdout.readline())
        adding.send_signal(signal.SIGKILL)
        answered = max([answered, *(int(line) for line in adding.stdout if line.endswith("\n"))])
        adding.wait()

        kept = [row["amount"] for row in stored(tmp_path)]

        assert kept == list(range(1, len(kept) + 1))
        assert len(kept) >= answered


@pytest.mark.covers("UI-STORE-1")
def test_the_state_journal_refers_to_rows_of_a_store(tmp_path: Path) -> None:
    bench = started(tmp_path)
    bench.run("expenses.items[1] = Expense:new({amount = 3}) expenses.selected = expenses.items[1]")
    records = bench.must("changes", 1)
    bench.run("expenses.items[1].amount = 4")

    again = started(tmp_path)
    again.must("restore", json.dumps(records))

    found = "return {rawequal(expenses.selected, expenses.items[1]), #expenses.items, expenses.selected.amount}"
    assert again.run(found) == [True, 1, 4]
