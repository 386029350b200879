"""Releases with their scores, and foils with their makers, as the plain facts that analyses compute on."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from corpus.models import Caption, Release, Subtest
from corpus.release_records import facts_of_kept_foils
from evaluation.analyses.registry import REPORTS
from evaluation.analyses.scored import ScoredItems
from evaluation.analyses.verbs import EditFacts
from evaluation.board.leaderboard import latest_runs
from evaluation.cached_results.cache import cached_by_fingerprint, digest
from evaluation.errors import EvaluationError
from evaluation.proximity.stored import measured, stamp, with_proximity
from evaluation.scoring.clip_keys import cluster
from evaluation.scoring.model_cards import cards_of
from evaluation.scoring.models import Run
from evaluation.scoring.queries import counted, pair_scores, records_of, release_scores
from evaluation.scoring.run_results import fingerprint_of, is_settled
from generation.models import Candidate
from projects.models import Project
from text.registry import load, lookup, parse_params

# Methods by which people make foils.
BY_PEOPLE = frozenset({"person"})


def release_analysis(release: Release, kind: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """An analysis of the release's models, kept by their scores and cards. EvaluationError: nothing scored yet."""
    entry = lookup(REPORTS, kind, "analysis")
    analysis, chosen = load(entry), parse_params(entry, params or {})
    runs = [run for run in latest_runs(release) if is_settled(run) and run.model_key]
    if not runs:
        raise EvaluationError("no model is scored on this release yet; score one first")
    cards = {key: card.category for key, card in cards_of(release.project).items()}
    models = [[run.pk, run.label, cards.get(run.model_key, ""), fingerprint_of(run)] for run in runs]
    meaning = stamp(measured(release)) if kind == "proximity" else []
    fingerprint = digest([kind, analysis.VERSION, chosen, release.content_hash, models, meaning])
    about = f"{release.pk}:{digest(chosen)}"
    return cached_by_fingerprint(
        release.project,
        kind,
        about,
        fingerprint,
        lambda: analysis.compute(scored_items(release, runs, cards), **chosen),
    )


def scored_items(release: Release, runs: list[Run], cards: Mapping[str, str]) -> ScoredItems:
    """The release's items with their facts, and every run's scores on the items that count under its protocol; two
    queries a run. A run without any is left out."""
    records = records_of(release)
    place = {record["id"]: k for k, record in enumerate(records)}
    models: dict[str, Any] = {}
    categories: dict[str, str] = {}
    width = max((1 + len(record["foils"]) for record in records), default=1)
    for run in runs:
        rows, _left_out = counted(run, release_scores(run, records)[0])
        if not rows:
            continue
        table = np.full((len(records), width), np.nan)
        values = pair_scores(rows).main
        table[[place[row.id] for row in rows], : values.shape[1]] = values
        name = run.label if run.label not in models else f"{run.label} #{run.pk}"
        models[name], categories[name] = table, cards.get(run.model_key, "")
    if not models:
        raise EvaluationError("no model is scored on this release yet; score one first")
    facts = [facts_of(record) for record in records]
    with_proximity(release, records, facts)
    clusters = [cluster(record["video"]) for record in records]
    return ScoredItems([record["id"] for record in records], clusters, facts, models, categories)


def facts_of(record: Mapping[str, Any]) -> dict[str, Any]:
    """What a frozen record says of its item: its own facts, then what made its foils, then the clip's length.

    `edited` is named a foil: by its facts, else by the method that made it.
    """
    made = record["provenance"]
    facts = {**_shared([one["facts"] for one in made if one]), **facts_of_kept_foils(record)}
    if "edited" not in facts or any(one and "edited" in one["facts"] for one in made):
        facts["edited"] = [_edited(one, record) for one in made]
    video = record["video"]
    start, end = video["start_time"], video["end_time"]
    if video["time_unit"] == "sec" and end is not None:
        facts.setdefault("duration", end - (start or 0.0))
    elif video.get("duration"):
        facts.setdefault("duration", video["duration"] - (start or 0.0 if video["time_unit"] == "sec" else 0.0))
    return facts


def _edited(made: Mapping[str, Any] | None, record: Mapping[str, Any]) -> str:
    if made is None:
        return str(record["extra"].get("edited") or record["subtest"])
    return str(made["facts"].get("edited") or made["method"])


def _shared(facts: list[Mapping[str, Any]]) -> dict[str, Any]:
    """Facts of the foils: the value where all agree, else a list, one a foil."""
    names = dict.fromkeys(name for each in facts for name in each)
    found: dict[str, Any] = {}
    for name in names:
        values = [each.get(name) for each in facts]
        found[name] = values[0] if all(value == values[0] for value in values) else values
    return found


def scored_facts(project: Project, subtest: Subtest | None = None) -> ScoredItems:
    """The newest release of the project that has a scored model, with all its models; items of `subtest` alone."""
    for release in Release.objects.filter(project=project, runs__isnull=False).distinct().order_by("-id"):
        runs = [run for run in latest_runs(release) if is_settled(run) and run.model_key]
        if runs:
            cards = {key: card.category for key, card in cards_of(project).items()}
            return _of_subtest(scored_items(release, runs, cards), release, subtest)
    raise EvaluationError("no model is scored on a release of this project yet; score one first")


def _of_subtest(items: ScoredItems, release: Release, subtest: Subtest | None) -> ScoredItems:
    if subtest is None:
        return items
    chosen = [k for k, record in enumerate(records_of(release)) if record["subtest"] == subtest.name]
    if not chosen:
        raise EvaluationError(f"the newest scored release has no item of '{subtest.name}'; leave the subtest out")
    return ScoredItems(
        [items.ids[k] for k in chosen],
        [items.clusters[k] for k in chosen],
        [items.facts[k] for k in chosen],
        {name: table[chosen] for name, table in items.models.items()},
        items.categories,
    )


def corpus_facts(project: Project, subtest: Subtest | None = None) -> list[str]:
    """Every caption of the project's videos, or of the items of one subtest. One query."""
    rows = Caption.objects.filter(video__project=project).order_by("pk")
    return list((rows.filter(items__subtest=subtest).distinct() if subtest else rows).values_list("text", flat=True))


def edit_facts(project: Project, subtest: Subtest | None = None) -> list[EditFacts]:
    """Accepted foils that are part of an item, with who made them. One query."""
    rows = Candidate.objects.filter(group__run__project=project, foil__isnull=False).order_by("pk")
    if subtest:
        rows = rows.filter(foil__item__subtest=subtest)
    found = []
    for caption, foil, method, author, facts in rows.values_list(
        "group__caption__text", "text", "method", "author_id", "facts"
    ):
        by_person = method in BY_PEOPLE or author is not None
        found.append(EditFacts(caption, foil, "person" if by_person else "machine", str(facts.get("verb") or "")))
    return found
