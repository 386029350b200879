"""The ledger of pay: an entry per submission, reversing entries, and no entry that ever changes."""

from collections import Counter
from datetime import timedelta
from decimal import Decimal
from importlib import import_module
from random import Random

import pytest
from django.apps import apps
from django.db import connection
from django.utils import timezone

from annotation.actions.people import withdraw
from annotation.actions.settings.work_settings import set_pay
from annotation.actions.undo import undo_vote
from annotation.actions.workflow.make_tasks import make_tasks
from annotation.models import PayEntry, Stage, Vote
from annotation.queries.paid_work import pay_of
from annotation.rules.pay import Rate
from foilworks.core.projects.actions.consent import give_consent, publish_consent_text
from foilworks.core.projects.models import CrowdPlace, CrowdStudy, User
from tests.annotation.world import World, make_world

pytestmark = pytest.mark.django_db

NAMES = ("vera", "vic", "val")


def rates(world: World, now, amount: str, unit: str = "piece", stage: str = Stage.VALIDATION) -> None:
    set_pay(world.owner, world.project, currency="EUR", floor=None, rates={stage: Rate(unit, Decimal(amount))}, now=now)


def total(world: World, name: str) -> Decimal:
    person = getattr(world, name)
    return pay_of(world.project, person)[2].total.pay


def amounts(*people: User) -> Decimal:
    """Return the sum of all entries, reversing ones too."""
    entries = PayEntry.objects.filter(person__in=people) if people else PayEntry.objects.all()
    return sum((entry.amount for entry in entries), Decimal(0))


def stored() -> dict[int, tuple]:
    return {row[0]: row for row in PayEntry.objects.values_list()}


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.full) for seed in range(2, 40))])
def test_no_entry_changes_and_sums_equal_the_entries(seed):
    """Rates that change, votes, undo and a withdrawal in any order, against sums by hand."""
    world, chance = make_world(), Random(seed)
    publish_consent_text(world.owner, world.project, "Work is removed.", "remove")
    for name in NAMES:
        give_consent(getattr(world, name), world.project, 1)
    for _ in range(12):
        world.item()
    make_tasks(world.project)
    now, rate, earned, before = timezone.now(), None, Counter(), {}
    for _ in range(30):
        now += timedelta(seconds=40)
        match chance.choice(("rate", "vote", "vote", "vote", "undo")):
            case "rate":
                sums = {name: total(world, name) for name in NAMES}
                rate = (chance.choice(("0.12", "0.07", "12")), chance.choice(("piece", "hour")))
                rates(world, now, *rate)
                # A rate neither adds an entry nor lowers what anybody has earned.
                assert {name: total(world, name) for name in NAMES} == sums
                assert stored() == before
            case "vote" if world.claim(name := chance.choice(NAMES), Stage.VALIDATION, now=now):
                seconds = chance.choice((9.0, 20.0))
                world.vote(name, now=now + timedelta(seconds=seconds), seconds=seconds)
                entry = PayEntry.objects.latest("pk")
                spent = Decimal(str(entry.seconds))
                units = spent / 3600 if rate and rate[1] == "hour" else 1
                assert entry.amount == (round(Decimal(rate[0]) * units, 6) if rate else 0)
                earned[name] += entry.amount
            case "undo":
                name = chance.choice(NAMES)
                last = Vote.objects.filter(person=getattr(world, name), state="counted").order_by("-pk").first()
                if last is None or now > last.created_at + timedelta(seconds=world.project.undo_seconds):
                    continue
                undo_vote(last.person, last.pk, now=now)
                reversal = PayEntry.objects.latest("pk")
                assert (reversal.reason, reversal.reverses.key) == ("undone", last.idempotency_key)
                earned[name] += reversal.amount
        rows = stored()
        assert before.items() <= rows.items()
        before = rows
    withdraw(world.vera, world.project, "remove", now=now)
    assert before.items() <= stored().items()
    assert total(world, "vera") == 0
    assert PayEntry.objects.filter(person=world.vera, reverses=None, reversal=None).count() == 0
    for name in NAMES[1:]:
        assert total(world, name) == earned[name] == amounts(getattr(world, name))
    assert pay_of(world.project)[2].total.pay == amounts()


def test_a_person_keeps_the_rate_that_the_entry_page_promised():
    world, entered = make_world(), timezone.now()
    world.item(), world.item()
    make_tasks(world.project)
    rates(world, entered - timedelta(hours=1), "0.50")
    study = CrowdStudy.objects.create(project=world.project, stage="validation", role="validator", pieces=2, places=1)
    CrowdPlace.objects.create(study=study, person=world.vera, entered_at=entered, deadline=entered + timedelta(hours=2))
    rates(world, entered + timedelta(minutes=1), "0.10")
    for name in ("vera", "vic"):
        world.vote(name, now=entered + timedelta(minutes=5), seconds=20)
    assert (total(world, "vera"), total(world, "vic")) == (Decimal("0.5"), Decimal("0.1"))


def test_work_before_the_ledger_gets_the_entries_that_it_would_have_had():
    """The migration against what the actions book, for every kind of work; a second run adds nothing."""
    world = make_world()
    now = timezone.now() - timedelta(hours=1)
    pay = {stage: Rate("piece", Decimal("0.25")) for stage in (Stage.REVIEW, Stage.VALIDATION)}
    pay[Stage.EDIT] = Rate("hour", Decimal(12))
    set_pay(world.owner, world.project, currency="CHF", floor=None, rates=pay, now=now)
    world.group()
    make_tasks(world.project)
    world.edit("ann", seconds=60)
    world.review("rita", seconds=30)
    make_tasks(world.project)
    for name in NAMES:
        world.vote(name, seconds=20)
    undo_vote(world.vera, world.vera.votes.get().pk)
    columns = ("person", "stage", "key", "unit", "rate", "seconds", "amount", "currency", "created_at")
    booked = set(PayEntry.objects.filter(reverses=None, reversal=None).values_list(*columns))
    PayEntry.objects.all().delete()
    fill = import_module("annotation.migrations.0028_entries_of_old_work").fill
    with connection.schema_editor(atomic=False) if connection.vendor == "postgresql" else _Editor() as editor:
        fill(apps, editor)
        fill(apps, editor)
    assert len(booked) == 4
    assert set(PayEntry.objects.values_list(*columns)) == booked


class _Editor:
    """SQLite makes no schema editor within a transaction."""

    connection = connection

    def __enter__(self) -> "_Editor":
        return self

    def __exit__(self, *_error: object) -> None:
        pass
