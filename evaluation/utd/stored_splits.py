"""Splits out of the stored predictions of nine models, and what pages and files say of them. Pure."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from evaluation.utd.splits import Split, split


def split_of(predictions: Mapping[str, Any]) -> Split:
    """The split of stored predictions."""
    correct = np.array([[said == "1" for said in row] for row in predictions["correct"]], dtype=np.bool_)
    confidence = predictions["confidence"]
    return split(
        correct,
        ids=predictions["ids"],
        classes=predictions["classes"],
        confidence=None if confidence is None else np.array(confidence),
    )


def split_facts(predictions: Mapping[str, Any], made: Split) -> dict[str, Any]:
    """Statistics and classes of a split (UTD, Table 4 and Fig. A.1)."""
    ids, classes = predictions["ids"], predictions["classes"]
    out = {"split": set(made.removed), "balanced": set(made.removed_balanced or ())}
    rows = []
    for name in sorted(set(classes or ())):
        own = [at for at, each in enumerate(classes) if each == name]
        kept = {form: sum(at not in gone for at in own) for form, gone in out.items()}
        rows.append({"class": name, "n": len(own), **kept})
    return {
        "n": len(ids),
        "n_biased": len(made.removed),
        "share_biased": len(made.removed) / len(ids),
        "kappa": made.kappa,
        "removed": [ids[at] for at in made.removed],
        "removed_balanced": None if made.removed_balanced is None else [ids[at] for at in made.removed_balanced],
        "classes": rows,
    }


def as_utd(facts: Mapping[str, Any], ids: list[str]) -> dict[str, list[str]]:
    """The splits as the authors of UTD publish theirs: the ids that stay, by the name of the split."""
    out = {"full": list(ids)}
    for name, key in (("debiased", "removed"), ("debiased-balanced", "removed_balanced")):
        if facts[key] is not None:
            gone = set(facts[key])
            out[name] = [each for each in ids if each not in gone]
    return out
