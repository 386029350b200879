"""Read files for the analyses of models, corpora and edits, without a database. Any bad record is an error.

scored: one `{"id", "scores": [caption, foil...], "model"?, "category"?, "cluster"?, "higher_is_better"?, facts...}` per
line, or a CSV with these columns; `caption` and `foils` may replace `scores`. corpus: `.txt` with one caption per line,
or JSON lines with `caption` (or `text`). edits: one `{"caption", "foil" or "foils", "source": machine or person,
"verb"?}` per line, or items in a format of `foilworks import`.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evaluation.analyses.analysis_inputs import SOURCES, EditFacts, hard_part
from evaluation.analyses.scored_items import ScoredItems
from evaluation.errors import EvaluationError
from evaluation.score_files.items import read_items
from evaluation.score_files.json_records import number_of, rows
from evaluation.score_files.score_columns import JSON_SCORES, score_columns, score_rows
from evaluation.score_files.scores import padded, right_first
from evaluation.score_files.tables import Table
from foilworks.core.corpus.import_formats.parsing.json_records import read_text
from foilworks.core.text.quoting import quoted

OWN_FIELDS = JSON_SCORES | {"id", "model", "category", "cluster", "higher_is_better", "right"}


def read_scored(paths: Sequence[Path]) -> ScoredItems:
    """Read scores with facts; a record without `model` belongs to the model named by its file.

    An item without scores of a model remains, as not scored by it. EvaluationError names file, record and field.
    """
    facts: dict[str, dict[str, Any]] = {}
    clusters: dict[str, str] = {}
    scores: dict[str, dict[str, list[float]]] = {}
    categories: dict[str, str] = {}
    for path in paths:
        table = Table(path)
        table.need("id")
        own_fields = OWN_FIELDS.union(score_columns(table.names) if table.is_csv else ())
        for values, right, row in score_rows(table, with_facts=True):
            name, model = row.key or row.text("id"), row.text("model", path.stem)
            if name in scores.setdefault(model, {}):
                row.fail("id", f"{quoted(name)} is scored twice by {quoted(model)}", "keep one of them")
            scores[model][name] = right_first(values, right)
            categories[model] = row.text("category", categories.get(model, ""))
            row_facts = {k: number_of(v) if row.is_text else v for k, v in row.fields.items() if k not in own_fields}
            facts.setdefault(name, {}).update(row_facts)
            clusters[name] = f"cluster {row.text('cluster', '')}" if row.fields.get("cluster") else f"item {name}"
    if not facts:
        raise EvaluationError(f"{paths[0]}: record: there is none; give at least one scored item")
    ids = list(facts)
    tables = {model: padded([scores_by_id.get(name, []) for name in ids]) for model, scores_by_id in scores.items()}
    return ScoredItems(ids, [clusters[name] for name in ids], [facts[name] for name in ids], tables, categories)


def read_corpus(paths: Sequence[Path]) -> list[str]:
    """Return every caption, in order."""
    texts: list[str] = []
    for path in paths:
        if path.suffix == ".txt":
            texts += [line for line in read_text(path).splitlines() if line.strip()]
        else:
            texts += [row.text("caption" if "caption" in row.fields else "text") for row in rows(path)]
    if not texts:
        raise EvaluationError(f"{paths[0]}: record: there is none; give at least one caption")
    return texts


def read_edits(paths: Sequence[Path], file_format: str | None = None) -> list[EditFacts]:
    """Return one entry per foil. `file_format`: the files hold items, of which only the hard foil counts if they have
    one; a foil's author then follows from its subtest.
    """
    if file_format:
        items = hard_part(read_items(paths, file_format)[0])
        return [EditFacts(item.caption, foil, "", subtest=item.subtest) for item in items for foil in item.foils]
    edits: list[EditFacts] = []
    for path in paths:
        for row in rows(path):
            source = row.text("source")
            if source not in SOURCES:
                row.fail("source", f"is {quoted(source)}", "give machine or person")
            foils = row.texts("foils" if "foils" in row.fields else "foil")
            caption, verb = row.text("caption"), row.text("verb", "")
            edits += [EditFacts(caption, foil, source, verb) for foil in foils]
    if not edits:
        raise EvaluationError(f"{paths[0]}: record: there is none; give at least one foil")
    return edits


READERS = {"scored": read_scored, "corpus": read_corpus, "edits": read_edits}
