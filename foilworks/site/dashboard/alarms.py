"""Define what an owner must look at now: codes with their numbers from the count, and the words for them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

# An alpha below this, over enough pairs with two votes, raises an alarm ("fair" and worse, Landis & Koch 1977).
LOW_ALPHA = 0.4
MIN_PAIRS = 30
# Hours without a submission at a stage with open slots.
STALLED_HOURS = 48

WORDS: dict[str, tuple[str | Promise, str | Promise, str]] = {
    "agreement": (
        _("Low agreement."),
        _(
            "Validators of the subtest %(name)s rarely agree: alpha is %(alpha).2f. Review its disputed items"
            " and its guideline."
        ),
        "reports:reports",
    ),
    "gate": (
        _("The release gate is closed."),
        _(
            "In these subtests, a model that reads only the text finds the caption, or no text-only model can"
            " check the texts: %(names)s."
        ),
        "releases:freeze",
    ),
    "balance": (
        _("Foils are out of balance."),
        _(
            "In the subtest %(name)s, %(n)d of %(foils)d foils are missing on one side of opposites. Most often, "
            "“%(removed)s” is replaced by “%(inserted)s”. Foils that a draw held back and that restore the balance: "
            "%(held_back)d. Compute a balanced draw."
        ),
        "generation:selections",
    ),
    "stalled": (
        _("A queue is stalled."),
        _("%(stage)s: %(open)d open tasks, but nobody has submitted one for %(hours)d hours."),
        "annotation:people",
    ),
    "judges": (
        _("Too few validators."),
        _(
            "%(name)s needs %(wanted)d validators per pair, but only %(can)d are eligible. Add %(lack)d. "
            "Until then, pairs that cannot get all their votes: %(pairs)d."
        ),
        "annotation:people",
    ),
    "blocked": (
        _("Nobody may take the open tasks."),
        _(
            "%(stage)s: no member may take one of the %(open)d open tasks, because of earlier work on the same videos, "
            "skipped videos, missing clips or finished quotas. Invite another person for this stage, add the clips, or "
            "raise a quota."
        ),
        "annotation:people",
    ),
    "beyond": (
        _("Quotas or places leave tasks undone."),
        _(
            "%(stage)s: when all quotas and places of crowd studies are done, at least %(n)d open tasks remain: a "
            "person gives one answer per item. Raise a quota, end an assignment, or invite another person."
        ),
        "annotation:assignments",
    ),
    "paused": (
        _("Validators are paused."),
        ngettext_lazy("%(n)d validator waits for your decision.", "%(n)d validators wait for your decision.", "n"),
        "annotation:validators",
    ),
    "pay": (
        _("Pay is below the minimum."),
        _("Median hourly pay is %(hourly)s %(currency)s. The minimum is %(floor)s."),
        "annotation:people_figures",
    ),
    "doubt": (
        _("Captions may be wrong."),
        ngettext_lazy(
            "For %(n)d caption, most of its validators said that it does not match the video.",
            "For %(n)d captions, most of their validators said that the caption does not match the video.",
            "n",
        ),
        "annotation:repairs",
    ),
}

# Sentences that are added if their number is there.
FOLLOWING: dict[str, str | Promise] = {
    "coding": _("Alpha uses the coding %(coding)s."),
    "once": _("Nobody judges two foils of an item, so each foil of a caption needs validators of its own."),
    "hands": _("Validators who may not judge because they worked on the same videos: %(hands)d."),
    "kept": _("Validators who are paused, or have no attempt at the qualification left: %(kept)d."),
    "done": _("Validators whose quota is done: %(done)d."),
    "changeable": _("Nobody has seen a pair yet, so you can also require fewer votes on the page Subtests."),
}


@dataclass(frozen=True)
class Alarm:
    code: str
    title: str
    text: str
    url: str


def alarms_of(counted: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return codes with numbers (JSON) from the count: subtests, gate_stopped, unbalanced, short, queues, paused,
    doubted, cost.
    """
    alarms: list[dict[str, Any]] = [
        {"code": "agreement", "name": row["name"], "alpha": row["alpha"], "coding": row["coding"]}
        for row in counted["subtests"]
        if row["alpha"] is not None and row["n_pairs"] >= MIN_PAIRS and row["alpha"] < LOW_ALPHA
    ]
    if counted["gate_stopped"]:
        alarms.append({"code": "gate", "names": ", ".join(counted["gate_stopped"])})
    alarms += [{"code": "balance", **row} for row in counted["unbalanced"]]
    alarms += [{"code": "judges", **row} for row in counted["short"]]
    alarms += [
        {"code": "blocked", "stage": row["stage"], "open": row["open"]}
        for row in counted["queues"]
        if row["stage"] in counted["blocked"]
    ]
    beyond = counted["beyond"].items()
    alarms += [{"code": "beyond", "stage": stage, "n": n} for stage, n in beyond if stage not in counted["blocked"]]
    for queue in counted["queues"]:
        if queue["open"] and queue["idle_hours"] is not None and queue["idle_hours"] >= STALLED_HOURS:
            hours = int(queue["idle_hours"])
            alarms.append({"code": "stalled", "stage": queue["stage"], "open": queue["open"], "hours": hours})
    for code, key in (("paused", "paused"), ("doubt", "doubted")):
        if counted[key]:
            alarms.append({"code": code, "n": counted[key]})
    cost = counted["cost"]
    if cost["below_floor"]:
        alarms.append({"code": "pay", **{name: cost[name] for name in ("currency", "floor")}, "hourly": cost["median"]})
    return alarms
