"""Compare Dawid-Skene with the majority: annotator skill, and which verdicts would change.

It estimates the truth of each unit and the skill of each annotator together (Dawid & Skene 1979). Annotators who often
disagree with the others count for less. This is a second reading of the votes; the verdicts remain those of the
majority.
"""

from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaluation.analyses.analysis_inputs import NOBODY, Votes, coded, tallied
from evaluation.errors import EvaluationError

VERSION = "2"
MIN_ANNOTATORS = 2
INPUT = "votes"
# A report lists at most this many; the rest is only counted.
MAX_DIFFERING = 500

Codes = NDArray[np.int64]


def shortfall(votes: Votes, **_params: Any) -> tuple[str, int, int] | None:
    """Return (whose answers, how many are needed, how many there are) if they are too few to compute anything."""
    n = len(np.unique(votes.annotator[votes.annotator != NOBODY]))
    return ("people", MIN_ANNOTATORS, n) if n < MIN_ANNOTATORS else None


def compute(votes: Votes, *, coding: str = "truth", draws: int = 0, seed: int = 0) -> dict[str, Any]:
    """Compute verdicts of the majority (more than half of a unit's votes) and Dawid-Skene, and annotator skill.

    Also lists the units on which the two differ, most certain first. EvaluationError: the coding `shown` (a position
    says nothing about the truth), no named votes, fewer than two annotators.
    """
    if coding == "shown":
        raise EvaluationError("the coding `shown` holds positions, not what is true of an item; use truth or truth3")
    has_person = votes.annotator != NOBODY
    if not has_person.any():
        raise EvaluationError("these votes name no annotators, which Dawid-Skene needs; give votes with names")
    named_votes = Votes(
        votes.unit[has_person],
        votes.annotator[has_person],
        votes.choice[has_person],
        votes.position[has_person],
        votes.unit_names,
        votes.annotator_names,
        votes.unit_items,
    )
    codes, categories = coded(named_votes, coding)
    counts = tallied(named_votes, codes, len(categories))
    sample = _Sample(named_votes, codes)
    if len(sample.people) < MIN_ANNOTATORS:
        raise EvaluationError("one annotator cast all votes; skill needs votes of at least two annotators")
    fit = _fit(sample, len(categories))
    majority = _majority(counts[sample.units])
    verdicts = {"majority": majority, "dawid_skene": fit.posterior.argmax(axis=1)}
    differing = _differing_units(named_votes, sample, counts[sample.units], verdicts, fit, categories)
    return {
        "coding": coding,
        "n_votes": len(codes),
        "n_nameless": int((~has_person).sum()),
        "n_units": len(sample.units),
        "n_annotators": len(sample.people),
        "verdicts": [
            _verdict_row(name, codes_of_method, majority, categories) for name, codes_of_method in verdicts.items()
        ],
        "annotators": _annotators(named_votes, sample, codes, majority, fit),
        "n_differing": len(differing),
        "differing": differing[:MAX_DIFFERING],
    }


class _Sample:
    """Units, annotators and categories that have a vote, with the votes renumbered without gaps."""

    def __init__(self, votes: Votes, codes: Codes) -> None:
        self.units, self.unit = np.unique(votes.unit, return_inverse=True)
        self.people, self.annotator = np.unique(votes.annotator, return_inverse=True)
        self.categories, self.label = np.unique(codes, return_inverse=True)


class _Fit(NamedTuple):
    """`posterior`: (units, categories); `skill`: (annotators,)."""

    posterior: NDArray[np.float64]
    skill: NDArray[np.float64]


def _fit(sample: _Sample, categories: int) -> _Fit:
    """Fit Dawid-Skene. If all votes are in one category, that category is certain and everybody is right."""
    posterior = np.zeros((len(sample.units), categories))
    if len(sample.categories) == 1:
        posterior[:, sample.categories[0]] = 1.0
        return _Fit(posterior, np.ones(len(sample.people)))
    if find_spec("crowdkit") is None:
        raise EvaluationError("crowd-kit is not installed; pip install 'foilworks[models]'")
    # Imported on request: crowd-kit and pandas take seconds.
    from evaluation.analyses import crowd

    fit = crowd.dawid_skene(sample.unit, sample.annotator, sample.label)
    posterior[:, sample.categories] = fit.posterior
    return _Fit(posterior, fit.skill)


def _majority(counts: Codes) -> Codes:
    """Return the category of more than half of the votes per unit, (units,), -1 if there is none."""
    return np.where(counts.max(axis=1) * 2 > counts.sum(axis=1), counts.argmax(axis=1), -1)


def _verdict_row(name: str, codes_of_method: Codes, majority: Codes, categories: tuple[str, ...]) -> dict[str, Any]:
    """Count how often each category is the verdict, and how many verdicts differ from the majority's."""
    decided = majority >= 0
    return {
        "method": name,
        **{category: int((codes_of_method == code).sum()) for code, category in enumerate(categories)},
        "none": int((codes_of_method < 0).sum()),
        "turned": int((codes_of_method[decided] != majority[decided]).sum()),
        "decided_where_majority_is_none": int((codes_of_method[~decided] >= 0).sum()),
    }


def _annotators(votes: Votes, sample: _Sample, codes: Codes, majority: Codes, fit: _Fit) -> list[dict[str, Any]]:
    """Return the skill of each, lowest Dawid-Skene first; `agreement`: the share of their votes that match the
    majority.
    """
    rows = []
    for index, person in enumerate(sample.people.tolist()):
        is_own = sample.annotator == index
        against = majority[sample.unit[is_own]]
        decided = against >= 0
        rows.append(
            {
                "annotator": votes.annotator_names[person],
                "n_votes": int(is_own.sum()),
                "agreement": float((codes[is_own] == against)[decided].mean()) if decided.any() else None,
                "dawid_skene": float(fit.skill[index]),
            }
        )
    return sorted(rows, key=lambda row: (row["dawid_skene"], row["annotator"]))


def _differing_units(
    votes: Votes, sample: _Sample, counts: Codes, verdicts: dict[str, Codes], fit: _Fit, categories: tuple[str, ...]
) -> list[dict[str, Any]]:
    stacked = np.stack(list(verdicts.values()))
    rows = []
    for k in np.flatnonzero((stacked != stacked[0]).any(axis=0)).tolist():
        verdict_by_method = {
            name: categories[codes_of_method[k]] if codes_of_method[k] >= 0 else None
            for name, codes_of_method in verdicts.items()
        }
        probability = float(fit.posterior[k].max())
        tally = {category: int(n) for category, n in zip(categories, counts[k], strict=True) if n}
        rows.append(
            {
                "unit": votes.unit_names[sample.units[k]],
                "votes": tally,
                **verdict_by_method,
                "p_dawid_skene": probability,
            }
        )
    return sorted(rows, key=lambda row: (-row["p_dawid_skene"], row["unit"]))
