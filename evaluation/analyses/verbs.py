"""Compare the verbs that machines and people insert into foils, and their distributions (contrast sets, Fig. 3).

Each value is a verb's share of all verbs of that source. The verb of a foil is the lemma in its record (`verb`);
without one, the first inserted word, lower-cased and not lemmatised. The result says which.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from evaluation.analyses.words import js_divergence
from evaluation.errors import EvaluationError
from text.diff import diff_edits
from text.quoting import quoted
from text.tokens import words

VERSION = "1"
INPUT = "edits"
TOP = 30
SOURCES = ("machine", "person")


@dataclass(frozen=True)
class EditFacts:
    """A foil and its author; `verb` is the lemma that it inserts, empty if unknown."""

    caption: str
    foil: str
    source: str
    verb: str = ""


def verb_of(edit: EditFacts) -> str:
    """Return the named verb, else the first inserted word; empty if the foil only removes words."""
    if edit.verb:
        return edit.verb.lower()
    put_in = [word for each in diff_edits(edit.caption.lower(), edit.foil.lower()) for word in words(each.target)]
    return put_in[0] if put_in else ""


def compute(edits: Sequence[EditFacts], *, top: int = TOP, draws: int = 0, seed: int = 0) -> dict[str, Any]:
    """Return rows by verb, most frequent over both first: `machine` and `person` shares; `js` in base 2 between the
    two.

    `top_share`: the share of the ten most frequent verbs of a source (how skewed it is). EvaluationError without foils.
    """
    if not edits:
        raise EvaluationError("there are no foils; give some made by machines and some made by people")
    if wrong := {edit.source for edit in edits} - set(SOURCES):
        raise EvaluationError(f"unknown source {quoted(sorted(wrong)[0])}; give machine or person")
    counts = {source: Counter(v for e in edits if e.source == source and (v := verb_of(e))) for source in SOURCES}
    totals = {source: counter.total() for source, counter in counts.items()}
    shares = {
        source: {verb: n / totals[source] for verb, n in counter.items()} if totals[source] else {}
        for source, counter in counts.items()
    }
    both = sorted(set().union(*shares.values()), key=lambda v: (-sum(s.get(v, 0.0) for s in shares.values()), v))
    named = sum(bool(edit.verb) for edit in edits)
    return {
        "rows": [
            {"verb": verb, **{source: shares[source].get(verb, 0.0) if totals[source] else None for source in SOURCES}}
            for verb in both[:top]
        ],
        "js": js_divergence(counts["machine"], counts["person"]),
        "n": totals,
        "n_verbs": {source: len(counter) for source, counter in counts.items()},
        "top_share": {
            source: sum(n for _, n in counts[source].most_common(10)) / totals[source] if totals[source] else None
            for source in SOURCES
        },
        "definition": "lemmas named" if named == len(edits) else "first word put in" if not named else "mixed",
    }
