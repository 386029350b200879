"""Build the page of a fair set: items by score, reasons, repairs to accept, and what was accepted."""

from typing import Any

from django.utils.translation import gettext_lazy as _

from annotation.declarations import ACCEPT_REPAIR
from evaluation.facts.item_names import items_of
from foilworks.core.projects.models import AuditEvent, Project
from generation.models import Candidate, CandidateGroup

MAX_LISTED, MAX_ACCEPTED = 200, 20
COLUMNS = ("item", "action", "s", "s_minus_chance", "tier", "reason", "repair", "detail")
VERDICTS = {
    "fair": _("A fair set"),
    "too_few": _("Too few items to certify that they are fair"),
    "no_fair_subset": _("No fair subset"),
}
# Repairs of items in a project. Items have no order of texts: every export draws it again.
REPAIRS = {
    "normalize": _("Edit the texts so that all have one form"),
    "separate": _("Retract one of two items that give each other away"),
    "pair": _("Pair it with the item whose clip makes the other text true"),
    "exchange": _("Exchange foils with another item"),
    "replace": _("Make foils by another method"),
}
# Their new foils become candidates. The others are links to the pages where people edit or retract.
ACCEPTABLE = ("pair", "exchange", "replace")


def extras(project: Project, _subtest: str, data: dict[str, Any]) -> dict[str, Any]:
    """Return the listed items with their pages, labels, and the proposals that were accepted lately. Four queries."""
    listed = data["items"][:MAX_LISTED]
    pages = items_of(project, [name for row in listed for name in (row["item"], row["detail"]) if name])
    events = list(AuditEvent.objects.filter(project=project, action=ACCEPT_REPAIR).order_by("-pk")[:MAX_ACCEPTED])
    groups = CandidateGroup.objects.filter(pk__in=[pk for event in events for pk in event.details.get("groups", ())])
    captions = dict(groups.values_list("pk", "caption__text"))
    texts = dict(Candidate.objects.filter(group__in=captions.keys()).values_list("pk", "text"))
    return {
        "listed": [
            {
                **row,
                "page": pages.get(row["item"]),
                "partner": pages.get(row["detail"]),
                "words": REPAIRS.get(row["repair"], ""),
                "acceptable": row["repair"] in ACCEPTABLE,
            }
            for row in listed
        ],
        "result": VERDICTS[data["verdict"]],
        "accepted": [
            {"event": event, "captions": [captions[pk] for pk in pks], "texts": _texts(event, texts)}
            for event in events
            if (pks := event.details.get("groups")) and captions.keys() >= set(pks)
        ],
    }


def _texts(event: AuditEvent, texts: dict[int, str]) -> list[str]:
    return [texts[pk] for pk in event.details["candidates"] if pk in texts]
