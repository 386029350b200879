"""Planted spammers against the real actions: they are paused, careful people are not."""

import pytest

from annotation.actions.quality.validators import exclude_votes, reinstate_votes
from annotation.actions.workflow.make_tasks import make_tasks
from annotation.models import Lease, Slot, SlotState, Stage, Standing, Vote
from evaluation.reports.reports import project_report
from foilworks.core.corpus.models import Foil, Item
from tests.annotation.crowd import crowd, open_policy, paused_share, stock
from tests.invariants import broken_invariants

# Which piece is gold and which text stands first hang on primary keys: the same ones in every run.
pytestmark = pytest.mark.django_db(transaction=True, reset_sequences=True)

# Of each kind: enough to tell a rule that works from one that does not.
NUMBERS = {"honest": 3, "always first": 2, "random": 3, "too fast": 2}


def alpha(project) -> float:
    return project_report(project, "agreement")["alpha"]


def state_of(project) -> list:
    items = Item.objects.filter(subtest__project=project).order_by("pk")
    verdicts = Foil.objects.filter(item__subtest__project=project).order_by("pk").values_list("verdict", flat=True)
    counted = Vote.objects.filter(item__subtest__project=project, state="counted").order_by("pk")
    return [list(items.values_list("state", "unanimous")), list(verdicts), list(counted.values_list("pk", "slot"))]


@pytest.mark.full
@pytest.mark.usefixtures("every_fifth_gold")
def test_spammers_are_paused_and_their_votes_excluded_and_reinstated(world):
    project = world.project
    stock(project, world.subtest, items=160, gold=40)
    open_policy(project)
    make_tasks(project)
    outcomes = crowd(project, NUMBERS, pieces=80)
    shares = {kind: paused_share(outcomes, kind) for kind in NUMBERS}
    # Who guesses is right half of the time: of sixteen pieces of gold somebody may have the luck to stay, or, if they
    # are careful, the bad luck to be paused.
    assert shares["too fast"] == 1.0
    assert shares["honest"] < 1.0
    assert max(shares["always first"], shares["random"]) > 0.0
    # A fifth of what a careful person was given is gold, less what is lost to a sentence that they have read.
    honest = [outcome.person for outcome in outcomes if outcome.kind == "honest"]
    given = [Lease.objects.filter(person=person, task__stage=Stage.GOLD).count() for person in honest]
    assert 1 <= max(given) <= 27
    assert not Slot.objects.filter(person__standings__state="paused", state=SlotState.LEASED).exists()
    assert broken_invariants() == []

    before, states = alpha(project), state_of(project)
    paused = [outcome.person.pk for outcome in outcomes if outcome.kind != "honest"]
    moved = sum(exclude_votes(world.owner, project, pk) for pk in paused)
    assert moved == Vote.objects.filter(state="set_aside").count() > 0
    assert broken_invariants() == []
    after = alpha(project)
    assert after > before + 0.1
    # Nobody has taken their places since: all of it counts again, and every verdict is what it was.
    assert [sum(pair) for pair in zip(*(reinstate_votes(world.owner, project, pk) for pk in paused), strict=True)] == [
        moved,
        0,
    ]
    assert (alpha(project), state_of(project)) == (before, states)
    assert broken_invariants() == []
    assert Standing.objects.filter(set_aside_at__isnull=False).count() == 0
