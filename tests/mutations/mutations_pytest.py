"""Try mutants: run the tests once to see which functions each runs, then those of each mutant in a forked process.

A plugin for pytest in the copy that mutations.py has made. Tests that need tables or models are left out. A
mutant is killed by the first test that fails, by a crash, and by taking far longer than the tests take without it.
"""

import gc
import json
import os
import resource
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from _pytest.runner import runtestprotocol
from hypothesis import HealthCheck, settings
from mutations import KILLED, SURVIVED, UNTESTED
from mutmut.mutation.trampoline import set_mutant_under_test
from mutmut.state import state

from foilworks.core.media.child import end_children

# A test runs again in each forked process; a slow machine is not a kill.
settings.register_profile(
    "mutations", deadline=None, database=None, suppress_health_check=[HealthCheck.differing_executors]
)
settings.load_profile("mutations")

OURS = {"annotation", "evaluation", "foilworks", "generation"}
# A mutant may take this many times the processor time of its tests without it, plus some seconds.
TIMES, SECONDS = 3, 3
# A mutant that waits for ever uses no processor: many times the above, by the clock.
CLOCK_TIMES = 20
# Per function, only the fastest tests within this total run; a fault that only others notice counts as missed.
MAX_TEST_SECONDS = 6.0
MORE_MEMORY = 2 * 2**30


# Fixtures that train a model: each forked process would train it again, with threads that it has not inherited.
MODELS = {"model", "models"}


def is_left_out(item: pytest.Item) -> bool:
    """Whether it needs tables or a model."""
    fixtures = {*getattr(item, "fixturenames", ())}
    return bool(fixtures & {"db", *MODELS}) or item.get_closest_marker("django_db") is not None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    left_out = [item for item in items if is_left_out(item)]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if not is_left_out(item)]


class Covering:
    """The tests that run a function, by mutmut's name of the function."""

    def __init__(self) -> None:
        self.by_function: dict[str, list[pytest.Item]] = defaultdict(list)
        self.seconds: dict[str, float] = {}

    def note(self, item: pytest.Item, seconds: float) -> None:
        self.seconds[item.nodeid] = seconds
        for function in state()._stats:
            self.by_function[function].append(item)
        state()._stats.clear()

    def tests_of(self, function: str) -> list[pytest.Item]:
        """Return the fastest tests first: at least one, and as many as fit into the total."""
        found: list[pytest.Item] = []
        spent = 0.0
        for item in sorted(self.by_function.get(function, ()), key=lambda item: self.seconds[item.nodeid]):
            spent += self.seconds[item.nodeid]
            if found and spent > MAX_TEST_SECONDS:
                break
            found.append(item)
        return found


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool:
    if session.testsfailed:
        raise session.Interrupted("the tests could not be collected")
    covering = Covering()
    set_mutant_under_test("stats")
    for item, following in zip(session.items, [*session.items[1:], None], strict=True):
        state()._stats.clear()
        begun = time.process_time()
        if failed(item, following):
            raise session.Failed(f"{item.nodeid} fails without any mutant")
        covering.note(item, time.process_time() - begun)
    set_mutant_under_test("")
    forget_results()
    # Forked processes would share the connections of idle children.
    end_children()
    gc.collect()
    gc.freeze()
    mutants = json.loads(Path("waiting.json").read_text(encoding="utf-8"))
    with Path("outcomes.txt").open("a", encoding="utf-8") as out:
        for number, (mutant, outcome) in enumerate(tried(mutants, covering), start=1):
            out.write(f"{mutant['identity']} {outcome}\n")
            out.flush()
            if number % 100 == 0 or number == len(mutants):
                os.write(2, f"{number} of {len(mutants)} mutants\n".encode())
    return True


def forget_results() -> None:
    """Clear caches of functions: results of the run without a mutant would hide it."""
    ours = [module for name, module in sys.modules.items() if name.partition(".")[0] in OURS]
    for kept in [value for module in ours for value in vars(module).values() if hasattr(value, "cache_clear")]:
        kept.cache_clear()


def failed(item: pytest.Item, following: pytest.Item | None) -> bool:
    return any(report.failed for report in runtestprotocol(item, nextitem=following, log=False))


def tried(mutants: list[dict[str, Any]], covering: Covering) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield each mutant with its outcome, as they end."""
    most = int(os.environ["MUTANT_PROCESSES"])
    running: dict[int, dict[str, Any]] = {}
    for mutant in mutants:
        tests = covering.tests_of(mutant["covered_as"])
        if not tests:
            yield mutant, UNTESTED
            continue
        while len(running) >= most:
            yield ended(running)
        seconds = SECONDS + TIMES * sum(covering.seconds[test.nodeid] for test in tests)
        child = os.fork()
        if not child:
            judge(mutant["key"], tests, seconds)
        running[child] = mutant
    while running:
        yield ended(running)


def ended(running: dict[int, dict[str, Any]]) -> tuple[dict[str, Any], str]:
    child, status = os.wait()
    return running.pop(child), SURVIVED if status == 0 else KILLED


def judge(key: str, tests: list[pytest.Item], seconds: float) -> None:
    """End the forked process: with 0 if every test passes."""
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, CLOCK_TIMES * seconds)
    held = int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (held + MORE_MEMORY, held + MORE_MEMORY))
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.__stdout__.fileno() if sys.__stdout__ else 1)
    set_mutant_under_test(key)
    noticed = True
    try:
        noticed = any(failed(test, following) for test, following in zip(tests, [*tests[1:], None], strict=True))
    finally:
        os._exit(1 if noticed else 0)
