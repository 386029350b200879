"""The items of a project: filters, one item's page with its origin, votes, history and scores, a researcher's moves."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.models import Vote
from evaluation.items.history import CANDIDATE_WORDS, ITEM_WORDS
from evaluation.releases.actions.freeze_release import freeze_release
from evaluation.scoring.actions.start_run import start_run
from evaluation.scoring.clip_keys import clip_key, text_key
from evaluation.scoring.models import Run, Score
from evaluation.scoring.run_request import RunRequest
from foilworks.core.corpus.models import Item
from foilworks.core.corpus.rules.states import CANDIDATE_MOVES, ITEM_MOVES, ItemState
from foilworks.core.projects.models import AuditEvent
from foilworks.core.projects.pseudonyms import pseudonym
from generation.models import Candidate
from tests.annotation.world import World, make_world
from tests.factories import make_caption, make_item, make_subtest, make_video
from tests.pages import read_page

pytestmark = pytest.mark.django_db


@pytest.fixture
def world() -> World:
    return make_world()


@pytest.fixture
def owner(client, world):
    client.force_login(world.owner)
    return client


def listed(owner, world, **chosen) -> list[str]:
    """The keys on the first page of the list."""
    page = owner.get(reverse("items:items", args=[world.project.slug]), chosen)
    assert page.status_code == 200
    return [item.key for item in page.context["listing"].page.rows]


def shown(owner, item):
    return owner.get(reverse("items:item", args=[item.subtest.project.slug, item.pk]))


def move(owner, item, slug, reason="because"):
    url = reverse("items:item_move", args=[item.subtest.project.slug, item.pk])
    return owner.post(url, {"move": slug, "reason": reason}, follow=True)


def scored(world, values: dict[str, tuple[float, float]], **fields) -> Run:
    """A run on a fresh release, with (caption's, foil's) score of each item by key."""
    release = freeze_release(world.owner, world.project)
    run = start_run(world.owner, release, RunRequest("fake:", **fields))
    Run.objects.filter(pk=run.pk).update(model_key=f"model-{run.pk}")
    run.refresh_from_db()
    for member in release.members.select_related("item"):
        if member.item.key not in values:
            continue
        texts = (member.record["caption"], *member.record["foils"])
        Score.objects.bulk_create(
            Score(
                model_key=run.model_key,
                protocol=run.protocol,
                clip_key=clip_key(member.record["video"]),
                text_sha256=text_key(text),
                value=value,
                kind="cosine",
            )
            for text, value in zip(texts, values[member.item.key], strict=True)
        )
    return run


def test_each_filter_narrows_to_what_fits(owner, world):
    other = make_subtest(world.project, name="Objects")
    doubted = make_caption(make_video(world.project), "a dog barks.", flagged_false=True)
    make_item(world.subtest, foils=("a man unfolds a shirt.",), key="one", state=ItemState.VALID, unanimous=True)
    make_item(world.subtest, foils=("a man tears a shirt.",), key="two", state=ItemState.VALID, unanimous=False)
    make_item(other, doubted, ("a dog sleeps.",), key="three", state=ItemState.INVALID, unanimous=False)
    make_item(other, key="four")
    made = world.made_item()
    everything = {"one", "two", "three", "four", made.key}
    assert set(listed(owner, world)) == everything
    assert listed(owner, world, q="tears") == ["two"]
    assert listed(owner, world, q="BARKS") == ["three"]
    assert listed(owner, world, q="four") == ["four"]
    assert listed(owner, world, q="100%") == []
    assert set(listed(owner, world, subtest=other.pk)) == {"three", "four"}
    assert listed(owner, world, state="invalid") == ["three"]
    assert listed(owner, world, agreed="yes") == ["one"]
    assert set(listed(owner, world, agreed="no")) == {"two", "three"}
    assert listed(owner, world, doubt="on") == ["three"]
    assert listed(owner, world, method="fake") == [made.key]
    assert set(listed(owner, world, method="import")) == everything - {made.key}
    assert listed(owner, world, subtest=other.pk, state="in_validation") == ["four"]
    # What is no choice narrows nothing.
    assert set(listed(owner, world, state="nonsense", subtest="9" * 30, run="x", page="zero")) == everything


def test_a_scored_models_right_and_wrong_items_are_found(owner, world):
    for key in ("good", "bad", "level", "unscored"):
        make_item(world.subtest, key=key, state=ItemState.VALID)
    run = scored(world, {"good": (0.9, 0.1), "bad": (0.1, 0.9), "level": (0.5, 0.5)})
    make_item(world.subtest, key="later", state=ItemState.VALID)
    assert listed(owner, world, run=run.pk, answer="right") == ["good"]
    # A tie is no right answer.
    assert listed(owner, world, run=run.pk, answer="wrong", sort="key") == ["bad", "level"]
    assert listed(owner, world, run=run.pk, sort="key") == ["bad", "good", "level"]


def test_a_run_of_another_project_narrows_nothing(owner, world):
    other = make_world()
    make_item(other.subtest, state=ItemState.VALID)
    make_item(world.subtest, key="mine", state=ItemState.VALID)
    assert listed(owner, world, run=scored(other, {}).pk, answer="right") == ["mine"]


def test_the_list_needs_the_same_queries_for_two_items_and_for_forty(owner, world, django_assert_num_queries):
    url = reverse("items:items", args=[world.project.slug])
    for n in range(2):
        make_item(world.subtest, key=f"item {n}")
    # session, person, project, roles; items, count, foils, shortcuts
    with django_assert_num_queries(10):
        owner.get(url)
    for n in range(2, 40):
        make_item(world.subtest, key=f"item {n}")
    with django_assert_num_queries(10):
        page = owner.get(url)
    assert len(page.context["listing"].page.rows) == 25
    assert "1–25 of 40" in page.content.decode()


@pytest.mark.parametrize("chosen", [{}, {"sort": "oldest"}, {"sort": "key"}, {"state": "in_validation"}])
def test_each_page_is_read_off_an_index_in_order(owner, world, chosen):
    if connection.vendor != "sqlite":
        pytest.skip("tests/foilworks/plans_on_postgresql.py reads PostgreSQL's plans, over many rows")
    for n in range(30):
        make_item(world.subtest, key=f"item {n:02}")
    url = reverse("items:items", args=[world.project.slug])
    after = owner.get(url, chosen).context["listing"].page.next
    with CaptureQueriesContext(connection) as captured:
        owner.get(url, {**chosen, "after": after})
    listing = [query["sql"] for query in captured if '"corpus_item"' in query["sql"] and "ORDER BY" in query["sql"]]
    assert listing
    with connection.cursor() as cursor:
        for sql in listing:
            cursor.execute(f"EXPLAIN QUERY PLAN {sql}")
            steps = [row[3] for row in cursor.fetchall()]
            assert not [step for step in steps if step.startswith("SCAN") or "TEMP B-TREE" in step], sql


def pages(owner, world, **chosen) -> list[list[str]]:
    """The keys on each page, first to last, by the links of the pages; the same read backwards."""
    url = reverse("items:items", args=[world.project.slug])
    found, cursor, last = [], "", None
    while True:
        last = owner.get(url, {**chosen, "after": cursor}).context["listing"]
        found.append([item.key for item in last.page.rows])
        cursor = last.page.next
        if not cursor:
            break
    back = [found[-1]]
    while last.page.previous:
        last = owner.get(url, {**chosen, "after": last.page.previous}).context["listing"]
        back.insert(0, [item.key for item in last.page.rows])
    assert back == found
    assert last.page.first == 1
    return found


@pytest.mark.parametrize("sort", ["newest", "oldest", "key"])
def test_pages_forwards_and_backwards_have_each_item_once_in_order(owner, world, sort):
    keys = [f"item {n % 7} {n}" for n in range(60)]
    for key in keys:
        make_item(world.subtest, key=key)
    found = pages(owner, world, sort=sort)
    assert [len(page) for page in found] == [25, 25, 10]
    expected = {"newest": keys[::-1], "oldest": keys, "key": sorted(keys)}[sort]
    assert [key for page in found for key in page] == expected


def test_pages_and_orders_keep_the_filters(owner, world):
    for n in range(30):
        make_item(world.subtest, key=f"item {n}", foils=("a man tears & folds.",))
    page = owner.get(reverse("items:items", args=[world.project.slug]), {"q": "tears & folds", "sort": "key"})
    text = page.content.decode()
    assert 'href="?q=tears+%26+folds&amp;sort=key&amp;after=' in text
    assert 'href="?q=tears+%26+folds&amp;sort=newest"' in text


def test_a_cursor_that_was_altered_or_is_of_another_order_shows_the_first_page(owner, world):
    for n in range(30):
        make_item(world.subtest, key=f"item {n:02}")
    url = reverse("items:items", args=[world.project.slug])
    cursor = owner.get(url).context["listing"].page.next
    for asked in ({"after": cursor[:-2] + "xx"}, {"after": "x"}, {"after": cursor, "sort": "key"}):
        assert owner.get(url, asked).context["listing"].page.first == 1


def test_the_folded_filters_are_read_when_they_are_opened(owner, world):
    make_subtest(world.project, name="Objects")
    url = reverse("items:items", args=[world.project.slug])
    assert "Objects" not in owner.get(url).content.decode()
    folded = owner.get(url, {"open": ""}).content.decode()
    assert "Objects" in folded
    assert "<main" not in folded


def bulk(owner, world, items, move, reason="because", **fields):
    url = reverse("items:bulk", args=[world.project.slug])
    return owner.post(url, {"item": [item.pk for item in items], "move": move, "reason": reason, **fields}, follow=True)


def states(items):
    return [Item.objects.get(pk=item.pk).state for item in items]


def test_selected_items_are_retracted_together_and_the_undo_restores_them(owner, world):
    valid = [make_item(world.subtest, state=ItemState.VALID) for _ in range(3)]
    waiting = make_item(world.subtest, key="waits")
    refused = make_item(world.subtest, key="refused", state=ItemState.INVALID)
    foreign = make_item(make_world().subtest, state=ItemState.VALID)
    page = bulk(owner, world, [*valid, waiting, refused, foreign], "retract", back="state=valid&")
    assert states([*valid, waiting, refused, foreign]) == ["retracted"] * 4 + ["invalid", "valid"]
    read_page(page).check("4 items changed.", "refused: ")
    assert page.request["QUERY_STRING"].startswith("state=valid&undo=")
    undo = page.context["undo"]
    assert len(undo.events) == 4
    url = reverse("annotation:undo_decisions", args=[world.project.slug])
    page = owner.post(url, {"token": undo.token}, follow=True)
    assert page.request["QUERY_STRING"] == "state=valid"
    assert states([*valid, waiting]) == ["valid"] * 3 + ["in_validation"]
    assert AuditEvent.objects.filter(action="undo_retract", from_state="retracted", actor=world.owner).count() == 4


def test_what_left_with_its_video_is_not_restored(owner, world):
    item = make_item(world.subtest, state=ItemState.RETRACTED)
    assert "cannot be restored" in move(owner, item, "restore").content.decode()
    assert states([item]) == ["retracted"]


def test_an_item_shows_where_its_foil_came_from_back_to_the_method(owner, world):
    group = world.group("a man tears a shirt.")
    suggestion = group.candidates.get()
    world.edit("ann", "a man irons a shirt.", parents=[suggestion.pk])
    world.review("rita", "fix", fixed_text="a man unfolds a shirt.")
    item = Item.objects.get()
    (pair,) = shown(owner, item).context["pairs"]
    assert [(link.text, link.author and link.author.username) for link in pair.chain] == [
        ("a man unfolds a shirt.", world.rita.username),
        ("a man irons a shirt.", world.ann.username),
        ("a man tears a shirt.", None),
    ]


def test_votes_are_grouped_by_choice_under_pseudonyms(owner, world):
    item = world.made_item()
    for name, choice in (("vera", "caption"), ("vic", "caption"), ("val", "foil")):
        world.vote(name, choice)
    page = shown(owner, item)
    (pair,) = page.context["pairs"]
    by_choice = {str(label): [ballot.who for ballot in ballots] for label, ballots in pair.votes}
    names = {name: pseudonym(world.project, getattr(world, name).pk) for name in ("vera", "vic", "val")}
    assert by_choice == {"only the caption": [names["vera"], names["vic"]], "only the foil": [names["val"]]}
    text = page.content.decode()
    assert not any(getattr(world, name).username in text for name in names)


def test_the_history_lists_all_events_in_order_and_in_words(owner, world):
    world.group()
    world.edit("ann")
    world.review("rita")
    item = Item.objects.get()
    for name in ("vera", "vic", "val"):
        world.vote(name, "foil")
    move(owner, item, "requeue", "the foil is true as well")
    told = [(str(event.words), event.from_state, event.to_state) for event in shown(owner, item).context["history"]]
    assert told == [
        ("An annotator started to edit the foil.", "queued", "editing"),
        ("The foil was sent to review unchanged.", "editing", "in_review"),
        ("A reviewer accepted the foil.", "in_review", "accepted"),
        ("The item was created from its accepted foils.", "", "in_validation"),
        ("A vote was added.", "in_validation", "in_validation"),
        ("A vote was added.", "in_validation", "in_validation"),
        ("A vote was added.", "in_validation", "invalid"),
        ("The foils were returned to editing.", "invalid", "requeued"),
    ]
    last = shown(owner, item).context["history"][-1]
    assert (last.who, last.reason) == (world.owner.username, "the foil is true as well")


def test_every_move_of_both_machines_has_words():
    assert set(ITEM_MOVES) <= set(ITEM_WORDS)
    assert set(CANDIDATE_MOVES) <= set(CANDIDATE_WORDS)


def test_the_scores_of_every_model_on_every_release_are_shown(owner, world):
    item = make_item(world.subtest, key="one", state=ItemState.VALID)
    first = scored(world, {"one": (0.9, 0.1)}, label="first")
    make_item(world.subtest, key="two", state=ItemState.VALID)
    second, silent = scored(world, {"one": (0.2, 0.3)}, label="second"), None
    silent = start_run(world.owner, second.release, RunRequest("fake:9", label="silent"))
    Run.objects.filter(pk=silent.pk).update(model_key="model-silent")
    rows = {row.run.label: row for row in shown(owner, item).context["scores"]}
    assert {label: (row.main.values, row.main.credit) for label, row in rows.items()} == {
        "first": ([0.9, 0.1], 1.0),
        "second": ([0.2, 0.3], 0.0),
        "silent": (None, None),
    }
    assert rows["first"].run == first


def test_an_item_page_needs_the_same_queries_whatever_happened(owner, world, django_assert_num_queries):
    quiet = make_item(world.subtest, key="quiet", state=ItemState.VALID)
    scored(world, {"quiet": (1.0, 0.0)})
    # session, person, project, roles; item, foils; candidates; votes; foils' ids, history; releases, runs, scores;
    # comments, the items before and after
    with django_assert_num_queries(17):
        shown(owner, quiet)
    for n in range(3):
        make_item(world.subtest, key=f"more {n}", state=ItemState.VALID)
        scored(world, {"quiet": (1.0, 0.0)})
    with django_assert_num_queries(17):
        shown(owner, quiet)


def test_a_disputed_item_is_decided_with_a_reason(owner, world):
    item = world.made_item()
    for name, choice in (("vera", "caption"), ("vic", "foil"), ("val", "both")):
        world.vote(name, choice)
    assert [one.slug for one in shown(owner, item).context["moves"]] == ["valid", "invalid"]
    assert "Enter a reason" in move(owner, item, "valid", "  ").content.decode()
    item.refresh_from_db()
    assert item.state == ItemState.DISPUTED
    move(owner, item, "valid", "vic was looking at another man")
    item.refresh_from_db()
    assert item.state == ItemState.VALID
    event = AuditEvent.objects.get(action="adjudicate")
    assert (event.actor, event.reason) == (world.owner, "vic was looking at another man")


def test_a_valid_item_is_retracted_and_impossible_moves_are_explained(owner, world):
    item = make_item(world.subtest, state=ItemState.VALID)
    assert "The item history shows" in move(owner, item, "retract").content.decode()
    item.refresh_from_db()
    assert item.state == ItemState.RETRACTED
    assert [one.slug for one in shown(owner, item).context["moves"]] == ["restore"]
    assert "retract&#x27; is not possible" in move(owner, item, "retract").content.decode()
    assert move(owner, item, "delete").status_code == 404


def test_an_invalid_items_foils_are_reopened_by_the_button(owner, world):
    item = world.made_item()
    for name in ("vera", "vic", "val"):
        world.vote(name, "foil")
    move(owner, item, "requeue")
    item.refresh_from_db()
    assert item.state == ItemState.REQUEUED
    assert Candidate.objects.filter(parent__foil__item=item, state="queued").count() == 1


def test_item_level_votes_of_a_file_and_script_in_texts_are_shown_as_text(owner, world):
    caption = make_caption(make_video(world.project), "<script>alert(1)</script> a man.")
    item = make_item(world.subtest, caption, ("<b>a dog</b>",), extra={"<i>": "<u>"})
    Vote.objects.create(item=item, choice="caption", source="import", import_index=0, idempotency_key="f0")
    page = shown(owner, item).content.decode()
    read_page(page).check("Votes on the whole item", "imported")
    for raw in ("<script>alert", "<b>a dog", "<i>", "<u>"):
        assert raw not in page
