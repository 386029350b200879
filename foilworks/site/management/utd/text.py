"""Write the results of `foilworks utd` for a terminal: what was described, the biases as in the paper, the split."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evaluation.utd.concepts import AVERAGE, MAX_SCORE, MIDDLE, SEQUENCE, TEMPORAL
from evaluation.utd.models import BiasRun, Descriptions
from evaluation.utd.pages import CONCEPT_NAMES
from evaluation.utd.recipes import DEMO, DEMO_ONLY, RECIPES
from evaluation.utd.reliability import UNCERTIFIED, certificate_of
from evaluation.utd.required_texts import told
from evaluation.utd.verdicts import conclusions, guess_of
from foilworks.site.management.base import NOTHING, table

COLUMNS = {SEQUENCE: "sequence", AVERAGE: "average", MAX_SCORE: "max-score", MIDDLE: "middle"}
# Problems of descriptions: what happened to the videos or frames.
PROBLEMS = {
    "missing_media": "without a file, so not described",
    "unreadable": "with a file that cannot be read",
    "unanswered": "with texts that the model did not give",
}
SHOWN = 5
NO_SPLIT = (
    "no debiased split: it needs train videos of at least two classes and videos outside the train split, all with "
    "texts on objects"
)


def described_lines(made: Descriptions) -> Iterator[str]:
    """Return what was described, what was not, and the next command."""
    n_videos, n_texts = made.frames.values("video").distinct().count(), made.frames.count()
    yield f"descriptions {made.pk}: {n_videos} videos described, {made.params['frames']} frames each ({n_texts} frames)"
    for name, words in PROBLEMS.items():
        if found := made.problems.get(name):
            yield f"{len(found)} {words}: {_some(found)}"
    if n := made.problems.get("n_not_in_project"):
        yield f"{n} names in the file are not videos of the project: {_some(made.problems['not_in_project'])}"
    yield from made.problems.get("missing_texts", [])
    if is_demo(made):
        yield f"warning: {DEMO_ONLY}"
    if n_texts:
        yield f"next: `foilworks utd bias --descriptions {made.pk} --sync`"


def is_demo(made: Descriptions | None) -> bool:
    """Whether the demo models described the videos of a project that may be any."""
    return made is not None and made.describer == RECIPES[DEMO].describer


def _some(found: Sequence[Any]) -> str:
    names = [each["item"] if isinstance(each, Mapping) else str(each) for each in found[:SHOWN]]
    return ", ".join(names) + (f" and {len(found) - SHOWN} more" if len(found) > SHOWN else "")


def bias_lines(run: BiasRun, warnings: Sequence[str] = ()) -> Iterator[str]:
    """Return the tables of a measured run, the split, and the next command."""
    result = run.result or {}
    per_class = f", {result['n_classes']} classes" if result["n_classes"] else ""
    yield (
        f"run {run.pk}, {run.task}: {result['n']} samples, {result['n_train']} train videos{per_class}; "
        f"encoder {run.encoder}"
    )
    share = "accuracy" if result["n_classes"] else "recall at 1"
    yield f"\ncommon sense bias: {share} in %, without training (chance: {_percent(result['chance'])})"
    yield _cells(result["common"])
    if result["dataset"]:
        yield f"\ndataset bias: {share} in %, trained on the train split (largest class: {_percent(guess_of(result))})"
        yield _cells(result["dataset"])
    elif result["n_classes"]:
        yield "\ndataset bias: not measured; it needs train videos of at least two classes, with texts"
    yield ""
    for row in conclusions(result):
        yield f"{CONCEPT_NAMES[row['concept']]}, sequence: {row['words']}. {row['advice']}"
    yield ""
    yield from _split_lines(run, result)
    if missing := result.get("missing"):
        yield f"videos left out of some cells, because texts are missing: {_lacking(missing)}"
    shown = set(told(missing or ()))
    yield from (f"warning: {text}" for text in warnings if text not in shown)
    yield f"next: `foilworks utd export --run {run.pk} --out DIR`"


def _lacking(missing: Sequence[Mapping[str, Any]]) -> str:
    """Return each text with the videos that lack it, by split."""
    found: dict[str, list[str]] = {}
    for row in missing:
        found.setdefault(str(CONCEPT_NAMES[row["text"]]), []).append(f"{row['n']} of {row['of']} {row['split']}")
    return "; ".join(f"{text} ({', '.join(counts)})" for text, counts in found.items())


def _split_lines(run: BiasRun, result: Mapping[str, Any]) -> Iterator[str]:
    split = result["split"]
    if not split:
        return
    n, n_biased = split["n"], split["n_biased"]
    yield (
        f"object-biased: {n_biased} of {n} samples ({_percent(n_biased / n)} %); {n - n_biased} remain in the debiased "
        "split"
    )
    kappa = NOTHING if split["kappa"] is None else f"{100 * split['kappa']:.1f}"
    yield f"Fleiss' kappa of the nine models × 100: {kappa}"
    if certificate_of(result) == UNCERTIFIED:
        yield "this split is not certified: the nine models are too weak to find object-biased samples"


def _cells(rows: Sequence[Mapping[str, Any]]) -> str:
    found = []
    for row in rows:
        cells = {cell["temporal"]: _interval(cell) for cell in row["cells"]}
        found.append((str(CONCEPT_NAMES[row["concept"]]), *(cells.get(temporal, NOTHING) for temporal in TEMPORAL)))
    return table(("", *(COLUMNS[temporal] for temporal in TEMPORAL)), found)


def _interval(cell: Mapping[str, Any]) -> str:
    if cell["value"] is None:
        return NOTHING
    low_high = f" [{_percent(cell['ci'][0])}, {_percent(cell['ci'][1])}]" if cell["ci"] else ""
    return f"{_percent(cell['value'])}{low_high}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"


def queued_lines(result: Mapping[str, Any]) -> Iterator[str]:
    """Return the job that waits, and the command for when it is done."""
    yield f"job {result['job']}: {result['state']}"
    if "run" in result:
        yield f"when it is done: `foilworks utd results --run {result['run']}`"
    else:
        yield f"when it is done: `foilworks utd bias --descriptions {result['descriptions']} --sync`"


def exported_lines(result: Mapping[str, Any]) -> Iterator[str]:
    """Return the written files and what else the run is for."""
    yield f"run {result['run']}: {len(result['files'])} files in {result['out']}: {', '.join(result['files'])}"
    yield from (f"warning: {text}" for text in result.get("warnings", ()))
    if "splits.json" in result["files"]:
        yield "splits.json lists the full, the debiased and the balanced split"
        yield f"next: `foilworks utd zero-shot --run {result['run']} --model clip:ID --sync` (a model on the splits)"
