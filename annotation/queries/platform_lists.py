"""Lists of the places of a study for its crowd platform, in the forms that its upload reads.

Prolific (docs.prolific.com/api-reference): `bulk-approve` takes participant ids; `csv_bonuses` takes `id,amount`,
without a header, at most 200 lines a request; `transition` (to reject) and `request-return` take submission ids, which
are the sessions. Mechanical Turk, or any platform with signed links whose `session` is the assignment: the columns
`Approve` (X) and `Reject` (the reason) of a batch's result file, and the parameters of SendBonus.

Ids are written as the platform draws them, also with a sign at the start: their letters make no formula that runs.
"""

from decimal import ROUND_HALF_UP, Decimal

from django.db.models import Sum

from annotation.queries.paid_work import valid_entries
from foilworks.core.projects.models import CrowdPlace, CrowdStudy, CrowdWorker, PlaceState, Platform
from foilworks.core.text.storable import safe_cell

LISTS = ("approve", "reject", "return", "bonus")
CENT = Decimal("0.01")
# Characters that Prolific's `transition` takes of a reason, at least.
MIN_PROLIFIC_REASON = 100
_HEADERS = {"bonus": ["WorkerId", "AssignmentId", "BonusAmount", "Reason"]}
_RETURNED = (PlaceState.RETURNED, PlaceState.TIMED_OUT)


def platform_list(study: CrowdStudy, name: str) -> list[list[str]]:
    """Return the lines of one of `LISTS`; `bonus` pays the work of people who did not complete their place."""
    places = study.taken.select_related("study__project").order_by("pk")
    completed = places.filter(state=PlaceState.COMPLETED)
    rows = {
        "approve": completed.filter(rejected_for=""),
        "reject": completed.exclude(rejected_for=""),
        "return": places.filter(state__in=_RETURNED),
        "bonus": places.filter(state__in=_RETURNED),
    }[name]
    workers = dict(CrowdWorker.objects.filter(project=study.project).values_list("person", "worker"))
    lines = []
    for place in (place for place in rows if place.person_id in workers):
        amount, reason = f"{earned_in(place):.2f}" if name == "bonus" else "", safe_cell(place.rejected_for)
        if amount == "0.00":
            continue
        if study.platform == Platform.PROLIFIC:
            by_submission = name in ("reject", "return")
            worker = place.session if by_submission else workers[place.person_id]
            lines.append([worker, *filter(None, [amount, reason])])
        elif name == "bonus":
            lines.append([workers[place.person_id], place.session, amount, "Work of a place that was not completed"])
        else:
            marks = ["X" if name == "approve" else "", reason]
            lines.append([place.session, workers[place.person_id], *marks])
    if study.platform == Platform.PROLIFIC:
        return lines
    return [_HEADERS.get(name, ["AssignmentId", "WorkerId", "Approve", "Reject"]), *lines]


def earned_in(place: CrowdPlace) -> Decimal:
    """Return the pay of the work that was submitted in the place."""
    entries = valid_entries(place.study.project, place.person).filter(stage=place.study.stage)
    until = {"created_at__lte": place.ended_at} if place.ended_at else {}
    total = entries.filter(created_at__gte=place.entered_at, **until).aggregate(n=Sum("amount"))["n"] or Decimal(0)
    return total.quantize(CENT, ROUND_HALF_UP)
