"""`python -m tests.hub.gpu_speed` runs at tiny sizes on a CPU and prints every part. No assertion is about speed."""

import json
import math
from collections.abc import Iterator
from typing import Any

import pytest

from tests.hub.gpu_speed import PARTS, main


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Any:
    def found(*options: str) -> dict[str, dict[str, Any]]:
        main(["--tiny", "--device", "cpu", *options])
        return {line.pop("part"): line for line in map(json.loads, capsys.readouterr().out.splitlines())}

    return found


def numbers(value: Any) -> Iterator[float]:
    if isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from numbers(each)
    elif isinstance(value, int | float):
        yield value


@pytest.mark.full
@pytest.mark.slow(20)
def test_every_part_prints_finite_numbers(run: Any) -> None:
    found = run()
    assert tuple(found) == ("machine", *PARTS, "end")
    every = list(numbers(found))
    assert all(math.isfinite(value) and value >= 0 for value in every)
    assert found["limit"]["tflops"] > 0
    models = found["encoders"]["models"]
    assert [(one["model"], one["dtype"]) for one in models] == [
        (name, dtype) for name in ("CLIP tiny", "SigLIP tiny") for dtype in ("bfloat16", "float32")
    ]
    assert all(one["share"] > 0 for one in models)
    vlm = found["vlm"]
    assert vlm["largest_difference_nats"] < 1e-3
    assert min(vlm[name] for name in ("times_faster", "memory_ratio", "share", "prefix_tokens")) > 0
    assert set(found["decode"]["against"]) == {*(f"{one['model']} {one['dtype']}" for one in models), "vlm"}
    assert [row["k"] for row in found["teacher"]["steps"]] == [0, 5]
    assert all(row["step_s"] > 0 for row in found["teacher"]["steps"])


def test_a_part_that_begins_too_late_is_skipped(run: Any) -> None:
    found = run("--only", "limit,vlm", "--minutes", "0")
    assert tuple(found) == ("machine", "limit", "vlm", "end")
    assert found["vlm"] == {"skipped": "it began after 0 minutes"}
