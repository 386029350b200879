"""Runs every attack as things are, and once without each of its guards."""

from collections.abc import Iterator

import pytest

from tests.attacks.guards import Guard
from tests.clients import shared_handler


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    marks = list(metafunc.definition.iter_markers("guarded"))
    if marks:
        guards = [None, *(guard for mark in marks for guard in mark.args)]
        names = [f"without {guard.place}" if guard else "guarded" for guard in guards]
        metafunc.fixturenames.append("removed_guard")
        metafunc.parametrize("removed_guard", guards, ids=names)


@pytest.fixture
def removed_guard() -> None:
    """The guard that is taken away while the attack runs; None: all of them stand."""


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Iterator[None]:
    """Without its guard an attack must be felt by what the test asserts, and by nothing else."""
    callspec = getattr(pyfuncitem, "callspec", None)
    guard: Guard | None = callspec.params.get("removed_guard") if callspec else None
    if guard is None:
        return (yield)
    # Middleware that was made before has the guard still in it, and middleware made meanwhile has not.
    shared_handler.cache_clear()
    with pytest.MonkeyPatch.context() as patch:
        guard.remove(patch)
        try:
            yield
        except (AssertionError, pytest.fail.Exception):
            return True
        finally:
            shared_handler.cache_clear()
    pytest.fail(f"nobody notices that {guard.place} is gone: {guard.keeps}", pytrace=False)
