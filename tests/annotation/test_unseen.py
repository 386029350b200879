"""Choices without the clip: who may make them, what their page shows, and what card, report and API say of them."""

import pytest
from django.test import Client
from django.urls import reverse

from annotation.actions.claims.claim import claim
from annotation.actions.studies import Sample, open_choices
from annotation.actions.submissions.judgements import submit_choice
from annotation.actions.undo import undo_choice
from annotation.models import Lease, Stage, Vote
from annotation.rules.baseline import CAPTION
from evaluation.blind.people import OVERALL, accuracy, choices_of_project
from evaluation.releases.models import ReleaseGate
from foilworks.core.corpus.models import MediaState, Release, ReleaseItem
from foilworks.core.projects.actions.tokens import make_token
from foilworks.core.projects.models import ApiToken, Role
from tests import factories
from tests.annotation.world import browser, new_key, url
from tests.invariants import broken_invariants

PEOPLE, ITEMS = 3, 10


def valid_item(world, n_foils=1, subtest=None, **video):
    clip = factories.make_video(world.project, **{"media_state": MediaState.READY, **video})
    foils = tuple(f"a man does thing {n} to a shirt." for n in range(n_foils))
    item = factories.make_item(subtest or world.subtest, factories.make_caption(clip), foils, state="valid")
    item.foils.update(verdict="valid")
    return item


def open_unseen(world, **options):
    return open_choices(world.owner, world.project, Stage.UNSEEN, Sample(**options))


def answer(person, work, *, is_right):
    order = Lease.objects.get(token=work.token).order_shown
    place = next(at for at, text in enumerate(order, 1) if (text == CAPTION) == is_right)
    return submit_choice(person, work.token, new_key(), place, stage=work.stage)


@pytest.fixture
def simulated(world):
    """Three people choose in two subtests: at luck among two texts, and at 80 % among four."""
    known = factories.make_subtest(world.project, name="known")
    items = {valid_item(world).pk: at for at in range(ITEMS)}
    items |= {valid_item(world, 3, known).pk: at for at in range(ITEMS)}
    assert open_unseen(world, overlap=PEOPLE) == 2 * ITEMS
    for number in range(PEOPLE):
        person = factories.make_member(world.project, Role.ANNOTATOR)
        while work := claim(person, world.project, Stage.UNSEEN):
            item = Lease.objects.select_related("task__item").get(token=work.token).task.item
            at = items[item.pk] + number
            answer(person, work, is_right=bool(at % 5) if item.subtest == known else not at % 2)
    return world


def frozen_without_gate(world):
    """A release whose gate has a row per subtest, as a freeze stores it."""
    release = Release.objects.create(project=world.project, name="v1", content_hash="0" * 64, n_items=2 * ITEMS)
    names = {"known", world.subtest.name}
    for position, item in enumerate(Vote.objects.values_list("item", flat=True).distinct()):
        ReleaseItem.objects.create(release=release, item_id=item, position=position, record={"id": str(item)})
    probe = {"probe": "solver", "value": 0.5, "ci": [0.4, 0.6], "over": False}
    row = {"bar": 0.6, "n_items": ITEMS, "n_captions": ITEMS, "probes": [probe], "too_few": False, "solved": False}
    row |= {"n_unjudged": 0, "unjudged": [], "stopped": False, "words": [], "unread": False}
    ReleaseGate.objects.create(release=release, data={"rows": [{**row, "name": name} for name in sorted(names)]})
    return release


def test_card_report_and_api_have_the_numbers_of_simulated_people(simulated):
    world = simulated
    assert broken_invariants() == []
    release = frozen_without_gate(world)
    world.item()
    for name in ("vera", "vic"):
        world.vote(name)
    luck, sure = world.subtest.name, "known"
    page = browser(world.owner).get(reverse("releases:release_validation", args=[world.project.slug, release.pk]))
    card = {row["name"]: row["probes"][-1] for row in page.context["gate"].rows}
    report = browser(world.owner).get(reverse("reports:report", args=[world.project.slug, "agreement"]))
    secret = make_token(world.owner, name="t", scope=ApiToken.Scope.READ).secret
    path = f"/api/v1/projects/{world.project.slug}/reports/agreement"
    by_api = Client().get(path, headers={"Authorization": f"Bearer {secret}"}).json()["without_clip"]
    for rows in (card, report.context["data"]["without_clip"], by_api):
        assert rows[luck]["value"] == pytest.approx(0.5)
        assert rows[luck]["chance"] == 0.5
        low, high = rows[luck]["ci"]
        assert low < 0.5 < high
        assert rows[sure]["value"] == pytest.approx(0.8)
        assert rows[sure]["chance"] == 0.25
        assert rows[sure]["ci"][0] > 0.25
        assert all((row["n"], row["n_choices"], row["n_people"]) == (10, 30, 3) for row in (rows[luck], rows[sure]))
    assert by_api[OVERALL]["value"] == pytest.approx(0.65)
    assert "80.0 %" in page.content.decode()
    assert "80.0 %" in report.content.decode()


def test_the_page_and_the_api_show_no_clip(world):
    for number in range(2):
        valid_item(world, file=f"clips/{number}.mp4")
    open_unseen(world)
    work = world.claim("ann", Stage.UNSEEN)
    page = browser(world.ann).get(url(world, "unseen", work.token))
    html = page.content.decode()
    assert page.status_code == 200
    assert "<video" not in html
    assert "data-next-clip" not in html
    assert page.context["clip"]["src"]
    assert page.context["clip"]["src"] not in html
    secret = make_token(world.ann, name="t", scope=ApiToken.Scope.WORK).secret
    task = Client().get(f"/api/v1/work/{work.token}", headers={"Authorization": f"Bearer {secret}"}).json()
    assert task["video"] is None
    assert len(task["texts"]) == 2
    sent = {"idempotency_key": new_key(), "answer": "1"}
    browser(world.ann).post(url(world, "unseen", work.token), sent)
    assert Vote.objects.get().stage == Stage.UNSEEN


@pytest.mark.parametrize("stage", [Stage.VALIDATION, Stage.BASELINE])
def test_nobody_judges_an_item_both_with_and_without_its_clip(world, stage):
    item = valid_item(world)
    for name in ("ann", "abe"):
        world.project.memberships.get_or_create(person=getattr(world, name), role=Role.VALIDATOR)
    target = {"foil": item.foils.get()} if stage == Stage.VALIDATION else {}
    factories.make_task(world.project, stage, item.video, 3, item=item, **target)
    open_unseen(world, overlap=3)
    unseen = world.claim("ann", Stage.UNSEEN)
    assert world.claim("ann", stage) is None
    vote = answer(world.ann, unseen, is_right=True)
    assert world.claim("ann", stage) is None
    assert world.claim("abe", stage) is not None
    assert world.claim("abe", Stage.UNSEEN) is None
    undo_choice(world.ann, vote.pk)
    assert accuracy(choices_of_project(world.project)) == {}
