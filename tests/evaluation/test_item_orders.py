"""Orders of the list of items by a number of each item, and the columns that a person chooses."""

import pytest
from django.urls import reverse

from annotation.models import Choice, Vote
from evaluation.items.listing import MARGIN, USUAL_COLUMNS, disagreement
from evaluation.scoring.run_results import margins_of
from foilworks.core.corpus.models import Item
from foilworks.core.corpus.rules.states import ItemState
from tests.annotation.world import World, make_world
from tests.evaluation.test_views_items import listed, pages, scored
from tests.factories import make_item

pytestmark = pytest.mark.django_db


@pytest.fixture
def world() -> World:
    return make_world()


@pytest.fixture
def owner(client, world):
    client.force_login(world.owner)
    return client


def judged(world: World, key: str, *choices_by_foil: str) -> Item:
    """An item with a vote per letter: c(aption), f(oil), b(oth); one word per foil."""
    item = make_item(world.subtest, key=key, foils=[f"a man tears {n} shirts." for n in range(len(choices_by_foil))])
    letters = {choice.value[0]: choice for choice in (Choice.CAPTION, Choice.FOIL, Choice.BOTH)}
    index = 0
    for foil, word in zip(item.foils.all(), choices_by_foil, strict=True):
        for letter in word:
            Vote.objects.create(item=item, foil=foil, choice=letters[letter], source="import", import_index=index)
            index += 1
    return item


def test_items_are_sorted_by_votes_and_by_disagreement(owner, world):
    judged(world, "split", "ccff")
    judged(world, "clear", "ccccc")
    # One pair is unanimous for the caption, the other one for the foil: nobody disagrees.
    judged(world, "two clear pairs", "cc", "ff")
    judged(world, "third", "cbc")
    judged(world, "none", "")
    Vote.objects.filter(item__key="clear", import_index=0).update(state="excluded")
    assert listed(owner, world, sort="votes") == ["two clear pairs", "clear", "split", "third", "none"]
    assert listed(owner, world, sort="disagreement") == ["split", "third", "two clear pairs", "clear", "none"]
    shares = dict(Item.objects.annotate(share=disagreement()).values_list("key", "share"))
    assert shares == {
        "split": 0.5,
        "clear": 0.0,
        "two clear pairs": 0.0,
        "third": pytest.approx(1 / 3),
        "none": None,
    }


def test_pages_of_measured_orders_have_each_item_once_with_the_same_queries(owner, world, django_assert_num_queries):
    url = reverse("items:items", args=[world.project.slug])
    for n in range(3):
        judged(world, f"item {n}", "c" * n + "f")
    with django_assert_num_queries(11):
        owner.get(url, {"sort": "disagreement"})
    for n in range(3, 60):
        judged(world, f"item {n}", "c" * (n % 5) + "f")
    with django_assert_num_queries(11):
        owner.get(url, {"sort": "disagreement"})
    for sort in ("votes", "disagreement"):
        keys = pages(owner, world, sort=sort)
        assert [len(page) for page in keys] == [25, 25, 10]
        assert len({key for page in keys for key in page}) == 60


def test_a_page_continues_where_its_row_was_when_the_row_left_the_list(owner, world):
    for n in range(30):
        judged(world, f"item {n:02}", "c" * (40 - n))
    url = reverse("items:items", args=[world.project.slug])
    first = owner.get(url, {"sort": "votes", "q": "item"}).context["listing"].page
    Item.objects.filter(key="item 24").update(key="other 24")
    second = owner.get(url, {"sort": "votes", "q": "item", "after": first.next}).context["listing"].page
    assert [row.key for row in second.rows][:2] == ["item 25", "item 26"]


def test_items_are_sorted_by_the_margin_of_the_chosen_or_the_newest_model(owner, world):
    for key in ("right", "wrong", "close", "unscored"):
        make_item(world.subtest, key=key, state=ItemState.VALID)
    # Items of one caption have one score of it.
    run = scored(world, {"right": (0.9, 0.1), "close": (0.9, 0.8)})
    assert listed(owner, world, sort=MARGIN)[:2] == listed(owner, world, sort=MARGIN, run=run.pk) == ["close", "right"]
    page = owner.get(reverse("items:items", args=[world.project.slug]), {"sort": MARGIN})
    numbers = [row.measured for row in page.context["listing"].page.rows]
    scores = [number for number in numbers if number is not None]
    assert scores == sorted(scores)
    assert sorted(scores) == sorted(margin for margin in margins_of(run) if margin is not None)
    assert numbers[len(scores) :] == [None] * (len(numbers) - len(scores))
    assert run.label in page.content.decode()


def test_chosen_columns_are_shown_and_links_keep_them(owner, world):
    judged(world, "split", "ccff")
    url = reverse("items:items", args=[world.project.slug])
    usual = owner.get(url).content.decode()
    assert "votes for the caption" in usual
    assert 'href="?&amp;' not in usual
    assert "disagreement 50" not in " ".join(usual.split())
    page = owner.get(url, {"column": ["method", "disagreement", "nonsense"]})
    text = " ".join(page.content.decode().split())
    assert "disagreement 50" in text
    assert "imported" in text
    assert "votes for the caption" not in text
    assert page.context["listing"].query == "column=method&column=disagreement&"
    assert "Clear filters" not in text
    assert 'href="?column=method&amp;column=disagreement&amp;sort=key"' in text


def test_the_address_of_a_filtered_list_names_only_what_differs(owner, world):
    judged(world, "split", "ccff")
    url = reverse("items:items", args=[world.project.slug])
    filters = {"state": "valid", "column": list(USUAL_COLUMNS)}
    assert owner.get(url, filters, headers={"HX-Target": "list"}).headers["HX-Push-Url"] == f"{url}?state=valid"
    assert "HX-Push-Url" not in owner.get(url, filters).headers
