"""The frames of the golden scenarios in contracts/golden/wire, word for word."""

import json
from pathlib import Path

import pytest

from lua_runtime.cores import Bench

GOLDEN = Path(__file__).parents[3] / "contracts" / "golden" / "wire"


@pytest.mark.parametrize("scenario", sorted(folder.name for folder in GOLDEN.iterdir()))
def test_each_step_gives_the_golden_frame(bench: Bench, scenario: str) -> None:
    for key, html in json.loads((GOLDEN / scenario / "viewdefs.json").read_text()).items():
        type_name, namespace = key.split(".")
        bench.store.put(type_name, namespace, html)
    bench.must("viewdefs", bench.store.bundle())
    bench.must("open", 1)

    for step in json.loads((GOLDEN / scenario / "steps.json").read_text()):
        op, args = ("run", (step["run"],)) if "run" in step else ("frame", (1, json.dumps(step["send"])))
        code, message, _trace, _result, *frames = bench.core.call(op, args, bench.facts)
        assert code == "", message
        assert (json.loads(str(frames[1])) if frames else None) == step["frame"]
