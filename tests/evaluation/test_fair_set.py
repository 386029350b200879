"""The page of a fair set: items by score with reasons, the effect of a selection, proposals to accept and to undo."""

import pytest
from django.urls import reverse

from annotation.actions.decisions.repairs import exchange_foils, replace_foils, undo_repair
from annotation.errors import AnnotationError
from annotation.models import Stage, Task
from evaluation.analyses import fair_set
from evaluation.reports.reports import project_report
from foilworks.core.corpus.models import Item
from generation.models import Candidate, CandidateGroup
from tests import factories
from tests.annotation.world import browser, make_world
from tests.invariants import broken_invariants

VERBS = ("folds", "tears", "lifts", "drops")


@pytest.fixture
def world(db):
    """Twenty-four valid items; "holds" is only in captions."""
    world = make_world()
    for number in range(24):
        clip = factories.make_video(world.project, media_state="ready")
        right, wrong = VERBS[number % 4], VERBS[(number + 1) % 4]
        caption = factories.make_caption(clip, f"she {'holds' if number % 2 else right} box {number}.")
        item = factories.make_item(world.subtest, caption, (f"she {wrong} box {number}.",), state="valid")
        item.foils.update(verdict="valid")
    return world


def test_the_report_has_a_row_per_item_and_the_page_its_proposals(world):
    data = project_report(world.project, "fair", subtest=world.subtest.name)
    assert data["n"] == len(data["items"]) == 24
    assert [row["s_minus_chance"] for row in data["items"]] == sorted(
        (row["s_minus_chance"] for row in data["items"]), reverse=True
    )
    assert all(row["repair"] for row in data["items"] if row["action"] == "remove")
    assert data["verdict"] in fair_set_verdicts()
    page = browser(world.owner).get(reverse("reports:report", args=[world.project.slug, "fair"]), subtest(world))
    assert page.status_code == 200
    assert page.context["data"]["n"] == 24
    proposals = [row for row in page.context["listed"] if row["repair"] == "exchange"]
    assert proposals
    assert all(row["page"] and row["partner"] for row in proposals)


def fair_set_verdicts():
    return {"fair", "too_few", "no_fair_subset"}


def subtest(world):
    return {"subtest": world.subtest.name}


def test_an_exchange_is_accepted_like_a_candidate_and_undone(world):
    first, second = Item.objects.order_by("pk")[:2]
    client, address = browser(world.owner), reverse("reports:repair", args=[world.project.slug])
    client.post(address, {"item": first.pk, "partner": second.pk})
    texts = dict(Candidate.objects.values_list("group__caption", "text"))
    assert texts == {first.caption_id: second.caption.text, second.caption_id: first.caption.text}
    assert set(Candidate.objects.values_list("state", "author")) == {("in_review", world.owner.pk)}
    assert Task.objects.filter(stage=Stage.REVIEW).count() == 2
    assert set(Item.objects.values_list("state", flat=True)) == {"valid"}
    assert broken_invariants() == []
    with pytest.raises(AnnotationError):
        exchange_foils(world.owner, first.pk, second.pk)
    event = world.project.audit_events.get(action="accept_repair")
    client.post(address, {"event": event.pk})
    assert not Candidate.objects.exists()
    assert not CandidateGroup.objects.exists()
    assert not Task.objects.filter(stage=Stage.REVIEW).exists()
    exchange_foils(world.owner, first.pk, second.pk)
    world.review("rita")
    event = world.project.audit_events.filter(action="accept_repair").latest("pk")
    client.post(address, {"event": event.pk})
    assert Candidate.objects.count() == 2


def test_a_mirror_gets_the_text_that_it_lacks(world):
    first = Item.objects.order_by("pk").first()
    wrong = first.foils.get().text
    mirror = factories.make_caption(factories.make_video(world.project, media_state="ready"), wrong)
    second = factories.make_item(world.subtest, mirror, ("she eats.",), state="valid")
    (candidate,) = exchange_foils(world.owner, first.pk, second.pk)
    assert (candidate.group.caption, candidate.text) == (mirror, first.caption.text)


@pytest.mark.parametrize("edit_stage", [True, False])
def test_a_replacement_is_made_by_another_method(world, edit_stage):
    world.project.edit_stage = edit_stage
    world.project.save(update_fields=["edit_stage"])
    caption = factories.make_caption(factories.make_video(world.project, media_state="ready"), "a man jumps two times.")
    item = factories.make_item(world.subtest, caption, ("a man jumps three times.",), state="valid")
    item.foils.update(verdict="valid")
    group = factories.make_group(world.run, caption)
    CandidateGroup.objects.filter(pk=group.pk).update(item=item)
    made = factories.make_candidate(group, "a man jumps three times.", method="number", state="accepted")
    Candidate.objects.filter(pk=made.pk).update(foil=item.foils.get())
    client, address = browser(world.owner), reverse("reports:repair", args=[world.project.slug])
    client.post(address, {"item": item.pk})
    candidate = Candidate.objects.get(foil=None)
    assert (candidate.method, candidate.text) == ("gender_swap", "a woman jumps two times.")
    assert candidate.state == ("queued" if edit_stage else "in_review")
    assert Task.objects.filter(stage=Stage.EDIT if edit_stage else Stage.REVIEW).count() == 1
    assert broken_invariants() == []
    with pytest.raises(AnnotationError, match="waits for other foils"):
        replace_foils(world.owner, item.pk)
    client.post(address, {"event": world.project.audit_events.get(action="accept_repair").pk})
    assert CandidateGroup.objects.get() == group


def test_without_a_method_people_write_the_replacement(world):
    item = Item.objects.order_by("pk").first()
    item.caption.text = "birds."
    item.caption.save(update_fields=["text"])
    assert replace_foils(world.owner, item.pk) == []
    assert Task.objects.filter(stage=Stage.EDIT, group__caption=item.caption).count() == 1
    world.edit("ann", "fish.")
    event = world.project.audit_events.get(action="accept_repair")
    with pytest.raises(AnnotationError):
        undo_repair(world.owner, event.pk)


def test_two_items_of_one_clip_cannot_be_exchanged(world):
    first = Item.objects.first()
    with pytest.raises(AnnotationError):
        exchange_foils(world.owner, first.pk, first.pk)


def test_without_valid_items_there_is_nothing_to_select():
    with pytest.raises(Exception, match="no valid items"):
        fair_set.compute([])
