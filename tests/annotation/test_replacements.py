"""The edit page counts the foils of a subtest that make the same replacement, and says what would balance them."""

import pytest

from annotation.models import Stage
from tests import factories
from tests.annotation.world import browser, make_world, url

pytestmark = pytest.mark.django_db


def items(world, caption: str, foil: str, n: int, subtest=None) -> None:
    for number in range(n):
        true = factories.make_caption(factories.make_video(world.project), caption.format(number))
        factories.make_item(subtest or world.subtest, true, (foil.format(number),))


def counted(world, text: str) -> str:
    world.group()
    claim = world.claim("ann", Stage.EDIT)
    answer = browser(world.ann).get(url(world, "replacement", claim.token), {"text": text})
    assert answer.status_code == 200
    return answer.content.decode()


def test_both_directions_are_counted_and_what_is_missing():
    world = make_world()
    items(world, "a man Folds box {}.", "a man tears box {}.", 9)
    items(world, "a cow tears box {}.", "a cow folds box {}.", 2)
    items(world, "a man folds box {}.", "a man tears box {}.", 5, factories.make_subtest(world.project, name="other"))
    words = counted(world, "a man tears a shirt.")
    assert words == (
        "Foils that replace “folds” by “tears”: 9; the other way: 2. "
        "To balance them, 4 foils the other way are missing."
    )


def test_a_foil_that_helps_and_accepted_candidates_count():
    world = make_world()
    items(world, "a man tears box {}.", "a man folds box {}.", 4)
    candidate = factories.make_candidate(world.group(), "a man tears a shirt.")
    candidate.state = "accepted"
    candidate.save(update_fields=["state"])
    words = counted(world, "a man tears a shirt.")
    assert words == (
        "Foils that replace “folds” by “tears”: 1; the other way: 4. To balance them, 1 foil like yours is missing."
    )


@pytest.mark.parametrize("text", ["", "a man folds a shirt.", "nobody at all does any of this", "a shirt folds a man."])
def test_other_changes_are_not_counted(text):
    assert counted(make_world(), text) == ""


def test_the_count_is_its_persons_and_needs_few_statements(django_assert_max_num_queries):
    world = make_world()
    world.group()
    claim = world.claim("ann", Stage.EDIT)
    client, path = browser(world.ann), url(world, "replacement", claim.token)
    items(world, "a man folds box {}.", "a man tears box {}.", 20)
    with django_assert_max_num_queries(8):
        assert ": 20;" in client.get(path, {"text": "a man tears a shirt."}).content.decode()
    assert browser(world.abe).get(path, {"text": "a"}).status_code == 404
    assert browser(world.rita).get(path, {"text": "a"}).status_code == 403
