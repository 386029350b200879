"""The undo of decisions on items and captions: the former state, an audit row, a refusal after later work."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.actions.decisions.captions import confirm_caption, correct_caption
from annotation.actions.decisions.items import adjudicate, requeue, restore, retract
from annotation.actions.decisions.undo_decisions import undo_decision, undoable_decisions
from annotation.actions.leases.leasing import release
from annotation.actions.studies import open_baseline
from annotation.errors import AnnotationError
from annotation.models import Involvement, Slot, Stage, Task
from foilworks.core.corpus.models import Caption, Foil, Item, MediaState, Release, ReleaseItem, Subtest
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.errors import AccessDenied
from foilworks.core.projects.models import AuditEvent
from generation.models import Candidate, CandidateGroup
from tests import factories
from tests.annotation.world import judged, make_world

UNFOLDS, TEARS = "a man unfolds a shirt.", "a man tears a shirt."
KEPT = (Item, Foil, Candidate, CandidateGroup, Task, Slot, Caption)

pytestmark = pytest.mark.django_db


def snapshot() -> dict:
    """Every row that a decision can change."""
    return {model: list(model.objects.order_by("pk").values()) for model in KEPT}


def last_of(row) -> int:
    return audit.events_of(row).last().pk


def check_undone(person, row, before, action):
    decision = last_of(row)
    assert [event.pk for event in undoable_decisions(person, type(row), [row.pk])] == [decision]
    undo_decision(person, decision)
    assert snapshot() == before
    event = audit.events_of(row).last()
    assert (event.action, event.actor) == (action, person)
    with pytest.raises(AnnotationError, match="has changed since"):
        undo_decision(person, decision)


@pytest.mark.parametrize("outcome", ["valid", "invalid"])
def test_an_undone_adjudication_leaves_the_item_disputed_as_before(world, outcome):
    item, before = judged(world, "caption", "foil", "both"), snapshot()
    adjudicate(world.rob, item.pk, outcome, "reason")
    check_undone(world.rob, item, before, "undo_adjudicate")
    # The person has seen the votes.
    assert Involvement.objects.filter(person=world.rob, kind=Involvement.Kind.SETTLED).exists()
    adjudicate(world.rob, item.pk, "valid", "on second thought")
    assert Item.objects.get().state == "valid"


def test_an_adjudication_is_undone_with_the_baseline_tasks_that_nobody_has_opened(world):
    item, before = judged(world, "caption", "foil", "both"), snapshot()
    adjudicate(world.rob, item.pk, "valid", "reason")
    assert open_baseline(world.owner, world.project) == 1
    check_undone(world.rob, item, before, "undo_adjudicate")


def test_an_adjudication_stays_once_somebody_has_opened_the_baseline(world):
    item = judged(world, "caption", "foil", "both")
    adjudicate(world.rob, item.pk, "valid", "reason")
    open_baseline(world.owner, world.project)
    assert world.claim("ann", Stage.BASELINE) is not None
    before = snapshot()
    with pytest.raises(AnnotationError, match="already started"):
        undo_decision(world.rob, last_of(item))
    assert snapshot() == before


def test_an_adjudication_stays_once_a_release_contains_the_item(world):
    item = judged(world, "caption", "foil", "both")
    adjudicate(world.rob, item.pk, "valid", "reason")
    release = Release.objects.create(project=world.project, name="v1", content_hash="0" * 64, n_items=1)
    ReleaseItem.objects.create(release=release, item=item, video=item.video, position=0, record={})
    with pytest.raises(AnnotationError, match="release frozen since then"):
        undo_decision(world.rob, last_of(item))
    assert Item.objects.get().state == "valid"


def test_an_undone_requeue_deletes_the_reopened_foils_and_their_tasks():
    world = make_world(foils_per_item=2, votes_wanted=1, votes_needed=1)
    world.group(UNFOLDS, TEARS)
    world.edit("ann", UNFOLDS, TEARS)
    world.review("rita")
    world.review("rob")
    item = Item.objects.get()
    world.vote("vera", "caption")
    world.vote("vic", "foil")
    before = snapshot()
    requeue(world.owner, item.pk, "again")
    assert Candidate.objects.count() == len(before[Candidate]) + 2
    check_undone(world.owner, item, before, "undo_requeue")


def test_an_undone_requeue_of_an_imported_item_deletes_its_new_group(world):
    item, before = judged(world, "foil", "foil", "foil"), snapshot()
    requeue(world.owner, item.pk)
    assert CandidateGroup.objects.exists()
    check_undone(world.owner, item, before, "undo_requeue")
    assert not CandidateGroup.objects.exists()


def test_a_requeue_stays_after_an_annotator_has_opened_its_foils(world):
    item = judged(world, "foil", "foil", "foil")
    requeue(world.owner, item.pk)
    work = world.claim("ann", Stage.EDIT)
    for _step in range(2):
        before = snapshot()
        with pytest.raises(AnnotationError, match="already started"):
            undo_decision(world.owner, last_of(item))
        assert snapshot() == before
        # Their time counts, also without an answer.
        if _step == 0:
            release(world.ann, work.token)


def test_an_undone_retraction_reopens_the_baseline_and_the_pair():
    world = make_world()
    simple = factories.make_subtest(world.project, kind=Subtest.Kind.PROFICIENCY, name="simple")
    Subtest.objects.filter(pk=world.subtest.pk).update(proficiency_subtest=simple)
    item = world.item(state="valid", decided_at=timezone.now())
    easy = factories.make_item(simple, item.caption, state="valid", decided_at=timezone.now())
    Item.objects.filter(pk=item.pk).update(proficiency_item=easy)
    open_baseline(world.owner, world.project)
    before = snapshot()
    retract(world.owner, item.pk, "blurred")
    assert set(Slot.objects.values_list("state", flat=True)) == {"cancelled"}
    check_undone(world.owner, item, before, "undo_retract")
    retract(world.owner, easy.pk, "blurred")
    assert Item.objects.get(pk=item.pk).proficiency_item is None
    check_undone(world.owner, easy, before, "undo_retract")


def test_an_undone_restoration_leaves_the_item_retracted_and_restorable(world):
    item = world.item(state="valid", decided_at=timezone.now())
    retract(world.owner, item.pk, "blurred")
    before = snapshot()
    restore(world.owner, item.pk, "not blurred")
    check_undone(world.owner, item, before, "undo_restore")
    assert restore(world.owner, item.pk).state == "valid"


def test_a_retraction_stays_once_its_video_was_taken_down(world):
    item = world.item(state="valid", decided_at=timezone.now())
    retract(world.owner, item.pk, "blurred")
    type(item.video).objects.update(media_state=MediaState.TAKEN_DOWN)
    for undo in (lambda: undo_decision(world.owner, last_of(item)), lambda: restore(world.owner, item.pk)):
        with pytest.raises(AnnotationError, match="has been removed"):
            undo()
    assert Item.objects.get().state == "retracted"


def test_an_undone_confirmation_leaves_the_caption_in_doubt(world):
    item = judged(world, "neither", "neither", "neither")
    caption, before = Caption.objects.get(pk=item.caption_id), snapshot()
    assert caption.flagged_false
    confirm_caption(world.owner, caption.pk, "I see it")
    check_undone(world.owner, caption, before, "undo_settle_doubt")


def test_a_corrected_caption_offers_no_undo(world):
    item = judged(world, "neither", "neither", "neither")
    correct_caption(world.owner, item.caption_id, "a man folds a towel.")
    assert undoable_decisions(world.owner, Caption, [item.caption_id]) == []
    event = AuditEvent.objects.get(action="settle_doubt")
    with pytest.raises(AnnotationError, match="nothing to undo"):
        undo_decision(world.owner, event.pk)


def test_only_the_person_who_decided_undoes_and_only_for_ten_minutes(world):
    item = judged(world, "caption", "foil", "both")
    adjudicate(world.rob, item.pk, "valid", "reason")
    event = last_of(item)
    with pytest.raises(AnnotationError, match="only your own"):
        undo_decision(world.owner, event)
    with pytest.raises(AnnotationError, match="only for 10 minutes"):
        undo_decision(world.rob, event, now=timezone.now() + timedelta(seconds=601))
    world.project.memberships.filter(person=world.rob).update(role="annotator")
    person = type(world.rob).objects.get(pk=world.rob.pk)
    with pytest.raises(AccessDenied):
        undo_decision(person, event)
    assert Item.objects.get().state == "valid"


def test_the_page_after_a_decision_offers_the_undo_and_returns_to_the_item(world, client):
    item = judged(world, "caption", "foil", "both")
    client.force_login(world.rob)
    url = reverse("annotation:disputed_item", args=[world.project.slug, item.pk])
    page = client.post(url, {"decision": "invalid", "reasons": ["wording"]}, follow=True)
    assert "You can undo this decision until" in page.content.decode()
    undo = reverse("annotation:undo_decisions", args=[world.project.slug])
    page = client.post(undo, {"token": page.context["undo"].token}, follow=True)
    assert page.request["PATH_INFO"] == url
    assert "1 decision undone." in page.content.decode()
    page = client.post(undo, {"token": "made-up"}, follow=True)
    assert "You can undo a decision only for 10 minutes." in page.content.decode()


def test_the_repair_page_says_what_cannot_be_undone_and_offers_the_undo(world, client):
    item = judged(world, "neither", "neither", "neither")
    client.force_login(world.owner)
    url = reverse("annotation:repair", args=[world.project.slug, item.caption_id])
    assert "A correction and a drop cannot be undone." in client.get(url).content.decode()
    page = client.post(url, {"decision": "confirm", "comment": "I see it"}, follow=True)
    undo = reverse("annotation:undo_decisions", args=[world.project.slug])
    page = client.post(undo, {"token": page.context["undo"].token}, follow=True)
    assert page.request["PATH_INFO"] == url


def test_a_refused_undo_names_the_item_and_the_reason(world, client):
    item = world.item(state="valid", decided_at=timezone.now())
    client.force_login(world.owner)
    move = reverse("items:item_move", args=[world.project.slug, item.pk])
    page = client.post(move, {"move": "retract", "reason": "blurred"}, follow=True)
    token = page.context["undo"].token
    restore(world.owner, item.pk)
    undo = reverse("annotation:undo_decisions", args=[world.project.slug])
    page = client.post(undo, {"token": token}, follow=True)
    assert f"{item.key}: This has changed since your decision" in page.content.decode()
