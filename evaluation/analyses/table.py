"""Every report, one row each. A module gives `VERSION`, `INPUT` (items, texts, votes, stages or people: what it
computes on; see evaluation/item_files.py and evaluation/reports.py) and `compute(data, **params) -> dict`.
"""

from text.registry import Entry, Param

BASE = Param("base", "2", "Base of the logarithm of the JS divergence.", "choice", ("2", "e"))
UNIT = Param("unit", "words", "All words, or only those that differ.", "choice", ("words", "changed"))
CODING = Param("coding", "truth", "How votes are coded for agreement.", "choice", ("truth", "truth3", "shown"))

REPORTS: dict[str, Entry] = {
    "validation": Entry(
        label="Validation",
        path="evaluation.analyses.validation",
        params=(BASE, UNIT),
        summary="Valid and unanimous items, proficiency, agreement and divergence, per subtest (ViLMA, Tables 4-6).",
        deviations=("Percentages follow from the counts; some of Table 6 do not.",),
    ),
    "agreement": Entry(
        label="Agreement",
        path="evaluation.analyses.agreement",
        params=(CODING,),
        summary="Krippendorff's alpha under a named coding, Fleiss' kappa, per pair and per annotator.",
    ),
    "divergence": Entry(
        label="Divergence",
        path="evaluation.analyses.divergence",
        params=(BASE, UNIT),
        summary="Jensen-Shannon divergence of caption and foil words, and the words that shift most.",
        deviations=("The published values follow from no definition that was tried on the released files.",),
    ),
    "blind": Entry(
        label="Blind audit",
        path="evaluation.analyses.blind",
        summary="Can a bag-of-words classifier tell foils from captions?",
    ),
    "position": Entry(
        label="Position bias",
        path="evaluation.analyses.position",
        summary="Do validators choose the first text more often than the second?",
    ),
    "funnel": Entry(
        label="Funnel",
        path="evaluation.analyses.funnel",
        summary="Candidates made, passed, accepted, assembled, valid, released; which filters took the rest.",
    ),
    "people": Entry(
        label="People",
        path="evaluation.analyses.people",
        summary="Work, time and watch evidence of each person.",
    ),
}
