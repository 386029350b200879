"""Compute the agreement of annotators: what `foilworks report agreement --file` does."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evaluation.errors import EvaluationError
from evaluation.number_text import share
from foilworks.library.inputs import Data, opened_files
from foilworks.library.results import Bar, Result, Row


@dataclass(frozen=True, repr=False)
class Agreement(Result):
    """The result of `agreement`. Tables: `annotators`, `pairs` of them, `choices`.

    >>> import foilworks
    >>> votes = [{"item": "clip", "annotator": name, "choice": "yes"} for name in ("a", "b")]
    >>> foilworks.agreement(votes, coding="labels").tables()["choices"]
    [{'choice': 'yes', 'n': 2}]
    """

    def summary(self) -> str:
        """Return alpha with its interval, and the numbers of units, votes and annotators."""
        result = self.document
        value = f"undefined, {result['reason']}" if result["alpha"] is None else f"{result['alpha']:.3f}"
        low, high = result["alpha_ci"] or (None, None)
        interval = "" if low is None else f" [{low:.3f}, {high:.3f}]"
        counts = f"{result['n_votes']:,} votes of {result['n_annotators']:,} annotators on {result['n_units']:,} units"
        return f"alpha {value}{interval}, agreement {share(result['percent_agreement'])}, {counts}"

    def tables(self) -> Mapping[str, Sequence[Row]]:
        """Return the annotators, their pairs, and how often each answer was given."""
        choices = [{"choice": name, "n": n} for name, n in self.document["choices"].items()]
        return {"annotators": self.document["annotators"], "pairs": self.document["pairs"], "choices": choices}

    def bars(self) -> Sequence[Bar]:
        """Return, per annotator, the share of votes that match the majority of the others."""
        rows = self.document["annotators"]
        return [Bar(row["annotator"], row["agreement"], row["ci"]) for row in rows if row["agreement"] is not None]


def agreement(votes: Data, *, coding: str = "truth") -> Agreement:
    """Compute Krippendorff's alpha, Fleiss' kappa and agreement (docs/reference/formulas.md#metric-alpha).

    `votes`: n records with `item`, `annotator`, `choice` and optional `foil` and `position`, or a file of them. A unit
    is an item, or an item and a foil; intervals draw items. `coding`: `truth`, `truth3` and `shown` read answers about
    a caption and a foil; `labels` takes any answers as categories. alpha is in -1..1, None if undefined.

    EvaluationError: a record is wrong, or the votes do not support the coding.

    >>> import foilworks
    >>> answers = {"clip 1": "yes yes yes", "clip 2": "yes yes no", "clip 3": "no no no"}
    >>> votes = [{"item": item, "annotator": f"person {n}", "choice": answer}
    ...          for item, row in answers.items() for n, answer in enumerate(row.split())]
    >>> round(foilworks.agreement(votes, coding="labels")["alpha"], 3)
    0.6
    """
    from evaluation.analyses import agreement as analysis
    from evaluation.analyses.analysis_inputs import LABELS
    from evaluation.score_files.items import read_votes

    with opened_files(votes, "votes") as files:
        if len(files) != 1:
            raise EvaluationError(f"{len(files)} files of votes: give the votes, or one file of them")
        data = read_votes(files[0].path, with_labels=coding == LABELS)
    return Agreement({"kind": "agreement", **analysis.compute(data, coding=coding), "warnings": []})
