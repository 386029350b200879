"""Lists for Prolific and Mechanical Turk, in the forms that these platforms read, and rejected submissions."""

import csv
import io
import re
from decimal import Decimal

import pytest

from annotation.actions.crowd import complete_place, enter_study, free_place, reject_place
from annotation.actions.settings.work_settings import set_pay
from annotation.errors import AnnotationError
from annotation.models import PayEntry, Vote
from annotation.queries.paid_work import pay_of
from annotation.rules.pay import Rate
from foilworks.core.projects.crowd_entry import Entry
from tests.annotation.test_entry_attacks import open_study, work
from tests.annotation.world import browser, later, url

pytestmark = pytest.mark.django_db
IDS = [f"{n:024x}" for n in (1, 2, 3)]
REASON = (
    "All of your answers were the first sentence, and each came within a second, before the clip can be seen. Please "
    "read the guidelines."
)


@pytest.fixture
def study(crowd, request):
    """Three people: one completed, one completed and rejected, one released after one of two tasks."""
    rates = {"validation": Rate("piece", Decimal("0.125"))}
    set_pay(crowd.owner, crowd.project, currency="EUR", floor=None, rates=rates, now=later(hours=-1))
    fields = {"platform": "prolific", "platform_study": "S"} if request.param == "prolific" else {}
    made = open_study(crowd.project, pieces=2, places=3, **fields)
    places = [enter_study(made, Entry(pid, session=f"visit{pid[-1]}")) for pid in IDS]
    for place, n in zip(places, (2, 2, 1), strict=True):
        work(crowd, place.person, n)
    for place in places[:2]:
        complete_place(place.person, crowd.project)
    free_place(crowd.owner, crowd.project, made.pk, places[2].pk)
    with pytest.raises(AnnotationError, match="reason"):
        reject_place(crowd.owner, crowd.project, made.pk, places[1].pk, " ")
    if request.param == "prolific":
        with pytest.raises(AnnotationError, match="at least 100 characters, and this one has 8"):
            reject_place(crowd.owner, crowd.project, made.pk, places[1].pk, "Too fast")
    assert reject_place(crowd.owner, crowd.project, made.pk, places[1].pk, REASON) == 2
    with pytest.raises(AnnotationError, match="completed place"):
        reject_place(crowd.owner, crowd.project, made.pk, places[1].pk, REASON)
    return made


def lines(crowd, study, name: str) -> list[list[str]]:
    answer = browser(crowd.owner).get(url(crowd, "crowd_study_list", study.pk, name))
    assert answer["Content-Type"].startswith("text/csv")
    return list(csv.reader(io.StringIO(answer.content.decode())))


@pytest.mark.parametrize("study", ["prolific"], indirect=True)
def test_the_lists_of_prolific(crowd, study):
    """Participants to approve, submissions to reject and to ask for a return, as its API reads them.

    `csv_bonuses` is id and amount, with a point and no header.
    """
    assert lines(crowd, study, "approve") == [[IDS[0]]]
    assert lines(crowd, study, "reject") == [["visit2", REASON]]
    assert lines(crowd, study, "return") == [["visit3"]]
    (bonus,) = lines(crowd, study, "bonus")
    assert bonus == [IDS[2], "0.13"]
    assert re.fullmatch(r"[0-9a-f]{24},\d+\.\d\d", ",".join(bonus))


def test_ids_are_written_as_the_platform_draws_them(crowd):
    """Also those that look like a formula, or like an amount of nothing."""
    study = open_study(crowd.project, pieces=1)
    ids = [("-w_1", "=s+1"), ("0.00", "-s2"), ("@w:3", "0.00")]
    for worker, session in ids:
        place = enter_study(study, Entry(worker, session=session))
        work(crowd, place.person, 1)
        complete_place(place.person, crowd.project)
    assert [line[:3] for line in lines(crowd, study, "approve")[1:]] == [[s, w, "X"] for w, s in ids]
    place = study.taken.get(session="-s2")
    reject_place(crowd.owner, crowd.project, study.pk, place.pk, "=SUM(A1)")
    assert lines(crowd, study, "reject")[1:] == [["-s2", "0.00", "", "'=SUM(A1)"]]


@pytest.mark.parametrize("study", ["signed"], indirect=True)
def test_the_lists_of_mechanical_turk(crowd, study):
    """X in Approve or the reason in Reject, as the requester's guide has it; SendBonus takes amount and reason."""
    header = ["AssignmentId", "WorkerId", "Approve", "Reject"]
    assert lines(crowd, study, "approve") == [header, ["visit1", IDS[0], "X", ""]]
    assert lines(crowd, study, "reject") == [header, ["visit2", IDS[1], "", REASON]]
    (names, bonus) = lines(crowd, study, "bonus")
    assert dict(zip(names, bonus, strict=True)) == {
        "WorkerId": IDS[2],
        "AssignmentId": "visit3",
        "BonusAmount": "0.13",
        "Reason": "Work of a place that was not completed",
    }


@pytest.mark.parametrize("study", ["prolific"], indirect=True)
def test_a_rejection_reverses_the_pay_and_keeps_the_answers(crowd, study):
    person = study.taken.exclude(rejected_for="").get().person
    assert pay_of(crowd.project, person)[2].total.pay == 0
    assert Vote.objects.filter(person=person, state="counted").count() == 2
    assert set(PayEntry.objects.filter(person=person, reverses__isnull=False).values_list("reason", flat=True)) == {
        "rejected"
    }
    page = browser(crowd.owner).get(url(crowd, "crowd_study", study.pk)).content.decode()
    assert REASON in page
    assert "Amounts are in EUR, without conversion" in page
    moved = {"place": study.taken.filter(state="completed", rejected_for="").get().pk, "reason": REASON}
    assert browser(crowd.owner).post(url(crowd, "crowd_study_move", study.pk, "reject"), moved).status_code == 302
    assert pay_of(crowd.project)[2].total.pay == Decimal("0.125")
