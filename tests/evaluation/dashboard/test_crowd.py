"""The dashboard's numbers against a second computation, row by row, on a simulated crowd that works over some days."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from random import Random
from statistics import mean

import krippendorff
import pytest
from django.db import transaction
from django.utils import timezone

from annotation.actions.claims.claim import claim
from annotation.actions.settings.work_settings import set_pay
from annotation.actions.submissions.judgements import submit_vote
from annotation.actions.submissions.reviews import ReviewAnswer, submit_review
from annotation.actions.submissions.submit_edit import submit_edit
from annotation.actions.workflow.make_tasks import make_tasks
from annotation.models import Edit, Review, Slot, SlotState, Stage, Vote, VoteState
from annotation.rules.pay import Rate, Unit
from evaluation.analyses import agreement
from evaluation.facts.stored_facts import vote_facts
from foilworks.core.corpus.models import Item
from foilworks.core.corpus.rules.states import ItemState
from foilworks.site.dashboard.counting import DRAWS, count
from tests.annotation.world import World, make_world, new_key, shown_as
from tests.clocks import stand_still
from tests.factories import make_caption, make_video

pytestmark = pytest.mark.django_db
GROUPS, DAYS = 14, 4
RATES = {
    "edit": Rate(Unit.PIECE, Decimal("0.30")),
    "review": Rate(Unit.HOUR, Decimal(15)),
    "validation": Rate(Unit.PIECE, Decimal("0.08")),
}
FLOOR = Decimal(14)
MISTAKES = ("foil", "neither", "both", "cannot_tell")


def crowd(world: World, chance: Random) -> None:
    """Everybody does some of what waits for them on each day; some of it is sent back, some is judged wrongly."""
    captions = [make_caption(make_video(world.project), f"a man folds {n} shirts.") for n in range(GROUPS)]
    for n, caption in enumerate(captions):
        world.group(f"a man unfolds {n} shirts.", caption=caption)
    for day in range(DAYS, 0, -1):
        at = timezone.now() - timedelta(days=day)
        for _ in range(chance.randint(1, 3)):
            make_tasks(world.project)
            for name, stage in (
                ("ann", "edit"),
                ("abe", "edit"),
                ("rita", "review"),
                ("rob", "review"),
                ("vera", "validation"),
                ("vic", "validation"),
                ("val", "validation"),
            ):
                work = claim(getattr(world, name), world.project, stage, now=at)
                if work is not None:
                    act(world, name, stage, work, chance, at)


def act(world: World, name: str, stage: str, work, chance: Random, at) -> None:
    person, key = getattr(world, name), new_key()
    seconds = round(chance.uniform(8, 90), 1)
    evidence = {"seconds": seconds, "now": at + timedelta(seconds=seconds)}
    if stage == "edit":
        submit_edit(person, work.token, key, [f"a man tears {work.task_id} towels, {key}."], [], **evidence)
    elif stage == "review" and chance.random() < 0.2:
        submit_review(person, work.token, key, ReviewAnswer("send_back", reasons=["grammar"]), **evidence)
    elif stage == "review":
        submit_review(person, work.token, key, ReviewAnswer("accept"), **evidence)
    else:
        choice = chance.choice(MISTAKES) if chance.random() < 0.35 else "caption"
        submit_vote(person, work.token, key, shown_as(choice, work), **evidence)


@pytest.fixture(scope="module")
def world(django_db_setup, django_db_blocker) -> Iterator[World]:
    """One crowd for this file, which only reads it; rolled back at its end."""
    with django_db_blocker.unblock(), transaction.atomic():
        made = make_world()
        set_pay(
            made.owner, made.project, currency="EUR", floor=FLOOR, rates=RATES, now=timezone.now() - timedelta(days=99)
        )
        crowd(made, Random(11))
        yield made
        transaction.set_rollback(True)


def rows_of_work(project):
    """(person, stage, created_at, seconds) of everything that stands, read with nothing of ours in between."""
    found = [(row.person_id, "edit", row) for row in Edit.objects.filter(undone_at=None)]
    found += [(row.person_id, "review", row) for row in Review.objects.filter(undone_at=None)]
    found += [(row.person_id, "validation", row) for row in Vote.objects.exclude(state=VoteState.UNDONE)]
    return [(person, stage, row.created_at, row.seconds_spent) for person, stage, row in found]


def test_pay_adds_up_task_by_task(world):
    """Exact fractions, one piece at a time, against the decimals that are summed by person, stage and day."""
    said = count(world.project)["cost"]
    total, days = Fraction(0), defaultdict(lambda: [Fraction(0), Fraction(0)])
    for person, stage, at, seconds in rows_of_work(world.project):
        hours, rate = Fraction(str(seconds)) / 3600, RATES[stage]
        pay = Fraction(rate.amount) * (hours if rate.unit == Unit.HOUR else 1)
        total += pay
        day = days[person, timezone.localtime(at).date()]
        day[0], day[1] = day[0] + pay, day[1] + hours
    assert Fraction(said["total"]) == pytest.approx(total, abs=0.005)
    assert said["hours"] == pytest.approx(float(sum(hours for _pay, hours in days.values())))
    valid = Item.objects.filter(state=ItemState.VALID).count()
    assert valid
    assert float(said["per_valid"]) == pytest.approx(float(total) / valid, abs=0.005)
    # Each second at what its person and day paid, in order: the one in the middle.
    seconds = sorted(rate for pay, hours in days.values() for rate in [pay / hours] * round(hours * 3600))
    middle = seconds[(len(seconds) - 1) // 2]
    assert float(said["median"]) == pytest.approx(float(middle), abs=0.006)
    assert said["below_floor"] == (middle < FLOOR)


def test_the_forecast_adds_up_stage_by_stage(world, monkeypatch):
    # The day does not end meanwhile.
    stand_still(monkeypatch, timezone.now())
    said = count(world.project)["forecast"]
    waiting = Counter(Slot.objects.filter(state__in=[SlotState.FREE, SlotState.LEASED]).values_list("stage", flat=True))
    decisions = Counter(Review.objects.values_list("decision", flat=True))
    back, kept = (decisions[name] / decisions.total() for name in ("send_back", "accept"))
    assert 0 < back < 1
    # Round by round, until what is sent back is less than a grain.
    reviews, edits, fresh = 0.0, float(waiting["edit"]), float(waiting["edit"] + waiting["review"])
    while fresh > 1e-12:
        reviews, fresh = reviews + fresh, fresh * back
        edits += fresh
    left = {"edit": edits, "review": reviews, "validation": waiting["validation"] + 3 * kept * reviews}
    today = timezone.localdate()
    done = defaultdict(Counter)
    for _person, stage, at, _seconds in rows_of_work(world.project):
        done[stage][timezone.localtime(at).date()] += 1
    window = [today - timedelta(days=back) for back in range(DAYS, 0, -1)]
    ends = {stage: pieces / mean(done[stage][day] for day in window) for stage, pieces in left.items() if pieces}
    assert {row["stage"]: row["left"] for row in said["stages"]} == pytest.approx(left)
    assert {row["stage"]: row["days"] for row in said["stages"]} == pytest.approx(ends)
    assert said["days"] == pytest.approx(max(ends.values()))
    assert said["low"] <= said["days"] <= said["high"]


def test_alpha_and_divergence_equal_those_of_the_rows(world):
    (row,) = [row for row in count(world.project)["subtests"] if row["n_items"]]
    counted = Vote.objects.filter(stage=Stage.VALIDATION, state=VoteState.COUNTED)
    people, foils = (sorted(set(counted.values_list(name, flat=True))) for name in ("person", "foil"))
    table = [[None] * len(foils) for _ in people]
    for person, foil, choice in counted.values_list("person", "foil", "choice"):
        table[people.index(person)][foils.index(foil)] = choice
    words = ["caption", "foil", "neither", "both", "cannot_tell"]
    coded = [[float("nan") if said is None else words.index(said) for said in line] for line in table]
    assert row["alpha"] == pytest.approx(krippendorff.alpha(coded, level_of_measurement="nominal"))
    reported = agreement.compute(vote_facts(world.project), draws=DRAWS)["alpha_ci"]
    assert row["alpha_ci"] == pytest.approx(reported)
    sides = [Counter(), Counter()]
    for item in Item.objects.select_related("caption").prefetch_related("foils"):
        sides[0].update(item.caption.text.replace(".", "").split())
        for foil in item.foils.all():
            sides[1].update(foil.text.replace(",", "").replace(".", "").split())
    # "key-7" is two words.
    for side in sides:
        for word in [word for word in side if "-" in word]:
            for part in word.split("-"):
                side[part] += side[word]
            del side[word]
    shares = [{word: n / side.total() for word, n in side.items()} for side in sides]
    divergence = 0.0
    for share in shares:
        for word, p in share.items():
            divergence += p * math.log2(p / mean(other.get(word, 0) for other in shares)) / 2
    assert row["js_all"] == pytest.approx(math.sqrt(divergence))


def test_the_days_equal_those_of_the_rows(world):
    said = count(world.project)["days"]
    counted = Counter((stage, at.date().isoformat()) for _p, stage, at, _s in rows_of_work(world.project))
    assert {(stage, day): n for stage, per in said.items() for day, n in per.items()} == dict(counted)
