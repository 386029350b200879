"""Show bias runs of several data sets side by side (UTD, Tables 1-4). Loads no model."""

from collections.abc import Mapping, Sequence
from typing import Any

from evaluation.utd.concepts import CONCEPTS, DESCRIPTION, SEQUENCE, TEMPORAL
from evaluation.utd.models import BiasRun
from evaluation.utd.pages import CONCEPT_NAMES, TEMPORAL_NAMES
from evaluation.utd.reliability import certificate_of
from evaluation.utd.verdicts import beside_chance, guess_of
from foilworks.core.projects.access import visible_projects
from foilworks.core.projects.models import Role, User

MAX_COLUMNS = 12


def newest_runs(person: User, run_ids: Sequence[int] = ()) -> list[BiasRun]:
    """Return finished runs of the person's projects: those chosen, or the newest of each project and task."""
    own = visible_projects(person)
    if not person.is_superuser:
        own = own.filter(pk__in=person.memberships.filter(role=Role.RESEARCHER).values("project"))
    rows = BiasRun.objects.filter(project__in=own, result__isnull=False, descriptions__isnull=False)
    rows = rows.select_related("project").defer("predictions").order_by("-pk")
    if run_ids:
        return list(rows.filter(pk__in=run_ids))[:MAX_COLUMNS]
    newest: dict[tuple[int, str], BiasRun] = {}
    for run in rows:
        newest.setdefault((run.project_id, run.task), run)
    return list(newest.values())[:MAX_COLUMNS]


def tables_of(runs: Sequence[BiasRun]) -> list[dict[str, Any]]:
    """Return the four tables, each with one column per run: concepts, dataset bias, temporal modes, and the splits
    (UTD, Tables 1-4). A run without the data of a table has empty cells there.
    """
    results = [run.result for run in runs]

    def by_concept(kind: str) -> list[dict[str, Any]]:
        return [
            _row(CONCEPT_NAMES[concept], [_cell(result, kind, concept, SEQUENCE) for result in results])
            for concept in CONCEPTS
        ]

    by_time = [
        _row(TEMPORAL_NAMES[temporal], [_cell(result, "common", DESCRIPTION, temporal) for result in results])
        for temporal in TEMPORAL
    ]
    return [
        {"number": 1, "rows": by_concept("common")},
        {"number": 2, "rows": by_concept("dataset")},
        {"number": 3, "rows": by_time},
        {"number": 4, "rows": _splits(results)},
    ]


def _row(name: Any, cells: Sequence[Any]) -> dict[str, Any]:
    return {"name": name, "cells": cells}


def _cell(result: Mapping[str, Any], kind: str, concept: str, temporal: str) -> dict[str, Any]:
    chance = guess_of(result) if kind == "dataset" else result["chance"]
    rows = {row["concept"]: row["cells"] for row in result.get(kind) or ()}
    stored_cell = next(
        (cell for cell in rows.get(concept, ()) if cell["temporal"] == temporal), {"value": None, "ci": None}
    )
    return {**stored_cell, **beside_chance(stored_cell, chance)}


def _splits(results: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    rows: dict[str, list[Any]] = {
        key: [] for key in ("biased", "kept", "kappa", "nine", "full", "per_class", "certificate")
    }
    for result in results:
        facts = result.get("split") or {}
        share = facts.get("share_biased")
        rows["biased"].append({"value": share})
        rows["kept"].append({"value": None if share is None else 1 - share})
        rows["kappa"].append({"value": facts.get("kappa")})
        nine = facts.get("nine") or {}
        for key, name in (("nine", "mean"), ("full", "full"), ("per_class", "train_per_class")):
            rows[key].append({"value": nine.get(name)})
        rows["certificate"].append({"value": certificate_of(result)})
    return [{"key": key, "cells": cells} for key, cells in rows.items()]
