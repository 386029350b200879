"""Compute the reports of a project, cached by the fingerprint of their inputs.

A request loads the facts (a fixed number of queries), and computes only if facts, parameters or the analysis changed
since the stored row. So other rooms need not report changes, and an excluded vote counts at the next request.
"""

import sys
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db.models import Count, Q
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.models import Edit, Review, Stage, Vote, VoteState
from annotation.queries.object_checks import checked_objects
from annotation.rules.objects import CheckedObject
from evaluation.analyses.analysis_inputs import Votes
from evaluation.analyses.funnel import FunnelCounts
from evaluation.analyses.item_response import ResponseFacts
from evaluation.analyses.people import WorkFacts
from evaluation.analyses.registry import BY_JOB, REPORTS
from evaluation.analyses.reviewing import ReviewFacts
from evaluation.analyses.scored_items import ScoredItems
from evaluation.blind.people import accuracy, choices_of_project
from evaluation.board.leaderboard import latest_runs
from evaluation.cached_results.cache import cached_by_fingerprint, digest, find_result
from evaluation.cached_results.first_views import is_large
from evaluation.cached_results.models import CachedResult
from evaluation.errors import EvaluationError
from evaluation.facts.edits import edit_facts
from evaluation.facts.filter_verdicts import filter_verdicts
from evaluation.facts.screening import screened_foils
from evaluation.facts.stored_facts import item_facts, vote_facts
from evaluation.proximity.stored_proximity import measured, stamp, with_proximity
from evaluation.reports.edit_kinds import edited_kinds, subtests_of_action
from evaluation.reports.plain_facts import plain
from evaluation.reports.responses import responses_of
from evaluation.scoring.model_cards import cards_of
from evaluation.scoring.models import Run
from evaluation.scoring.queries import counted, pair_scores, records_of, release_scores
from evaluation.scoring.run_results import fingerprint_of, is_comparable
from foilworks.core.corpus.models import Caption, Item, Release, ReleaseItem, Subtest
from foilworks.core.corpus.release_records import cluster, facts_of_kept_foils
from foilworks.core.corpus.rules.hard_foils import candidates_of, hard_foils
from foilworks.core.corpus.rules.states import CandidateState, ItemState
from foilworks.core.jobs.models import JobState
from foilworks.core.projects.models import AuditEvent, Project
from foilworks.core.text.plugins import NamedFailures
from foilworks.core.text.quoting import quoted
from foilworks.core.text.registry import load, lookup, parse_params, version_of
from generation.models import Candidate, CandidateGroup

# The action of the audit trail that asks for a report: it changes no report.
REQUESTED = "evaluation.ask_report"
NOT_PASSED = (CandidateState.GENERATED, CandidateState.FILTERED_OUT)


def release_analysis(release: Release, kind: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Compute an analysis of the release's models, cached by their scores and cards. EvaluationError: no scores yet."""
    entry = lookup(REPORTS, kind, "analysis")
    analysis, checked_params = load(entry), parse_params(entry, params or {})
    runs = [run for run in latest_runs(release) if is_comparable(run) and run.model_key]
    if not runs:
        raise EvaluationError(_("no model is scored on this release yet; score one first"))
    cards = {key: card.category for key, card in cards_of(release.project).items()}
    models = [[run.pk, run.label, cards.get(run.model_key, ""), fingerprint_of(run)] for run in runs]
    more = stamp(measured(release)) if kind == "proximity" else []
    more += sorted(subtests_of_action(release)) if kind == "delta" else []
    fingerprint = digest([kind, analysis.VERSION, checked_params, release.content_hash, models, more])
    subject = f"{release.pk}:{digest(checked_params)}"
    return cached_by_fingerprint(
        release.project,
        kind,
        subject,
        fingerprint,
        lambda: analysis.compute(scored_items(release, runs, cards), **checked_params),
    )


def scored_items(release: Release, runs: list[Run], cards: Mapping[str, str]) -> ScoredItems:
    """Return the release's items with their facts, and every run's scores on the items that count under its protocol;
    two queries per run. A run without any is left out.
    """
    records = records_of(release)
    row_by_id = {record["id"]: k for k, record in enumerate(records)}
    models: dict[str, Any] = {}
    categories: dict[str, str] = {}
    width = max((1 + len(record["foils"]) for record in records), default=1)
    for run in runs:
        rows, _left_out = counted(run, release_scores(run, records)[0])
        if not rows:
            continue
        table = np.full((len(records), width), np.nan)
        values = pair_scores(rows).main
        table[[row_by_id[row.id] for row in rows], : values.shape[1]] = values
        name = run.label if run.label not in models else f"{run.label} #{run.pk}"
        models[name], categories[name] = table, cards.get(run.model_key, "")
    if not models:
        raise EvaluationError(_("no model is scored on this release yet; score one first"))
    of_action = subtests_of_action(release)
    facts = [facts_of(record, of_action) for record in records]
    for own, hard in zip(facts, hard_foils(map(candidates_of, records)), strict=True):
        if hard is not None:
            own |= {"hard_foil": hard.index, "hard_foil_source": hard.source}
    with_proximity(release, records, facts)
    clusters = [cluster(record["video"]) for record in records]
    return ScoredItems([record["id"] for record in records], clusters, facts, models, categories)


def facts_of(record: Mapping[str, Any], of_action: Collection[str] = ()) -> dict[str, Any]:
    """Return the facts of a frozen record: its own, then the origin of its foils, then the clip's length.

    `edited` is given per foil (`edited_kinds`), unless the record's own fact holds for all.
    """
    provenance = record["provenance"]
    facts = {
        **_shared([foil_provenance["facts"] for foil_provenance in provenance if foil_provenance]),
        **facts_of_kept_foils(record),
    }
    made_here = any(foil_provenance and "edited" in foil_provenance["facts"] for foil_provenance in provenance)
    if made_here or "edited" not in facts or record["subtest"] in of_action:
        facts["edited"] = edited_kinds(record, of_action)
    video = record["video"]
    start, end = video["start_time"], video["end_time"]
    if video["time_unit"] == "sec" and end is not None:
        facts.setdefault("duration", end - (start or 0.0))
    elif video.get("duration"):
        facts.setdefault("duration", video["duration"] - (start or 0.0 if video["time_unit"] == "sec" else 0.0))
    return facts


def _shared(facts: list[Mapping[str, Any]]) -> dict[str, Any]:
    """Return facts of the foils: the value if all agree, else a list, one per foil."""
    names = dict.fromkeys(name for foil_facts in facts for name in foil_facts)
    shared_facts: dict[str, Any] = {}
    for name in names:
        values = [foil_facts.get(name) for foil_facts in facts]
        shared_facts[name] = values[0] if all(value == values[0] for value in values) else values
    return shared_facts


def scored_facts(project: Project, subtest: Subtest | None = None) -> ScoredItems:
    """Return the project's newest release with a scored model, with all its models; only items of `subtest`."""
    for release in Release.objects.filter(project=project, runs__isnull=False).distinct().order_by("-id"):
        runs = [run for run in latest_runs(release) if is_comparable(run) and run.model_key]
        if runs:
            cards = {key: card.category for key, card in cards_of(project).items()}
            return _of_subtest(scored_items(release, runs, cards), release, subtest)
    raise EvaluationError("no release of this project has model scores yet; score a model first")


def _of_subtest(items: ScoredItems, release: Release, subtest: Subtest | None) -> ScoredItems:
    if subtest is None:
        return items
    indices = [k for k, record in enumerate(records_of(release)) if record["subtest"] == subtest.name]
    if not indices:
        raise EvaluationError(
            f"the newest scored release has no items of {quoted(subtest.name)}; leave the subtest out"
        )
    return ScoredItems(
        [items.ids[k] for k in indices],
        [items.clusters[k] for k in indices],
        [items.facts[k] for k in indices],
        {name: table[indices] for name, table in items.models.items()},
        items.categories,
    )


def corpus_facts(project: Project, subtest: Subtest | None = None) -> list[str]:
    """Return every caption of the project's videos, or of the items of one subtest. One query."""
    rows = Caption.objects.filter(video__project=project).order_by("pk")
    return list((rows.filter(items__subtest=subtest).distinct() if subtest else rows).values_list("text", flat=True))


def project_report(
    project: Project,
    kind: str,
    *,
    subtest: str | None = None,
    params: Mapping[str, Any] | None = None,
    steps: Callable[[str], Mapping[str, Any]] | None = None,
) -> dict[str, Any]:
    """Compute the report REPORTS[kind] over the main items of the project, or the items of the named subtest.

    Pages read those of BY_JOB with `stored_report`. `steps`: fingerprint -> `progress` and `state` of a report of
    STEPWISE, which a job continues. RegistryError: unknown kind or parameter. EvaluationError: no such
    subtest, or nothing to report on yet.
    """
    request = _report_request(project, kind, subtest, params)

    def make() -> dict[str, Any]:
        with NamedFailures():
            more = steps(request.fingerprint) if steps else {}
            return {**load(REPORTS[kind]).compute(request.facts, **request.params, **more), **request.beside}

    own = {**request.params, "subtest": subtest}
    return cached_by_fingerprint(project, kind, request.subject, request.fingerprint, make, own, in_memory=False)


NO_ITEMS = {
    "fair": gettext_lazy("No valid items yet. You can compute this report after items are valid."),
    "certificate": gettext_lazy("No items yet. You can compute this report after items are assembled."),
}
TOO_FEW = {
    "models": gettext_lazy("This report needs %(needed)s models with answers, and there are %(n)s. Score more models."),
    "people": gettext_lazy(
        "This report needs %(needed)s people with answers, and there are %(n)s. Let more people judge."
    ),
}


@dataclass(frozen=True)
class StoredReport:
    """A report that only jobs compute, as it is now. `data` None: not computed yet. Stale: its inputs changed since.

    In a large project, `is_stale` means that anything of the project changed, and only people ask for it again.
    """

    row: CachedResult | None
    data: dict[str, Any] | None
    is_stale: bool
    is_large: bool = False

    @property
    def is_at_work(self) -> bool:
        return bool(self.row and self.row.job and not self.row.job.is_over)

    @property
    def wants_anew(self) -> bool:
        """Report whether it was computed once, is stale now, and has no job that is in progress or failed."""
        failed = bool(self.row and self.row.job and self.row.job.state != JobState.DONE)
        return self.data is not None and self.is_stale and not failed and not self.is_large


def stored_report(project: Project, kind: str, subtest: str | None, params: Mapping[str, Any]) -> StoredReport:
    """Return the stored row of a report that a job computes, with its job. Errors as in `project_report`.

    Nothing is computed. Of a large project, no items or votes are read; four queries at most.
    """
    if is_large(project):
        return _stored_of_large(project, kind, subtest, params)
    request = _report_request(project, kind, subtest, params)
    if isinstance(request.facts, ResponseFacts) and request.facts.is_empty:
        raise EvaluationError(_("No answers yet. You can compute this report after a model is scored or people voted."))
    if isinstance(request.facts, Votes) and not len(request.facts.choice):
        raise EvaluationError(_("No votes yet. You can compute this report after validators have voted."))
    if kind in NO_ITEMS and not any(item.valid or kind == "certificate" for item in request.facts):
        raise EvaluationError(NO_ITEMS[kind])
    row = find_result(project, kind, request.subject)
    if row is None or not row.fingerprint:
        _require_enough(kind, request)
        return StoredReport(row, None, True)
    return StoredReport(row, row.data, row.fingerprint != request.fingerprint)


def _require_enough(kind: str, request: "_ReportRequest") -> None:
    """Raise EvaluationError if the answers are too few to compute anything: the job would only fail."""
    shortfall = getattr(load(lookup(REPORTS, kind, "report")), "shortfall", None)
    missing_answers = shortfall(request.facts, **request.params) if shortfall else None
    if missing_answers:
        of, needed, n = missing_answers
        raise EvaluationError(TOO_FEW[of] % {"needed": needed, "n": n})


def _stored_of_large(project: Project, kind: str, subtest: str | None, params: Mapping[str, Any]) -> StoredReport:
    if subtest:
        subtest_named(project, subtest)
    row = find_result(project, kind, about_of(kind, subtest or "", params))
    if row is None or not row.fingerprint:
        return StoredReport(row, None, True, is_large=True)
    began = row.job.started_at if row.job and row.job.started_at else row.created_at
    changes = AuditEvent.objects.filter(project=project).exclude(action=REQUESTED).order_by("-id")
    last = changes.values_list("at", flat=True).first()
    return StoredReport(row, row.data, last is not None and last > began, is_large=True)


def by_job(project: Project, kind: str) -> bool:
    """Report whether a job computes the report: it needs a model library, or the project is large."""
    return kind in BY_JOB or is_large(project)


@dataclass(frozen=True)
class _ReportRequest:
    """`beside`: what the report holds beside its analysis; of agreement, what people chose `without_clip`."""

    params: dict[str, Any]
    facts: Any
    beside: dict[str, Any]
    subject: list[Any]
    fingerprint: str


def _report_request(
    project: Project, kind: str, subtest: str | None, params: Mapping[str, Any] | None
) -> _ReportRequest:
    entry = lookup(REPORTS, kind, "report")
    checked_params = parse_params(entry, params or {})
    analysis = load(entry)
    facts = FACTS[analysis.INPUT](project, subtest_named(project, subtest) if subtest else None)
    rows = map(plain, facts) if isinstance(facts, list) else plain(facts)
    choices = choices_of_project(project, subtest or "")
    beside = {"without_clip": accuracy(choices)} if kind == "agreement" else {}
    fingerprint = digest([kind, version_of(entry, analysis), checked_params, rows, *([beside] if beside else [])])
    return _ReportRequest(checked_params, facts, beside, about_report(subtest, checked_params), fingerprint)


def about_of(kind: str, subtest: str, params: Mapping[str, Any]) -> list[Any]:
    """Return the same from parameters as they were sent; loads no analysis."""
    return about_report(subtest, parse_params(lookup(REPORTS, kind, "report"), params))


def about_report(subtest: str | None, params: Mapping[str, Any]) -> list[Any]:
    """Return what distinguishes a report from the others of its kind, whatever its inputs are now."""
    return [subtest or "", dict(params)]


def subtest_named(project: Project, name: str) -> Subtest:
    """Load a subtest of the project. EvaluationError lists the subtests."""
    names = {row.name: row for row in Subtest.objects.filter(project=project)}
    if name not in names:
        subtest_names = ", ".join(names) or "none yet"
        raise EvaluationError(f"the project has no subtest {quoted(name)}; its subtests: {subtest_names}")
    return names[name]


def funnel_counts(project: Project, subtest: Subtest | None = None) -> FunnelCounts:
    """Count the candidates and items at each stage. Five queries."""
    runs = {"group__run__subtest": subtest} if subtest else {"group__run__project": project}
    groups = {"run__subtest": subtest} if subtest else {"run__project": project}
    own = Q(subtest=subtest) if subtest else Q(subtest__project=project, subtest__kind=Subtest.Kind.MAIN)
    candidates = Candidate.objects.filter(**runs)
    states = _counted(candidates, "state")
    counts = candidates.filter(parent=None).aggregate(
        n=Count("pk"), passed=Count("pk", filter=~Q(state__in=NOT_PASSED))
    )
    rejected = Counter[str]()
    for slugs, n in candidates.exclude(rejected_by=[]).values_list("rejected_by").annotate(n=Count("pk")).order_by():
        rejected.update(dict.fromkeys(slugs, n))
    items = Item.objects.filter(own)
    item_states = _counted(items, "state")
    released = ReleaseItem.objects.filter(item__in=items).aggregate(n=Count("item", distinct=True))["n"]
    return FunnelCounts(
        captions=CandidateGroup.objects.filter(**groups).values("caption").distinct().count(),
        made=counts["n"],
        passed=counts["passed"],
        accepted=states.get(CandidateState.ACCEPTED, 0),
        items=sum(n for state, n in item_states.items() if state != ItemState.RETRACTED),
        valid=item_states.get(ItemState.VALID, 0),
        unanimous=items.filter(state=ItemState.VALID, unanimous=True).count(),
        released=released,
        rejected_by=dict(rejected),
        candidate_states=states,
        item_states=item_states,
    )


def _counted(rows: Any, field: str) -> dict[str, int]:
    return dict(rows.order_by(field).values_list(field).annotate(n=Count("pk")))


def work_facts(project: Project, subtest: Subtest | None = None) -> list[WorkFacts]:
    """Return edits, reviews and votes that were not undone, one row each. Three queries."""
    edits = Edit.objects.filter(undone_at=None, group__run__project=project)
    reviews = Review.objects.filter(undone_at=None, candidate__group__run__project=project)
    votes = Vote.objects.filter(item__subtest__project=project, person__isnull=False).exclude(state=VoteState.UNDONE)
    if subtest:
        edits = edits.filter(group__run__subtest=subtest)
        reviews = reviews.filter(candidate__group__run__subtest=subtest)
        votes = votes.filter(item__subtest=subtest)
    fields = ("person__username", "seconds_spent", "watch", "late", "person__is_simulated")
    work_rows = [_work(Stage.EDIT, True, row) for row in edits.order_by("pk").values_list(*fields)]
    work_rows += [_work(Stage.REVIEW, True, row) for row in reviews.order_by("pk").values_list(*fields)]
    # A large project has few people and very many votes.
    rows = votes.order_by("pk").values_list("stage", "state", *fields).iterator(chunk_size=2_000)
    for stage, state, person, *row in rows:
        work_rows.append(_work(sys.intern(stage), state == VoteState.COUNTED, (sys.intern(person), *row)))
    return work_rows


def review_facts(project: Project, subtest: Subtest | None = None) -> ReviewFacts:
    """Return the first and second reviews that count, and the number of foils without a review. Two queries."""
    scope_filter = {"group__run__subtest": subtest} if subtest else {"group__run__project": project}
    rows = Review.objects.filter(undone_at=None, slot__isnull=False).order_by("pk")
    rows = rows.filter(**{f"candidate__{path}": value for path, value in scope_filter.items()})
    first: dict[int, tuple[str, str, tuple[str, ...]]] = {}
    second: dict[int, tuple[str, int]] = {}
    for candidate, group, is_second, person, decision, reasons in rows.values_list(
        "candidate", "candidate__group", "second", "person__username", "decision", "reasons"
    ):
        if is_second:
            second[candidate] = (decision, group)
        else:
            first[candidate] = (person, decision, tuple(reasons))
    twice = {candidate: second_review for candidate, second_review in second.items() if candidate in first}
    return ReviewFacts(
        first=list(first.values()),
        pairs=[(first[candidate][1], decision) for candidate, (decision, _) in twice.items()],
        items=[group for _, group in twice.values()],
        unreviewed=Candidate.objects.filter(unreviewed=True, **scope_filter).count(),
    )


def _work(stage: str, counted: bool, row: tuple[Any, ...]) -> WorkFacts:
    person, seconds, watch, late, simulated = row
    covered = watch.get("covered") if isinstance(watch, dict) else None
    seen = float(covered) if isinstance(covered, int | float) and not isinstance(covered, bool) else None
    return WorkFacts(person, str(stage), seconds, seen, late, counted, simulated)


def object_facts(project: Project, _subtest: Subtest | None = None) -> list[CheckedObject]:
    """Return the results of object checks; frames belong to no subtest. Three queries."""
    return checked_objects(project)


def response_facts(project: Project, subtest: Subtest | None = None) -> ResponseFacts:
    """Return the answers of the models on the newest scored release, if there is one, and people's votes."""
    votes = vote_facts(project, subtest)
    if not Release.objects.filter(project=project, runs__isnull=False).exists():
        return responses_of(None, votes)
    try:
        return responses_of(scored_facts(project, subtest), votes)
    except EvaluationError:  # runs without scores
        return responses_of(None, votes)


FACTS: dict[str, Callable[[Project, Subtest | None], Any]] = {
    "items": item_facts,
    "texts": item_facts,
    "votes": vote_facts,
    "verdicts": filter_verdicts,
    "screening": screened_foils,
    "reviews": review_facts,
    "stages": funnel_counts,
    "people": work_facts,
    "objects": object_facts,
    "scored": scored_facts,
    "responses": response_facts,
    "corpus": corpus_facts,
    "edits": edit_facts,
}
