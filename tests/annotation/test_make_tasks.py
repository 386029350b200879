import pytest

from annotation.actions.workflow import make_tasks as module
from annotation.actions.workflow.make_tasks import make_tasks
from annotation.models import Slot, Stage, Task
from annotation.transactions import serialize_writes
from foilworks.core.corpus.rules.states import ItemState
from foilworks.core.jobs.models import Job, JobState
from generation.models import CandidateGroup
from tests import factories
from tests.annotation.world import make_world

pytestmark = pytest.mark.django_db


def tasks(stage: str) -> list[int]:
    column = {"edit": "group", "review": "candidate", "validation": "foil"}[stage]
    return list(Task.objects.filter(stage=stage).order_by("pk").values_list(column, flat=True))


def test_a_group_with_suggestions_gets_one_edit_task_with_one_slot(world):
    group = world.group("a man unfolds a shirt.", "a man tears a shirt.")
    assert make_tasks(world.project) == 1
    assert tasks("edit") == [group.pk]
    assert Slot.objects.get().video == group.caption.video


def test_making_tasks_again_makes_nothing_more(world):
    world.group()
    world.item()
    assert make_tasks(world.project) == 2
    assert make_tasks(world.project) == 0
    assert Task.objects.count() == 2


@pytest.mark.parametrize(("only_if_first", "made"), [(True, 2), (False, 4)])
def test_who_waited_while_another_request_made_tasks_makes_no_more(world, monkeypatch, only_if_first, made):
    """Eight people at an empty queue would each make a thousand tasks, one after the other."""
    for _ in range(6):
        world.item()

    def wait_for_another(project):
        monkeypatch.setattr(module, "serialize_writes", serialize_writes)
        make_tasks(project, limit=2)

    monkeypatch.setattr(module, "serialize_writes", wait_for_another)
    make_tasks(world.project, limit=2, only_if_first=only_if_first)
    assert Task.objects.count() == made


def test_a_group_that_comes_back_untasked_keeps_its_open_task(world):
    group = world.group()
    make_tasks(world.project)
    CandidateGroup.objects.update(tasked=False)
    make_tasks(world.project)
    assert tasks("edit") == [group.pk]


def test_a_group_whose_candidates_were_all_filtered_out_gets_no_task(world):
    group = factories.make_group(world.run)
    factories.make_candidate(group, state="filtered_out")
    skipped = factories.make_group(world.run, skipped_why="no verb")
    make_tasks(world.project)
    assert tasks("edit") == []
    assert not CandidateGroup.objects.filter(tasked=False, pk__in=[group.pk, skipped.pk]).exists()


def test_a_candidate_readmitted_later_brings_its_group_to_the_editors(world):
    group = factories.make_group(world.run)
    candidate = factories.make_candidate(group, state="filtered_out")
    make_tasks(world.project)
    type(candidate).objects.update(state="queued")
    CandidateGroup.objects.update(tasked=False)
    make_tasks(world.project)
    assert tasks("edit") == [group.pk]


def test_groups_of_the_method_person_wait_for_people_without_any_suggestion(world):
    group = factories.make_group(factories.make_run(world.subtest, method="person"))
    make_tasks(world.project)
    assert tasks("edit") == [group.pk]


def test_unfiltered_candidates_and_cancelled_runs_get_no_tasks(world):
    factories.make_candidate(factories.make_group(world.run), state="generated")
    job = Job.objects.create(dotted="generation.run", target_id=1, state=JobState.CANCELLED)
    cancelled = factories.make_run(world.subtest, job=job)
    factories.make_candidate(factories.make_group(cancelled))
    assert make_tasks(world.project) == 0
    assert not Task.objects.exists()
    assert CandidateGroup.objects.filter(tasked=False).count() == 2


def test_without_an_edit_stage_the_best_ranked_go_to_review_as_many_as_are_missing():
    world = make_world({"edit_stage": False}, foils_per_item=2)
    group = factories.make_group(world.run)
    made = [
        factories.make_candidate(group, f"a man {verb} a shirt.", rank=rank, state="in_review")
        for rank, verb in enumerate(["tears", "irons", "burns"])
    ]
    make_tasks(world.project)
    assert tasks("review") == [made[0].pk, made[1].pk]
    assert tasks("edit") == []


def test_imported_items_get_one_task_per_foil_with_a_slot_per_vote(world):
    item = world.item("a man unfolds a shirt.", "a man tears a shirt.")
    make_tasks(world.project)
    assert tasks("validation") == [foil.pk for foil in item.foils.all()]
    assert sorted(Slot.objects.filter(item=item).values_list("task__foil__position", "index")) == [
        (position, index) for position in (0, 1) for index in (0, 1, 2)
    ]


def test_items_that_are_decided_or_want_no_votes_get_no_tasks(world):
    world.item(state=ItemState.VALID)
    unvoted = factories.make_subtest(world.project, votes_wanted=0, votes_needed=0)
    factories.make_item(unvoted)
    make_tasks(world.project)
    assert tasks("validation") == []


def test_a_thousand_groups_take_the_same_few_queries_as_one(world, django_assert_max_num_queries):
    runs = [factories.make_run(world.subtest) for _ in range(40)]
    caption = factories.make_caption(factories.make_video(world.project))
    for run in runs:
        factories.make_candidate(factories.make_group(run, caption))
    with django_assert_max_num_queries(20):
        assert make_tasks(world.project) == 40
    assert Task.objects.filter(stage=Stage.EDIT).count() == 40


def test_a_limit_leaves_the_rest_for_the_next_call(world):
    for _ in range(3):
        world.group()
    assert [make_tasks(world.project, limit=2), make_tasks(world.project, limit=2)] == [2, 1]
