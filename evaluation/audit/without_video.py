"""Solve items without their video, and say in one sentence what that means."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from evaluation.audit.records import SMALL_MODEL, without_labels
from evaluation.number_text import count, share
from evaluation.number_text import gettext as _
from foilworks.core.corpus.records import TextRecord
from foilworks.core.solver.solution import Solution

QUESTIONS, PAIRS, LABELS, ITEMS = "questions", "pairs", "labels", "items"


def as_result(solution: Solution, records: Sequence[TextRecord]) -> dict[str, Any]:
    """Return the headline with its tiers, parts and kinds, as JSON; the scores per item are `item_scores` beside it."""
    document = solution.as_json()
    del document["items"]
    return {**asdict(solution.headline), "unit": _unit(records), **document}


def item_scores(solution: Solution, records: Sequence[TextRecord]) -> list[dict[str, Any]]:
    """Return how far each item is answered without the video, as JSON.

    An item without an id is named by its line; of several subtests, also by its subtest, so that names differ.
    """
    is_one = len({record.subtest for record in records}) == 1
    names = [record.id or (str(record.where) if is_one else f"{record.subtest}:{record.where}") for record in records]
    return [{**asdict(item), "id": name} for item, name in zip(solution.items, names, strict=True)]


def _unit(records: Sequence[TextRecord]) -> str:
    if not without_labels(records):
        return LABELS
    if all(record.question for record in records):
        return QUESTIONS
    return PAIRS if all(len(record.wrongs) == 1 for record in records) else ITEMS


def sentence(result: Mapping[str, Any]) -> str:
    """Return what the audit means, a sentence per kind of answers, with the share of the records that it is about."""
    row = result["without_video"]
    sentences = [_of_open(open_row, result) for open_row in result.get("open_answers", ()) if is_main(open_row)]
    return " ".join([*([_of_options(row, result)] if row else []), *sentences])


def is_main(row: Mapping[str, Any]) -> bool:
    """Report whether a row of open answers is in the sentence: exact match of numbers is only beside it."""
    return bool(row["kind"] != "numbers" or row["metric"] != "exact match")


def _of_options(row: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    facts = {
        "what": _named(row["unit"]) + _part(result, result["items"]),
        "value": share(row["value"]),
        "opposite": share(1 - row["value"]),
        "low": share(row["interval"][0]),
        "high": share(row["interval"][1]),
        "chance": share(row["chance"]),
    }
    forms = {
        "fail": _("Fail: %(value)s of the %(what)s are answered without the video"),
        "reversed": _(
            "Reversed: %(value)s of the %(what)s are answered without the video, so the opposite answer is "
            "right in %(opposite)s"
        ),
        "nothing_found": _("Nothing found: %(value)s of the %(what)s are answered without the video"),
        "nothing_found_so_far": _("Nothing found so far: %(value)s of the %(what)s are answered without the video"),
        "cannot_tell": _("Cannot tell: %(value)s of the %(what)s are answered without the video"),
    }
    form = forms[row["verdict"]] + _(" (95 %% interval %(low)s to %(high)s; chance is %(chance)s)")
    return form % facts + _ending(result)


def _of_open(row: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    forms = {
        "fail": _("Fail: "),
        "warn": _("Warning: "),
        "nothing_found_so_far": _("Nothing found so far: "),
        "cannot_tell": _("Cannot tell: "),
    }
    measured = {
        "words": _("%(value)s of the open answers in words%(part)s are given without the video"),
        "numbers": _(
            "the open answers in numbers%(part)s have a mean relative accuracy of %(value)s without the video"
        ),
    }
    form = forms[row["verdict"]] + measured[row["kind"]]
    form += _(" (95 %% interval %(low)s to %(high)s; the best constant answers per type reach %(chance)s).")
    return form % {
        "part": _part(result, _n_records(row, result)),
        "value": share(row["value"]),
        "low": share(row["interval"][0]),
        "high": share(row["interval"][1]),
        "chance": share(row["chance"]),
    }


def _n_records(row: Mapping[str, Any], result: Mapping[str, Any]) -> int:
    """Return the number of open records of a kind; that of a sample stands for the share of all."""
    n_solved = sum(other["n"] for other in result["open_answers"] if is_main(other))
    return round(result["records"]["open"] * row["n"] / n_solved)


def _part(result: Mapping[str, Any], n: int) -> str:
    """Return ", which are 48.5 % of all records,"; "" for all of them."""
    total = sum(result.get("records", {}).values())
    return _(", which are %(share)s of all records,") % {"share": share(n / total)} if n < total else ""


def _ending(result: Mapping[str, Any]) -> str:
    checks = {"model", "knows", "learns"}
    models = [finding["details"] for finding in result["findings"] if finding["check"] in checks and finding["n"]]
    if not models:
        return _(". Only words were compared: no language model said what is plausible.")
    sizes = [model.get("parameters") for model in models]
    names = ", ".join(dict.fromkeys(size_name(model) for model in models))
    if all(size is not None and size < SMALL_MODEL for size in sizes):
        return _("; plausibility tested with %(models)s only.") % {"models": names}
    return _("; plausibility tested with %(models)s.") % {"models": names}


def size_name(model: Mapping[str, Any]) -> str:
    """Return a model's name with its size, such as "a 270M model (gemma)"; the name alone if the size is unknown."""
    size = model.get("parameters")
    if size is None:
        return str(model["probe"])
    digits = f"{float(f'{size:.2g}') / 10**9:g}B" if size >= SMALL_MODEL else f"{float(f'{size:.2g}') / 10**6:g}M"
    return _("a %(size)s model (%(name)s)") % {"size": digits, "name": model["probe"]}


def note(result: Mapping[str, Any]) -> str:
    """Return what else a reader must know of the first sentence."""
    row = result["without_video"]
    if row is None:
        return ""
    reasons = {
        "wide": _("The interval is too wide for a verdict."),
        "group": _("More than a fifth of the items have one video, so too little is left to learn from."),
        "few": _("There are fewer than five videos or items to learn from."),
        "interval": _("The interval includes both answers."),
    }
    texts = [str(reasons[row["why"]])] if row["why"] else []
    form = _("%(file)s is not UTF-8 and was read as %(encoding)s: check its accents and signs.")
    # A project's certificate has no files.
    recoded = [file for file in result.get("files", ()) if "encoding" in file]
    texts += [form % {"file": file["name"], "encoding": file["encoding"]} for file in recoded]
    if row["n_needed"]:
        texts.append(_("About %(n)s items would decide.") % {"n": count(row["n_needed"])})
    for part in row["parts"]:
        if part["name"] == "mirrored":
            form = _(
                "%(n)s items are in mirrored sets: the same texts with another clip and another answer. Of them "
                "%(value)s are answered, where %(chance)s is chance."
            )
            values = {"n": count(part["n"]), "value": share(part["value"]), "chance": share(part["chance"])}
            texts.append(form % values)
    if row["held_out"] is not None:
        chosen = row["tiers"][row["headline"]]
        form = _(
            "These items are a selection. The verdict is that of probes that did not choose them; those that did "
            "answer %(value)s, which is too low, and count only if they fail."
        )
        texts.append(form % {"value": share(chosen["value"])})
    if row["verdict"] == "nothing_found_so_far":
        texts.append(_("Before you say “nothing found”, get a certificate (--certify, or a project's reports)."))
    if result["sample"]["items"] < result["items"]:
        texts.append(_("The solver read a random sample of %(n)s items.") % {"n": count(result["sample"]["items"])})
    return " ".join(texts)


def _named(unit: str) -> str:
    names = {QUESTIONS: _("questions"), PAIRS: _("pairs"), LABELS: _("labelled texts"), ITEMS: _("items")}
    return names[unit]
