"""What comes ahead comes in order, no further ahead than asked, with its errors, and stops when nobody takes it."""

import threading

import pytest

from foilworks.core.media.decode_pool import KINDS, DecodePool, usual_workers
from tests.waiting import PATIENCE_SECONDS, wait_until


def double(number: int) -> int:
    if number == 3:
        raise ValueError("three is no clip")
    return 2 * number


@pytest.mark.parametrize(("workers", "kind"), [(0, "threads"), (1, "threads"), (3, "threads"), (1, "processes")])
def test_results_come_in_order_and_errors_in_their_place(workers, kind):
    found = []
    with DecodePool(workers, kind) as pool:
        for number, wait in pool.ahead(range(6), double, depth=4):
            try:
                found.append((number, wait()))
            except ValueError as error:
                found.append((number, str(error)))
    assert found == [(0, 0), (1, 2), (2, 4), (3, "three is no clip"), (4, 8), (5, 10)]


def test_it_reads_ahead_and_no_further_than_asked():
    begun, go = [], threading.Event()

    def work(number: int) -> int:
        begun.append(number)
        go.wait(PATIENCE_SECONDS)
        return number

    with DecodePool(2) as pool:
        things = pool.ahead(iter(range(100)), work, depth=3)
        first, wait = next(things)
        wait_until(lambda: len(begun) >= 2)
        assert sorted(begun) == [0, 1]
        go.set()
        assert (first, wait()) == (0, 0)
        things.close()
    assert max(begun) <= 2, "what nobody takes any more is not begun"


def test_without_workers_nothing_is_done_before_it_is_asked_for():
    begun = []
    with DecodePool(0) as pool:
        waits = [wait for _, wait in pool.ahead(range(3), begun.append, depth=2)]
        assert begun == []
        waits[1]()
        assert begun == [1]


def test_an_unknown_kind_of_pool_is_rejected():
    with pytest.raises(ValueError, match="threads, processes"):
        DecodePool(1, "magic")
    assert usual_workers() >= 1
    assert KINDS == ("threads", "processes")
