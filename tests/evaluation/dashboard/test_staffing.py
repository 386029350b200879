"""Who is missing, by role and pair by pair, and what the overview says of it."""

from collections import Counter
from random import Random

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import maximum_flow

from annotation.actions.settings.work_settings import set_review_sampling
from annotation.actions.workflow.make_tasks import make_tasks
from annotation.models import Attempt, Involvement, QualityPolicy, Stage, Standing
from foilworks.core.corpus.rules.states import CandidateState
from foilworks.core.projects.models import CrowdPlace, CrowdStudy, Membership, Role
from foilworks.site.dashboard.counting import count
from foilworks.site.dashboard.staffing import missing_people, short_subtests, tasks_within
from tests import factories
from tests.annotation.world import make_world

pytestmark = pytest.mark.django_db
A, R, V = Role.ANNOTATOR, Role.REVIEWER, Role.VALIDATOR
ALL = (A, R, V)


@pytest.mark.parametrize(
    ("team", "missing"),
    [
        ([], {"annotator": 1, "reviewer": 1, "validator": 3}),
        ([[A], [R], [V], [V], [V]], {}),
        ([[A], [A], [A]], {"reviewer": 1, "validator": 3}),
        ([[A], [R], [V], [V]], {"validator": 1}),
        # Nobody reviews their own.
        ([[A, R], [V], [V], [V]], {"reviewer": 1}),
        # Two of five with all roles write and review; three judge.
        ([ALL] * 5, {}),
        ([ALL] * 4, {"validator": 1}),
        # Who may do nothing else writes, so that the others judge.
        ([[A], [R], *[ALL] * 3], {}),
        ([[Role.RESEARCHER], [A], [R], [V], [V], [V]], {}),
    ],
)
def test_the_minimum_number_of_missing_people(team, missing):
    assert missing_people(team, edits=True, reviews=1, judges=3) == missing


def test_repeated_reviews_need_a_second_reviewer():
    team = [[A], [R], [V], [V], [V]]
    assert missing_people(team, edits=True, reviews=2, judges=3) == {"reviewer": 1}
    assert missing_people([*team, [R]], edits=True, reviews=2, judges=3) == {}
    # Whoever reviews does not judge.
    assert missing_people([[A], [R, V], [R, V], [V], [V]], edits=True, reviews=2, judges=3) == {"validator": 1}
    assert missing_people([[A], [V]], edits=True, reviews=0, judges=1) == {}


@pytest.mark.parametrize(
    ("rate", "second_share", "own_rates", "n_reviewers"),
    [(1.0, 0.0, {}, 1), (1.0, 0.1, {}, 2), (0.0, 0.0, {}, 0), (0.0, 0.0, {"ann": 0.5}, 1), (0.0, 0.5, {"ann": 0.5}, 2)],
)
def test_the_overview_asks_for_as_many_reviewers_as_the_shares_need(world, rate, second_share, own_rates, n_reviewers):
    own = {getattr(world, name).pk: share for name, share in own_rates.items()}
    set_review_sampling(world.owner, world.project, rate=rate, second_share=second_share, own_rates=own)
    world.group()
    make_tasks(world.project)
    leaves(world, "rita", "rob")
    assert count(world.project)["missing"].get("reviewer", 0) == n_reviewers
    # A foil that waits for its review needs a reviewer whatever the shares are now.
    factories.make_candidate(factories.make_group(world.run), state=CandidateState.IN_REVIEW)
    make_tasks(world.project)
    assert count(world.project)["missing"].get("reviewer", 0) == max(1, n_reviewers)


@pytest.mark.parametrize("seed", range(20))
def test_the_tasks_within_quotas_are_a_maximum_flow(seed):
    """Against the flow itself, of random items and people, some of them without a quota."""
    chance = Random(seed)
    quotas, n_others = [chance.randint(0, 6) for _ in range(chance.randint(0, 4))], chance.randint(0, 2)
    needs = [chance.randint(1, 4) for _ in range(chance.randint(1, 6))]
    caps = [*quotas, *[len(needs)] * n_others]
    n_items = len(needs)
    graph = np.zeros((len(caps) + n_items + 2,) * 2, dtype=np.int32)
    graph[0, 1 : len(caps) + 1], graph[1 : len(caps) + 1, len(caps) + 1 : -1] = caps, 1
    graph[len(caps) + 1 : -1, -1] = needs
    flow = maximum_flow(csr_matrix(graph), 0, len(graph) - 1).flow_value
    assert tasks_within(quotas, n_others, Counter(needs)) == flow


def test_without_edits_and_reviews_only_validators_are_missing():
    assert missing_people([[V]], edits=False, reviews=1, judges=1) == {"reviewer": 1}
    assert missing_people([[V]], edits=False, reviews=0, judges=3) == {"validator": 2}
    assert missing_people([], edits=False, reviews=0, judges=0) == {}


@pytest.fixture
def world():
    """Three votes are wanted; vera, vic and val validate."""
    return make_world(name="direction")


def leaves(world, *names: str) -> None:
    Membership.objects.filter(project=world.project, person__in=[getattr(world, name) for name in names]).delete()


def overview(world) -> str:
    client = Client()
    client.force_login(world.owner)
    return client.get(reverse("dashboard:dashboard", args=[world.project.slug])).content.decode()


def test_two_of_three_required_validators_are_reported_as_too_few(world):
    item = world.item()
    make_tasks(world.project)
    leaves(world, "val")
    world.vote("vera")
    world.vote("vic")
    page = overview(world)
    assert "direction needs 3 validators per pair, but only 2 are eligible. Add 1." in page
    assert "Still missing: 1 validator." in page
    found = count(world.project)
    assert found["short"] == [
        {"name": "direction", "wanted": 3, "can": 2, "pairs": 1, "lack": 1, "hands": 0, "kept": 0, "changeable": False}
    ]
    assert "you can also require fewer votes" not in page
    assert "may not judge because they worked on" not in page
    assert "no try left" not in page
    assert item.subtest.votes_wanted == 3


def test_no_finish_date_is_given_while_too_few_can_judge(world, monkeypatch):
    for _ in range(3):
        world.item()
    make_tasks(world.project)
    world.vote("vera")
    assert count(world.project)["forecast"]["days"] is not None
    leaves(world, "val")
    said = count(world.project)["forecast"]
    assert (said["days"], said["low"], said["high"]) == (None, None, None)
    page = overview(world)
    assert "cannot finish with these people and quotas" in page


def test_enough_people_raise_no_alarm(world):
    world.item()
    make_tasks(world.project)
    found = count(world.project)
    assert (found["short"], found["missing"]) == ([], {})
    assert "judges" not in [alarm["code"] for alarm in found["alarms"]]


def test_people_who_worked_on_a_video_may_not_judge_it(world):
    item, _other = world.item(), world.item()
    make_tasks(world.project)
    hand = {"project": world.project, "person": world.val, "kind": Involvement.Kind.MADE}
    Involvement.objects.create(video=item.video, **hand)
    people = {world.vera.pk, world.vic.pk, world.val.pk}
    (short,) = short_subtests(world.project, people)
    assert (short["can"], short["pairs"], short["lack"], short["hands"]) == (2, 1, 1, 1)
    page = overview(world)
    assert "Validators who may not judge because they worked on the same videos: 1." in page
    assert "no try left" not in page


def test_pairs_without_tasks_yet_count_as_well():
    world = make_world({"judge_caption_once": False}, name="direction")
    item = world.item("a man unfolds a shirt.", "a man tears a shirt.")
    two = {world.vera.pk, world.vic.pk}
    # Nobody judges two pairs of an item, so its two pairs need six people, whatever the rule of sentences says.
    row = {"name": "direction", "wanted": 3, "can": 0, "pairs": 2, "lack": 4, "hands": 0, "once": True}
    assert short_subtests(world.project, two) == [row]
    make_tasks(world.project)
    assert short_subtests(world.project, two) == [row]
    hand = {"project": world.project, "person": world.val, "kind": Involvement.Kind.MADE}
    Involvement.objects.create(video=item.video, **hand)
    assert short_subtests(world.project, two | {world.val.pk}) == [row | {"hands": 1}]


def test_the_foils_of_a_multiple_choice_item_are_judged_at_once_also_before_it_has_tasks(world):
    world.item("a man unfolds a shirt.", "a cat runs.", "a boat sinks.", facts={"hard_foil": 0})
    world.item("a man tears a shirt.", "a dog runs.", facts={"hard_foil": None})
    leaves(world, "val")
    before = count(world.project)
    assert (before["missing"], [row["lack"] for row in before["short"]]) == ({"validator": 1}, [1])
    assert [row["open"] for row in before["queues"]] == [6]
    make_tasks(world.project)
    after = count(world.project)
    assert all(after[name] == before[name] for name in ("missing", "short"))
    assert [row["open"] for row in after["queues"]] == [6]


def test_a_foil_that_comes_later_needs_people_who_have_not_read_its_caption(world):
    first = world.item()
    make_tasks(world.project)
    for name in ("vera", "vic", "val"):
        world.vote(name)
    people = {world.vera.pk, world.vic.pk, world.val.pk}
    assert short_subtests(world.project, people) == []
    world.item("a man tears a shirt.", caption=first.caption)
    (before,) = short_subtests(world.project, people)
    assert before["lack"] == 3
    make_tasks(world.project)
    assert short_subtests(world.project, people) == [before]


def test_people_who_saw_the_other_clip_of_an_item_cannot_judge(world):
    """Whoever judged the first clip knows the answer for the second."""
    texts = ("a door opens.", "a door closes.")
    for text, foil in (texts, texts[::-1]):
        world.item(foil, caption=factories.make_caption(factories.make_video(world.project), text), pair="door")
    make_tasks(world.project)
    people = {world.vera.pk, world.vic.pk, world.val.pk}
    assert short_subtests(world.project, people)[0]["lack"] == 3
    for name in ("vera", "vic", "val"):
        world.vote(name)
    (short,) = short_subtests(world.project, people)
    assert short["lack"] == 3
    assert count(world.project)["forecast"]["days"] is None


def test_each_foil_of_a_caption_needs_validators_of_its_own_if_a_caption_is_seen_once(world):
    world.item("a man unfolds a shirt.", "a man tears a shirt.")
    world.item()
    make_tasks(world.project)
    people = {world.vera.pk, world.vic.pk, world.val.pk}
    row = {"name": "direction", "wanted": 3, "can": 0, "pairs": 2, "lack": 3, "hands": 0, "once": True}
    assert short_subtests(world.project, people) == [row]
    assert "each foil of a caption needs validators of its own" in overview(world)
    world.vote("vera")
    world.vote("vic")
    world.vote("val")
    (short,) = short_subtests(world.project, people)
    assert short["lack"] == 3
    six = people | {factories.make_member(world.project, V).pk for _ in range(3)}
    assert short_subtests(world.project, six) == []


def test_pairs_that_nobody_has_seen_can_need_fewer_votes(world):
    world.item()
    leaves(world, "val")
    assert count(world.project)["short"][0]["changeable"] is True
    assert "you can also require fewer votes" in overview(world)
    make_tasks(world.project)
    world.claim("vera", Stage.VALIDATION)
    assert count(world.project)["short"][0]["changeable"] is False


def test_a_validator_who_left_after_voting_still_counts(world):
    world.item()
    make_tasks(world.project)
    world.vote("vera")
    leaves(world, "vera")
    assert short_subtests(world.project, {world.vic.pk, world.val.pk}) == []
    assert short_subtests(world.project, {world.vic.pk})[0]["can"] == 2


def test_with_item_scope_work_on_another_item_of_the_video_excludes_nobody():
    world = make_world({"leakage_scope": "item"}, name="direction")
    made = world.made_item()
    other = factories.make_group(factories.make_run(world.subtest), made.caption)
    hand = {"project": world.project, "person": world.val, "kind": Involvement.Kind.MADE, "video": made.video}
    people = {world.vera.pk, world.vic.pk, world.val.pk}
    Involvement.objects.create(group=other, **hand)
    assert short_subtests(world.project, people) == []
    Involvement.objects.create(group=made.candidate_group, **hand)
    assert short_subtests(world.project, people)[0]["can"] == 2


def test_a_paused_validator_cannot_judge(world):
    world.item()
    make_tasks(world.project)
    policy = QualityPolicy.objects.create(project=world.project)
    Standing.objects.create(policy=policy, person=world.val, state=Standing.State.PAUSED)
    (short,) = count(world.project)["short"]
    assert (short["can"], short["hands"], short["kept"]) == (2, 0, 1)
    page = overview(world)
    assert "Validators who are paused, or have no attempt at the qualification left: 1." in page
    assert "may not judge because they worked on" not in page


@pytest.mark.parametrize(
    ("required", "number", "passed", "can"),
    [(True, 2, False, 2), (False, 2, False, 3), (True, 1, False, 3), (True, 2, None, 3), (True, 2, True, 3)],
    ids=["no try left", "not required", "another try left", "still at it", "passed"],
)
def test_a_validator_without_attempts_left_cannot_judge(world, required, number, passed, can):
    world.item()
    make_tasks(world.project)
    policy = QualityPolicy.objects.create(project=world.project, qualification_required=required, tries=2)
    go = {"stage": Stage.QUALIFICATION, "of_stage": Stage.VALIDATION, "number": number, "passed": passed}
    Attempt.objects.create(project=world.project, person=world.val, **go)
    if passed:
        Standing.objects.create(policy=policy, person=world.val, qualified_at=timezone.now())
    assert [row["can"] for row in count(world.project)["short"]] == ([can] if can < 3 else [])


def test_each_free_place_of_a_crowd_study_counts_as_a_person(world):
    world.item()
    make_tasks(world.project)
    leaves(world, "vera", "vic", "val")
    fields = {"stage": Stage.VALIDATION, "role": V, "pieces": 1, "places": 3}
    study = CrowdStudy.objects.create(project=world.project, name="crowd", **fields)
    found = count(world.project)
    assert (found["short"], found["missing"]) == ([], {})
    # A place that somebody has taken brings nobody else.
    place = {"study": study, "entered_at": timezone.now(), "deadline": timezone.now()}
    CrowdPlace.objects.create(person=factories.make_user("crowd-1"), state="completed", **place)
    CrowdPlace.objects.create(person=factories.make_user("crowd-2"), state="returned", **place)
    found = count(world.project)
    assert (found["short"][0]["lack"], found["missing"], found["blocked"]) == (1, {"validator": 1}, [])
    CrowdStudy.objects.filter(pk=study.pk).update(places=1)
    found = count(world.project)
    assert (found["missing"], found["blocked"]) == ({"validator": 3}, ["validation"])
    CrowdStudy.objects.filter(pk=study.pk).update(is_open=False)
    assert count(world.project)["missing"] == {"validator": 3}


def test_places_of_a_crowd_study_have_so_many_tasks(world):
    for _ in range(4):
        world.item()
    make_tasks(world.project)
    leaves(world, "vera", "vic", "val")
    fields = {"stage": Stage.VALIDATION, "role": V, "pieces": 2, "places": 3}
    study = CrowdStudy.objects.create(project=world.project, name="crowd", **fields)
    found = count(world.project)
    assert (found["beyond"], found["missing"]) == ({"validation": 6}, {})
    # A member without a limit answers each of the four items once.
    Membership.objects.create(project=world.project, person=world.vera, role=V)
    assert count(world.project)["beyond"] == {"validation": 2}
    CrowdPlace.objects.create(
        study=study, person=world.vera, entered_at=timezone.now(), deadline=timezone.now(), session="visit"
    )
    assert count(world.project)["beyond"] == {"validation": 6}
    CrowdStudy.objects.filter(pk=study.pk).update(pieces=4)
    assert count(world.project)["beyond"] == {}


def test_an_imported_benchmark_needs_no_annotators(world):
    world.item()
    leaves(world, "ann", "abe", "rita", "rob", "vera")
    assert count(world.project)["missing"] == {"validator": 1}


class TestWhatIsYetToGetItsTasks:
    """The owner's overview says of it before anybody looks at a queue, and makes no task."""

    def queues(self, world) -> dict[str, int]:
        return {row["stage"]: row["open"] for row in count(world.project)["queues"]}

    def test_it_appears_in_the_queues(self, world):
        world.group()
        world.item("a man unfolds a shirt.", "a man tears a shirt.")
        assert self.queues(world) == {"edit": 1, "validation": 6}
        make_tasks(world.project)
        assert self.queues(world) == {"edit": 1, "validation": 6}
        assert "No tasks yet" not in overview(world)

    def test_unfiltered_and_rejected_candidates_wait_for_nobody(self, world):
        for state in (CandidateState.GENERATED, CandidateState.FILTERED_OUT):
            factories.make_candidate(factories.make_group(world.run), state=state)
        assert self.queues(world) == {}

    def test_a_group_that_is_opened_again_counts_once(self, world):
        group = world.group()
        make_tasks(world.project)
        type(group).objects.filter(pk=group.pk).update(tasked=False)
        assert self.queues(world) == {"edit": 1}

    def test_annotators_who_write_their_own_foils_have_groups_without_suggestions(self, world):
        world.run.method = "person"
        world.run.save()
        factories.make_group(world.run)
        assert self.queues(world) == {"edit": 1}
        make_tasks(world.project)
        assert self.queues(world) == {"edit": 1}

    @pytest.mark.parametrize("foils_per_item", [1, 2, 5])
    def test_without_an_edit_stage_reviewers_get_as_many_foils_as_an_item_lacks(self, foils_per_item):
        world = make_world({"edit_stage": False}, foils_per_item=foils_per_item)
        for _ in range(2):
            group = factories.make_group(world.run)
            for text in ("a man unfolds a shirt.", "a man tears a shirt.", "a man sees a shirt."):
                factories.make_candidate(group, text, state=CandidateState.IN_REVIEW)
        waiting = {"review": 2 * min(foils_per_item, 3)}
        assert self.queues(world) == waiting
        make_tasks(world.project)
        assert self.queues(world) == waiting


def test_a_queue_that_no_member_may_take_says_so_and_gives_no_date(world):
    """The only reviewer wrote the foil: nobody may review it, and the overview asks for a reviewer, not for work."""
    world.group()
    make_tasks(world.project)
    world.edit("ann")
    leaves(world, "rob")
    leaves(world, "rita")
    Membership.objects.create(project=world.project, person=world.ann, role=Role.REVIEWER)
    make_tasks(world.project)
    found = count(world.project)
    assert (found["blocked"], found["missing"]["reviewer"], found["forecast"]["days"]) == (["review"], 1, None)
    assert "blocked" in [alarm["code"] for alarm in found["alarms"]]
    page = overview(world)
    assert "Nobody may take the open tasks." in page
    assert "work on 1 open task" not in page
    Membership.objects.create(project=world.project, person=world.abe, role=Role.REVIEWER)
    assert count(world.project)["blocked"] == []
