"""What an owner should look at now: codes with their numbers, words beside them. The numbers come from the count."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

# Alpha below this, over enough pairs that two people judged, is called out ("fair" and worse, Landis & Koch 1977).
LOW_ALPHA = 0.4
MIN_PAIRS = 30
# Nothing handed in at a stage with open places for so long.
STALLED_HOURS = 48

WORDS: dict[str, tuple[str | Promise, str | Promise, str]] = {
    "agreement": (
        _("Low agreement."),
        _("Validators of %(name)s agree little: alpha is %(alpha).2f. Look at the pairs and the guidelines."),
        "reports:reports",
    ),
    "gate": (
        _("The gate is closed."),
        _("%(names)s: text alone solves these subtests, or no probe can judge their texts."),
        "releases:freeze",
    ),
    "stalled": (
        _("A queue stands still."),
        _("%(stage)s has %(open)d open places, and nothing was handed in for %(hours)d hours."),
        "annotation:people",
    ),
    "judges": (
        _("Too few people can judge."),
        _(
            "%(name)s wants %(wanted)d judges a pair; %(can)d can judge: add %(lack)d. Until then places of %(pairs)d "
            "of its pairs stay open."
        ),
        "annotation:people",
    ),
    "paused": (
        _("Somebody is paused."),
        _("%(n)d of the validators are paused and wait for you."),
        "annotation:validators",
    ),
    "pay": (
        _("Pay is under the floor."),
        _("The hour in the middle earns %(hourly)s %(currency)s, the floor is %(floor)s."),
        "annotation:people_figures",
    ),
    "doubt": (
        _("Captions are in doubt."),
        _("%(n)d captions were not seen in their videos by most validators."),
        "annotation:repairs",
    ),
}

# Sentences that follow where what they tell is there.
FOLLOWING: dict[str, str | Promise] = {
    "coding": _("Coding: %(coding)s."),
    "hands": _("Validators who had a hand in such a video, and so do not judge it: %(hands)d."),
    "kept": _("Validators who are paused, or have no try left: %(kept)d."),
    "changeable": _("Nobody has been shown a pair yet: it can also want fewer votes (Subtests)."),
}


@dataclass(frozen=True)
class Alarm:
    code: str
    title: str
    text: str
    url: str


def alarms_of(found: Mapping[str, Any]) -> list[dict[str, Any]]:
    """`found`: subtests, gate_stopped, short, queues, paused, doubted, cost of a count -> codes with numbers (JSON)."""
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
