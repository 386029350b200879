"""Say in one sentence what an audit means: how much is answered without the video, by the best probe of texts."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from evaluation.audit.records import LONGEST, NGRAMS, SHORTEST, WORDS, Finding
from evaluation.templatetags.numbers import count, share

# Checks that choose a text by reading texts. The position of the answer is a trait of the file's order, not of words.
OF_TEXTS = ("words", "n-grams", "model", "length")
# The length check tries two probes and has the better one.
TRIED = {"length": 2}


def best_probe(findings: Sequence[Finding]) -> dict[str, Any] | None:
    """Return the best probe of texts over the whole file; None if none could run.

    `probes`: how many were tried. The best of several is too high on average, because its errors are chosen, too.
    """
    measured = [
        finding
        for finding in findings
        if finding.check in OF_TEXTS and not finding.subtest and finding.value is not None
    ]
    if not measured:
        return None
    best = max(measured, key=lambda finding: finding.value or 0.0)
    details = best.details or {}
    return {
        "value": best.value,
        "interval": best.interval,
        "chance": best.chance,
        "probe": details.get("probe"),
        "n": best.n,
        "unit": details.get("unit"),
        "probes": sum(TRIED.get(finding.check, 1) for finding in measured),
    }


def sentence(result: Mapping[str, Any]) -> str:
    """Return what the audit means, in one sentence; "" if no probe could run."""
    probe = result["without_video"]
    if probe is None:
        return ""
    form = _("Without the video, %(value)s of the items are answered correctly from the words alone (%(interval)s); ")
    if result["questions"] == result["items"]:
        form = _(
            "Without the video, %(value)s of the questions are answered correctly from the words alone (%(interval)s); "
        )
    elif not result["questions"] and probe["unit"] == "pairs":
        form = _("Without the video, the words alone tell caption from foil in %(value)s of the pairs (%(interval)s); ")
    sentence_form = form + _("chance is %(chance)s.")
    return sentence_form % {
        "value": share(probe["value"]),
        "interval": _interval(probe["interval"]),
        "chance": share(probe["chance"]),
    }


def note(result: Mapping[str, Any]) -> str:
    """Return which probe the sentence is about, of how many, and on how many items."""
    probe = result["without_video"]
    if probe is None:
        return ""
    text = ngettext(
        "This is the only probe that reads texts: %(probe)s.",
        "This is the best of %(n)s probes that read texts: %(probe)s. Choosing the best makes it a little too high.",
        probe["probes"],
    ) % {"n": count(probe["probes"]), "probe": _probe(probe["probe"])}
    if result["sample"]["items"] < result["items"]:
        text += " " + _("It read a random sample of %(n)s items.") % {"n": count(result["sample"]["items"])}
    return text


def _interval(bounds: Sequence[float] | None) -> str:
    if bounds is None:
        return _("too few items for an interval")
    return _("95 %% interval %(low)s to %(high)s") % {"low": share(bounds[0]), "high": share(bounds[1])}


def _probe(name: str) -> str:
    names = {
        WORDS: _("a classifier on words"),
        NGRAMS: _("a classifier on word order"),
        LONGEST: _("always the longest text"),
        SHORTEST: _("always the shortest text"),
    }
    return names.get(name) or _("the language model %(name)s") % {"name": name}
