"""The page of people's figures and its file, the rates, everybody's own figures."""

import csv
import io
import re
from datetime import timedelta
from decimal import Decimal

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.actions.leases.leasing import heartbeat
from annotation.actions.settings.work_settings import set_pay
from annotation.actions.submissions.submit_edit import submit_edit
from annotation.actions.undo import undo_edit, undo_vote
from annotation.actions.workflow.make_tasks import make_tasks
from annotation.errors import AnnotationError
from annotation.models import PayPolicy, Stage, Vote
from annotation.queries.paid_work import own_figures, rates_of
from annotation.rules.pay import Rate, Unit
from foilworks.core.projects.errors import AccessDenied
from foilworks.core.projects.models import AuditEvent
from tests.annotation.world import make_world
from tests.pages import read_page

pytestmark = pytest.mark.django_db


@pytest.fixture
def world():
    """People who worked at 0.10 EUR per judgement and 12 EUR per hour of edits."""
    made = make_world()
    set_rates(made)
    made.group()
    make_tasks(made.project)
    made.edit("ann", seconds=60)
    made.review("rita", seconds=30)
    make_tasks(made.project)
    for name, choice in (("vera", "caption"), ("vic", "caption"), ("val", "foil")):
        made.vote(name, choice, seconds=20, watch={"seconds": 10, "loops": 2, "covered": 1})
    return made


def address(world, name="people_figures"):
    return reverse(f"annotation:{name}", args=[world.project.slug])


def set_rates(world, floor="10", amount="0.1"):
    rates = {Stage.VALIDATION: Rate(Unit.PIECE, Decimal(amount)), Stage.EDIT: Rate(Unit.HOUR, Decimal(12))}
    return set_pay(world.owner, world.project, currency="EUR", floor=Decimal(floor), rates=rates)


def test_the_page_shows_tasks_pay_and_the_minimum(client, world):
    client.force_login(world.owner)
    response = client.get(address(world))
    rows = {row.person.username.split("-")[0]: row for row in response.context["rows"]}
    assert set(rows) == {"ann", "rita", "vera", "vic", "val"}
    # 20 s at 0.10 a piece: 18 an hour. 60 s at 12 an hour: 0.20.
    assert rows["vera"].earned.hourly == 18
    assert rows["ann"].earned.pay == Decimal("0.2")
    assert rows["vera"].figures.time_to_watch == 2.0
    assert rows["rita"].is_under  # reviews earn nothing
    assert response.context["paid"].median_hourly == 12


@pytest.mark.parametrize(("sent", "kept"), [(1e9, 40.0), (12.5, 12.5), (None, None)])
def test_paid_time_ends_at_the_time_since_the_claim(world, sent, kept):
    """Whatever the browser says. A heartbeat does not begin the time anew; what comes late keeps its own."""
    world.group()
    began = timezone.now() - timedelta(hours=2)
    work = world.claim("abe", Stage.EDIT, now=began)
    heartbeat(world.abe, work.token, now=began + timedelta(seconds=30))
    edit = submit_edit(
        world.abe, work.token, "k", ["a man irons a shirt."], seconds=sent, now=began + timedelta(seconds=40)
    )
    assert edit.seconds_spent == kept


def test_late_work_keeps_its_time_and_a_second_lease_counts_from_its_claim(world):
    world.group()
    began = timezone.now() - timedelta(hours=2)
    work = world.claim("abe", Stage.EDIT, now=began)
    texts, late = ["a man irons a shirt."], began + timedelta(hours=1)
    edit = submit_edit(world.abe, work.token, "k", texts, seconds=2400, now=late)
    assert (edit.late, edit.seconds_spent) == (True, 2400)
    again = undo_edit(world.abe, edit.pk, now=late + timedelta(seconds=10))
    edit = submit_edit(world.abe, again.token, "k2", texts, seconds=2400, now=late + timedelta(seconds=15))
    assert edit.seconds_spent == 5


def test_pay_under_the_floor_is_said(client, world):
    set_rates(world, floor="15")
    client.force_login(world.owner)
    assert b"Pay below the minimum." in client.get(address(world)).content


def test_the_number_of_queries_is_fixed(client, world, django_assert_num_queries):
    client.force_login(world.owner)
    with django_assert_num_queries(15):
        client.get(address(world))


def test_the_file_holds_the_same_numbers(client, world):
    client.force_login(world.owner)
    response = client.get(address(world, "people_figures_file"))
    rows = {row["person"]: row for row in csv.DictReader(io.StringIO(response.content.decode()))}
    vera = rows[world.vera.username]
    assert [vera[name] for name in ("validation", "pay", "pay_per_hour")] == ["1", "0.1000", "18.0000"]
    assert vera["currency"] == "EUR"
    assert vera["under_floor"] == "False"


def test_a_name_that_a_spreadsheet_would_run_is_text(client, world):
    world.vera.username = "=1+1"
    world.vera.save()
    client.force_login(world.owner)
    assert "'=1+1" in client.get(address(world, "people_figures_file")).content.decode()


def test_undone_work_is_not_paid(client, world):
    vote = world.vera.votes.get()
    undo_vote(world.vera, vote.pk)
    client.force_login(world.owner)
    assert world.vera not in [row.person for row in client.get(address(world)).context["rows"]]


class TestRates:
    def test_they_are_stored_with_an_audit_row(self, client, world):
        client.force_login(world.owner)
        sent = {"currency": "EUR", "floor": "20", "validation_amount": "0,30"}
        sent |= {
            f"{stage}_unit": "piece" for stage in ("edit", "review", "validation", "baseline", "unseen", "objects")
        }
        assert client.post(address(world, "people_pay"), sent).status_code == 302
        assert PayPolicy.objects.get(project=world.project).floor == 20
        now = rates_of(world.project)
        assert now == {"validation": Rate("piece", Decimal("0.3"))}
        stored = AuditEvent.objects.filter(action="set_pay").latest("pk").details["rates"]
        assert stored == {"validation": "0.30 per piece"}
        page = client.get(address(world, "people_pay")).content.decode()
        assert "0.30 EUR per task; 10 tasks pay 3.00 EUR" in page
        assert read_page(client.get(address(world, "people_pay"))).fields["validation_amount"] == "0.30"

    def test_the_currency_of_paid_work_stays(self, world):
        with pytest.raises(AnnotationError, match="another currency"):
            set_pay(world.owner, world.project, currency="CHF", floor=None, rates={})

    @pytest.mark.parametrize(
        "change",
        [{"currency": "euro"}, {"floor": "-1"}, {"validation_amount": "NaN"}, {"validation_amount": "1.234,5"}],
    )
    def test_an_invalid_rate_is_reported(self, client, world, change):
        client.force_login(world.owner)
        sent = {"currency": "EUR", **{f"{s}_unit": "piece" for s in ("edit", "review", "validation")}, **change}
        before = rates_of(world.project)
        assert client.post(address(world, "people_pay"), sent).status_code == 422
        assert rates_of(world.project) == before

    def test_only_researchers_set_them(self, world):
        with pytest.raises(AccessDenied):
            set_pay(world.ann, world.project, currency="EUR", floor=None, rates={})

    def test_practice_is_not_paid(self, world):
        with pytest.raises(AnnotationError, match="cannot be paid"):
            rates = {Stage.PRACTICE: Rate(Unit.PIECE, Decimal(1))}
            set_pay(world.owner, world.project, currency="EUR", floor=None, rates=rates)


class TestOwn:
    def test_people_see_their_own_work_and_pay(self, client, world):
        client.force_login(world.vera)
        response = client.get(address(world, "own_figures"))
        assert response.context["earned"].pay == Decimal("0.1")
        assert response.context["figures"].pieces == {"validation": 1}

    def test_the_last_answers_are_shown_as_they_were_given(self, client, world):
        client.force_login(world.vera)
        page = client.get(address(world, "own_figures"))
        (vote,) = Vote.objects.filter(person=world.vera)
        (row,) = page.context["answers"]
        texts = [vote.item.caption.text, vote.foil.text]
        assert row["texts"] == (texts if vote.caption_first else texts[::-1])
        assert row["words"] == f"Only the {'first' if vote.caption_first else 'second'} is true"
        # As long as it can be undone, it can be undone here, too.
        undo = f"/projects/{world.project.slug}/work/undo/vote/{vote.pk}/"
        assert undo in page.content.decode()
        Vote.objects.update(created_at=timezone.now() - timedelta(seconds=world.project.undo_seconds + 1))
        assert undo not in client.get(address(world, "own_figures")).content.decode()
        assert client.post(undo).status_code == 302

    def test_nothing_reveals_which_tasks_are_gold(self, client, world):
        client.force_login(world.vera)
        response = client.get(address(world, "own_figures"))
        assert response.context["figures"].gold.seen == 0
        assert not re.search(rb"\b[Gg]old\b", response.content.split(b"<main")[1].split(b"</main")[0])

    def test_an_answer_that_can_be_undone_is_not_compared(self, world):
        """Else it could be changed to what the others say."""
        now, undo = timezone.now(), timedelta(seconds=world.project.undo_seconds)
        for number in range(21):
            item = world.item()
            for name in ("vera", "vic"):
                given = now if number == 20 and name == "vera" else now - timedelta(hours=1)
                Vote.objects.create(
                    item=item,
                    foil=item.foils.get(),
                    person=getattr(world, name),
                    choice="caption",
                    caption_first=True,
                    idempotency_key=f"{number}",
                    created_at=given,
                )
        before = own_figures(world.project, world.vera, now=now + undo)
        after = own_figures(world.project, world.vera, now=now + undo + timedelta(seconds=1))
        # On the fixture's item the others are of two minds.
        assert (before.agreement.seen, after.agreement.seen) == (20, 21)
        assert before.pieces == after.pieces == {"validation": 22}

    def test_a_person_without_work_sees_where_to_begin(self, client, world):
        client.force_login(world.abe)
        assert "No submitted work yet" in client.get(address(world, "own_figures")).content.decode()
