"""List the kinds of notifications: whom they are for, what they say, and which page they open."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db import models
from django.urls import NoReverseMatch, reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from foilworks.core.projects.models import Notification, Role


class Channel(models.TextChoices):
    MAIL = "mail", gettext_lazy("App and email")
    APP = "app", gettext_lazy("App only")
    OFF = "off", gettext_lazy("Off")


@dataclass(frozen=True)
class Kind:
    """`roles`: who can get it. `page`: a view that takes the project's slug and the values of `arguments` in the facts.

    `words`: the sentence, with the facts filled in.
    """

    label: str | Promise
    roles: tuple[str, ...]
    page: str
    words: str | Promise = ""
    arguments: tuple[str, ...] = ()


RESEARCHERS = (Role.RESEARCHER,)
ADJUDICATORS = (Role.RESEARCHER, Role.REVIEWER)
KINDS: dict[str, Kind] = {
    "returned": Kind(
        gettext_lazy("A reviewer returns your foil"),
        (Role.ANNOTATOR,),
        "annotation:queue",
        gettext_lazy("A reviewer returned a foil of yours. It is the first task in your edit queue."),
        ("stage",),
    ),
    "comment": Kind(
        gettext_lazy("Somebody comments on an item"),
        ADJUDICATORS,
        "items:item",
        gettext_lazy("New comment on the item %(key)s"),
        ("item",),
    ),
    "dispute": Kind(
        gettext_lazy("Disputed items wait for a decision"),
        ADJUDICATORS,
        "annotation:disputed_items",
        gettext_lazy("Disputed items wait for a decision"),
    ),
    "run_ended": Kind(gettext_lazy("A run that you started ends"), RESEARCHERS, ""),
    "queue_empty": Kind(gettext_lazy("A queue is empty"), RESEARCHERS, "dashboard:dashboard"),
    "study_full": Kind(
        gettext_lazy("A crowd study is full"),
        RESEARCHERS,
        "annotation:crowd_study",
        gettext_lazy("All places of the crowd study %(name)s are taken"),
        ("study",),
    ),
    "report": Kind(
        gettext_lazy("A visitor reports an item"),
        RESEARCHERS,
        "publishing:item_reports",
        gettext_lazy("Visitors reported items of the release %(name)s"),
        ("release",),
    ),
    "webhook_stopped": Kind(
        gettext_lazy("A webhook is stopped"),
        RESEARCHERS,
        "projects:webhook",
        gettext_lazy("A webhook is stopped, because its deliveries failed repeatedly"),
        ("webhook",),
    ),
}
# Of a run: what it is, and its page.
RUNS: dict[str, tuple[str | Promise, str]] = {
    "generation": (gettext_lazy("Generation run"), "generation:run"),
    "captions": (gettext_lazy("Caption run"), "generation:caption_run"),
    "tuning": (gettext_lazy("Tuned model"), "generation:tuning"),
    "scoring": (gettext_lazy("Scoring run"), "scoring:run"),
    "teacher": (gettext_lazy("Training"), "teacher:teacher_training"),
    "descriptions": (gettext_lazy("Descriptions"), "utd:bias_descriptions"),
    "bias": (gettext_lazy("Bias run"), "utd:bias_run"),
}
QUEUES: dict[str, str | Promise] = {
    "edit": gettext_lazy("The edit queue is empty"),
    "review": gettext_lazy("The review queue is empty"),
    "validation": gettext_lazy("The validation queue is empty"),
    "baseline": gettext_lazy("The queue of the human baseline is empty"),
    "objects": gettext_lazy("The queue of the object check is empty"),
}


def sentence(found: Notification) -> str:
    """Return what the notification says, in the reader's language; the plain label if a fact is missing."""
    kind, facts = KINDS[found.kind], found.facts
    if found.kind == "run_ended" and facts.get("what") in RUNS:
        words = _("%(run)s %(n)s failed") if facts.get("failed") else _("%(run)s %(n)s is done")
        return words % {"run": RUNS[facts["what"]][0], "n": facts.get("n", "")}
    if found.kind == "queue_empty":
        return str(QUEUES.get(facts.get("stage", ""), kind.label))
    try:
        return str(kind.words or kind.label) % facts
    except KeyError:
        return str(kind.label)


def target(found: Notification) -> str:
    """Return the address of the page that it is about; the project's overview if that page does not exist."""
    slug = found.project.slug
    try:
        return _page(found, slug)
    except (NoReverseMatch, KeyError):
        return reverse("dashboard:dashboard", args=[slug])


def _page(found: Notification, slug: str) -> str:
    kind, facts = KINDS[found.kind], found.facts
    if found.kind == "run_ended":
        return reverse(RUNS[facts["what"]][1], args=[slug, facts["n"]])
    # A reviewer opens an item only to decide it.
    name = "annotation:disputed_item" if found.kind == "comment" and found.role == Role.REVIEWER else kind.page
    anchor = "#comments" if found.kind == "comment" else ""
    return reverse(name, args=[slug, *(facts[name] for name in kind.arguments)]) + anchor


def channel_of(channels: Mapping[str, Any], kind: str) -> str:
    """Return where the person wants the kind; by default everywhere, and the mails are off until they choose them."""
    chosen = channels.get(kind)
    return chosen if chosen in Channel.values else Channel.MAIL
