"""A sentence that comes back with a clip is mostly its caption: a person reads it with one pair alone."""

from collections.abc import Iterator

import pytest

from annotation.actions.claims.claim import claim
from annotation.actions.leases.leasing import release
from annotation.actions.quality.recounts import save_quality_policy
from annotation.actions.submissions.judgements import submit_vote
from annotation.actions.undo import undo_vote
from annotation.actions.workflow.make_tasks import make_tasks
from annotation.models import Attempt, GoldPair, Lease, Question, Stage, Task
from annotation.queries.cards import claim_card
from annotation.queries.queues import open_work, why_empty
from annotation.work_queues import queue_of
from foilworks.core.projects.errors import AccessDenied
from foilworks.core.projects.models import AuditEvent, Role
from tests import factories
from tests.annotation.crowd import open_policy
from tests.annotation.world import World, make_world, new_key

pytestmark = pytest.mark.django_db


def three_foils_a_caption(world: World, captions: int) -> None:
    """Items of three subtests for each caption, as three methods over one set of captions make them."""
    subtests = [world.subtest, *(factories.make_subtest(world.project) for _ in range(2))]
    for number in range(captions):
        caption = factories.make_caption(factories.make_video(world.project), f"caption {number}.")
        for at, subtest in enumerate(subtests):
            factories.make_item(subtest, caption, foils=(f"foil {at} of caption {number}.",))
    make_tasks(world.project)


def judge_all(world: World, name: str) -> Iterator[tuple[int, set[str]]]:
    """(clip, the two texts) of every piece that the person is given."""
    while work := world.claim(name, Stage.VALIDATION):
        card = claim_card(getattr(world, name), work)
        yield card.video.pk, {card.validation.first.text, card.validation.second.text}
        submit_vote(getattr(world, name), work.token, new_key(), "first")


def told_by_repetition(shown: list[tuple[int, set[str]]]) -> int:
    """How many pieces show exactly one sentence that was shown with this clip before."""
    seen: dict[int, set[str]] = {}
    told = 0
    for clip, texts in shown:
        told += len(texts & seen.setdefault(clip, set())) == 1
        seen[clip] |= texts
    return told


@pytest.mark.parametrize(("once", "pieces", "told"), [(True, 10, 0), (False, 30, 20)])
def test_no_sentence_comes_back_with_its_clip(once, pieces, told):
    world = make_world({"judge_caption_once": once})
    three_foils_a_caption(world, 10)
    shown = list(judge_all(world, "vera"))
    assert (len(shown), told_by_repetition(shown)) == (pieces, told)
    assert world.claim("vic", Stage.VALIDATION) is not None


def test_a_claim_continues_past_new_tasks_that_the_rules_bar(monkeypatch):
    """The next thousand items may all be about captions that this person has read."""
    monkeypatch.setattr("annotation.actions.claims.claim.MAX_GROUPS_PER_CLAIM", 2)
    world = make_world()
    first = world.item()
    world.vote("vera")
    for _ in range(5):
        factories.make_item(world.subtest, first.caption)
    new = world.item()
    work = world.claim("vera", Stage.VALIDATION)
    assert work is not None
    assert Task.objects.get(pk=work.task_id).item == new
    assert world.claim("vera", Stage.VALIDATION).token == work.token


def test_a_skipped_pair_was_read_as_well():
    """Whoever skips everything first would know which sentences come back."""
    world = make_world()
    three_foils_a_caption(world, 4)
    skipped = []
    for _ in range(4):
        work = world.claim("vera", Stage.VALIDATION)
        skipped.append(work.task_id)
        release(world.vera, work.token)
    # Each caption was read: only the pairs that were skipped are left for this person.
    assert len(set(skipped)) == 4
    again = []
    while work := world.claim("vera", Stage.VALIDATION):
        again.append(work.task_id)
        submit_vote(world.vera, work.token, new_key(), 1)
    assert sorted(again) == sorted(skipped)


def test_a_person_sees_one_foil_of_an_item_even_after_skips():
    world = make_world()
    world.item("a man drops a shirt.", "a man tears a shirt.")
    make_tasks(world.project)
    first = world.claim("vera", Stage.VALIDATION)
    release(world.vera, first.token)
    second = world.claim("vera", Stage.VALIDATION)
    assert second.task_id == first.task_id
    undone = submit_vote(world.vera, second.token, "k", 1)
    undo_vote(world.vera, undone.pk)
    assert world.claim("vera", Stage.VALIDATION).task_id == first.task_id


@pytest.mark.parametrize(
    ("caption", "foil", "barred"),
    [
        ("a dog runs.", "a cat sits.", False),
        # The foil of one is the caption of the other, or both have one foil.
        ("a man unfolds a shirt.", "a cat sits.", True),
        ("a dog runs.", "a man folds a shirt.", True),
        ("a dog runs.", "a man unfolds a shirt.", True),
    ],
)
@pytest.mark.parametrize("same_clip", [True, False])
def test_any_sentence_of_the_clip_counts_and_no_other_clips(caption, foil, barred, same_clip):
    world = make_world()
    video = world.item().video
    other = video if same_clip else factories.make_video(world.project)
    factories.make_item(world.subtest, factories.make_caption(other, caption), foils=(foil,))
    make_tasks(world.project)
    assert len(list(judge_all(world, "vera"))) == (1 if barred and same_clip else 2)


def test_the_upcoming_task_shares_no_sentence_with_the_current_one():
    world = make_world()
    three_foils_a_caption(world, 2)
    one = world.claim("vera", Stage.VALIDATION)
    named = Lease.objects.get(token=one.token).upcoming_slot
    submit_vote(world.vera, one.token, new_key(), 1)
    other = claim(world.vera, world.project, Stage.VALIDATION, preferred=named)
    assert other.slot_id == named


def gold_of(world: World, caption, use: str) -> GoldPair:
    """A pair with a known answer, of another item of the caption that was decided before."""
    decided = factories.make_item(world.subtest, caption, foils=("a man burns a shirt.",), state="valid")
    texts = {"caption_text": caption.text, "foil_text": "a man burns a shirt."}
    place = {"project": world.project, "subtest": world.subtest, "video": caption.video, "item": decided}
    return GoldPair.objects.create(**place, **texts, use=use, answer="caption")


@pytest.mark.usefixtures("every_second_gold")
def test_gold_with_a_known_caption_is_not_mixed_in_and_excludes_it():
    world = make_world()
    captions = [factories.make_caption(factories.make_video(world.project), f"caption {n}.") for n in range(3)]
    for caption in captions:
        factories.make_item(world.subtest, caption)
        gold_of(world, caption, "mixed")
    open_policy(world.project, gold_rate=0.5, fast_share=0)
    make_tasks(world.project)
    shown = list(judge_all(world, "vera"))
    assert told_by_repetition(shown) == 0
    # Of each caption its item or its gold, as the draw has it.
    assert len(shown) == 3


def test_a_caption_of_practice_is_not_judged_with_another_foil():
    world = make_world()
    item = world.item()
    pair = gold_of(world, item.caption, "practice")
    stages = {"stage": Stage.PRACTICE, "of_stage": Stage.VALIDATION}
    attempt = Attempt.objects.create(project=world.project, person=world.vera, number=1, **stages)
    Question.objects.create(attempt=attempt, place=0, pair=pair, caption_first=True)
    make_tasks(world.project)
    assert world.claim("vera", Stage.VALIDATION) is None
    assert world.claim("vic", Stage.VALIDATION) is not None


def test_the_queue_says_why_and_counts_the_same(world):
    three_foils_a_caption(world, 3)
    assert open_work(world.vera, world.project, Stage.VALIDATION) == 3
    assert len(list(judge_all(world, "vera"))) == 3
    assert open_work(world.vera, world.project, Stage.VALIDATION) == 0
    reasons = {reason.code: reason.count for reason in why_empty(world.vera, world.project, Stage.VALIDATION)}
    # Three slots of each of the six other pairs, and the two that are left of each of one's own.
    assert reasons == {"same_sentence": 18, "yours": 6}
    words = [str(words) for _count, words in queue_of(world.vera, world.project, Stage.VALIDATION).reasons]
    assert any("with a sentence that you saw in another pair" in each for each in words)


def test_the_baseline_shows_one_item_of_a_caption_even_if_it_is_skipped(world):
    caption = factories.make_caption(factories.make_video(world.project))
    for foil in ("a man drops a shirt.", "a man tears a shirt."):
        item = factories.make_item(world.subtest, caption, foils=(foil,), state="valid")
        task = factories.make_task(world.project, Stage.BASELINE, item.video, item=item)
        task.foils_asked = [item.foils.get().pk]
        task.save()
    work = world.claim("ann", Stage.BASELINE)
    release(world.ann, work.token)
    assert world.claim("ann", Stage.BASELINE).task_id == work.task_id


def test_a_researcher_turns_it_off_and_on(world, client):
    save_quality_policy(world.owner, world.project, judge_caption_once=False)
    world.project.refresh_from_db()
    assert not world.project.judge_caption_once
    assert AuditEvent.objects.get(action="set_judge_caption_once").details == {"judge_caption_once": False}
    with pytest.raises(AccessDenied):
        save_quality_policy(world.vera, world.project, judge_caption_once=True)
    client.force_login(factories.make_member(world.project, Role.RESEARCHER))
    page = client.get(f"/projects/{world.project.slug}/quality/").content.decode()
    assert 'name="judge_caption_once"' in page
