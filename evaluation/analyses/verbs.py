"""Compare the verbs that machines and people insert into foils, and their distributions (contrast sets, Fig. 3).

Each value is a verb's share of all inserted verbs of that source. Verbs are lemmatised ("drops" and "is dropping" are
"drop"). Auxiliaries and negations are counted apart, outside the distribution. A file may name the lemma of its
foil (`verb`).
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from evaluation.analyses.analysis_inputs import MACHINE, PERSON, SOURCES, EditFacts
from evaluation.analyses.words import js_divergence
from evaluation.errors import EvaluationError
from foilworks.core.text.diff import diff_edits
from foilworks.core.text.language.tokens import Token
from foilworks.core.text.language.tools import Tagger, tagger
from foilworks.core.text.quoting import quoted

VERSION = "2"
INPUT = "edits"
TOP = 30
NEGATIONS = frozenset({"not", "no", "never", "without", "nobody", "nothing", "none", "cannot"})


@dataclass(frozen=True)
class InsertedWords:
    """What a foil inserts: the lemmas of its verbs, and the numbers of auxiliaries and negations."""

    verbs: tuple[str, ...]
    auxiliaries: int = 0
    negations: int = 0


def inserted_words(edit: EditFacts, tags: Tagger) -> InsertedWords:
    """Return the verbs, auxiliaries and negations that the foil has where it differs from the caption."""
    spans, shift = [], 0
    for span in diff_edits(edit.caption, edit.foil):
        start = span.start + shift
        spans.append((start, start + len(span.target)))
        shift += len(span.target) - (span.end - span.start)
    tokens = [token for token in tags.tag(edit.foil) if any(token.start < end and at < token.end for at, end in spans)]
    verbs = (edit.verb.lower(),) if edit.verb else tuple(token.lemma for token in tokens if token.part == "VERB")
    return InsertedWords(verbs, sum(token.part == "AUX" for token in tokens), sum(map(_is_negation, tokens)))


def _is_negation(token: Token) -> bool:
    return token.lower in NEGATIONS or token.lower.replace("’", "'").endswith("n't")


def compute(
    edits: Sequence[EditFacts], *, people: str = "", top: int = TOP, draws: int = 0, seed: int = 0
) -> dict[str, Any]:
    """Return rows by verb, most frequent over both first: `machine` and `person` shares; `js` in base 2 between the
    two.

    `n`: foils; `total`: inserted verbs; `without_verb`: foils that insert none. `top_share`: the share of the ten most
    frequent verbs of a source (how skewed it is). `people`: subtests by people; the other foils without an author are
    then by machines, and without `people` left out (`n_unknown`). EvaluationError without foils.
    """
    if wrong := {edit.source for edit in edits} - {*SOURCES, ""}:
        raise EvaluationError(f"unknown source {quoted(sorted(wrong)[0])}; give machine or person")
    authored = [(source, edit) for edit in edits if (source := _source(edit, people))]
    if not authored:
        raise EvaluationError(
            "there are no foils with a known author; give some made by machines and some made by people, "
            "or name the subtests that people wrote (people)"
        )
    tags = tagger()
    rows_by_source = {
        source: [inserted_words(edit, tags) for by, edit in authored if by == source] for source in SOURCES
    }
    counts = {source: Counter(verb for foil in rows for verb in foil.verbs) for source, rows in rows_by_source.items()}
    totals = {source: counter.total() for source, counter in counts.items()}
    shares = {
        source: {verb: n / totals[source] for verb, n in counter.items()} if totals[source] else {}
        for source, counter in counts.items()
    }
    verbs = sorted(set().union(*shares.values()), key=lambda v: (-sum(s.get(v, 0.0) for s in shares.values()), v))
    return {
        "rows": [
            {"verb": verb, **{source: shares[source].get(verb, 0.0) if totals[source] else None for source in SOURCES}}
            for verb in verbs[:top]
        ],
        "js": js_divergence(counts[MACHINE], counts[PERSON]),
        "n": {source: len(rows) for source, rows in rows_by_source.items()},
        "total": totals,
        "n_verbs": {source: len(counter) for source, counter in counts.items()},
        "without_verb": {source: sum(not foil.verbs for foil in rows) for source, rows in rows_by_source.items()},
        "auxiliaries": {source: sum(foil.auxiliaries for foil in rows) for source, rows in rows_by_source.items()},
        "negations": {source: sum(foil.negations for foil in rows) for source, rows in rows_by_source.items()},
        "n_unknown": len(edits) - len(authored),
        "top_share": {
            source: sum(n for _, n in counts[source].most_common(10)) / totals[source] if totals[source] else None
            for source in SOURCES
        },
    }


def _source(edit: EditFacts, people: str) -> str:
    names = {name.strip() for name in people.split(",")} - {""}
    return edit.source or ((PERSON if edit.subtest in names else MACHINE) if names else "")
