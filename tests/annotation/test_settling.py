"""What a researcher decides: adjudicate, requeue, retract; and the guidelines that they publish."""

import pytest
from django.http import Http404

from annotation.actions.decisions.items import adjudicate, requeue, retract
from annotation.actions.settings.work_settings import publish_guideline
from annotation.errors import AnnotationError, WorkRefused
from annotation.models import Stage
from foilworks.core.corpus.models import Item
from foilworks.core.corpus.rules.states import IllegalMove
from foilworks.core.projects.errors import AccessDenied
from foilworks.core.projects.models import AuditEvent, User
from generation.models import Candidate, GenerationRun
from tests import factories
from tests.annotation.world import judged, make_world

UNFOLDS, TEARS, IRONS = "a man unfolds a shirt.", "a man tears a shirt.", "a man irons a shirt."

pytestmark = pytest.mark.django_db


def afresh(world, name: str) -> User:
    """The person without the roles that were looked up before."""
    return User.objects.get(pk=world.people[name].pk)


@pytest.mark.parametrize("outcome", ["valid", "invalid"])
def test_a_disputed_item_is_adjudicated_with_a_reason(world, outcome):
    item = judged(world, "caption", "foil", "both")
    adjudicate(world.owner, item.pk, outcome, "I looked at it.")
    item.refresh_from_db()
    assert (item.state, item.foils.get().verdict) == (outcome, outcome)
    row = AuditEvent.objects.get(action="adjudicate")
    assert (row.actor, row.from_state, row.to_state, row.reason) == (
        world.owner,
        "disputed",
        outcome,
        "I looked at it.",
    )
    assert item.votes.filter(state="counted").count() == 3


def test_a_person_involved_in_the_video_cannot_adjudicate_its_items(world):
    item = judged(world, "caption", "foil", "both", item=world.made_item())
    world.project.memberships.create(person=world.ann, role="reviewer")
    world.project.memberships.create(person=world.vera, role="researcher")
    for name, refusal in (("ann", "made_it"), ("rita", "reviewed_it"), ("vera", "judged_it")):
        with pytest.raises(WorkRefused) as refused:
            adjudicate(afresh(world, name), item.pk, "valid", "x")
        assert refused.value.refusal == refusal
    assert adjudicate(world.rob, item.pk, "valid", "x").state == "valid"


def test_an_adjudicator_judges_nothing_more_on_that_video(world):
    item = judged(world, "caption", "foil", "both")
    adjudicate(world.rob, item.pk, "valid", "x")
    world.project.memberships.create(person=world.rob, role="validator")
    world.people["rob"] = afresh(world, "rob")
    factories.make_item(world.subtest, factories.make_caption(item.video, "another"))
    assert world.claim("rob", Stage.VALIDATION) is None
    world.item()
    assert world.claim("rob", Stage.VALIDATION) is not None


def test_only_a_disputed_item_is_adjudicated_and_only_to_a_verdict_with_a_reason(world):
    item = judged(world, "caption", "caption", "both")
    with pytest.raises(IllegalMove, match="is valid, so 'adjudicate' is not possible"):
        adjudicate(world.owner, item.pk, "invalid", "because")
    with pytest.raises(AnnotationError, match="Enter a reason"):
        adjudicate(world.owner, item.pk, "invalid", " ")
    with pytest.raises(AnnotationError, match="valid, invalid"):
        adjudicate(world.owner, item.pk, "retracted", "because")


def test_an_invalid_made_item_is_requeued_and_its_foil_reopens_as_a_child(world):
    item = world.made_item()
    old = Candidate.objects.get(foil__item=item)
    judged(world, "foil", "foil", "foil", item=item)
    requeue(world.owner, item.pk, "try again")
    item.refresh_from_db()
    assert item.state == "requeued"
    old.refresh_from_db()
    assert (old.state, old.foil.item) == ("accepted", item)
    child = old.children.get()
    assert (child.state, child.text, child.parent, child.author, child.group) == (
        "queued",
        old.text,
        old,
        old.author,
        old.group,
    )
    world.edit("abe", IRONS, parents=[child.pk])
    world.review("rob")
    new = Item.objects.exclude(pk=item.pk).get()
    assert new.foils.get().text == IRONS
    assert new.key == f"{item.key}~2"
    assert item.votes.count() == 3


def test_valid_pairs_of_a_requeued_item_are_carried_over():
    world = make_world(foils_per_item=2, votes_wanted=1, votes_needed=1)
    group = world.group(UNFOLDS, TEARS)
    world.edit("ann", UNFOLDS, TEARS)
    world.review("rita")
    world.review("rob")
    item = Item.objects.get()
    world.vote("vera", "caption")
    world.vote("vic", "foil")
    requeue(world.owner, item.pk)
    good = item.foils.get(verdict="valid").text
    bad = item.foils.get(verdict="invalid").text
    carried = group.candidates.filter(foil=None).exclude(parent=None)
    assert set(carried.values_list("text", "state")) == {(good, "accepted"), (bad, "queued")}
    world.edit("ann", IRONS, parents=[carried.get(text=bad).pk])
    world.people["rex"] = factories.make_member(world.project, "reviewer")
    world.review("rex")
    group.refresh_from_db()
    assert {foil.text for foil in group.item.foils.all()} == {good, IRONS}


def test_the_successor_of_an_imported_item_has_its_facts_but_those_of_each_old_foil(world):
    facts = {"count": 3, "edited": ["verb"]}
    item = judged(world, "both", "both", "both", item=world.item(UNFOLDS, facts=facts))
    type(item.caption).objects.update(facts={"count": 2})
    requeue(world.owner, item.pk)
    world.edit("ann", IRONS)
    world.review("rita")
    assert Item.objects.exclude(pk=item.pk).get().known_facts == {"count": 3}


def test_an_invalid_imported_item_gets_a_group_to_go_back_to(world):
    item = judged(world, "both", "both", "both", item=world.item(UNFOLDS))
    requeue(world.owner, item.pk)
    run = GenerationRun.objects.get(mode="reopened")
    assert (run.method, run.subtest) == ("person", world.subtest)
    queued = Candidate.objects.get(state="queued")
    assert (queued.text, queued.parent.method, queued.parent.foil.item) == (UNFOLDS, "import", item)
    assert queued.edits == [[6, 11, "unfolds"]]
    world.project.judge_caption_once = False
    world.project.save()
    again = judged(world, "both", "both", "both", item=factories.make_item(world.subtest, item.caption, (TEARS,)))
    requeue(world.owner, again.pk)
    assert GenerationRun.objects.filter(mode="reopened").count() == 2
    assert world.edit("ann", IRONS, parents=[]).group.caption == item.caption


@pytest.mark.parametrize("choices", [("caption",) * 3, ("caption", "foil", "both")])
def test_only_an_invalid_item_is_requeued(world, choices):
    item = judged(world, *choices)
    with pytest.raises(IllegalMove):
        requeue(world.owner, item.pk)
    assert not Candidate.objects.exists()


def test_a_valid_item_is_retracted_with_a_reason_and_leaves_its_main_items(world):
    world.subtest.kind = "proficiency"
    world.subtest.save()
    item = judged(world, "caption", "caption", "caption")
    main = factories.make_item(factories.make_subtest(world.project), proficiency_item=item)
    heir = factories.make_item(world.subtest, factories.make_caption(item.video, "another"))
    with pytest.raises(AnnotationError, match="Enter a reason"):
        retract(world.owner, item.pk, "")
    retract(world.owner, item.pk, "copyright")
    item.refresh_from_db()
    main.refresh_from_db()
    assert (item.state, main.proficiency_item) == ("retracted", heir)
    with pytest.raises(IllegalMove):
        retract(world.owner, item.pk, "again")


def test_only_the_projects_researchers_requeue_and_retract_and_its_reviewers_adjudicate_too(world):
    item = judged(world, "caption", "foil", "both")
    stranger, other_owner = factories.make_user(), make_world().owner
    for act, refused in (
        (lambda person: adjudicate(person, item.pk, "valid", "x"), ("ann", "vera")),
        (lambda person: requeue(person, item.pk), ("ann", "rita", "vera")),
        (lambda person: retract(person, item.pk, "x"), ("ann", "rita", "vera")),
    ):
        for person in (stranger, other_owner):
            with pytest.raises(Http404):
                act(person)
        for name in refused:
            with pytest.raises(AccessDenied):
                act(getattr(world, name))
    item.refresh_from_db()
    assert item.state == "disputed"


def test_guidelines_are_numbered_by_stage_and_by_subtest(world):
    versions = [
        publish_guideline(world.owner, world.project, stage, text, subtest=subtest).version
        for stage, subtest, text in (
            ("edit", None, "a"),
            ("edit", None, "b"),
            ("review", None, "a"),
            ("edit", world.subtest, "a"),
        )
    ]
    assert versions == [1, 2, 1, 1]


def test_a_guideline_needs_a_text_a_stage_a_subtest_of_the_project_and_a_researcher(world):
    for stage, text in (("edit", " "), ("teleport", "text"), ("edit", "nul\x00")):
        with pytest.raises(AnnotationError):
            publish_guideline(world.owner, world.project, stage, text)
    with pytest.raises(AnnotationError, match="another project"):
        publish_guideline(world.owner, world.project, Stage.EDIT, "text", subtest=make_world().subtest)
    with pytest.raises(AccessDenied):
        publish_guideline(world.ann, world.project, Stage.EDIT, "text")
