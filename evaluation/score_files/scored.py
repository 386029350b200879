"""Files for the analyses of models, of corpora and of edits, with no database. Any bad record is an error.

scored: `{"id", "scores": [caption, foil...], "model"?, "category"?, "cluster"?, "higher_is_better"?, facts...}` a line.
corpus: `.txt` with a caption a line, or JSON lines with `caption` (or `text`).
edits: `{"caption", "foil" or "foils", "source": machine or person, "verb"?}` a line.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from corpus.importers.parsing.json_records import read_text
from evaluation.analyses.scored import ScoredItems
from evaluation.analyses.verbs import SOURCES, EditFacts
from evaluation.errors import EvaluationError
from evaluation.score_files.json_records import Row, rows
from evaluation.score_files.scores import padded

OWN_FIELDS = frozenset({"id", "scores", "caption", "foils", "foil", "model", "category", "cluster", "higher_is_better"})


def read_scored(paths: Sequence[Path]) -> ScoredItems:
    """Scores with facts; a record without `model` belongs to the model named by its file.

    An item that a model lacks stays, as not scored by it. EvaluationError names file, record and field.
    """
    facts: dict[str, dict[str, Any]] = {}
    clusters: dict[str, str] = {}
    scores: dict[str, dict[str, list[float]]] = {}
    categories: dict[str, str] = {}
    for path in paths:
        for row in rows(path):
            name, model = row.key or row.text("id"), row.text("model", path.stem)
            if name in scores.setdefault(model, {}):
                row.fail("id", f"{name!r} is scored twice by {model!r}", "keep one of them")
            scores[model][name] = _signed(row)
            categories[model] = row.text("category", categories.get(model, ""))
            facts.setdefault(name, {}).update({k: v for k, v in row.fields.items() if k not in OWN_FIELDS})
            own = f"cluster {row.text('cluster', '')}" if row.fields.get("cluster") else f"item {name}"
            clusters[name] = own
    if not facts:
        raise EvaluationError(f"{paths[0]}: record: there is none; give at least one scored item")
    ids = list(facts)
    tables = {model: padded([given.get(name, []) for name in ids]) for model, given in scores.items()}
    return ScoredItems(ids, [clusters[name] for name in ids], [facts[name] for name in ids], tables, categories)


def _signed(row: Row) -> list[float]:
    higher = row.fields.get("higher_is_better", True)
    if not isinstance(higher, bool):
        row.fail("higher_is_better", f"is {higher!r}", "give true or false")
    values = row.numbers("scores")
    if len(values) < 2:
        row.fail("scores", "has no foil", "give the caption's score and at least one foil's")
    return values if higher else [-value for value in values]


def read_corpus(paths: Sequence[Path]) -> list[str]:
    """Every caption, in order."""
    texts: list[str] = []
    for path in paths:
        if path.suffix == ".txt":
            texts += [line for line in read_text(path).splitlines() if line.strip()]
        else:
            texts += [row.text("caption" if "caption" in row.fields else "text") for row in rows(path)]
    if not texts:
        raise EvaluationError(f"{paths[0]}: record: there is none; give at least one caption")
    return texts


def read_edits(paths: Sequence[Path]) -> list[EditFacts]:
    """One a foil."""
    found: list[EditFacts] = []
    for path in paths:
        for row in rows(path):
            source = row.text("source")
            if source not in SOURCES:
                row.fail("source", f"is {source!r}", "give machine or person")
            foils = row.texts("foils" if "foils" in row.fields else "foil")
            caption, verb = row.text("caption"), row.text("verb", "")
            found += [EditFacts(caption, foil, source, verb) for foil in foils]
    if not found:
        raise EvaluationError(f"{paths[0]}: record: there is none; give at least one foil")
    return found


READERS = {"scored": read_scored, "corpus": read_corpus, "edits": read_edits}
