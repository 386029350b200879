"""The number of validators that staffing names: with it every order of claims finishes, with two fewer none does."""

from collections.abc import Iterator
from random import Random

import pytest

from annotation.actions.claims.claim import claim
from annotation.actions.submissions.judgements import submit_vote
from annotation.actions.workflow.make_tasks import make_tasks
from annotation.models import DeclinedVideo, Involvement, Lease, Slot, SlotState, Stage
from foilworks.core.corpus.models import Foil
from foilworks.core.projects.models import Project, Role, User
from foilworks.site.dashboard.counting import count
from foilworks.site.dashboard.staffing import short_subtests
from tests.annotation.world import new_key
from tests.factories import make_caption, make_item, make_member, make_project, make_subtest, make_video

pytestmark = pytest.mark.django_db


def a_project(chance: Random) -> tuple[Project, list[User]]:
    """A project with items of one to three foils, captions of several subtests, and validators who wrote some foils."""
    project = make_project(judge_caption_once=chance.random() < 0.5, leakage_scope=chance.choice(("video", "item")))
    subtests = [make_subtest(project, votes_wanted=n, votes_needed=n) for n in (1, chance.randint(1, 3))]
    writers = [make_member(project, Role.VALIDATOR) for _ in range(chance.randint(0, 2))]
    for number in range(chance.randint(1, 3)):
        video = make_video(project)
        for caption in range(chance.randint(1, 2)):
            row = make_caption(video, f"a man folds shirt {number} {caption}.")
            for subtest in chance.sample(subtests, chance.randint(1, 2)):
                foils = tuple(f"foil {subtest.pk} {number} {caption} {n}" for n in range(chance.randint(1, 3)))
                make_item(subtest, row, foils)
        for person in writers:
            if chance.random() < 0.5:
                Involvement.objects.create(project=project, person=person, video=video, kind=Involvement.Kind.MADE)
    if chance.random() < 0.7:
        make_tasks(project)
    return project, writers


class Order:
    """One order of claims by the rules of docs/workflow.md, written again without a query of the product."""

    def __init__(self, project: Project, people: list[int]) -> None:
        self.once, self.people = project.judge_caption_once, people
        rows = Foil.objects.filter(item__project=project).select_related("item__caption", "item__subtest")
        self.pairs = {foil.pk: foil for foil in rows}
        # Imported items are of no candidate group, as this work on their videos is: it bars in both scopes.
        self.worked = set(Involvement.objects.filter(project=project).values_list("person", "video"))

    def alike(self, one: Foil, other: Foil) -> bool:
        if one.item_id == other.item_id:
            return True
        texts = {one.text, one.item.caption.text} & {other.text, other.item.caption.text}
        return self.once and one.item.video_id == other.item.video_id and bool(texts)

    def finishes(self, chance: Random) -> bool:
        free = {pk: foil.item.subtest.votes_wanted for pk, foil in self.pairs.items()}
        taken: dict[int, list[Foil]] = {person: [] for person in self.people}
        while moves := list(self.moves(free, taken)):
            person, pk = chance.choice(moves)
            free[pk] -= 1
            taken[person].append(self.pairs[pk])
        return not any(free.values())

    def moves(self, free: dict[int, int], taken: dict[int, list[Foil]]) -> Iterator[tuple[int, int]]:
        for person in self.people:
            for pk, foil in self.pairs.items():
                barred = (person, foil.item.video_id) in self.worked
                if free[pk] and not barred and not any(self.alike(foil, before) for before in taken[person]):
                    yield person, pk


def named(project: Project, writers: list[User]) -> int:
    """Return how many more validators staffing asks for."""
    return max((row["lack"] for row in short_subtests(project, {person.pk for person in writers})), default=0)


@pytest.mark.parametrize("seed", [*range(6), *(pytest.param(n, marks=pytest.mark.full) for n in range(6, 200))])
def test_the_number_that_is_named_is_enough_and_two_fewer_are_not(seed):
    chance = Random(seed)
    project, writers = a_project(chance)
    lack = named(project, writers)
    enough = Order(project, [*(person.pk for person in writers), *range(-lack, 0)])
    assert all(enough.finishes(chance) for _ in range(50))
    if lack > 2:
        fewer = Order(project, [*(person.pk for person in writers), *range(2 - lack, 0)])
        assert not any(fewer.finishes(chance) for _ in range(50))


def works(project: Project, people: list[User], chance: Random) -> bool:
    """Claim and vote, one person at a time, until nobody gets a task; return whether no slot is free."""
    waiting = list(people)
    while waiting:
        person = chance.choice(waiting)
        work = claim(person, project, Stage.VALIDATION)
        if work is None:
            waiting.remove(person)
        else:
            several = Lease.objects.get(token=work.token).order_shown
            submit_vote(
                person,
                work.token,
                new_key(),
                chance.choice((*(("1", "2") if several else ("first", "second")), "neither")),
            )
    return not Slot.objects.filter(project=project).exclude(state=SlotState.DONE).exists()


@pytest.mark.parametrize("fewer", [0, 2])
@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=pytest.mark.full) for n in range(1, 20))])
def test_real_claims_agree(seed, fewer):
    chance = Random(seed)
    project, writers = a_project(chance)
    lack = named(project, writers)
    if lack <= fewer:
        pytest.skip("nothing is missing, or too little")
    make_tasks(project)
    people = [*writers, *(make_member(project, Role.VALIDATOR) for _ in range(lack - fewer))]
    assert named(project, people) == fewer
    assert works(project, people, chance) == (fewer == 0)


def odd_project(chance: Random) -> tuple[Project, list[User]]:
    """Items of two clips, of multiple choice and of three foils; people who voted before, or declined a clip."""
    project = make_project(judge_caption_once=chance.random() < 0.6, leakage_scope=chance.choice(("video", "item")))
    more = chance.choice((0, 5))
    subtests = [make_subtest(project, votes_wanted=n, votes_needed=n, votes_max=more * (n > 1)) for n in (1, 3)]
    captions = [make_caption(make_video(project), f"a man folds shirt {n}.") for n in range(chance.randint(2, 4))]
    for number, caption in enumerate(captions):
        subtest, before = chance.choice(subtests), captions[number - 1]
        kind = chance.choice(("one foil", "three foils", "two clips", "choice"))
        if kind == "two clips" and number:
            for own, other in ((caption, before), (before, caption)):
                make_item(subtest, own, (other.text,), pair=f"pair {number}")
        else:
            foils = tuple(f"foil {number} {n}" for n in range(1 if kind == "one foil" else 3))
            make_item(subtest, caption, foils, facts={"hard_foil": 0} if kind == "choice" else {})
    people = [make_member(project, Role.VALIDATOR) for _ in range(chance.randint(0, 3))]
    for person in people:
        if chance.random() < 0.3:
            DeclinedVideo.objects.create(person=person, video=chance.choice(captions).video)
    if chance.random() < 0.6:
        make_tasks(project)
        for person in chance.choices(people, k=3 * bool(people)):
            if work := claim(person, project, Stage.VALIDATION):
                submit_vote(person, work.token, new_key(), "cannot_tell")
    return project, people


@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=pytest.mark.full) for n in range(1, 60))])
def test_what_remains_of_odd_items_is_named_and_gets_no_date(seed):
    """A pair that divides people gets more votes than were counted before: then these are named."""
    chance = Random(seed)
    project, people = odd_project(chance)
    lack = named(project, people)
    make_tasks(project)
    assert named(project, people) == lack
    people += [make_member(project, Role.VALIDATOR) for _ in range(lack)]
    assert named(project, people) == 0
    is_done = works(project, people, chance)
    counted = count(project)
    assert bool(counted["short"]) == (not is_done)
    assert is_done or counted["forecast"]["days"] is None
