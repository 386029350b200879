"""Read the stored proximity of a release's captions and foils; jobs measure it (measuring.py).

Measures belong to an encoder and a pair of texts, so later releases, other projects and the filter of sentence
similarity share them.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db.models import QuerySet

from evaluation.proximity.models import ProximityRun
from evaluation.scoring.models import EQUAL_AFTER_CUT
from foilworks.core.corpus.models import Release
from foilworks.core.corpus.rules.hard_foils import candidates_of, hard_foils
from generation.models import Measure
from generation.pair_measures import pair_sha256
from generation.records import CaptionInput, Case

ROWS = 500
Record = Mapping[str, Any]


def cases_of(records: Sequence[Record]) -> list[list[Case]]:
    """Return, for each record, its caption with each of its foils; with the hard foil alone if it has one."""
    cases_by_record = []
    for record, hard in zip(records, hard_foils(map(candidates_of, records)), strict=True):
        caption = CaptionInput(record["id"], record["caption"])
        cases = [Case(caption, foil) for foil in record["foils"]]
        cases_by_record.append(cases if hard is None else [case for at, case in enumerate(cases) if at == hard.index])
    return cases_by_record


def measured(release: Release) -> list[ProximityRun]:
    """Return finished measurements of the release, the latest of each name. One query."""
    latest: dict[str, ProximityRun] = {}
    for run in proximity_runs(release):
        if run.measured_at and run.scorer_id:
            latest.setdefault(run.name, run)
    return list(latest.values())


def proximity_runs(release: Release) -> QuerySet[ProximityRun]:
    """Return every measurement of the release with its job, latest first."""
    return ProximityRun.objects.filter(release=release).select_related("job")


def stamp(runs: Iterable[ProximityRun]) -> list[Any]:
    """Return what facts about proximity follow from, in addition to the release."""
    return [[run.name, run.scorer_id, run.antonyms_id, run.measured_at and run.measured_at.timestamp()] for run in runs]


def with_proximity(release: Release, records: Sequence[Record], facts: Sequence[dict[str, Any]]) -> None:
    """Add `proximity` ({name: cosine of the caption and its hard foil, else its nearest foil}) and `antonym` to the
    facts of records.

    Facts that the records state remain: a stated number as `stated`, a stated `antonym` as it is.
    """
    runs = measured(release)
    if not runs:
        return
    pairs = [[pair_sha256(case) for case in cases] for cases in cases_of(records)]
    all_keys = list(dict.fromkeys(pair for keys_of_record in pairs for pair in keys_of_record))
    values = _values({run.scorer_id for run in runs} | {run.antonyms_id for run in runs} - {None}, all_keys)
    equal = {run.pk: {problem["item"] for problem in run.problems.get(EQUAL_AFTER_CUT, ())} for run in runs}
    for record, own_facts, keys in zip(records, facts, pairs, strict=True):
        stated = own_facts.get("proximity")
        proximity = dict(stated) if isinstance(stated, dict) else {"stated": stated} if stated is not None else {}
        for run in runs:
            cosines = [values[run.scorer_id, key]["cosine"] for key in keys if (run.scorer_id, key) in values]
            # If the encoder reads the same of caption and foil, a cosine of 1 says nothing.
            if keys and len(cosines) == len(keys) and record["id"] not in equal[run.pk]:
                proximity[run.name] = max(cosines)
            opposite = [values[run.antonyms_id, key] for key in keys if (run.antonyms_id, key) in values]
            if opposite:
                own_facts.setdefault("antonym", any(antonyms["antonym"] for antonyms in opposite))
        if proximity:
            own_facts["proximity"] = proximity


def _values(scorers: set[int | None], pairs: Sequence[str]) -> dict[tuple[int | None, str], Mapping[str, Any]]:
    values_by_pair: dict[tuple[int | None, str], Mapping[str, Any]] = {}
    for first in range(0, len(pairs), ROWS):
        rows = Measure.objects.filter(scorer__in=scorers, pair_sha256__in=pairs[first : first + ROWS])
        for scorer, pair, values in rows.values_list("scorer", "pair_sha256", "values"):
            values_by_pair[scorer, pair] = values
    return values_by_pair
