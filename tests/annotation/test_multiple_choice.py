"""Validation of multiple-choice items: one judgement of all their sentences."""

import pytest

from annotation.actions.decisions.items import adjudicate
from annotation.actions.quality.recounts import ask_for_new_votes
from annotation.actions.submissions.judgements import submit_vote
from annotation.actions.undo import undo_vote
from annotation.actions.workflow.make_tasks import make_tasks
from annotation.errors import AnnotationError
from annotation.models import Lease, Slot, Stage, Task, TaskState, Vote
from annotation.queries.decision_queues import judged_pairs
from annotation.queries.own_answers import last_answers
from annotation.queries.personal_data import own_data
from annotation.rules import choosing
from annotation.rules.baseline import CAPTION
from evaluation.facts.stored_facts import item_facts, vote_facts
from foilworks.core.corpus.models import MediaState
from foilworks.core.corpus.rules.hard_foils import Candidates, is_multiple_choice, stated_roles
from foilworks.site.api.cards import work_out
from foilworks.site.invariants.registry import violations
from tests.annotation.world import World, new_key

FOILS = ("a man unfolds a shirt.", "a cat runs.", "a boat sinks.", "two people dance.")


@pytest.fixture
def choice(world: World):
    item = world.item(*FOILS, facts={"hard_foil": 2})
    item.video.media_state = MediaState.READY
    item.video.save()
    return item


def judge(world: World, name: str, wanted: object):
    """Answer with the place of a foil (its position), of the caption (None), or with a word."""
    work = world.claim(name, Stage.VALIDATION)
    order = Lease.objects.get(token=work.token).order_shown
    if isinstance(wanted, str):
        return submit_vote(world.people[name], work.token, new_key(), wanted)
    text = CAPTION if wanted is None else Task.objects.get().item.foils.get(position=wanted).pk
    return submit_vote(world.people[name], work.token, new_key(), order.index(text) + 1)


@pytest.mark.parametrize(
    ("answers", "state", "unanimous"),
    [
        ((None, None, None), "valid", True),
        ((None, 3, None), "valid", False),
        ((3, None, 0), "invalid", False),
        (("both", "both", None), "invalid", False),
        ((None, 1, "neither"), "disputed", False),
    ],
)
def test_three_validators_judge_all_five_sentences(world: World, choice, answers, state, unanimous) -> None:
    for name, wanted in zip(("vera", "vic", "val"), answers, strict=True):
        judge(world, name, wanted)
    choice.refresh_from_db()
    task = Task.objects.get()
    assert (choice.state, choice.unanimous, task.state) == (state, unanimous, TaskState.DONE)
    assert set(choice.foils.values_list("verdict", flat=True)) == {state}
    assert task.foil.position == 2
    assert task.foils_asked == list(choice.foils.order_by("position").values_list("pk", flat=True))
    votes = Vote.objects.order_by("pk")
    assert {vote.foil_id for vote in votes} == {task.foil_id}
    assert [choosing.chosen_text(vote.order_shown, vote.chosen_place) for vote in votes] == [
        None if isinstance(wanted, str) else CAPTION if wanted is None else task.foils_asked[wanted]
        for wanted in answers
    ]
    assert [row for row in violations() if not row["invariant"].startswith("media")] == []


def test_an_item_counts_as_one_unit_in_reports(world: World, choice) -> None:
    for name, wanted in (("vera", None), ("vic", 3), ("val", None)):
        judge(world, name, wanted)
    assert item_facts(world.project)[0].tallies == ((2, 1, 0, 0, 0),)
    assert len(vote_facts(world.project).unit_names) == 1


def test_the_caption_is_before_and_after_the_hard_foil_equally_often() -> None:
    orders = [choosing.order_shown("seed", item, 5, [11, 12, 13, 14], 13, item % 2 == 0) for item in range(2_000)]
    assert all((order.index(0) < order.index(13)) == (at % 2 == 0) for at, order in enumerate(orders))
    for text in (0, 11, 13):
        at = [sum(order[place] == text for order in orders) for place in range(5)]
        assert all(320 < n < 480 for n in at), at


@pytest.mark.parametrize("answer", ["", 0, 6, "first", "caption", True, None])
def test_an_answer_that_was_not_offered_is_refused(world: World, choice, answer) -> None:
    work = world.claim("vera", Stage.VALIDATION)
    with pytest.raises(AnnotationError, match="Answer with 1 to 5 or one of: neither, both, cannot_tell"):
        submit_vote(world.vera, work.token, "k", answer)
    assert not Vote.objects.exists()


def test_an_undone_vote_opens_the_whole_item_again_in_the_same_order(world: World, choice) -> None:
    votes = [judge(world, name, None) for name in ("vera", "vic", "val")]
    again = undo_vote(world.val, votes[-1].pk)
    choice.refresh_from_db()
    assert choice.state == "in_validation"
    assert set(choice.foils.values_list("verdict", flat=True)) == {"pending"}
    assert Lease.objects.get(token=again.token).order_shown == votes[-1].order_shown


def test_new_votes_are_collected_on_the_whole_item(world: World, choice) -> None:
    for name in ("vera", "vic", "val"):
        judge(world, name, None)
    ask_for_new_votes(world.owner, world.project, [choice.pk], "too fast")
    assert Task.objects.get().state == TaskState.OPEN
    assert Slot.objects.filter(state="free").count() == 3


def test_a_reviewer_sees_roles_and_who_chose_which_sentence(world: World, choice) -> None:
    for name, wanted in (("vera", None), ("vic", 1), ("val", "neither")):
        judge(world, name, wanted)
    *pairs, whole = judged_pairs(world.project, choice)
    assert [pair.role for pair in pairs] == ["random", "random", "hard", "random"]
    assert [len(pair.chosen_by) for pair in pairs] == [0, 1, 0, 0]
    assert {row.choice: len(row.who) for row in whole.ballots} == {"caption": 1, "foil": 1, "neither": 1}
    assert adjudicate(world.rita, choice.pk, "valid", "other").state == "valid"


def test_a_validator_reads_their_answers_as_they_gave_them(world: World, choice) -> None:
    vote = judge(world, "vera", None)
    judge(world, "vic", "both")
    (given,) = last_answers(world.project, world.vera, 5)
    assert (given.stage, given.code, given.texts) == ("validation", str(vote.chosen_place), [choice.caption.text])
    (given,) = last_answers(world.project, world.vic, 5)
    assert (given.code, sorted(given.texts)) == ("both", sorted([choice.caption.text, *FOILS]))
    assert [own_data(person)["judgements"][0]["answer"] for person in (world.vera, world.vic)] == [
        vote.chosen_place,
        "both",
    ]


@pytest.mark.parametrize(
    ("facts", "extra", "tasks", "roles"),
    [
        ({}, {}, 4, [""] * 4),
        ({"hard_foil": 0}, {}, 1, ["hard", "random", "random", "random"]),
        ({"hard_foil": None}, {}, 1, ["random"] * 4),
        ({}, {"label": 1, "c_label": 3}, 1, ["random", "random", "hard", "random"]),
        ({}, {"label": 1}, 1, [""] * 4),
    ],
)
def test_only_a_multiple_choice_item_is_one_task(world: World, facts, extra, tasks, roles) -> None:
    world.item(*FOILS, facts=facts, extra=extra)
    make_tasks(world.project)
    assert Task.objects.count() == tasks
    read = Candidates("", "", FOILS, extra, facts)
    assert (is_multiple_choice(read), stated_roles(read)) == (tasks == 1, roles)


def test_a_reviewer_sees_that_a_foil_is_the_caption_of_another_video(world: World, client) -> None:
    for text, method in (("a cat runs.", "random_caption"), ("a man unfolds a shirt.", "fake")):
        group = world.group()
        group.candidates.update(text=text, method=method, state="in_review")
    make_tasks(world.project)
    client.force_login(world.rita)
    pages = []
    for _task in range(2):
        work = world.claim("rita", Stage.REVIEW)
        address = f"/projects/{world.project.slug}/work/review/{work.token}/"
        pages.append(client.get(address).content.decode())
        client.post(address, {"decision": "accept", "idempotency_key": new_key()})
    of_random, of_edit = sorted(pages, key=lambda page: "a cat runs." not in page)
    assert "caption of another video" in of_random
    assert "What changed" not in of_random
    assert "caption of another video" not in of_edit
    assert "What changed" in of_edit


def test_a_program_sees_the_same_sentences_and_answers_with_a_place(world: World, choice) -> None:
    work = world.claim("vera", Stage.VALIDATION)
    shown = work_out(world.vera, work, world.project)
    assert sorted(shown.texts) == sorted([choice.caption.text, *FOILS])
    assert not any(word in shown.model_dump_json() for word in ("hard", "random"))
    vote = submit_vote(world.vera, work.token, "k", shown.texts.index("a boat sinks.") + 1)
    assert (vote.choice, vote.foil) == ("foil", Task.objects.get().foil)
