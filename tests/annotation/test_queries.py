import json
from datetime import timedelta

import pytest
from django.http import Http404
from django.template import Context, Template
from django.utils import timezone

from annotation.access import edit_for, item_for, lease_for, review_for, vote_for
from annotation.actions.leases.leasing import release
from annotation.actions.settings.work_settings import publish_guideline
from annotation.actions.workflow.make_tasks import make_tasks
from annotation.models import Stage
from annotation.queries import queues
from annotation.queries.cards import claim_card
from annotation.queries.queues import open_work, why_empty, work_counts
from foilworks.core.corpus.models import MediaState, Video
from foilworks.core.projects.models import Membership, Role
from generation.models import FilterScore
from tests.annotation.world import CAPTION, later, make_world

UNFOLDS, TEARS, IRONS = "a man unfolds a shirt.", "a man tears a shirt.", "a man irons a shirt."

pytestmark = pytest.mark.django_db


def reasons(world, name: str, stage: str) -> dict[str, int]:
    return {found.code: found.count for found in why_empty(getattr(world, name), world.project, stage)}


def test_an_edit_card_has_the_caption_the_suggestions_and_the_guideline():
    world = make_world(foils_per_item=2)
    publish_guideline(world.owner, world.project, "edit", "Change one thing.")
    group = world.group(UNFOLDS, TEARS)
    card = claim_card(world.ann, world.claim("ann", Stage.EDIT))
    assert (card.edit.caption.text, card.edit.wanted, card.edit.others) == (CAPTION, 2, [])
    assert (card.video, card.subtest, card.project) == (group.caption.video, world.subtest, world.project)
    assert (card.guideline_version, card.guideline_text) == (1, "Change one thing.")
    first, second = card.edit.suggestions
    assert (first.text, first.method, first.method_version, first.by_person, first.returned, first.notes) == (
        UNFOLDS,
        "fake",
        "1",
        False,
        False,
        (),
    )
    assert first.segments == [("same", "a man "), ("removed", "folds"), ("added", "unfolds"), ("same", " a shirt.")]
    assert second.text == TEARS
    assert card.edit.target_span == (0, len(CAPTION))
    assert card.review is None
    assert card.validation is None


def test_a_returned_foil_shows_the_reasons_but_not_the_reviewer(world):
    world.group(UNFOLDS)
    world.edit("ann", IRONS)
    world.review("rita", "send_back", reasons=["grammar", "still_true"], comment="He does iron it.")
    card = claim_card(world.ann, world.claim("ann", Stage.EDIT))
    piece = next(s for s in card.edit.suggestions if s.text == IRONS)
    assert piece.returned
    assert piece.by_person
    (note,) = piece.notes
    assert (note.reasons, note.comment) == (("still_true", "grammar"), "He does iron it.")
    assert world.rita.username not in repr(card)


def test_a_review_card_has_the_checks_the_filters_and_the_earlier_returns(world):
    group = world.group(UNFOLDS)
    candidate = group.candidates.get()
    FilterScore.objects.create(
        run=candidate.group.run, candidate=candidate, filter="fluency", filter_version="1", score=0.5, passed=True
    )
    world.edit("ann", UNFOLDS)
    world.review("rita", "send_back", reasons=["grammar"])
    world.edit("ann", "two dogs chase the red ball.", parents=[candidate.pk])
    card = claim_card(world.rita, world.claim("rita", Stage.REVIEW))
    assert card.review.foil.text == "two dogs chase the red ball."
    assert [finding.problem for finding in card.review.findings] == ["many_changed_words"]
    assert [note.reasons for note in card.review.foil.notes] == [("grammar",)]
    assert world.ann.username not in repr(card)
    release(world.rita, card.claim.token)
    world.group(TEARS)
    other = world.edit("ann", TEARS).candidates.get()
    for slug in ("blind", "video_judge"):
        FilterScore.objects.create(
            run=other.group.run, candidate=other, filter=slug, filter_version="1", score=0.25, passed=False
        )
    card = claim_card(world.rob, world.claim("rob", Stage.REVIEW))
    if card.review.foil.candidate_id != other.pk:
        release(world.rob, card.claim.token)
        card = claim_card(world.rob, world.claim("rob", Stage.REVIEW))
    # The verdict of a model that screens is shown to nobody who decides.
    assert [(n.filter, n.score, n.passed) for n in card.review.filters] == [("blind", 0.25, False)]


def test_a_judgement_shows_two_texts_in_the_order_of_the_lease_and_not_which_is_which(world):
    world.item(UNFOLDS)
    for name in ("vera", "vic"):
        work = world.claim(name, Stage.VALIDATION)
        shown = claim_card(getattr(world, name), work).validation
        texts = [shown.first.text, shown.second.text]
        assert texts == ([CAPTION, UNFOLDS] if work.caption_first else [UNFOLDS, CAPTION])
        for text in (shown.first, shown.second):
            assert "".join(part for _, part in text.segments) == text.text
            assert [part for kind, part in text.segments if kind == "added"] == [
                "folds" if text.text == CAPTION else "unfolds"
            ]
            assert {kind for kind, _ in text.segments} == {"same", "added"}


def test_a_card_takes_few_queries(world, django_assert_max_num_queries):
    world.group(*[f"a man {verb} a shirt." for verb in ("rips", "dyes", "irons", "sells", "burns", "eats")])
    world.item()
    edit = world.claim("ann", Stage.EDIT)
    with django_assert_max_num_queries(5):
        claim_card(world.ann, edit)
    world.edit("ann", UNFOLDS)
    review = world.claim("rita", Stage.REVIEW)
    with django_assert_max_num_queries(6):
        claim_card(world.rita, review)
    vote = world.claim("vera", Stage.VALIDATION)
    with django_assert_max_num_queries(3):
        claim_card(world.vera, vote)


def test_a_card_is_for_the_holder_of_the_running_lease(world):
    world.group()
    world.claim("ann", Stage.EDIT)
    # Resumed: a claim of this request has the rows itself.
    work = world.claim("ann", Stage.EDIT)
    with pytest.raises(Http404):
        claim_card(world.abe, work)
    release(world.ann, work.token)
    with pytest.raises(Http404):
        claim_card(world.ann, work)


def test_the_count_of_today_starts_at_midnight(world):
    noon = timezone.now().replace(hour=12) + timedelta(days=1)
    world.group()
    world.group()
    world.edit("ann", now=noon)
    world.edit("ann", now=noon + timedelta(hours=13))
    assert work_counts(world.ann, world.project, Stage.EDIT, noon + timedelta(hours=13)) == (1, 2)
    assert work_counts(world.abe, world.project, Stage.EDIT, noon) == (0, 0)


def test_a_getter_gives_the_own_work_and_404_for_anybody_elses(world):
    world.group()
    world.item()
    work = world.claim("ann", Stage.EDIT)
    assert lease_for(world.ann, work.token).slot_id == work.slot_id
    edit, vote = world.edit("ann"), world.vote("vera")
    review = world.review("rita")
    assert (edit_for(world.ann, edit.pk), review_for(world.rita, review.pk), vote_for(world.vera, vote.pk)) == (
        edit,
        review,
        vote,
    )
    for getter, pk in ((edit_for, edit.pk), (review_for, review.pk), (vote_for, vote.pk), (lease_for, work.token)):
        with pytest.raises(Http404):
            getter(world.abe, pk)
    with pytest.raises(Http404):
        item_for(world.owner, 10**9, Role.RESEARCHER)


def test_an_empty_stage_says_that_nothing_has_come_yet(world):
    assert reasons(world, "ann", Stage.EDIT) == {"nothing_yet": 0}


def test_when_there_is_work_there_is_no_reason(world):
    world.item()
    world.claim("vic", Stage.VALIDATION)
    assert reasons(world, "vera", Stage.VALIDATION) == {}
    assert open_work(world.vera, world.project, Stage.VALIDATION) == 1


def test_a_finished_stage_says_so(world):
    world.group()
    world.edit("ann")
    assert reasons(world, "abe", Stage.EDIT) == {"all_done": 1}


def test_reasons_of_an_empty_queue_are_distinguished():
    world = make_world()
    Membership.objects.create(project=world.project, person=world.ann, role=Role.REVIEWER)
    Membership.objects.create(project=world.project, person=world.ann, role=Role.VALIDATOR)
    world.group()
    world.edit("ann")
    assert reasons(world, "ann", Stage.REVIEW) == {"made_it": 1}
    world.review("rita", "send_back", reasons=["grammar"])
    assert reasons(world, "abe", Stage.EDIT) == {"reserved": 1}
    world.claim("ann", Stage.EDIT)
    assert reasons(world, "abe", Stage.EDIT) == {"leased": 1}
    item = world.item()
    world.vote("vera")
    Video.objects.filter(pk=item.video_id).update(media_state=MediaState.MISSING)
    assert reasons(world, "vic", Stage.VALIDATION) == {"media_missing": 2}
    Video.objects.update(media_state=MediaState.READY)
    assert reasons(world, "vera", Stage.VALIDATION) == {"yours": 2}


def test_a_reviewer_reads_that_they_reviewed_the_video(world):
    Membership.objects.create(project=world.project, person=world.rita, role=Role.VALIDATOR)
    world.made_item()
    assert reasons(world, "rita", Stage.VALIDATION) == {"reviewed_it": 3}


def test_why_a_queue_is_empty_is_one_query(world, django_assert_max_num_queries):
    for _ in range(5):
        world.item()
    world.vote("vic")
    with django_assert_max_num_queries(1):
        why_empty(world.vera, world.project, Stage.VALIDATION)
    with django_assert_max_num_queries(2):
        why_empty(world.rita, world.project, Stage.REVIEW)


def test_the_expiry_on_the_card_is_the_leases(world):
    world.group()
    now = later()
    work = world.claim("ann", Stage.EDIT, now=now)
    assert claim_card(world.ann, work).claim.expires_at == now + timedelta(seconds=world.project.lease_seconds)


def test_a_long_queue_is_counted_so_far_and_says_so(monkeypatch):
    world = make_world()
    for _ in range(3):
        world.item()
    make_tasks(world.project)
    assert str(open_work(world.vera, world.project, Stage.VALIDATION)) == "3"
    monkeypatch.setattr(queues, "COUNTED_TO", 6)
    found = open_work(world.vera, world.project, Stage.VALIDATION)
    assert (found, str(found), json.dumps(found)) == (2, "2+", "2")
    shown = Template("{% blocktranslate count n=found %}{{ n }} waits{% plural %}{{ n }} wait{% endblocktranslate %}")
    assert shown.render(Context({"found": found})) == "2+ wait"
