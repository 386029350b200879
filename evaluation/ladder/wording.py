"""Say in sentences what a ladder shows. Every number has its interval."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.formats import get_format
from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy, ngettext

from evaluation.metrics.ladder import COSTS, DIAGNOSTICS, MIN_ITEMS, NEEDS, NOTHING, TOO_FEW
from evaluation.metrics.rungs import RUNGS, Rung
from evaluation.metrics.stress import CLAIMS, STRESS
from evaluation.scoring.models import Run
from evaluation.scoring.rungs import FRAMES_TRIED
from evaluation.templatetags.numbers import BETWEEN
from evaluation.templatetags.utd import points

Ladder = Mapping[str, Any]
Words = str | Promise

RUNG_LABELS: dict[str, Words] = {rung: gettext_lazy(kind.label) for rung, kind in RUNGS.items()}
GREY_FRAMES = gettext_lazy("gray frames")
ONE_OF = gettext_lazy("of %(n)s single frames, the most certain one")
PART_LABELS: dict[str, Words] = {
    "words": gettext_lazy("Texts alone"),
    "picture": gettext_lazy("One frame"),
    "frames": gettext_lazy("More frames"),
    "order": gettext_lazy("Order of frames"),
}
# Of single items, for filters and files.
NEED_LABELS: dict[str, Words] = {
    "clip": gettext_lazy("is supported to need its clip"),
    "frames": gettext_lazy("is supported to need several frames"),
    "order": gettext_lazy("is supported to need the order"),
}
# Of a waterfall; also in English, for papers.
WATERFALL_LABELS = {
    "words": "Words alone",
    "picture": "One frame",
    "frames": "Several frames",
    "order": "Order of frames",
}
# Of a release: each includes the ones after it.
SELECTION_LABELS: dict[str, Words] = {
    "clip": gettext_lazy("items supported to need their clip"),
    "frames": gettext_lazy("items supported to need several frames"),
    "order": gettext_lazy("items supported to need the order of frames"),
}

SENTENCES: dict[tuple[str, str], Words] = {
    ("words", NEEDS): gettext_lazy("%(points)s points %(ci)s above chance come from the texts alone."),
    ("words", NOTHING): gettext_lazy("The texts alone give no detectable gain over chance (%(points)s points %(ci)s)."),
    ("words", COSTS): gettext_lazy("From the texts alone, the score is below chance (%(points)s points %(ci)s)."),
    ("picture", NEEDS): gettext_lazy("%(points)s points %(ci)s of this score need one frame."),
    ("picture", NOTHING): gettext_lazy("One frame makes no detectable difference (%(points)s points %(ci)s)."),
    ("picture", COSTS): gettext_lazy("With one frame, the score is lower (%(points)s points %(ci)s)."),
    ("frames", NEEDS): gettext_lazy("%(points)s points %(ci)s of this score need several frames, in any order."),
    ("frames", NOTHING): gettext_lazy("More frames make no detectable difference (%(points)s points %(ci)s)."),
    ("frames", COSTS): gettext_lazy("With more frames, the score is lower (%(points)s points %(ci)s)."),
    ("order", NEEDS): gettext_lazy("%(points)s points %(ci)s of this score need the order of frames."),
    ("order", NOTHING): gettext_lazy("The order of frames makes no detectable difference (%(points)s points %(ci)s)."),
    ("order", COSTS): gettext_lazy("In the right order, the score is lower (%(points)s points %(ci)s)."),
}
# Of the rungs that are compared with the full clip outside of the sum.
COMPARED: dict[str, Words] = {
    NEEDS: gettext_lazy("%(phrase)s, the score is %(points)s points %(ci)s lower."),
    NOTHING: gettext_lazy("%(phrase)s, the score is not detectably different (%(points)s points %(ci)s)."),
    COSTS: gettext_lazy("%(phrase)s, the score is higher (%(points)s points %(ci)s)."),
}
JOINED = {
    NEEDS: gettext_lazy("%(points)s points %(ci)s come from these together: %(parts)s."),
    NOTHING: gettext_lazy("These together make no detectable difference (%(points)s points %(ci)s): %(parts)s."),
    COSTS: gettext_lazy("These together make the score lower (%(points)s points %(ci)s): %(parts)s."),
}


def interval(bounds: Sequence[float]) -> str:
    """Format an interval of shares in points, such as [3.0, 9.0]."""
    between = BETWEEN.get(get_format("DECIMAL_SEPARATOR"), "; ")
    return f"[{points(bounds[0])}{between}{points(bounds[1])}]"


def shown_at(run: Run) -> dict[str, str]:
    """Return {rung: what the model saw}."""
    ladder_params = run.params.get("ladder") or {}
    texts = {str(rung): gettext(kind.seen) if kind.seen else "" for rung, kind in RUNGS.items()}
    if ladder_params.get("no_clip") == "grey":
        texts[Rung.NO_CLIP] = str(GREY_FRAMES)
    texts[Rung.BEST_FRAME] = ONE_OF % {"n": ladder_params.get("tried", FRAMES_TRIED)}
    return texts


def sentences(ladder: Ladder) -> list[str]:
    """Return what the parts of a ladder and its diagnostics say, one sentence each; one sentence if items are few."""
    if not ladder["parts"] or ladder["too_few"]:
        return [_too_few(ladder["n"])]
    texts = [_sentence(step["parts"], step) for step in ladder["parts"]]
    texts += [_sentence([name], ladder["diagnostics"][name]) for name in DIAGNOSTICS if name in ladder["diagnostics"]]
    return [text for text in texts if text]


def _sentence(names: Sequence[str], row: Mapping[str, Any]) -> str:
    say = row["say"]
    if say == TOO_FEW:
        return ""
    # Of a score that is lower, the sentence says lower: its number stays as it is in the table.
    values = {"points": points(row["value"]), "ci": interval(row["ci"])}
    if names[0] in DIAGNOSTICS:
        return str(COMPARED[say] % {**values, "phrase": gettext(RUNGS[DIAGNOSTICS[names[0]]].phrase)})
    if len(names) == 1:
        return str(SENTENCES[names[0], say] % values)
    return str(JOINED[say] % {**values, "parts": parts_label(names)})


def parts_label(names: Sequence[str]) -> str:
    """Return the label of a part, or of several that have no scores between them."""
    return ", ".join(str(PART_LABELS[name]) for name in names)


CLAIMS_SAID = gettext_lazy(
    "The model agrees with %(value)s of false claims and %(other)s of true ones; a guess agrees with 50 %%."
)
PRESSURE_SAID = gettext_lazy(
    "A claim adds %(points)s points %(ci)s to its yes about foils (%(plain)s without a claim)."
)
REVERSED_SAID = gettext_lazy(
    "The model calls %(value)s of reversed clips forward, and %(other)s of clips as they are; a guess calls 50 %%."
)
GAP_SAID: dict[bool, Words] = {
    True: gettext_lazy("It tells them apart by %(points)s points %(ci)s."),
    False: gettext_lazy("It does not detectably tell them apart (%(points)s points %(ci)s)."),
}


def stress_sentences(tests: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return what the stress tests of a run say, one paragraph each; one sentence if items are few."""
    return [f"{gettext(STRESS[name].label)}: {_stress_sentence(name, row)}" for name, row in tests.items()]


def _stress_sentence(name: str, row: Mapping[str, Any]) -> str:
    if row["n"] < MIN_ITEMS or row["ci"] is None:
        return ngettext(
            "only %(n)s item has answers, too few to say anything.",
            "only %(n)s items have answers, too few to say anything.",
            row["n"],
        ) % {"n": row["n"]}
    values = {
        "value": f"{points(row['value'])} % {interval(row['ci'])}",
        "other": f"{points(row['other'])} % {interval(row['other_ci'])}",
    }
    gap = {"points": points(row["gap"]), "ci": interval(row["gap_ci"])}
    texts = [(CLAIMS_SAID if name == CLAIMS else REVERSED_SAID) % values, GAP_SAID[row["gap_ci"][0] > 0] % gap]
    if row.get("pressure_ci"):
        added = {"points": points(row["pressure"]), "ci": interval(row["pressure_ci"])}
        texts.append(PRESSURE_SAID % {**added, "plain": f"{points(row['plain'])} %"})
    return " ".join(map(str, texts))


def _too_few(n: int) -> str:
    words = ngettext(
        "Only %(n)s item has a score at every rung: too few to say what the score needs.",
        "Only %(n)s items have a score at every rung: too few to say what the score needs.",
        n,
    )
    return words % {"n": n}


def benchmark_sentences(ladder: Ladder) -> list[str]:
    """Return what a ladder of a release says about the benchmark: the headline, then what limits it."""
    overall = ladder["overall"]
    texts = [need_headline(ladder)]
    if not overall["parts"]:
        return [*texts, *_guessers(overall)]
    solved = {"solved": points(overall["solved"]), "ci": interval(overall["solved_ci"])}
    texts.append(str(SOLVED % solved))
    texts += _guessers(overall)
    for level, against in overall["against"].items():
        texts.append(str(AGAINST % {"solver": against["solver"], "what": PART_LABELS[level]}))
    if overall["at_most"]:
        texts.append(str(NO_CONTROL))
    if overall["not_monotone"]:
        texts.append(str(NOT_MONOTONE % {"levels": parts_label(overall["not_monotone"])}))
    return texts


def need_headline(ladder: Ladder) -> str:
    """Return the one sentence about what the items need: the largest part, with its interval."""
    overall = ladder["overall"]
    if not overall["n"] or overall["n"] < MIN_ITEMS:
        return _too_few(overall["n"])
    if not overall["parts"]:
        return str(NO_LEADERS)
    largest = max(overall["parts"], key=lambda part: part["share"])
    if not largest["shown"]:
        return str(NOTHING_SHOWN)
    low, high = (share_points(bound) for bound in largest["ci"])
    between = BETWEEN.get(get_format("DECIMAL_SEPARATOR"), "; ")
    values = {
        "models": ", ".join(overall["leaders"]),
        "share": share_points(largest["share"]),
        "ci": f"[{low}{between}{high}]",
        "what": " / ".join(str(NEEDED[name]) for name in largest["parts"]),
    }
    is_at_most = overall["at_most"] and "order" in largest["parts"]
    return str((AT_MOST if is_at_most else HEADLINE) % values)


def share_points(share: float) -> str:
    """Format a share in percent without decimals, as the waterfall does."""
    return f"{100 * share:.0f}"


def _guessers(overall: Ladder) -> list[str]:
    names = overall["guessers"]
    words = ngettext(
        "%(models)s is at luck with the full clip, and gives no evidence for a need.",
        "%(models)s are at luck with the full clip, and give no evidence for a need.",
        len(names),
    )
    return [words % {"models": ", ".join(names)}] if names else []


def waterfall_rows(ladder: Ladder) -> list[tuple[str, float, Sequence[float]]]:
    """Return the rows of `charts.waterfall`; a row of several levels if those between have no scores."""
    return [
        (" / ".join(WATERFALL_LABELS[name] for name in part["parts"]), part["share"], part["ci"])
        for part in ladder["overall"]["parts"]
    ]


NEEDED: dict[str, Words] = {
    "words": gettext_lazy("only their texts"),
    "picture": gettext_lazy("one frame"),
    "frames": gettext_lazy("several frames, in any order"),
    "order": gettext_lazy("the order of the frames"),
}
HEADLINE = gettext_lazy("Supported for %(models)s: %(share)s %% %(ci)s of the items need %(what)s.")
AT_MOST = gettext_lazy("Supported for %(models)s: at most %(share)s %% %(ci)s of the items need %(what)s.")
NO_LEADERS = gettext_lazy("No model is above luck with the full clip, so nothing shows what the items need.")
NOTHING_SHOWN = gettext_lazy("No need is shown: no part is more than luck can give.")
SOLVED = gettext_lazy(
    "The models solve %(solved)s %% %(ci)s of the items beyond luck. The intervals include what the others may need."
)
AGAINST = gettext_lazy("%(solver)s answers more than these models from this: %(what)s.")
NO_CONTROL = gettext_lazy(
    "Shuffled frames are strange to a model. Valid proficiency items would show how much of the order is only that."
)
NOT_MONOTONE = gettext_lazy("A rung is below one with less of the clip, so its part is uncertain: %(levels)s.")


def selection_notice(selection: Mapping[str, Any]) -> str:
    """Return what readers of a release must know if its items were selected by a ladder."""
    names = list(dict.fromkeys(model["label"] for model in selection["models"]))
    words = ngettext(
        "Items were selected with the scores of %(models)s: its score here is optimistic.",
        "Items were selected with the scores of %(models)s: their scores here are optimistic.",
        len(names),
    )
    return words % {"models": ", ".join(names)}
