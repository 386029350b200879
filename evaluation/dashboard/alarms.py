"""Define what an owner must look at now: codes with their numbers from the count, and the words for them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

# An alpha below this, over enough pairs with two votes, raises an alarm ("fair" and worse, Landis & Koch 1977).
LOW_ALPHA = 0.4
MIN_PAIRS = 30
# Hours without a submission at a stage with open slots.
STALLED_HOURS = 48

WORDS: dict[str, tuple[str | Promise, str | Promise, str]] = {
    "agreement": (
        _("Low agreement."),
        _("Validators of %(name)s rarely agree: alpha is %(alpha).2f. Review the pairs and the guidelines."),
        "reports:reports",
    ),
    "gate": (
        _("The gate is closed."),
        _("%(names)s: text alone solves these subtests, or no probe can evaluate their texts."),
        "releases:freeze",
    ),
    "stalled": (
        _("A queue is stalled."),
        _("%(stage)s has %(open)d open slots and no submission for %(hours)d hours."),
        "annotation:people",
    ),
    "judges": (
        _("Too few validators."),
        _(
            "%(name)s needs %(wanted)d validators per pair, and %(can)d are eligible. Add %(lack)d; until "
            "then %(pairs)d of its pairs keep open slots."
        ),
        "annotation:people",
    ),
    "paused": (
        _("Validators are paused."),
        _("Validators who wait for your decision: %(n)d."),
        "annotation:validators",
    ),
    "pay": (
        _("Pay is below the minimum."),
        _("Median hourly pay is %(hourly)s %(currency)s. The minimum is %(floor)s."),
        "annotation:people_figures",
    ),
    "doubt": (
        _("Captions may be wrong."),
        _("Most validators said that these captions do not match their videos: %(n)d in all."),
        "annotation:repairs",
    ),
}

# Sentences that are added if their number is there.
FOLLOWING: dict[str, str | Promise] = {
    "coding": _("Coding: %(coding)s."),
    "hands": _("Validators excluded because they worked on such a video: %(hands)d."),
    "kept": _("Validators who are paused or have no attempts left: %(kept)d."),
    "changeable": _("No pair has been shown yet, so you can also require fewer votes (Subtests)."),
}


@dataclass(frozen=True)
class Alarm:
    code: str
    title: str
    text: str
    url: str


def alarms_of(found: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return codes with numbers (JSON) from the count: subtests, gate_stopped, short, queues, paused, doubted, cost."""
    alarms: list[dict[str, Any]] = [
        {"code": "agreement", "name": row["name"], "alpha": row["alpha"], "coding": row["coding"]}
        for row in found["subtests"]
        if row["alpha"] is not None and row["n_pairs"] >= MIN_PAIRS and row["alpha"] < LOW_ALPHA
    ]
    if found["gate_stopped"]:
        alarms.append({"code": "gate", "names": ", ".join(found["gate_stopped"])})
    alarms += [{"code": "judges", **row} for row in found["short"]]
    for queue in found["queues"]:
        if queue["open"] and queue["idle_hours"] is not None and queue["idle_hours"] >= STALLED_HOURS:
            hours = int(queue["idle_hours"])
            alarms.append({"code": "stalled", "stage": queue["stage"], "open": queue["open"], "hours": hours})
    for code, key in (("paused", "paused"), ("doubt", "doubted")):
        if found[key]:
            alarms.append({"code": code, "n": found[key]})
    cost = found["cost"]
    if cost["below_floor"]:
        alarms.append({"code": "pay", **{name: cost[name] for name in ("currency", "floor")}, "hourly": cost["median"]})
    return alarms
