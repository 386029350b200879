"""Count the product's files, rooms and functions that one vote, or one `foilworks export foilworks`, runs.

    .venv/bin/python scripts/trace_work.py vote      the POST of a vote, answered with the next card
    .venv/bin/python scripts/trace_work.py export    the export of the tutorial

Traces the checkout in the current folder. The vote is the third of one process: nothing is loaded for the first time.
The export includes the modules that it loads. Prints a JSON object of the counts, then calls and path of each file.
"""

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

ROOT = Path.cwd()
TUTORIAL = "tests/docs/test_tutorial.py"
FOREIGN = (".venv", "tests")
# Parts of the function that contains them.
UNCOUNTED = frozenset({"<genexpr>", "<listcomp>", "<dictcomp>", "<setcomp>", "<lambda>"})


class Trace:
    """The calls of product functions by (file, function)."""

    def __init__(self) -> None:
        self.calls: Counter[tuple[str, str]] = Counter()

    @contextmanager
    def recording(self) -> Iterator[None]:
        self.calls.clear()
        sys.setprofile(self._record)
        try:
            yield
        finally:
            sys.setprofile(None)

    def _record(self, frame: FrameType, event: str, _argument: object) -> None:
        path, function = frame.f_code.co_filename, frame.f_code.co_name
        if event == "call" and path.startswith(f"{ROOT}/") and function not in UNCOUNTED:
            relative = path[len(str(ROOT)) + 1 :]
            if not relative.startswith(FOREIGN) and relative != "scripts/trace_work.py":
                self.calls[relative, function] += 1

    def report(self) -> None:
        files: Counter[str] = Counter()
        for (path, _function), n_calls in self.calls.items():
            files[path] += n_calls
        counts = {
            "files": len(files),
            "rooms": len({"/".join(path.split("/")[:2]) for path in files}),
            "functions": len(self.calls),
            "calls": files.total(),
        }
        print(json.dumps(counts))
        for path, n_calls in sorted(files.items()):
            print(f"{n_calls:7d}  {path}")


TRACE = Trace()


@pytest.mark.django_db(transaction=True)
def test_vote(client: Any) -> None:
    worlds = import_module("tests.annotation.world")
    world = worlds.make_world()
    for _n in range(12):
        world.item()
    work = world.claim("vera", "validation")
    client.force_login(world.vera)
    queue = f"/projects/{world.project.slug}/work/validation/"
    address = f"{queue}{work.token}/"
    for _n in range(3):
        answer = {"answer": "first", "idempotency_key": worlds.new_key(), "seconds": "2"}
        with TRACE.recording():
            response = client.post(address, answer, headers={"X-Foilworks-Swap": "1"})
        assert response.status_code == 200
        address = response.headers["X-Foilworks-Url"].partition("?")[0]
    TRACE.report()


class TracedExport:
    """Records the command `export foilworks` of the tutorial's test."""

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Function) -> Iterator[None]:
        walk = item.module.Walk
        command: Callable[..., str] = walk.command

        def traced(self: Any, start: str) -> str:
            if start != "foilworks export foilworks":
                return command(self, start)
            with TRACE.recording():
                printed = command(self, start)
            TRACE.report()
            return printed

        walk.command = traced
        return (yield)


def main(work: str) -> int:
    # This file is outside `tests`, whose settings it needs.
    vote = ["-p", "tests.conftest", f"{Path(__file__).resolve()}::test_vote"]
    sys.path.insert(0, str(ROOT))
    tests, plugins = (vote, []) if work == "vote" else ([TUTORIAL], [TracedExport()])
    return int(pytest.main(["-q", "-s", "-p", "no:cacheprovider", "-c", "pyproject.toml", *tests], plugins=plugins))


if __name__ == "__main__":
    if sys.argv[1:] not in (["vote"], ["export"]):
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
