"""Count everything that the dashboard shows of a project from its rows: JSON, in a fixed number of queries.

Rows are read as tuples, never as models: with 100,000 items, a job does this up to once per minute.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
from django.db.models import Count, Exists, F, IntegerField, Max, Min, OuterRef, Q, Sum
from django.db.models.functions import Least, TruncDate
from django.utils import timezone
from numpy.typing import NDArray

from annotation.actions.workflow.make_tasks import groups_without_tasks, items_without_tasks
from annotation.actions.workflow.task_slots import judged_at_once
from annotation.models import (
    Choice,
    Edit,
    ObjectAnswer,
    Review,
    ReviewDecision,
    Slot,
    SlotState,
    Stage,
    Standing,
    Task,
    TaskState,
    Vote,
    VoteState,
)
from annotation.queries.paid_work import pay_of
from evaluation.analyses.agreement_data import alpha
from evaluation.analyses.words import js_divergence
from evaluation.cached_results.cache import find_result
from evaluation.facts.stored_facts import requeued_as_invalid
from evaluation.releases.gate import KIND as GATE
from foilworks.core.corpus.models import Caption, Foil, Item, ReleaseItem, Subtest, withdrawn_items
from foilworks.core.corpus.rules.states import WITHDRAWN, CandidateState, ItemState, drops_out
from foilworks.core.projects.models import Project
from foilworks.core.text.tokens import words
from foilworks.site.dashboard.alarms import alarms_of
from foilworks.site.dashboard.balance import unbalanced_subtests
from foilworks.site.dashboard.forecast import Yields, forecast, work_left
from foilworks.site.dashboard.staffing import staffing
from generation.models import PERSON_METHOD, Candidate, CandidateGroup

WINDOW_DAYS = 14
SHOWN_DAYS = 28
# Enough for two decimals. A small project is counted in each request: 10,000 draws would take ten times as long.
DRAWS = 1_000
NOT_PASSED = (CandidateState.GENERATED, CandidateState.FILTERED_OUT)
JUDGED = (ItemState.VALID, ItemState.INVALID, ItemState.DISPUTED)
CODES = {choice: code for code, choice in enumerate(Choice.values)}
TARGET = ("project__study_target__items", "project__study_target__votes")
FORECAST = (Stage.EDIT, Stage.REVIEW, Stage.VALIDATION)


def slots_not_yet_created(project: Project) -> Counter[str]:
    """Return stage -> slots that its tasks will have. Three queries with an index, cheap if few groups wait.

    The slots are counted, never created: tasks are created when somebody who may do them opens the page. In a project
    without edits, review tasks end the moving of thresholds, and an owner only looks here.
    """
    items = items_without_tasks(project)
    votes = Foil.objects.filter(item__in=items).aggregate(n=Sum("item__subtest__votes_wanted"))["n"] or 0
    votes -= sum((n_foils - 1) * n_votes for n_foils, n_votes in judged_at_once(items).values())
    stage, n = (Stage.EDIT, _edits(project)) if project.edit_stage else (Stage.REVIEW, _reviews(project))
    return +Counter({stage: n, Stage.VALIDATION: votes})


def _edits(project: Project) -> int:
    open_tasks = Task.objects.filter(group=OuterRef("pk"), state=TaskState.OPEN)
    queued = Candidate.objects.filter(group=OuterRef("pk"), state=CandidateState.QUEUED)
    groups = groups_without_tasks(project).filter(~Exists(open_tasks), item=None)
    return groups.filter(Q(run__method=PERSON_METHOD) | Exists(queued)).count()


def _reviews(project: Project) -> int:
    """Return how many foils of each caption are in review at a time: as many as its item lacks."""
    open_tasks = Task.objects.filter(candidate__group=OuterRef("group"), state=TaskState.OPEN)
    waiting = Candidate.objects.filter(~Exists(open_tasks), state=CandidateState.IN_REVIEW)
    groups = waiting.filter(group__in=groups_without_tasks(project)).order_by().values("group")
    lacking = F("group__run__subtest__foils_per_item")
    at_a_time = groups.annotate(n=Least(Count("pk"), lacking, output_field=IntegerField()))
    return at_a_time.aggregate(all=Sum("n"))["all"] or 0


def count(project: Project, now: datetime | None = None) -> dict[str, Any]:
    """Return the whole count as JSON; `as_of` is its time."""
    now = now or timezone.now()
    subtests = _subtests(project)
    days, last = _days(project, now)
    queues = _queues(project, now, last)
    counts = {
        "as_of": now.isoformat(),
        "subtests": subtests,
        "queues": queues,
        "days": {stage: {day.isoformat(): n for day, n in per.items()} for stage, per in days.items()},
        "gate_stopped": _gate(project),
        "unbalanced": unbalanced_subtests(project),
        "paused": Standing.objects.filter(policy__project=project, state=Standing.State.PAUSED).count(),
    }
    captions = _captions(project)
    counts |= {"doubted": captions["doubted"], "funnel": _funnel(project, subtests, captions["n"])}
    counts["target"] = _target(subtests, counts)
    counts |= staffing(project, counts["funnel"], subtests, queues)
    yields = _yields(project, [row["votes_wanted"] for row in subtests if row["kind"] == Subtest.Kind.MAIN])
    is_short = bool(counts["short"] or counts["blocked"] or counts["beyond"])
    counts["forecast"] = _forecast(yields, queues, days, timezone.localdate(now), is_short=is_short)
    counts["cost"] = _cost(project, counts["funnel"]["valid"])
    counts["alarms"] = alarms_of(counts)
    return counts


def _target(subtests: list[dict[str, Any]], counts: dict[str, Any]) -> dict[str, int | None] | None:
    """Return how many items still need judging, and the rest of the budget of votes; None without a target."""
    items, votes = subtests[0].pop("target") if subtests else (None, None)
    for row in subtests[1:]:
        del row["target"]
    if items is None:
        return None
    # The plan counts no votes on proficiency items.
    votes_cast = sum(row["n_votes"] for row in subtests if row["kind"] == Subtest.Kind.MAIN)
    items_left = max(0, items - counts["funnel"]["judged"])
    return {"left": items_left, "items": items, "votes_left": votes - votes_cast if votes else None}


def _captions(project: Project) -> dict[str, int]:
    """Return how many captions there are, and of how many validators doubt the truth."""
    doubted = Q(flagged_false=True, doubt_settled="")
    captions = Caption.objects.filter(video__project=project)
    return captions.aggregate(n=Count("pk"), doubted=Count("pk", filter=doubted))


def _funnel(project: Project, subtests: list[dict[str, Any]], n_captions: int) -> dict[str, int]:
    """Count main items only; valid is what is valid now, whatever a release contains."""
    candidates = Candidate.objects.filter(group__run__project=project)
    passed_filters = Q(parent=None) & ~Q(state__in=NOT_PASSED)
    totals = candidates.aggregate(
        made=Count("pk", filter=Q(parent=None)),
        passed=Count("pk", filter=passed_filters),
        accepted=Count("pk", filter=Q(state=CandidateState.ACCEPTED)),
    )
    main = [row for row in subtests if row["kind"] == Subtest.Kind.MAIN]
    released = ReleaseItem.objects.filter(release__project=project).aggregate(n=Count("item", distinct=True))
    edits = Edit.objects.filter(undone_at=None, group__run__project=project)
    return {
        "captions": n_captions,
        "captions_used": CandidateGroup.objects.filter(run__project=project).aggregate(
            n=Count("caption", distinct=True)
        )["n"],
        **totals,
        "edited": edits.aggregate(n=Count("candidates"))["n"],
        "imported": Foil.objects.filter(
            item__project=project, item__candidate_group=None, item__subtest__kind=Subtest.Kind.MAIN
        )
        .exclude(item__state__in=WITHDRAWN)
        .count(),
        "items": sum(row["n_items"] - row["n_retracted"] for row in main),
        "judged": sum(row["n_valid"] + row["n_invalid"] + row["n_disputed"] for row in main),
        "valid": sum(row["n_valid"] for row in main),
        "released": released["n"],
    }


def _subtests(project: Project) -> list[dict[str, Any]]:
    """Return every subtest with the states of its items, agreement over its pairs, divergence of its words. Six
    queries.
    """
    states: dict[int, Counter[str]] = defaultdict(Counter)
    rows = Item.objects.filter(subtest__project=project).values_list("subtest", "state").annotate(n=Count("pk"))
    for subtest, state, n in rows.order_by():
        states[subtest][state] = n
    refused = Counter(requeued_as_invalid(project).values())
    agreed, diverged = _agreement(project), _divergence(project)
    subtest_rows = Subtest.objects.filter(project=project).order_by("name")
    return [
        {
            "pk": pk,
            "name": name,
            "kind": kind,
            "votes_wanted": votes_wanted,
            "n_items": states[pk].total(),
            "n_waiting": states[pk][ItemState.IN_VALIDATION],
            "n_valid": states[pk][ItemState.VALID],
            "n_invalid": states[pk][ItemState.INVALID] + refused[pk],
            "n_disputed": states[pk][ItemState.DISPUTED],
            "n_retracted": states[pk][ItemState.RETRACTED],
            **agreed.get(pk, {"alpha": None, "alpha_ci": None, "coding": None, "n_pairs": 0, "n_votes": 0}),
            **diverged.get(pk, {"js_all": None, "js_valid": None}),
            # With the subtests, because a query of its own would slow down every overview.
            "target": tuple(target),
        }
        for pk, name, kind, votes_wanted, *target in subtest_rows.values_list(
            "pk", "name", "kind", "votes_wanted", *TARGET
        )
    ]


def _agreement(project: Project) -> dict[int, dict[str, Any]]:
    """Return alpha of each subtest over its pairs, in the coding of the validation report.

    The coding is `truth3` if a file's counts merge neither, both and cannot tell. The interval is over items.
    The reports have more draws and the other codings.
    """
    counted = Vote.objects.filter(stage=Stage.VALIDATION, state=VoteState.COUNTED, item__subtest__project=project)
    rows = counted.exclude(withdrawn_items("item__")).order_by()
    pairs: dict[int, dict[tuple[int, int | None], int]] = defaultdict(dict)
    cells: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for subtest, item, foil, choice in rows.values_list("item__subtest", "item", "foil", "choice").iterator():
        units = pairs[subtest]
        cells[subtest].append((units.setdefault((item, foil), len(units)), CODES[choice]))
    agreement_by_subtest = {}
    for subtest, units in pairs.items():
        table = np.zeros((len(units), len(CODES)), dtype=np.int64)
        np.add.at(table, tuple(np.array(cells[subtest]).T), 1)
        judged = int((table.sum(axis=1) >= 2).sum())
        coding, coded = _coded(table)
        items = np.fromiter((item for item, _foil in units), np.int64, len(units))
        agreed = alpha(coded, items, draws=DRAWS)
        agreement_by_subtest[subtest] = {
            "alpha": agreed.value,
            "alpha_ci": agreed.interval,
            "coding": coding,
            "n_pairs": judged,
            "n_votes": int(table.sum()),
        }
    return agreement_by_subtest


def _coded(table: NDArray[np.int64]) -> tuple[str, NDArray[np.int64]]:
    """Return the name of the coding, and the columns of CODES in it."""
    if not table[:, CODES[Choice.OTHER]].any():
        return "truth", table
    sides = table[:, [CODES[Choice.CAPTION], CODES[Choice.FOIL]]]
    return "truth3", np.column_stack([sides, table.sum(axis=1) - sides.sum(axis=1)])


def _divergence(project: Project) -> dict[int, dict[str, float | None]]:
    """Return the Jensen-Shannon distance of the words of captions and foils, of all items and of valid ones as
    released.
    """
    rows = Item.objects.filter(subtest__project=project).exclude(withdrawn_items()).order_by()
    sides: dict[tuple[int, bool, bool], Counter[str]] = defaultdict(Counter)
    for subtest, state, text in rows.values_list("subtest", "state", "caption__text").iterator():
        sides[subtest, state == ItemState.VALID, True].update(words(text))
    foils = Foil.objects.filter(item__subtest__project=project).exclude(withdrawn_items("item__")).order_by()
    columns = ("item__subtest", "item__state", "verdict", "text")
    for subtest, state, verdict, text in foils.values_list(*columns).iterator():
        is_kept = state == ItemState.VALID and not drops_out(verdict, state)
        sides[subtest, is_kept, False].update(words(text))
    divergence_by_subtest: dict[int, dict[str, float | None]] = {}
    for subtest in {key[0] for key in sides}:
        valid = [sides[subtest, True, side] for side in (True, False)]
        all_words = [sides[subtest, False, side] + counts for side, counts in zip((True, False), valid, strict=True)]
        divergence_by_subtest[subtest] = {"js_all": js_divergence(*all_words), "js_valid": js_divergence(*valid)}
    return divergence_by_subtest


def _queues(project: Project, now: datetime, last: dict[str, datetime]) -> list[dict[str, Any]]:
    """Return slots by stage, including those of tasks not created yet. Expired leases are open.

    `idle_hours`: since the last submission, or since the first task.
    """
    over = Q(state=SlotState.LEASED, expires_at__lte=now)
    rows = Slot.objects.filter(project=project).exclude(stage=Stage.GOLD).order_by().values_list("stage")
    counts = rows.annotate(
        open=Count("pk", filter=(Q(state=SlotState.FREE) | over) & Q(task__state=TaskState.OPEN)),
        leased=Count("pk", filter=Q(state=SlotState.LEASED) & ~over),
        done=Count("pk", filter=Q(state=SlotState.DONE)),
    )
    waiting = Task.objects.filter(project=project, state=TaskState.OPEN).order_by().values_list("stage")
    since = dict(waiting.annotate(first=Min("created_at")))
    queue_rows, n_upcoming = [], slots_not_yet_created(project)
    for stage, open_, leased, n_done in counts:
        at = max(filter(None, (last.get(stage), since.get(stage))), default=None)
        hours = (now - at).total_seconds() / 3600 if at else None
        n_open = open_ + n_upcoming.pop(stage, 0)
        queue_rows.append({"stage": stage, "open": n_open, "leased": leased, "done": n_done, "idle_hours": hours})
    queue_rows += [
        {"stage": str(stage), "open": n, "leased": 0, "done": 0, "idle_hours": None} for stage, n in n_upcoming.items()
    ]
    return sorted(queue_rows, key=lambda row: Stage.values.index(row["stage"]))


def _days(project: Project, now: datetime) -> tuple[dict[str, dict[date, int]], dict[str, datetime]]:
    """Return tasks by stage and day over the days shown, without undone ones, and the last time of each stage. Four
    queries.
    """
    since = now - timedelta(days=SHOWN_DAYS)
    edits = Edit.objects.filter(undone_at=None, group__run__project=project, person__isnull=False)
    reviews = Review.objects.filter(undone_at=None, candidate__group__run__project=project)
    objects = ObjectAnswer.objects.filter(undone_at=None, frame__check_of__project=project)
    votes = Vote.objects.filter(item__subtest__project=project, person__isnull=False).exclude(state=VoteState.UNDONE)
    days: dict[str, dict[date, int]] = defaultdict(dict)
    last: dict[str, datetime] = {}
    rows: Iterable[tuple[Any, ...]]
    for stage, work in ((Stage.EDIT, edits), (Stage.REVIEW, reviews), (Stage.OBJECTS, objects), ("", votes)):
        recent = work.filter(created_at__gte=since).annotate(day=TruncDate("created_at"))
        columns = ("day",) if stage else ("stage", "day")
        rows = recent.order_by().values_list(*columns).annotate(n=Count("pk"), last=Max("created_at"))
        for *kind, day, n, at in rows:
            name = str(stage or kind[0])
            days[name][day] = n
            last[name] = max(at, last.get(name, at))
    return days, last


def _forecast(
    yields: Yields, queues: list[dict[str, Any]], days: dict[str, dict[date, int]], today: date, *, is_short: bool
) -> dict[str, Any]:
    """Return days from now as JSON, and the inputs. `is_short`: no pace fills slots that nobody may take."""
    slots_by_stage = {row["stage"]: row["open"] + row["leased"] for row in queues}
    remaining = work_left(*(slots_by_stage.get(stage, 0) for stage in FORECAST), yields)
    days_of_stage = {stage: per for stage, per in days.items() if stage in FORECAST}
    window = _window({day for per in days_of_stage.values() for day in per}, today)
    table = {stage: [days_of_stage.get(stage, {}).get(day, 0) for day in window] for stage in FORECAST}
    expected = forecast({"edit": remaining.edit, "review": remaining.review, "validation": remaining.validation}, table)
    return {
        "days": None if is_short else expected.days,
        "low": None if is_short else expected.low,
        "high": None if is_short else expected.high,
        "is_short": is_short,
        "stuck": list(expected.stuck),
        "n_days": expected.n_days,
        "stages": [vars(stage) for stage in expected.stages],
        "yields": vars(yields),
    }


def _window(worked: set[date], today: date) -> list[date]:
    """Return the full days of the pace, since the first work in the window; today if there are none yet."""
    days = [today - timedelta(days=back) for back in range(WINDOW_DAYS, 0, -1)]
    first = min((day for day in worked if days[0] <= day < today), default=None)
    if first is None:
        return [today] if today in worked else []
    return [day for day in days if day >= first]


def _yields(project: Project, votes: list[int]) -> Yields:
    """Return the outcomes of the tasks so far; `votes`: those wanted per pair, by main subtest. Two queries."""
    edits = Edit.objects.filter(undone_at=None, group__run__project=project)
    edited = edits.aggregate(edits=Count("pk", distinct=True), foils=Count("candidates"))
    reviews = Review.objects.filter(undone_at=None, second=False, candidate__group__run__project=project)
    accepting = Q(decision__in=(ReviewDecision.ACCEPT, ReviewDecision.FIX))
    reviewed = reviews.aggregate(
        n=Count("pk"),
        accepted=Count("pk", filter=accepting),
        returned=Count("pk", filter=Q(decision=ReviewDecision.SEND_BACK)),
    )
    return Yields(
        foils_an_edit=edited["foils"] / edited["edits"] if edited["edits"] else 1.0,
        accepted=reviewed["accepted"] / reviewed["n"] if reviewed["n"] else 1.0,
        returned=reviewed["returned"] / reviewed["n"] if reviewed["n"] else 0.0,
        votes_a_foil=sum(votes) / len(votes) if votes else 3.0,
    )


def _cost(project: Project, n_valid: int) -> dict[str, Any]:
    """Return decimals as text: JSON keeps them exactly."""
    policy, rates, paid = pay_of(project)

    def money(amount: Decimal | None) -> str | None:
        return None if amount is None else f"{amount:.2f}"

    return {
        "currency": policy.currency,
        "has_rates": bool(rates),
        "total": money(paid.total.pay),
        "hours": float(paid.total.hours),
        "per_valid": money(paid.total.pay / n_valid) if n_valid else None,
        "median": money(paid.median_hourly),
        "floor": money(policy.floor),
        "below_floor": bool(paid.below_floor),
    }


def _gate(project: Project) -> list[str]:
    """Return the subtests that the gate stopped at its last inspection."""
    stored_gate = find_result(project, GATE)
    return list(stored_gate.data["stopped"]) if stored_gate else []
