"""Conclude how far the results of a bias run can be trusted: train size, and texts that are missing. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from evaluation.utd.concepts import SEQUENCE
from evaluation.utd.guards import FEW_PER_CLASS, MAX_GAP
from evaluation.utd.instructions import CLASSIFICATION
from evaluation.utd.procedure import PLAIN
from evaluation.utd.required_texts import DATASET, SPLITS, TRAIN, losses_of

STEADY, SHORT, CHANGING, WEAK, SINGLE = "steady", "short", "changing", "weak", "single"
# The share may change by this much while the train split doubles.
MAX_CHANGE = 0.05
ADVICE: dict[str, str | Promise] = {
    STEADY: _("More train videos would hardly change it. Report the share with the train videos per class."),
    SHORT: _("The curve is short. Compare the share with the stratified bootstrap before you report it."),
    CHANGING: _("Add train videos or use the stratified bootstrap before you report the share."),
    WEAK: _("Use the stratified bootstrap, a larger C or more train videos. Do not report the share."),
    SINGLE: _("The train split is too small for a curve. Add train videos, then measure again."),
}
UNCERTIFIED, FEW, CERTIFIED = "uncertified", "few", "certified"


def conclusion_of(curve: Sequence[Mapping[str, Any]] | None, bootstrap: str = PLAIN) -> dict[str, Any] | None:
    """Return whether the share of object-biased samples still depends on the train size; None without a curve.

    `last`: the row of the whole train split; `before`: the largest train split of at most half its videos, or the
    smallest one. `state`: WEAK if the nine models are far below the full model, CHANGING if the share differs between
    both rows by more than `MAX_CHANGE`, SHORT if the bootstrap is plain and a class has few train videos on average.
    """
    if not curve:
        return None
    last, smaller = curve[-1], curve[:-1]
    before = next((row for row in reversed(smaller) if 2 * row["n_train"] <= last["n_train"]), (*smaller, None)[0])
    change = None if before is None else last["biased"] - before["biased"]
    state = STEADY
    if last["nine"] < last["full"] - MAX_GAP:
        state = WEAK
    elif change is None:
        state = SINGLE
    elif abs(change) > MAX_CHANGE:
        state = CHANGING
    # The smallest part has the same number of videos of each class, so it tells the number of classes.
    elif bootstrap == PLAIN and last["n_train"] * curve[0]["per_class"] < FEW_PER_CLASS * curve[0]["n_train"]:
        state = SHORT
    return {"state": state, "last": last, "before": before, "change": change, "advice": ADVICE[state]}


def certificate_of(result: Mapping[str, Any] | None) -> str | None:
    """Return whether the nine models are strong enough for a split; None if that was not checked.

    Only classifications are checked: in retrieval, and in splits from a file, no model is trained here.
    """
    nine = ((result or {}).get("split") or {}).get("nine")
    if not nine:
        return None
    if not nine["certified"]:
        return UNCERTIFIED
    return FEW if nine["warnings"] else CERTIFIED


def losses(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the missing texts: {"split", "text", "n", "of", "splits", "cells"}.

    `splits`: whether these videos do not count for the debiased splits; `cells`: for which cells they do not count, as
    (is dataset bias, concept, is a sequence).
    """
    rows = []
    for row in result.get("missing") or ():
        lost = losses_of(row["text"], row["split"] == TRAIN, result["task"] == CLASSIFICATION)
        cells = [(bias == DATASET, concept, time == SEQUENCE) for bias, concept, time in lost if bias != SPLITS]
        rows.append({**row, "splits": len(cells) < len(lost), "cells": cells})
    return rows
