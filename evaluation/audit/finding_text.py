"""Say what a check counted, and why it did not run, for people who read neither shares nor field names."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from evaluation.number_text import count, share

SHOWN = 5
# Check -> what its `count` of `n` are.
COUNTED = {
    "position": gettext_lazy("The most frequent position has the answer in %(hits)s of %(n)s items."),
    "labels": gettext_lazy("The more frequent label is right for %(hits)s of %(n)s items."),
    "cues": gettext_lazy("The most one-sided word points to the answer in %(hits)s of %(n)s pairs."),
    "edits": gettext_lazy("%(hits)s of %(n)s pairs differ in at most two words."),
    "same_texts": gettext_lazy("%(hits)s of %(n)s wrong texts have the words of their right text, in the same order."),
    "duplicates": gettext_lazy("%(hits)s of %(n)s items repeat an earlier item."),
    "contradictions": gettext_lazy("%(hits)s of %(n)s foils are captions of other items of the same video."),
    "leakage": gettext_lazy("%(hits)s of %(n)s test items have a video that is also in another split."),
    "balance": gettext_lazy("The smallest subtest has %(hits)s of %(n)s items."),
    "languages": gettext_lazy("%(hits)s of %(n)s right texts are in the most frequent script."),
    "transcripts": gettext_lazy("%(hits)s of %(n)s items have a transcript."),
    "fields": gettext_lazy("%(hits)s of %(n)s records could be read."),
    "licences": gettext_lazy("%(hits)s of %(n)s items have a licence in the file."),
}


def lines_of(finding: Mapping[str, Any]) -> list[str]:
    """Return the sentences below a check: its count, or why it did not run."""
    details = finding["details"] or {}
    if finding["value"] is None:
        # Reasons are clauses of evaluation.audit.checks.
        return [_("Not run, because %(reason)s.") % {"reason": _(details["reason"])}] if details.get("reason") else []
    lines = []
    if counted := COUNTED.get(finding["check"]):
        lines.append(str(counted) % {"hits": count(details["count"]), "n": count(details.get("records", finding["n"]))})
    if "with_file" in details:
        form_of_file = _("A solver that sees them is right in %(with_file)s, one that sees texts alone in %(texts)s.")
        lines.append(form_of_file % {name: share(details[name]) for name in ("with_file", "texts")})
    lines += [*_of_clips(details), *_of_transcripts(details)]
    if finding["check"] == "leakage" and (n := details["captions"]):
        form = ngettext("The text of %(n)s is in another split.", "The texts of %(n)s are in another split.", n)
        lines.append(form % {"n": count(n)})
    if n := details.get("n_unread"):
        form = ngettext(
            "%(n)s answer cannot be read and is left out; the value is %(low)s if it is wrong, %(high)s if right.",
            "%(n)s answers cannot be read and are left out; the value is %(low)s if all are wrong, %(high)s if all are "
            "right.",
            n,
        )
        lines.append(form % {"n": count(n), "low": share(details["all_wrong"]), "high": share(details["all_right"])})
    if finding["check"] == "ladder" and finding["verdict"] == "cannot_tell":
        low, high = (f"{100 * value:+.1f}" for value in details["drop_bounds"])
        form_of_drop = _(
            "Unreadable answers decide whether the full clip helps: it adds %(low)s to %(high)s points. Answer these "
            "items again."
        )
        lines.append(form_of_drop % {"low": low, "high": high})
    if n := details.get("files_left_out"):
        form = ngettext(
            "%(n)s file could not be read. Its records are not among them.",
            "%(n)s files could not be read. Their records are not among them.",
            n,
        )
        lines.append(form % {"n": count(n)})
    if n := details.get("missing", {}).get("video"):
        form = ngettext("%(n)s item names no video.", "%(n)s items name no video.", n)
        lines.append(form % {"n": count(n)})
    return lines + _of_repeats(details)


def _of_clips(details: Mapping[str, Any]) -> list[str]:
    """Return what the files of the clips answer, and which items do not count."""
    lines = []
    if "alone" in details:
        form_of_clips = _("The words alone answer %(texts)s. With the words, %(most)s answers most: %(value)s.")
        strongest = {"most": details["most"], "value": share(details["alone"][details["most"]])}
        lines.append(form_of_clips % {"texts": share(details["texts"]), **strongest})
    if n := details.get("without_file"):
        form = ngettext("%(n)s item has no readable file.", "%(n)s items have no readable file.", n)
        lines.append(form % {"n": count(n)})
    if n := details.get("needs_time"):
        form = ngettext(
            "%(n)s item asks about time, so the length of its clip is not read.",
            "%(n)s items ask about time, so the lengths of their clips are not read.",
            n,
        )
        lines.append(form % {"n": count(n)})
    return lines


def _of_transcripts(details: Mapping[str, Any]) -> list[str]:
    """Return what the transcripts add, and the names of clips without one."""
    lines = []
    if "gain" in details:
        form = _(
            "The texts alone answer %(texts)s of them [%(texts_interval)s]; the transcripts add %(gain)s points "
            "[%(gain_interval)s]."
        )
        intervals = {name: details[name] or () for name in ("texts_interval", "gain_interval")}
        values = {name: " to ".join(f"{100 * bound:.1f}" for bound in bounds) for name, bounds in intervals.items()}
        lines.append(form % {"texts": share(details["texts"]), "gain": f"{100 * details['gain']:.1f}", **values})
    if names := details.get("without_transcript"):
        more = and_more(details["n_without"] - len(names))
        lines.append(_("Without a transcript: %(names)s.") % {"names": ", ".join(filter(None, [*names, more]))})
    return lines


def _of_repeats(details: Mapping[str, Any]) -> list[str]:
    """Return why a check warns or fails although its share is 0 %, and what it could not tell."""
    lines = []
    if n := details.get("equal"):
        lines.append(ngettext("%(n)s pair has equal texts.", "%(n)s pairs have equal texts.", n) % {"n": count(n)})
    if n := details.get("equal_without_video"):
        form = ngettext(
            "%(n)s pair of them names no video: it may have a clip for each text, so it is only a warning.",
            "%(n)s pairs of them name no video: they may have a clip for each text, so they are only a warning.",
            n,
        )
        lines.append(form % {"n": count(n)})
    if n := details.get("twice"):
        lines.append(
            ngettext("%(n)s item has the same foil twice.", "%(n)s items have the same foil twice.", n)
            % {"n": count(n)}
        )
    if n := details.get("repeated_without_video"):
        form = ngettext(
            "%(n)s repeated item names no video: it may be about another one, so it is only a warning.",
            "%(n)s repeated items name no video: they may be about other ones, so they are only a warning.",
            n,
        )
        lines.append(form % {"n": count(n)})
    return lines


def n_unlisted(details: Mapping[str, Any]) -> int:
    """Return how many bad records the first SHOWN lines of problems do not count."""
    counts = details.get("counts") or [1] * len(details.get("problems", []))
    return int(details.get("bad", 0)) - sum(counts[:SHOWN])


def and_more(n: int) -> str:
    """Return "and 212 more"; "" for none."""
    return _("and %(n)s more") % {"n": count(n)} if n > 0 else ""
