"""List every metric, one row each. Commands and pages read this table; only `foilworks.core.text.registry.load`
imports a row's module.

A module gives `VERSION`, `INPUT` (the kind of score file it reads: pairs, choices, two_clips, sets, matrix, answers
or open; see evaluation/score_files) and `compute(data, *, ties) -> dict`.
"""

from foilworks.core.text.plugin_contracts import Call, Contract
from foilworks.core.text.plugins import Registry
from foilworks.core.text.registry import Entry, Param

# Repeated here, because a registry imports nothing that it lists. A test compares it with metrics/ties.py.
TIES = Param("ties", "half", "How ties count.", "choice", ("half", "strict", "optimistic", "first"))

_METRICS: dict[str, Entry] = {
    "pairwise": Entry(
        label="Pairwise ranking accuracy (P, T, P+T)",
        path="evaluation.metrics.pairwise",
        params=(TIES,),
        summary="Share of items whose caption scores above every foil, also together with the proficiency item "
        "(ViLMA).",
        deviations=(
            "The released code counts ties as right. The default here is `half`; `first` reproduces the code.",
        ),
    ),
    "rcad": Entry(
        label="Retrieval among counterfactuals (R@k, ranks)",
        path="evaluation.metrics.rcad",
        params=(TIES,),
        summary="Rank of the true caption among its counterfactuals (Feint6K).",
        deviations=("The published script ranks ties in favour of the caption; `optimistic` reproduces it.",),
    ),
    "mc": Entry(
        label="Multiple choice accuracy",
        path="evaluation.metrics.mc",
        params=(TIES,),
        summary="Share of items whose true caption is chosen among its candidates (contrast sets).",
    ),
    "two-clips": Entry(
        label="Text, video and group score (items of two clips)",
        path="evaluation.metrics.two_clips",
        params=(TIES,),
        summary="Share of items of two clips whose captions are right on both clips, whose clips are right for both "
        "captions, and both (Winoground, Vinoground).",
        deviations=("Both papers count every tie as wrong; `strict` reproduces it.",),
    ),
    "sets": Entry(
        label="Sets of answers (pair, instance, text, video and group score, Video-MME-v2)",
        path="evaluation.metrics.sets",
        summary="Share of sets of answers that are all right, and scores of groups with a structure (MVP, TimeBlind, "
        "Vinoground, Video-MME-v2).",
        deviations=(
            "The code of Video-MME-v2 gives an unreadable answer -1, which chains count as right. Here it is wrong.",
        ),
    ),
    "control": Entry(
        label="Retrieval among sampled candidates (control)",
        path="evaluation.metrics.control",
        params=(TIES,),
        summary="R@k and ranks of the caption of a video among 5 captions of other videos, as a baseline for RCAD "
        "(Feint6K).",
    ),
    "classes": Entry(
        label="Classification accuracy (UTD benchmarks)",
        path="evaluation.metrics.classes",
        summary="Accuracy over samples, from predicted classes or from right/wrong values (UTD, Sec. 5).",
    ),
    "open": Entry(
        label="Open and numeric answers",
        path="evaluation.metrics.open_answers",
        summary="Exact match of words, and mean relative accuracy of numbers (VSI-Bench).",
        deviations=(
            "The paper counts a relative error below a threshold; `released_code` also counts one equal to it.",
            "The released code reads the first word as the number; here, an answer that names one number is read.",
        ),
    ),
    "retrieval": Entry(
        label="Standard retrieval (text to video, video to text)",
        path="evaluation.metrics.retrieval",
        params=(TIES,),
        summary="R@1, R@5, R@10, median and mean rank over N x N similarities, in bounded memory.",
    ),
}
INPUTS = frozenset({"pairs", "choices", "two_clips", "matrix", "answers", "open"})
_CONTRACT = Contract(
    {"compute": Call(("data",), is_json=True)},
    defaults={"VERSION": "1", "INPUT": "pairs"},
    choices={"INPUT": INPUTS},
    takes_params=True,
)
METRICS = Registry("metrics", _METRICS, _CONTRACT)
