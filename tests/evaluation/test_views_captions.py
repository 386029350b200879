"""The captions of a project: filters, numbers of each row, pages in the order of two indexes, the panel."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from foilworks.core.corpus.models import Caption, DoubtSettled, MediaState, Takedown
from foilworks.core.corpus.rules.states import ItemState
from tests.annotation.world import World, make_world
from tests.factories import make_caption, make_item, make_video
from tests.pages import read_page

pytestmark = pytest.mark.django_db


@pytest.fixture
def world() -> World:
    return make_world()


@pytest.fixture
def owner(client, world):
    client.force_login(world.owner)
    return client


def url(world) -> str:
    return reverse("items:captions", args=[world.project.slug])


def listed(owner, world, **chosen) -> list[str]:
    """The keys on the first page of the list."""
    page = owner.get(url(world), chosen)
    assert page.status_code == 200
    return [caption.key for caption in page.context["listing"].page.rows]


def test_each_filter_narrows_to_what_fits(owner, world):
    video = make_video(world.project, key="b", split="test")
    make_caption(video, "a man folds a shirt.", key="plain")
    made = make_caption(video, "Someone folds the shirt.", key="made", facts={"maker": "cos_caption"})
    make_caption(video, "a dog barks.", key="corrected", facts={"maker": "cos_caption"}, revises=made)
    other = make_video(world.project, key="a%")
    doubted = make_caption(other, "a cat sleeps.", key="doubted", flagged_false=True)
    make_item(world.subtest, doubted)
    make_caption(make_video(make_world().project), "a man folds a shirt.", key="foreign")
    everything = {"plain", "made", "corrected", "doubted"}
    assert set(listed(owner, world)) == everything
    assert listed(owner, world, q="BARKS") == ["corrected"]
    assert listed(owner, world, q="a%") == ["doubted"]
    assert listed(owner, world, source="generated") == ["made"]
    assert listed(owner, world, source="corrected") == ["corrected"]
    assert set(listed(owner, world, source="imported", split="test")) == {"plain"}
    assert listed(owner, world, doubt="on") == ["doubted"]
    assert listed(owner, world, items="yes") == ["doubted"]
    assert "doubted" not in listed(owner, world, items="no")
    assert set(listed(owner, world, maker="cos_caption")) == {"made", "corrected"}
    # What is no choice narrows nothing.
    assert set(listed(owner, world, source="x", items="x", maker="y", split="z")) >= everything


def test_a_row_shows_candidates_items_and_votes_for_the_caption(owner, world):
    item = world.made_item()
    for name, choice in (("vera", "caption"), ("vic", "both"), ("val", "foil")):
        world.vote(name, choice)
    page = owner.get(url(world))
    row = next(row for row in page.context["listing"].page.rows if row.pk == item.caption_id)
    assert (row.n_candidates, row.n_items, row.n_votes, row.n_true) == (1, 1, 3, 2)
    read_page(" ".join(page.content.decode().split())).check("true in 2 of 3 votes", "1 candidate ")


@pytest.mark.parametrize("sort", ["video", "video-down"])
def test_pages_forwards_and_backwards_have_each_caption_once_in_order(owner, world, sort):
    for n in range(20):
        video = make_video(world.project, key=f"clip {n % 7} {n}")
        for text in ("a man runs.", "a man sits.", "a man walks.")[: 1 + n % 3]:
            make_caption(video, text)
    keys = list(Caption.objects.filter(video__project=world.project).values_list("video__key", "text_sha256", "pk"))
    expected = [pk for *_key, pk in sorted(keys, reverse=sort == "video-down")]
    found, cursor = [], ""
    while True:
        page = owner.get(url(world), {"sort": sort, "after": cursor}).context["listing"].page
        found.append([row.pk for row in page.rows])
        cursor = page.next
        if not cursor:
            break
    assert [pk for rows in found for pk in rows] == expected
    back = [found[-1]]
    while page.previous:
        page = owner.get(url(world), {"sort": sort, "after": page.previous}).context["listing"].page
        back.insert(0, [row.pk for row in page.rows])
    assert back == found


def test_the_list_needs_the_same_queries_for_two_captions_and_for_forty(owner, world, django_assert_num_queries):
    for n in range(2):
        make_item(world.subtest, key=f"item {n}")
    # session, person, project, roles; captions, count
    with django_assert_num_queries(7):
        owner.get(url(world))
    for n in range(2, 40):
        make_item(world.subtest, key=f"item {n}")
    with django_assert_num_queries(7):
        page = owner.get(url(world))
    assert len(page.context["listing"].page.rows) == 25


@pytest.mark.parametrize("chosen", [{}, {"sort": "video-down"}, {"source": "imported"}, {"items": "no"}])
def test_each_page_is_read_off_two_indexes_in_order(owner, world, chosen):
    if connection.vendor != "sqlite":
        pytest.skip("tests/foilworks/plans_on_postgresql.py reads PostgreSQL's plans, over many rows")
    for n in range(30):
        make_caption(make_video(world.project), f"a man folds shirt {n}.")
    after = owner.get(url(world), chosen).context["listing"].page.next
    with CaptureQueriesContext(connection) as captured:
        owner.get(url(world), {**chosen, "after": after})
    asked = [query["sql"] for query in captured if '"corpus_caption"' in query["sql"]]
    assert len(asked) == 2
    with connection.cursor() as cursor:
        for sql in asked:
            cursor.execute(f"EXPLAIN QUERY PLAN {sql}")
            steps = [row[3] for row in cursor.fetchall()]
            reads = [step for step in steps if step.startswith("SCAN") and step != "SCAN subquery"]
            assert not [*reads, *(step for step in steps if "TEMP B-TREE" in step)], sql


def test_the_panel_shows_the_clip_what_was_made_and_the_items(owner, world, django_assert_max_num_queries):
    item = world.made_item()
    with django_assert_max_num_queries(8):
        page = owner.get(reverse("items:caption_panel", args=[world.project.slug, item.caption_id]))
    text = " ".join(page.content.decode().split())
    assert item.caption.text in text
    assert "1 accepted" in text
    assert item.key in text
    assert item.foils.get().text in text
    assert "<main" not in text


def test_a_doubted_caption_links_to_its_decision_until_it_is_decided(owner, world):
    caption = make_caption(make_video(world.project), "a cat sleeps.", flagged_false=True)
    panel = reverse("items:caption_panel", args=[world.project.slug, caption.pk])
    decision = reverse("annotation:repair", args=[world.project.slug, caption.pk])
    assert decision in owner.get(panel).content.decode()
    Caption.objects.filter(pk=caption.pk).update(doubt_settled=DoubtSettled.CONFIRMED)
    assert decision not in owner.get(panel).content.decode()
    assert "confirmed as true" in owner.get(url(world)).content.decode()


def test_the_panel_of_a_video_that_was_taken_down_says_so(owner, world):
    item = make_item(world.subtest, state=ItemState.RETRACTED)
    Takedown.objects.create(video=item.video, reason="the owner asked", taken_down_at=item.created_at)
    item.video.media_state = MediaState.TAKEN_DOWN
    item.video.save()
    page = owner.get(reverse("items:caption_panel", args=[world.project.slug, item.caption_id])).content.decode()
    assert "the owner asked" in page
    assert "Upload file" not in page


def test_a_row_leads_to_the_caption_on_the_page_of_its_video(owner, world):
    caption = make_caption(make_video(world.project), "a cat sleeps.")
    link = f"{reverse('corpus:video', args=[world.project.slug, caption.video_id])}#caption-{caption.pk}"
    assert f'href="{link}"' in owner.get(url(world)).content.decode()
    assert f'id="caption-{caption.pk}"' in owner.get(link).content.decode()
