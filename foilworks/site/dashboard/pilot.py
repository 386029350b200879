"""Estimate the values of a plan from a project's own votes, pay and scores."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any

import numpy as np
from django.db.models import Count
from django.utils import timezone

from annotation.models import Stage, Vote, VoteState
from annotation.queries.paid_work import paid_work, policy_of, rates_of
from annotation.rules.pay import Unit, statement
from annotation.rules.voting import VoteRule, pair_verdict
from evaluation.board.leaderboard import latest_runs
from evaluation.cached_results.first_views import is_large
from evaluation.metrics.comparison import items_to_separate
from evaluation.metrics.intervals import NOTHING, cluster_error, cluster_sums, wilson
from evaluation.reports.reports import project_report, stored_report
from evaluation.scoring.figures import awaited
from evaluation.scoring.run_results import Axes, Floats, axes_of, credits_of, is_comparable
from foilworks.core.corpus.models import Release, Subtest, withdrawn_items
from foilworks.core.corpus.rules.states import FoilVerdict
from foilworks.core.projects.models import Project
from foilworks.site.dashboard.forecast import Forecast, forecast
from foilworks.site.dashboard.planning import SECONDS_PER_HOUR
from foilworks.site.dashboard.stored_count import counted

# Fewer judged items or pairs say too little about the others.
MIN_JUDGED = 10
DAYS = 14


@dataclass
class Pilot:
    """`values`: parameters of a plan that the project knows. `rows`: how: name, value, interval, number of what.

    `judged` items so far, `spent` on pay, in `currency`; `days`: votes on each of the last full days, oldest first.
    """

    values: dict[str, Any] = field(default_factory=dict)
    rows: list[dict[str, Any]] = field(default_factory=list)
    judged: int = 0
    spent: float = 0.0
    currency: str = ""
    days: Sequence[int] = ()

    def add(self, name: str, value: float, n: int, interval: list[float] | None = None) -> None:
        self.values[name] = value
        self.rows.append({"name": name, "value": value, "ci": interval, "n": n})


def pilot_of(project: Project) -> Pilot:
    """Return what is known; the numbers that the dashboard counted are read from its stored count."""
    pilot = Pilot()
    _rules(project, pilot)
    _votes(project, pilot)
    _divided(project, pilot)
    _pay(project, pilot)
    _models(project, pilot)
    return pilot


def progress(pilot: Pilot, planned: dict[str, Any], budget: float) -> dict[str, Any]:
    """Return the progress of a plan: items without verdicts, the rest of the budget, and the days at today's pace."""
    items_left = max(0, planned["judged"] - pilot.judged)
    votes = planned["votes"] * items_left / planned["judged"]
    expected: Forecast = forecast({Stage.VALIDATION: votes}, {Stage.VALIDATION: pilot.days})
    return {
        "left": items_left,
        "of": planned["judged"],
        "budget_left": budget - pilot.spent if budget else None,
        "cost_left": planned["cost"] * items_left / planned["judged"],
        "days": expected.days,
        "low": expected.low,
        "high": expected.high,
    }


def _rules(project: Project, pilot: Pilot) -> None:
    """Take the rule of the main subtest whose pairs need most votes."""
    main = Subtest.objects.filter(project=project, kind=Subtest.Kind.MAIN).order_by("-votes_wanted", "pk").first()
    if main:
        pilot.values |= {
            "votes_per_pair": main.votes_wanted,
            "votes_needed": main.votes_needed,
            "stop_early": main.stop_early,
            "full_share": main.full_share,
            "votes_max": main.votes_max,
            "pairs_per_item": main.foils_per_item,
        }


def _votes(project: Project, pilot: Pilot) -> None:
    data = counted(project).data or {"subtests": [], "days": {}}
    main = [row for row in data["subtests"] if row["kind"] == Subtest.Kind.MAIN]
    valid = sum(row["n_valid"] for row in main)
    pilot.judged = valid + sum(row["n_invalid"] + row["n_disputed"] for row in main)
    if pilot.judged >= MIN_JUDGED and valid:
        pilot.add("validity", valid / pilot.judged, pilot.judged, wilson(valid, pilot.judged))
    pilot.days = last_days(data["days"].get(Stage.VALIDATION, {}), timezone.localdate())
    # The report of a large project is read as its page has stored it.
    agreed = (
        stored_report(project, "agreement", None, {}).data
        if is_large(project)
        else project_report(project, "agreement")
    )
    if agreed and agreed["n_units_used"] >= MIN_JUDGED and agreed["percent_agreement"] >= 0.5:
        pilot.add("vote_agreement", agreed["percent_agreement"], agreed["n_units_used"])


def _divided(project: Project, pilot: Pilot) -> None:
    """Add the share of pairs whose usual votes decided nothing, among those with enough votes. Two queries."""
    main = Subtest.objects.filter(project=project, kind=Subtest.Kind.MAIN)
    rules = {row.pk: VoteRule(row.votes_wanted, row.votes_needed, stop_early=row.stop_early) for row in main}
    votes = Vote.objects.filter(stage=Stage.VALIDATION, state=VoteState.COUNTED, item__subtest__in=rules)
    rows = votes.exclude(withdrawn_items("item__")).order_by().values_list("item__subtest", "item", "foil", "choice")
    pairs: dict[tuple[int, ...], Counter[str]] = defaultdict(Counter)
    for subtest, item, foil, choice, n in rows.annotate(Count("pk")):
        pairs[subtest, item, foil][choice] += n
    decided = [was_divided(counts, rules[subtest]) for (subtest, *_pair), counts in pairs.items()]
    is_divided = [divided for divided in decided if divided is not None]
    if len(is_divided) >= MIN_JUDGED:
        pilot.add(
            "divided", sum(is_divided) / len(is_divided), len(is_divided), wilson(sum(is_divided), len(is_divided))
        )


def was_divided(counts: Mapping[str, int], rule: VoteRule) -> bool | None:
    """Return whether the usual votes of a pair decided nothing; None while some are missing.

    A pair has more votes than usual only if the usual ones decided nothing.
    """
    if sum(counts.values()) > rule.wanted:
        return True
    verdict = pair_verdict(counts, rule)
    return None if verdict == FoilVerdict.PENDING else verdict == FoilVerdict.DISPUTED


def last_days(votes: dict[str, int], today: date) -> list[int]:
    """Return the votes on each full day since the first one of the last two weeks."""
    days = [votes.get((today - timedelta(days=back)).isoformat(), 0) for back in range(DAYS, 0, -1)]
    first = next((index for index, n in enumerate(days) if n), len(days))
    return days[first:]


def _pay(project: Project, pilot: Pilot) -> None:
    policy, rates, all_work = policy_of(project), rates_of(project), paid_work(project)
    pilot.currency = policy.currency
    pilot.spent = float(statement(all_work, policy.floor).total.pay)
    work = [row for row in all_work if row.stage == Stage.VALIDATION]
    timed, seconds = sum(row.timed for row in work), sum(row.seconds for row in work)
    if timed >= MIN_JUDGED and seconds > 0:
        pilot.add("seconds_per_vote", seconds / timed, timed)
    rate = rates.get(Stage.VALIDATION)
    if rate is not None and rate.unit == Unit.HOUR:
        pilot.values["hourly_pay"] = float(rate.amount)
    elif rate is not None and "seconds_per_vote" in pilot.values:
        pilot.values["hourly_pay"] = float(rate.amount) * SECONDS_PER_HOUR / pilot.values["seconds_per_vote"]


def _models(project: Project, pilot: Pilot) -> None:
    """Compare the two best models of the newest release with two of them."""
    for release in Release.objects.filter(project=project, runs__isnull=False).distinct().order_by("-id"):
        # A job computes the results of a large release.
        if awaited(release):
            return
        runs = [run for run in latest_runs(release) if is_comparable(run) and run.model_key]
        axes = axes_of(release)
        scored = [credits_of(run, axes).main for run in runs]
        best = sorted((credit for credit in scored if not np.isnan(credit).all()), key=np.nanmean, reverse=True)[:2]
        if len(best) == 2:
            _add_pair(best[0], best[1], axes, pilot)
            return


def _add_pair(a: Floats, b: Floats, axes: Axes, pilot: Pilot) -> None:
    in_both = ~(np.isnan(a) | np.isnan(b))
    gap, names = (a - b)[in_both], [axes.clusters[k] for k in np.flatnonzero(in_both)]
    rows = cluster_sums(np.column_stack([gap, np.ones(len(gap))]), names)
    if len(rows) < MIN_JUDGED:
        return
    agreement = 1.0 - float((gap**2).mean())
    items_per_video = len(gap) / len(rows)
    pilot.add("model_agreement", min(agreement, 0.999), len(gap))
    pilot.values["items_per_video"] = items_per_video
    spread = float(gap.var(ddof=1))
    if items_per_video > 1.0 and spread > NOTHING:
        larger = cluster_error(rows)[1] ** 2 * len(gap) / spread
        pilot.values["similarity"] = min(1.0, max(0.0, (larger - 1.0) / (items_per_video - 1.0)))
    if (needed := items_to_separate(a, b, axes.clusters)) is not None:
        pilot.rows.append({"name": "best_two", "value": float(gap.mean()), "ci": None, "n": needed})
