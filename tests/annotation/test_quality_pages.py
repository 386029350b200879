"""The researcher's pages of quality: numbers, moves, and as many queries for many as for few."""

import pytest
from django.test import Client

from annotation.actions.workflow.make_tasks import make_tasks
from annotation.models import GoldPair, QualityPolicy, Standing, Vote
from foilworks.core.corpus.models import Video
from tests import factories
from tests.annotation.crowd import open_policy, stock
from tests.annotation.world import url
from tests.pages import read_page

pytestmark = pytest.mark.django_db


@pytest.fixture
def owner(world) -> Client:
    client = Client()
    client.force_login(world.owner)
    return client


@pytest.mark.usefixtures("every_second_gold")
def test_the_page_of_validators_shows_and_changes_their_state(owner, world):
    stock(world.project, world.subtest, items=4, gold=2)
    open_policy(world.project, gold_rate=0.5)
    make_tasks(world.project)
    for _ in range(4):
        world.vote("vera", "neither", seconds=3, watch={"covered": 0.5})
    page = owner.get(url(world, "validators")).content.decode()
    gold = Vote.objects.filter(gold__isnull=False).count()
    read_page(page).check(f"1/{gold}", "50 %")
    pk = world.vera.pk
    owner.post(url(world, "validator_move", pk, "pause"), {"note": "a talk first"})
    page = owner.get(url(world, "validators")).content.decode()
    assert "a talk first" in page
    for move, words in (
        ("set-aside", "excluded."),
        ("bring-back", "count again"),
        ("resume", "can continue"),
        ("resume", "not paused"),
    ):
        page = owner.post(url(world, "validator_move", pk, move), follow=True).content.decode()
        assert words in page
    assert owner.post(url(world, "validator_move", pk, "sack")).status_code == 404


@pytest.mark.usefixtures("every_second_gold")
def test_seconds_are_held_against_the_clip_as_it_is_shown_gold_too(owner, world):
    """10 to 15 s of a file of 300 s: 6 s are more than the clip, not 2 % of it."""
    stock(world.project, world.subtest, items=2, gold=1)
    open_policy(world.project, gold_rate=0.5)
    Video.objects.update(start_time=10.0, end_time=15.0, duration=300.0)
    make_tasks(world.project)
    for _ in range(2):
        world.vote("vera", "neither", seconds=6)
    assert Vote.objects.filter(gold__isnull=False).count() == 1
    assert "120 % of the clip" in owner.get(url(world, "validators")).content.decode()


def test_it_takes_the_same_queries_for_few_and_for_many(owner, world, django_assert_num_queries):
    open_policy(world.project)
    # session, person, project, roles, standings, votes, people, policy
    for more in (0, 30):
        for _ in range(more):
            factories.make_member(world.project, "validator")
        with django_assert_num_queries(8):
            owner.get(url(world, "validators"))


def test_validators_are_sorted_by_the_column_of_the_address(owner, world):
    names = [row.person.username for row, _why in owner.get(url(world, "validators")).context["rows"]]
    for sort, expected in (("name", names), ("-name", names[::-1]), ("seconds", names), ("no-such", names)):
        rows = owner.get(url(world, "validators"), {"sort": sort}).context["rows"]
        assert [row.person.username for row, _why in rows] == expected


def test_a_starting_point_of_the_rules_is_shown_and_not_stored(owner, world):
    page = owner.get(url(world, "quality"), {"preset": "strict"})
    assert page.context["form"]["gold_rate"].value() == "20 %"
    assert "not saved yet" in page.content.decode()
    policy = QualityPolicy.objects.filter(project=world.project).first()
    assert policy is None or policy.gold_rate == 0


def test_rules_are_stored_and_what_cannot_be_is_said(owner, world):
    stock(world.project, world.subtest, items=1, gold=2)
    form = owner.get(url(world, "quality")).context["form"]
    data = {name: str(form[name].value()) for name in form.fields if not isinstance(form[name].value(), bool)}
    answer = owner.post(url(world, "quality"), {**data, "gold_rate": "0.2"})
    assert answer.status_code == 302
    assert QualityPolicy.objects.get().gold_rate == 0.2
    answer = owner.post(url(world, "quality"), {**data, "qualification_required": "on"})
    assert answer.status_code == 422
    assert "Open the qualification" in answer.content.decode()


def test_pairs_are_drawn_listed_and_withdrawn(owner, world):
    made = factories.make_item(world.subtest, state="valid")
    made.foils.update(verdict="valid")
    data = {"subtest": world.subtest.pk, "number": 5, "seed": 1}
    page = owner.post(url(world, "gold", "mixed"), data, follow=True).content.decode()
    assert "1 pair was added." in page
    pair = GoldPair.objects.get()
    assert url(world, "withdraw", "pair", pair.pk) in page
    assert owner.post(url(world, "gold", "mixed"), data).status_code == 422
    owner.post(url(world, "withdraw", "pair", pair.pk), {"use": "mixed"})
    pair.refresh_from_db()
    assert pair.withdrawn_at is not None
    assert owner.get(url(world, "gold", "elsewhere")).status_code == 404


def test_a_caption_to_practise_on_is_added_by_its_key(owner, world):
    caption = factories.make_caption(factories.make_video(world.project))
    data = {"key": caption.video.key, "examples": "a man unfolds a shirt.\na man tears a shirt."}
    page = owner.post(url(world, "add_practice"), data, follow=True).content.decode()
    assert "a man tears a shirt." in page
    assert owner.post(url(world, "add_practice"), {**data, "key": "nowhere"}).status_code == 422


def test_an_expert_labels_blind(owner, world):
    made = factories.make_item(world.subtest, state="valid")
    texts = {"caption_text": made.caption.text, "foil_text": made.foils.get().text}
    pair = GoldPair.objects.create(
        project=world.project,
        use="qualification",
        subtest=world.subtest,
        video=made.video,
        item=made,
        answer="caption",
        **texts,
    )
    page = owner.get(url(world, "label"))
    assert page.context["pair"] == pair
    assert owner.post(url(world, "label"), {"pair": pair.pk, "answer": "9"}).status_code == 400
    owner.post(url(world, "label"), {"pair": pair.pk, "answer": "neither"})
    assert pair.labels.get().choice == "neither"
    assert "0/1" in owner.get(url(world, "quality")).content.decode()


def test_a_paused_person_reads_so_and_gets_nothing(world):
    open_policy(world.project)
    world.item()
    world.vote("vera")
    Standing.objects.update(state="paused", paused_why="gold")
    client = Client()
    client.force_login(world.vera)
    page = client.get(url(world, "queue", "validation")).content.decode()
    assert "work is paused" in page
    assert client.post(url(world, "queue", "validation")).url == url(world, "queue", "validation")
    assert "work is paused" in client.get(url(world, "work")).content.decode()
