import pytest
from django.http import Http404

from annotation.actions.submissions.reviews import ReviewAnswer, submit_review
from annotation.actions.undo import undo_review
from annotation.errors import AnnotationError
from annotation.models import Review, Stage, Task, TaskState
from foilworks.core.corpus.models import Item, Release, ReleaseItem
from generation.models import Candidate
from tests import factories
from tests.annotation.world import later, make_world

UNFOLDS, TEARS, IRONS = "a man unfolds a shirt.", "a man tears a shirt.", "a man irons a shirt."

pytestmark = pytest.mark.django_db


def open_tasks(stage: str) -> int:
    return Task.objects.filter(stage=stage, state=TaskState.OPEN).count()


@pytest.fixture
def submitted(world):
    world.group(UNFOLDS, TEARS)
    world.edit("ann", UNFOLDS)
    return world


def test_an_undone_acceptance_disassembles_its_item(submitted):
    world = submitted
    review = world.review("rita")
    assert Item.objects.count() == 1
    work = undo_review(world.rita, review.pk)
    candidate = Candidate.objects.get(text=UNFOLDS)
    assert (candidate.state, candidate.foil, candidate.group.item) == ("in_review", None, None)
    assert not Item.objects.exists()
    assert open_tasks(Stage.VALIDATION) == 0
    submit_review(world.rita, work.token, "k", ReviewAnswer("drop", reasons=["still_true"]))
    assert open_tasks(Stage.EDIT) == 1
    assert Review.objects.filter(undone_at=None).get().decision == "drop"


def test_a_drop_undone_after_its_replacement_keeps_the_replacement_in_reserve(submitted):
    world = submitted
    review = world.review("rita", "drop", reasons=["still_true"])
    world.edit("abe", TEARS)
    assert open_tasks(Stage.REVIEW) == 1
    work = undo_review(world.rita, review.pk)
    asked = Task.objects.filter(stage=Stage.REVIEW, state=TaskState.OPEN)
    assert list(asked.values_list("candidate__text", flat=True)) == [UNFOLDS]
    submit_review(world.rita, work.token, "k", ReviewAnswer("drop", reasons=["still_true"]))
    assert list(asked.values_list("candidate__text", flat=True)) == [TEARS]


def test_an_item_that_somebody_judges_already_stays(submitted):
    review = submitted.review("rita")
    submitted.claim("vera", Stage.VALIDATION)
    with pytest.raises(AnnotationError, match="already in use"):
        undo_review(submitted.rita, review.pk)
    assert Candidate.objects.get(text=UNFOLDS).state == "accepted"
    assert Review.objects.get().undone_at is None


def test_an_item_that_was_released_stays():
    world = make_world(votes_wanted=0, votes_needed=0)
    world.group(UNFOLDS)
    world.edit("ann", UNFOLDS)
    review = world.review("rita")
    release = Release.objects.create(project=world.project, name="one", content_hash="0" * 64, n_items=1)
    ReleaseItem.objects.create(release=release, item=Item.objects.get(), position=0, record={})
    with pytest.raises(AnnotationError, match="already in use"):
        undo_review(world.rita, review.pk)


def test_an_undone_return_cancels_its_edit_task(submitted):
    review = submitted.review("rita", "send_back", reasons=["grammar"])
    assert open_tasks(Stage.EDIT) == 1
    undo_review(submitted.rita, review.pk)
    assert Candidate.objects.get(text=UNFOLDS).state == "in_review"
    assert (open_tasks(Stage.EDIT), open_tasks(Stage.REVIEW)) == (0, 1)


def test_a_return_that_its_author_has_taken_up_stays(submitted):
    review = submitted.review("rita", "send_back", reasons=["grammar"])
    submitted.claim("ann", Stage.EDIT)
    with pytest.raises(AnnotationError, match="Someone has already continued"):
        undo_review(submitted.rita, review.pk)


def test_a_return_that_was_reworded_stays(submitted):
    review = submitted.review("rita", "send_back", reasons=["grammar"])
    submitted.edit("ann", IRONS, parents=[review.candidate_id])
    with pytest.raises(AnnotationError, match="Someone has already continued"):
        undo_review(submitted.rita, review.pk)


def test_an_undone_drop_is_in_review_again(submitted):
    review = submitted.review("rita", "drop", reasons=["grammar"])
    work = undo_review(submitted.rita, review.pk)
    assert Candidate.objects.get(text=UNFOLDS).state == "in_review"
    assert submitted.claim("rita", Stage.REVIEW).token == work.token


def test_an_undone_fix_withdraws_the_child_and_restores_the_parent(submitted):
    review = submitted.review("rita", "fix", fixed_text=IRONS)
    work = undo_review(submitted.rita, review.pk)
    states = dict(Candidate.objects.values_list("text", "state"))
    assert states == {UNFOLDS: "in_review", IRONS: "superseded", TEARS: "queued"}
    assert not Item.objects.exists()
    # The hand that she had in fixing stays hers, so the piece is somebody else's now.
    with pytest.raises(AnnotationError, match="You wrote or edited"):
        submit_review(submitted.rita, work.token, "k", ReviewAnswer("accept"))
    assert submitted.review("rob").candidate.text == UNFOLDS


def test_undo_is_for_the_own_last_seconds_and_once(submitted):
    review = submitted.review("rita", "drop", reasons=["grammar"])
    with pytest.raises(Http404):
        undo_review(submitted.rob, review.pk)
    with pytest.raises(AnnotationError, match="only for 30 seconds"):
        undo_review(submitted.rita, review.pk, now=later(seconds=60))
    first = undo_review(submitted.rita, review.pk)
    assert undo_review(submitted.rita, review.pk).token == first.token


def test_work_that_does_not_count_cannot_be_undone(submitted):
    work = submitted.claim("rita", Stage.REVIEW)
    late = later(hours=5)
    submitted.review("rob", now=late)
    apart = submit_review(submitted.rita, work.token, "k", ReviewAnswer("accept"), now=late)
    with pytest.raises(AnnotationError, match="nothing to undo"):
        undo_review(submitted.rita, apart.pk, now=late)


def test_main_items_lose_a_proficiency_item_that_is_taken_apart(world):
    world.subtest.kind = "proficiency"
    world.subtest.save()
    main = factories.make_subtest(world.project, proficiency_subtest=world.subtest)
    group = world.group(UNFOLDS)
    waiting = factories.make_item(main, factories.make_caption(group.caption.video, "a man wears a shirt."))
    world.edit("ann", UNFOLDS)
    review = world.review("rita")
    waiting.refresh_from_db()
    assert waiting.proficiency_item == Item.objects.get(subtest=world.subtest)
    undo_review(world.rita, review.pk)
    waiting.refresh_from_db()
    assert waiting.proficiency_item is None


def test_an_undone_review_leaves_the_total_of_the_page_as_it_was(world, client):
    for text in (UNFOLDS, TEARS, IRONS):
        world.group(text)
        world.edit("ann", text)
    client.force_login(world.rita)
    totals = []

    def look(response):
        totals.append((response.context["done_count"], response.context["total"]))
        return response.context["card"].claim.token

    queue = f"/projects/{world.project.slug}/work/review/"
    token = look(client.post(queue, follow=True))
    sent = {"idempotency_key": "k", "decision": "accept"}
    look(client.post(f"{queue}{token}/", sent, follow=True))
    undo = f"/projects/{world.project.slug}/work/undo/review/{Review.objects.get().pk}/"
    look(client.post(undo, follow=True))
    assert totals == [(0, "3"), (1, "3"), (0, "3")]
    # The person holds both: the one taken back and the one that followed it.
    page = " ".join(client.get(queue).content.decode().split())
    assert "2 tasks in progress. 1 task to do." in page
