"""List every report, one row each.

A module gives `VERSION`, `INPUT` and `compute(data, **params) -> dict`. `INPUT` is what it computes on: items, texts,
votes, verdicts, reviews, screening, stages, people, objects, scored, corpus or edits (see
evaluation/score_files/items.py, evaluation/score_files/analysis_files.py and evaluation/reports/reports.py).
"""

from foilworks.core.text.plugin_contracts import Call, Contract
from foilworks.core.text.plugins import Registry
from foilworks.core.text.registry import Entry, Param

BASE = Param("base", "2", "Base of the logarithm of the JS divergence.", "choice", ("2", "e"))
UNIT = Param("unit", "words", "All words, or only the words that differ.", "choice", ("words", "changed"))
TIES = Param("ties", "half", "How ties count.", "choice", ("half", "strict", "optimistic", "first"))
CUT = Param("cut", "quantile", "Groups of equal size, or of equal width in log seconds.", "choice", ("quantile", "log"))
SHARE = Param("share", 0.15, "Share of the items in each group (nearest, farthest).", "float")
CODING = Param("coding", "truth", "How votes are coded for agreement.", "choice", ("truth", "truth3", "shown"))
SEED = Param("seed", 0, "Seed of the folds.", "int")
PRECISION = Param("precision", 0.0, "Minimum precision. 0 fits the best F1.", "float")
RESPONDENTS = Param("respondents", "models", "Respondents.", "choice", ("models", "people"))
MAX_LOSS = Param("max_loss", 0.05, "Max share of the valid foils that may be lost.", "float")
PEOPLE = Param("people", "", "Imported subtests whose foils people wrote, separated by commas.")
# A position on the screen says nothing about the truth of the item.
TRUTH_CODING = Param("coding", "truth", CODING.help, "choice", ("truth", "truth3"))

_REPORTS: dict[str, Entry] = {
    "validation": Entry(
        label="Validation",
        path="evaluation.analyses.validation",
        params=(BASE, UNIT),
        summary="Valid and unanimous items, proficiency, agreement and divergence, per subtest (ViLMA, Tables 4-6).",
        deviations=("Percentages are computed from the counts; some printed ones contradict them (ViLMA, Table 6).",),
    ),
    "agreement": Entry(
        label="Agreement",
        path="evaluation.analyses.agreement",
        params=(CODING,),
        summary="Krippendorff's alpha under a named coding, Fleiss' kappa, per pair and per annotator.",
    ),
    "skill": Entry(
        label="Skill of validators",
        path="evaluation.analyses.skill",
        params=(TRUTH_CODING,),
        summary="Dawid-Skene compared with the majority: annotator skill, and which verdicts would change.",
    ),
    "irt": Entry(
        label="Item response",
        path="evaluation.analyses.item_response",
        params=(RESPONDENTS,),
        summary="Which items tell models apart and which are noise: difficulty and discrimination of items, ability of "
        "models or people (two-parameter logistic model).",
        deviations=("The posterior is sampled: with few models, its mode by EM is biased (Bock & Aitkin 1981).",),
    ),
    "reviewing": Entry(
        label="Reviewing",
        path="evaluation.analyses.reviewing",
        summary="Decisions of reviewers with their reasons, share of foils reviewed, and agreement of two reviewers.",
    ),
    "divergence": Entry(
        label="Divergence",
        path="evaluation.analyses.jensen_shannon",
        params=(BASE, UNIT),
        summary="Jensen-Shannon divergence of caption and foil words, and the words that shift most.",
        deviations=("No definition that was tried on the released files gives the published values.",),
    ),
    "blind": Entry(
        label="Blind audit",
        path="evaluation.analyses.blind",
        summary="Can a solver that never sees a video tell foils from captions?",
    ),
    "certificate": Entry(
        label="Certificate",
        path="evaluation.analyses.certificate",
        params=(SEED,),
        summary="How far texts alone answer the items, with repeated folds and redrawn answers. Only this report says "
        "“nothing found”.",
    ),
    "fair": Entry(
        label="Fair set",
        path="evaluation.analyses.fair_set",
        params=(SEED,),
        summary="Which valid items their texts answer, what a fair set would keep, and how the others become fair.",
    ),
    "filters": Entry(
        label="Filters against verdicts",
        path="evaluation.analyses.filters",
        params=(PRECISION,),
        summary="Thresholds fitted to human verdicts, with their precision and recall.",
    ),
    "screening": Entry(
        label="Screening",
        path="evaluation.analyses.screening",
        params=(MAX_LOSS,),
        summary="Work saved and valid foils lost by video models that screen foils, with a judged sample of the "
        "rejected ones.",
        deviations=("No paper defines saved work; it is measured at an equal number of valid foils.",),
    ),
    "position": Entry(
        label="Position bias",
        path="evaluation.analyses.position",
        summary="Do validators choose the first text more often than the second?",
    ),
    "funnel": Entry(
        label="Funnel",
        path="evaluation.analyses.funnel",
        summary="Candidates generated, passed, accepted, assembled, valid and released, and which filters rejected "
        "the rest.",
    ),
    "people": Entry(
        label="People",
        path="evaluation.analyses.people",
        summary="Tasks, time and share of the clip played, per person.",
    ),
    "objects": Entry(
        label="Object check",
        path="evaluation.analyses.objects",
        summary="Share of extracted objects that people see, error classes and hallucination rate (UTD, Sec. 4.2).",
    ),
    "delta": Entry(
        label="Score change by edit",
        path="evaluation.analyses.delta",
        summary="Drop in score from caption to foil, by type of edit (Feint6K, Fig. 5).",
    ),
    "proximity": Entry(
        label="Semantic proximity",
        path="evaluation.analyses.proximity",
        params=(SHARE, TIES),
        summary="Accuracy on antonyms and on the foils nearest to and farthest from the caption (contrast sets, Table "
        "5).",
    ),
    "identity": Entry(
        label="Rare identities",
        path="evaluation.analyses.identity",
        params=(TIES,),
        summary="Accuracy on items whose original name is rarer in training than the swapped name (contrast sets, "
        "Table 4).",
    ),
    "counts": Entry(
        label="Accuracy by count",
        path="evaluation.analyses.counts",
        params=(TIES,),
        summary="Accuracy by the number counted, with mean and deviation per model category (ViLMA, Fig. 11).",
    ),
    "length": Entry(
        label="Accuracy by video length",
        path="evaluation.analyses.length",
        params=(CUT, TIES),
        summary="Accuracy in six groups of video length, with a histogram of the lengths (ViLMA, Fig. 23).",
        deviations=("The figure does not say how its six groups were formed, so both options are available.",),
    ),
    "numbers": Entry(
        label="Number words",
        path="evaluation.analyses.numbers",
        summary="Frequency of each number in a corpus of captions (ViLMA, Fig. 12).",
    ),
    "verbs": Entry(
        label="Verbs of machines and people",
        path="evaluation.analyses.verbs",
        params=(PEOPLE,),
        summary="Verbs that machine-made and human-made foils insert (contrast sets, Fig. 3).",
        deviations=(
            "The paper does not say which verbs it counts; here these are the verbs that a foil inserts.",
            "Parts of speech and lemmas are from our own tagger, not from spaCy and NLTK.",
        ),
    ),
}

INPUTS = frozenset(
    {
        "items", "texts", "votes", "verdicts", "screening", "reviews", "stages", "people", "objects", "scored",
        "responses", "corpus", "edits",
    }
)  # fmt: skip
_CONTRACT = Contract(
    {"compute": Call(("data",), is_json=True)},
    defaults={"VERSION": "1", "INPUT": "items"},
    choices={"INPUT": INPUTS},
    takes_params=True,
)
REPORTS = Registry("reports", _REPORTS, _CONTRACT)

# They read scores of a release, so they belong to a release, not to a project.
OF_SCORES = frozenset({"delta", "proximity", "identity", "counts", "length"})
# They take seconds to load or to compute: jobs and commands compute them, pages show stored results.
BY_JOB = frozenset({"skill", "irt", "certificate", "fair"})
# They take minutes: `compute` also takes `progress` (steps done, all steps, state) and the `state` to continue from.
STEPWISE = frozenset({"certificate"})
