"""Plain variables agree with a naive evaluation too, through creations, destructions, errors and priorities."""

import random
from pathlib import Path

import pytest

from lua_runtime.cores import Bench
from lua_runtime.engine.test_oracle import SETUP, a_change, normal
from lua_runtime.engine.test_variables import create

PATHS = [
    "title",
    "risky()",
    "calm()",
    "items",
    "items.0.name",
    "items.1.risky()",
    "current.name",
    "list",
    "current.deep.er.value",
]

NAIVE = """
function naive(path)
  local o = app
  for part in path:gmatch("[^.]+") do
    if o == nil then return {value = nil} end
    local ok, v
    local from = o
    local call = part:match("^(.*)%(%)$")
    if call then ok, v = pcall(function() return from[call](from) end)
    elseif part:match("^%d+$") then ok, v = pcall(rawget, from, tonumber(part) + 1)
    else ok, v = pcall(function() return from[part] end) end
    if not ok then return {raised = true} end
    o = v
  end
  return {value = plain_form(o)}
end
"""


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.covers("UI-VAR-18", "UI-VAR-20", "UI-VAR-22", "UI-VAR-23", "UI-ROB-2")
def test_plain_variables_always_hold_what_a_naive_evaluation_gives(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    bench = Bench(tmp_path)
    bench.run(
        SETUP.replace("local function flat(v)", "function plain_form(v)").replace("flat(v)", "plain_form(v)") + NAIVE
    )
    bench.run(f"math.randomseed({seed})")
    page = bench.open(expand=False)
    bench.send(create(2, "value"))
    shown: dict[int, tuple[str, object]] = {}
    number = 2

    for batch in range(700):
        bench.run("\n".join(f"pcall(function() {a_change(rng)} end)" for _ in range(rng.randint(1, 4))))
        if rng.random() < 0.3 and shown:
            gone = rng.choice(list(shown))
            bench.send({"type": "destroy", "data": {"varId": gone}})
            del shown[gone]
        if len(shown) < 40:
            number += 1
            path = rng.choice(PATHS)
            bench.send(create(number, path + rng.choice(["", "?priority=high", "?priority=low"]), 2))
            shown[number] = (path, None)

        truths = bench.run("return {" + ", ".join(f"naive({path!r})" for path, _ in shown.values()) + "}")
        for truth, (variable, (path, before)) in zip(truths, list(shown.items()), strict=True):
            now = before if truth.get("raised") else truth.get("value")
            shown[variable] = (path, now)
            assert normal(page.plain.get(variable)) == now, f"seed {seed}, batch {batch}: {path}"
