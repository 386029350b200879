import pytest

from tests.annotation.world import World, make_world


@pytest.fixture
def world(db) -> World:
    """One subtest with one foil an item and two of three votes; a run whose groups a test adds."""
    return make_world()


@pytest.fixture
def every_second_gold(monkeypatch) -> None:
    """Every second piece of a person is gold where a policy mixes it in, whatever the secret says."""
    for place in ("annotation.actions.claims.gold_slots", "annotation.rules.gold_serving"):
        monkeypatch.setattr(f"{place}.gold_is_due", lambda secret, person, served, rate: rate > 0 and served % 2 == 1)


@pytest.fixture
def every_fifth_gold(monkeypatch) -> None:
    """Every fifth piece of a person is gold where a policy mixes it in, whatever the secret says."""
    for place in ("annotation.actions.claims.gold_slots", "annotation.rules.gold_serving"):
        monkeypatch.setattr(f"{place}.gold_is_due", lambda secret, person, served, rate: rate > 0 and served % 5 == 4)
