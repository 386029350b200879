import pytest

from tests.annotation.world import World, make_world


@pytest.fixture
def world(db) -> World:
    """One subtest with one foil an item and two of three votes; a run whose groups a test adds."""
    return make_world()


@pytest.fixture
def crowd(world: World) -> World:
    """Three items to judge."""
    for _ in range(3):
        world.item()
    return world
